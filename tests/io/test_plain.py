"""Values as JSON can hold them."""

from fractions import Fraction

import numpy as np

from undercover.io.plain import as_json, plain


def test_what_json_cannot_hold_is_written_as_text_or_left_out() -> None:
    assert plain({"delta": Fraction(1, 5), "sizes": np.array([2, 3]), "worst": float("inf")}) == {
        "delta": "1/5",
        "sizes": [2, 3],
        "worst": None,
    }


def test_one_key_per_line() -> None:
    assert as_json({"k": 5}) == '{\n  "k": 5\n}\n'
