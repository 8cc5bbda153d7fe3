"""The attacks: each tells the attacker's story and stands beside guessing."""

from undercover.attacks.algorithm_aware import AlgorithmAware, AlgorithmAwareResult
from undercover.attacks.bucket_matching import BucketMatching, BucketMatchingResult
from undercover.attacks.corruption.channel import Corruption, CorruptionResult
from undercover.attacks.joint.attack import JointRelease, JointRisk
from undercover.attacks.joint.correlation import known_correlation
from undercover.attacks.linkage import Linkage, LinkageResult

__all__ = [
    "AlgorithmAware",
    "AlgorithmAwareResult",
    "BucketMatching",
    "BucketMatchingResult",
    "Corruption",
    "CorruptionResult",
    "JointRelease",
    "JointRisk",
    "Linkage",
    "LinkageResult",
    "known_correlation",
]
