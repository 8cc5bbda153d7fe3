"""One-time tokens, and the sessions they become: a signed cookie that names a desk and survives a restart.

The secret by which cookies are signed is renewed at the first start after ``DAYS``; those signed by the one before are
good until they end. A token is kept as its digest and found by it, so that how long a guess takes tells nothing.
"""

from __future__ import annotations

import hmac
import os
import secrets
import threading
import time
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from undercover.errors import UndercoverError
from undercover.web.desks.store import private_folder, read_json, write_json

DAYS: Final = 30
"""For which a session is good."""
HOURS: Final = 24
"""For which the address that was printed is good."""
MINUTES: Final = 10
"""For which an address that somebody made for another browser of his is good."""
_MOST_TOKENS: Final = 1000
_BYTES: Final = 32  # of a secret
_LONGEST_PAUSE: Final = 60.0  # seconds after many wrong passphrases


class Hasty(UndercoverError):  # noqa: N818
    """Too many wrong passphrases in too short a time."""


@dataclass(frozen=True)
class Session:
    """Somebody who came in: his desk, and what a form of his must carry."""

    desk: str
    key: str  # of this session; no secret
    csrf: str
    ends: int


@dataclass
class _Token:
    desk: str
    ends: float
    wrong: int = 0  # passphrases said with it
    again: float = 0.0  # when another may be said


class Sessions:
    """Tokens and signed cookies.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     sessions = Sessions(Path(folder))
    ...     token = sessions.token("own")
    ...     sessions.taken(token), sessions.taken(token), sessions.session(sessions.cookie("own")).desk
    ('own', None, 'own')
    """

    def __init__(self, workspace: Path) -> None:
        self._secrets = _secrets(private_folder(workspace))
        self._left_file = workspace / "signed-out.json"
        self._left: dict[str, int] = read_json(self._left_file) if self._left_file.is_file() else {}
        self._tokens: dict[bytes, _Token] = {}
        self._lock = threading.Lock()
        self._began = time.time() - steady()

    def _now(self) -> float:
        """The time, as if nobody had touched the clock since the server began: nobody is let in by putting it back."""
        return self._began + steady()

    def token(self, desk: str, seconds: float = HOURS * 3600) -> str:
        """A token that lets somebody in once, for so long."""
        token, now = secrets.token_urlsafe(24), self._now()
        with self._lock:
            good = [(digest, one) for digest, one in self._tokens.items() if one.ends > now]
            self._tokens = dict(good[-_MOST_TOKENS:])
            self._tokens[_digest(token)] = _Token(desk, now + seconds)
        return token

    def taken(self, token: str, said: str | None = None, wanted: str | None = None) -> str | None:
        """The desk of a token, which is used up by it; ``None`` where there is no such token or ``said`` is wrong.

        After a wrong passphrase the next one is not heard for a while, which doubles up to a minute; only whoever has a
        token is heard at all, so that nobody can keep others out.
        """
        now = self._now()
        with self._lock:
            found = self._tokens.get(_digest(token))
            if found is None or found.ends < now:
                return None
            if wanted is not None:
                if now < found.again:
                    raise Hasty(f"Too many wrong passphrases. Try again in {found.again - now:.0f} seconds.")
                if not hmac.compare_digest((said or "").encode(), wanted.encode()):
                    found.wrong += said is not None
                    pause = min(2.0 ** (found.wrong - 3), _LONGEST_PAUSE) if found.wrong > 2 else 0.0
                    found.again = now + pause
                    return None
            del self._tokens[_digest(token)]
            return found.desk

    def owner(self, token: str) -> str | None:
        """The workspace that a good token opens, without using it up."""
        with self._lock:
            found = self._tokens.get(_digest(token))
            return found.desk if found is not None and found.ends > self._now() else None

    def waits(self, token: str) -> bool:
        """Whether a token is still good."""
        return self.owner(token) is not None

    def cookie(self, desk: str) -> str:
        """A session as a cookie."""
        text = f"{desk}.{secrets.token_hex(8)}.{int(self._now()) + DAYS * 86400}"
        return f"{text}.{_signed(self._secrets[0], 'session', text)}"

    def session(self, cookie: str | None) -> Session | None:
        """The session of a cookie that was signed here, is still good and was not signed out."""
        text, _, signature = (cookie or "").rpartition(".")
        for secret in self._secrets:
            if hmac.compare_digest(signature.encode(), _signed(secret, "session", text).encode()):
                desk, key, ends = text.split(".")
                if int(ends) < self._now() or key in self._left:
                    return None
                return Session(desk, key, _signed(secret, "csrf", text), int(ends))
        return None

    def leave(self, session: Session) -> None:
        """Sign out: the cookie is good for nothing any more, wherever a copy of it is."""
        with self._lock:
            now = self._now()
            self._left = {key: ends for key, ends in self._left.items() if ends > now} | {session.key: session.ends}
            write_json(self._left_file, self._left)


def steady() -> float:
    """Seconds that go on whatever anybody does to the clock; on Linux also while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


def _secrets(workspace: Path) -> list[bytes]:
    """The secret that signs, and the one before it, which other cookies may still be signed by."""
    place, before = workspace / "secret", workspace / "secret.before"
    if place.is_file() and place.stat().st_size != _BYTES:  # half-written: anybody could sign with nothing
        place.unlink()
    if place.is_file() and not 0 <= time.time() - place.stat().st_mtime <= DAYS * 86400:  # or of a clock that was wrong
        place.replace(before)
    if not place.is_file():
        with open(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as target:
            target.write(secrets.token_bytes(_BYTES))
    return [one.read_bytes() for one in (place, before) if one.is_file()]


def _digest(token: str) -> bytes:
    return sha256(token.encode()).digest()


def _signed(secret: bytes, purpose: str, text: str) -> str:
    return hmac.new(secret, f"{purpose}:{text}".encode(), sha256).hexdigest()
