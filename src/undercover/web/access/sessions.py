"""One-time tokens, and the sessions they become: a signed cookie that names a desk and survives a restart."""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from undercover.web.desks.store import private_folder

DAYS: Final = 30
"""For which a session is good."""


@dataclass(frozen=True)
class Session:
    """Somebody who came in: his desk, and what a form of his must carry."""

    desk: str
    key: str  # of this session; no secret
    csrf: str


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
        place = private_folder(workspace) / "secret"
        if not place.is_file():
            place.touch(mode=0o600)
            place.write_bytes(secrets.token_bytes(32))
        self._secret = place.read_bytes()
        self._tokens: dict[bytes, str] = {}
        self._lock = threading.Lock()

    def token(self, desk: str) -> str:
        """A token that lets somebody in once."""
        token = secrets.token_urlsafe(24)
        with self._lock:
            self._tokens[sha256(token.encode()).digest()] = desk
        return token

    def taken(self, token: str) -> str | None:
        """The desk of a token, which is used up by it."""
        with self._lock:
            return self._tokens.pop(sha256(token.encode()).digest(), None)

    def cookie(self, desk: str) -> str:
        """A session as a cookie."""
        text = f"{desk}.{secrets.token_hex(8)}.{int(time.time()) + DAYS * 86400}"
        return f"{text}.{self._signed('session', text)}"

    def session(self, cookie: str | None) -> Session | None:
        """The session of a cookie that was signed here and is still good."""
        text, _, signature = (cookie or "").rpartition(".")
        parts = text.split(".")
        if len(parts) != 3 or not hmac.compare_digest(signature.encode(), self._signed("session", text).encode()):
            return None
        if int(parts[2]) < time.time():
            return None
        return Session(parts[0], parts[1], self._signed("csrf", text))

    def _signed(self, purpose: str, text: str) -> str:
        return hmac.new(self._secret, f"{purpose}:{text}".encode(), sha256).hexdigest()
