"""The attacks: each tells the attacker's story and stands beside guessing."""
