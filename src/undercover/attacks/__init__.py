"""The attacks: each tells the attacker's story and stands beside guessing."""

from undercover.attacks.algorithm_aware import AlgorithmAware, AlgorithmAwareResult
from undercover.attacks.corruption_sweep import Corruption, CorruptionResult
from undercover.attacks.linkage import Linkage, LinkageResult

__all__ = ["AlgorithmAware", "AlgorithmAwareResult", "Corruption", "CorruptionResult", "Linkage", "LinkageResult"]
