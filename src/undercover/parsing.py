"""JSON and TOML that somebody hands in: read, or refused in words whatever is in them.

Their readers recurse, and take a time that grows with the square of a dotted key: what is nested deeper or joined from
more parts than anything a person or this program writes is refused. So are numbers that are none, keys that are written
twice (readers differ in which one they take) and halves of characters, which cannot be shown.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
import zipfile
import zlib
from collections import Counter
from pathlib import Path
from typing import Any, Final

from undercover.errors import InputError, listed, unreadable

MOST_LEVELS: Final = 100
"""Of what is nested, and parts of a dotted key of TOML."""

MALFORMED: Final = (ValueError, LookupError, TypeError, AttributeError, OverflowError)
"""What a reader raises, ours or a library's, that finds something else than it thought."""
BROKEN_ARCHIVE: Final = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError)
"""What is raised by whoever unpacks what is damaged, or protected by a password."""

_JOINED = re.compile(r"""[\s"']*\.[\s"']*""")
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def json_of(text: str | bytes) -> Any:
    """What a JSON text says; a :class:`ValueError` says why it says nothing.

    >>> json_of('{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    >>> json_of('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: it has the key `a` twice
    """
    whole = text.decode("utf-8") if isinstance(text, bytes) else text
    try:
        content = json.loads(whole, object_pairs_hook=_once, parse_constant=_finite, parse_float=_finite)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    _check_levels(content)
    check_letters(whole, content)
    return content


def check_letters(text: str, content: Any) -> None:
    """Raise where what a JSON text says has half of a character, which cannot be written.

    >>> check_letters('"\\\\ud83d\\\\ude00"', "\U0001f600")
    """
    if _HALF.search(text):
        try:
            json.dumps(content, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("it has half of a character (a lone surrogate)") from None


def toml_of(path: Path, what: str, refused: type[InputError]) -> dict[str, Any]:
    """What a TOML file says; where it cannot be read the error says why, of ``what``."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
        for number, line in enumerate(text.split("\n"), 1):
            if line.count(".") > MOST_LEVELS and _parts(line) > MOST_LEVELS:
                raise ValueError(f"line {number} has a key of more than {MOST_LEVELS} parts")
        content = tomllib.loads(text)
        _check_levels(content)
    except OSError as error:
        raise refused(unreadable(f"The {what} `{path}`", error)) from error
    except UnicodeDecodeError as error:
        raise refused(f"The {what} `{path}` is not UTF-8. Save it as UTF-8.") from error
    except RecursionError as error:
        raise refused(f"The {what} `{path}` is not TOML: it is nested too deeply.") from error
    except ValueError as error:
        raise refused(f"The {what} `{path}` is not TOML: {error}.") from error
    return content


def _parts(line: str) -> int:
    """How many parts the longest thing has that may be a dotted key."""
    return max(piece.count(".") + 1 for piece in re.split(r"[=,{}\[\]#]", _JOINED.sub(".", line)))


def _finite(text: str) -> float:
    """A number; what JSON does not know, such as NaN, and what is too large for one is refused."""
    found = float(text)
    if not math.isfinite(found):
        raise ValueError(f"{text[:20]} is no number")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        times = Counter(name for name, _ in pairs)
        raise ValueError(f"it has the key {listed(name for name in found if times[name] > 1)} twice")
    return found


def _check_levels(content: Any) -> None:
    level: list[Any] = [content]
    for _ in range(MOST_LEVELS):
        level = [
            one
            for each in level
            for one in (each.values() if isinstance(each, dict) else each if isinstance(each, list) else ())
            if isinstance(one, dict | list)
        ]
        if not level:
            return
    raise ValueError(f"it is nested more than {MOST_LEVELS} levels deep")
