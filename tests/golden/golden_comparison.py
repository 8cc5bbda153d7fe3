"""Comparing what a release says now with what is stored: names of differences, and values that stand for many.

Values are compared as parsed JSON. Numbers may differ by the last digits, everything else not at all.
"""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

TOLERANCE = 1e-9  # of a single number, relative to it
TOLERANCE_OF_SUMS = 1e-7  # of a checksum, relative to the size of the numbers in it
LONGEST = 5  # lists that are longer are stored as their first entry and checksums
WIDEST = 20  # mappings with more entries likewise
NOT_COMPARED = ("seconds", "timings", "memory", "version", "undercover", "path")
CONDENSED = "condensed"
NOTHING = hashlib.sha256(b"").hexdigest()[:16]  # the digest of no texts


def digest(text: str) -> str:
    """The beginning of the SHA-256 of a text.

    >>> digest("people")
    'c9022680f888674e'
    """
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def without(content: Any, names: Sequence[str] = NOT_COMPARED) -> Any:
    """The same content without the keys of these names, wherever they are.

    >>> without({"rows": 3, "stages": [{"title": "read", "seconds": 0.1}]})
    {'rows': 3, 'stages': [{'title': 'read'}]}
    """
    if isinstance(content, Mapping):
        return {name: without(value, names) for name, value in content.items() if name not in names}
    return [without(value, names) for value in content] if isinstance(content, list) else content


def leaves(content: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every number, text, truth value and null with its path, in order; what is empty counts as a leaf.

    >>> list(leaves({"a": [1, {"b": "x"}], "c": []}))
    [(('a', '0'), 1), (('a', '1', 'b'), 'x'), (('c',), [])]
    """
    if content and isinstance(content, Mapping):
        for name in sorted(content):
            yield from leaves(content[name], (*path, name))
    elif content and isinstance(content, list):
        for position, value in enumerate(content):
            yield from leaves(value, (*path, str(position)))
    else:
        yield path, content


def is_number(value: Any) -> bool:
    """Whether a leaf is a number; truth values are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def rounded(value: float, digits: int) -> float:
    """A number with so many significant digits; whole numbers stay whole."""
    return value if isinstance(value, int) else float(f"{value:.{digits}g}")


def checksum(content: Any, *, ordered: bool) -> list[Any]:
    """Stands for many values: count, sum, sum of squares, and a digest of everything that is no number.

    Parameters
    ----------
    content
        Anything of JSON.
    ordered
        Whether the order of the entries counts, too; numbers are then weighted by their position.

    Examples
    --------
    >>> checksum([3.0, {"a": 4.0}], ordered=False)[:3]
    [2, 7.0, 25.0]
    >>> checksum([1, 2], ordered=True) == checksum([2, 1], ordered=True)
    False
    """
    found = list(leaves(content))
    numbers = [float(value) for _, value in found if is_number(value)]
    texts = [f"{'/'.join(path)}={json.dumps(value)}" if ordered else json.dumps(value) for path, value in found]
    texts = [text for text, (_, value) in zip(texts, found, strict=True) if not is_number(value)]
    weights = [1 + position / len(numbers) if ordered else 1.0 for position in range(len(numbers))]
    return [
        len(numbers),
        rounded(math.fsum(weight * number for weight, number in zip(weights, numbers, strict=True)), 9),
        rounded(math.fsum(number * number for number in numbers), 9),
        digest("\n".join(texts if ordered else sorted(texts))),
    ]


def condensed(content: Any) -> Any:
    """The content as it is stored: numbers of twelve digits, long lists and wide mappings as checksums.

    >>> condensed([0.1234567890123456, "x"])
    [0.123456789012, 'x']
    >>> condensed([1, 2, 3, 4, 5, 6])["condensed"][:3]
    [6, 32.6666667, 91.0]
    """
    if isinstance(content, Mapping):
        if len(content) <= WIDEST:
            return {name: condensed(value) for name, value in content.items()}
        return {"entries": len(content), CONDENSED: checksum(content, ordered=True)}
    if isinstance(content, list):
        if len(content) <= LONGEST:
            return [condensed(value) for value in content]
        return {
            "entries": len(content),
            "first": condensed(content[0]),
            CONDENSED: checksum(content, ordered=True),
        }
    return rounded(content, 12) if is_number(content) else content


def differences(stored: Any, found: Any, path: str = "", noise: float = 1.0) -> list[str]:
    """One line for every place where two contents differ, beginning with the path to it; ``noise`` in tolerances.

    >>> differences({"a": {"mean": 0.5}}, {"a": {"mean": 0.6}, "b": 1})
    ['a/mean: stored 0.5, found 0.6', 'b: not stored, found 1']
    >>> differences(0.1 + 0.2, 0.3)
    []
    """
    if isinstance(stored, Mapping) and isinstance(found, Mapping):
        lines = []
        for name in [*stored, *(name for name in found if name not in stored)]:
            place = f"{path}/{name}" if path else str(name)
            if name not in found:
                lines.append(f"{place}: stored {_short(stored[name])}, not found")
            elif name not in stored:
                lines.append(f"{place}: not stored, found {_short(found[name])}")
            elif name == CONDENSED:
                lines += differences_of_checksums(stored[name], found[name], place, noise)
            else:
                lines += differences(stored[name], found[name], place, noise)
        return lines
    if isinstance(stored, list) and isinstance(found, list):
        named = [dict(zip(map(str, range(len(one))), one, strict=True)) for one in (stored, found)]
        return differences(*named, path, noise)
    if is_number(stored) and is_number(found):
        same = math.isclose(stored, found, rel_tol=noise * TOLERANCE, abs_tol=1e-12)
    else:
        same = type(stored) is type(found) and stored == found
    return [] if same else [f"{path}: stored {_short(stored)}, found {_short(found)}"]


def differences_of_checksums(stored: Sequence[Any], found: Sequence[Any], path: str, noise: float = 1.0) -> list[str]:
    """One line for every part of a checksum that differs by more than the noise of the last digits.

    >>> differences_of_checksums([2, 7.0, 25.0, "ab"], [2, 7.001, 25.0, "cd"], "cost/loss")
    ['cost/loss (sum of numbers): stored 7.0, found 7.001', 'cost/loss (texts): stored ab, found cd']
    """
    tolerance = noise * TOLERANCE_OF_SUMS
    size = math.sqrt(stored[0] * abs(stored[2]))  # no sum is larger, so cancelling does not blow up the noise
    same = (
        stored[0] == found[0],
        math.isclose(stored[1], found[1], rel_tol=tolerance, abs_tol=tolerance * size),
        math.isclose(stored[2], found[2], rel_tol=tolerance, abs_tol=1e-15),
        stored[3] == found[3],
    )
    parts = ("count of numbers", "sum of numbers", "sum of squares", "texts")
    return [
        f"{path} ({part}): stored {before}, found {after}"
        for part, before, after, equal in zip(parts, stored, found, same, strict=True)
        if not equal
    ]


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else f"{text[:117]}..."
