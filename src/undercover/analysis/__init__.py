"""For recipients: answers from a release, with error bars."""

from undercover.forms.answers.channel import Estimate, PerturbedCounts
from undercover.forms.answers.counts import Answer, Recipient, answer
from undercover.forms.answers.sums import SumAnswer, Sums, answer_sum
from undercover.model.queries import Between, CountQuery, NoneOf, OneOf, SumQuery

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
