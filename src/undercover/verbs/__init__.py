"""The verbs, a file each: publish, verify, attack, measure, report, save and load, joint risk, apply."""
