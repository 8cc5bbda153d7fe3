"""For recipients: answers from a release, with error bars."""

from undercover.analysis.answers import Answer, Recipient, answer
from undercover.analysis.perturbed_counts import Estimate, PerturbedCounts
from undercover.analysis.queries import Between, CountQuery, NoneOf, OneOf

__all__ = ["Answer", "Between", "CountQuery", "Estimate", "NoneOf", "OneOf", "PerturbedCounts", "Recipient", "answer"]
