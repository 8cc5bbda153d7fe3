"""For recipients: answers from a release, with error bars."""

from undercover.analysis.answers import Answer, Recipient, answer
from undercover.analysis.perturbed_counts import Estimate, PerturbedCounts
from undercover.analysis.queries import Between, CountQuery, NoneOf, OneOf
from undercover.analysis.sums import SumAnswer, SumQuery, Sums, answer_sum

__all__ = [
    "Answer",
    "Between",
    "CountQuery",
    "Estimate",
    "NoneOf",
    "OneOf",
    "PerturbedCounts",
    "Recipient",
    "SumAnswer",
    "SumQuery",
    "Sums",
    "answer",
    "answer_sum",
]
