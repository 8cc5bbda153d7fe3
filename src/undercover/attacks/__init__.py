"""The attacks: each tells the attacker's story and stands beside guessing."""

from undercover.attacks.linkage import Linkage, LinkageResult

__all__ = ["Linkage", "LinkageResult"]
