"""The attacks: each tells the attacker's story and stands beside guessing."""

from undercover.attacks.algorithm_aware import AlgorithmAware, AlgorithmAwareResult
from undercover.attacks.bucket_matching import BucketMatching, BucketMatchingResult
from undercover.attacks.corruption_sweep import Corruption, CorruptionResult
from undercover.attacks.informed import Informed, InformedResult
from undercover.attacks.joint_release import JointRelease, JointRisk
from undercover.attacks.known_correlation import known_correlation
from undercover.attacks.linkage import Linkage, LinkageResult
from undercover.attacks.minimality import Minimality, MinimalityResult

__all__ = [
    "AlgorithmAware",
    "AlgorithmAwareResult",
    "BucketMatching",
    "BucketMatchingResult",
    "Corruption",
    "CorruptionResult",
    "Informed",
    "InformedResult",
    "JointRelease",
    "JointRisk",
    "Linkage",
    "LinkageResult",
    "Minimality",
    "MinimalityResult",
    "known_correlation",
]
