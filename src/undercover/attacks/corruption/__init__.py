"""The attacker who learnt the values of some people."""
