"""For recipients: answers from a release, with error bars."""

from undercover.analysis.answers import Answer, Recipient, answer
from undercover.analysis.sums import SumAnswer, SumQuery, Sums, answer_sum
from undercover.forms.perturbed.counts import Estimate, PerturbedCounts
from undercover.model.queries import Between, CountQuery, NoneOf, OneOf

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
