"""The private ledger: who was published in which release, without any value of anybody."""

from undercover.io.ledger.book import Ledger as Ledger
