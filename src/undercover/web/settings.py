"""What a server is started with."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

from undercover.errors import ParameterError

PORT = 8765
MEGABYTE = 1 << 20
SHORTEST = 12
"""Letters of a passphrase."""
_DESK = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")


def home() -> Path:
    """Where tables are kept unless somebody says otherwise: a private folder of whoever starts the server."""
    return Path.home() / ".undercover" / "web"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a server is run.

    Parameters
    ----------
    workspace
        A private folder for tables, jobs and releases; made where there is none.
    host, port
        Where it listens; beyond this machine only with ``certificate``, ``key`` and ``passphrase``.
    names
        By which browsers ask for it, where that is not ``host``.
    desks
        Who works here: each gets an address with a one-time token, and sees nothing of the others.
    folders
        Folders whose files may be opened without uploading them.
    databases
        Whether a database may be named by its URL.
    most_bytes, most_rows
        Of one uploaded file, and of one table.
    workers
        Jobs that run at the same time.

    Examples
    --------
    >>> Settings(workspace=Path("w"), host="192.0.2.7")
    Traceback (most recent call last):
    undercover.errors.ParameterError: Beyond this machine the server needs a certificate, its key and a passphrase: \
--certificate FILE --key FILE --passphrase-file FILE.
    """

    workspace: Path = field(default_factory=home)
    host: str = "127.0.0.1"
    port: int = PORT
    names: tuple[str, ...] = ()
    desks: tuple[str, ...] = ("own",)
    folders: tuple[Path, ...] = ()
    databases: bool = True
    most_bytes: int = 2048 * MEGABYTE
    most_rows: int = 20_000_000
    workers: int = max(1, (os.cpu_count() or 1) // 2)
    certificate: Path | None = None
    key: Path | None = None
    passphrase: str | None = None

    def __post_init__(self) -> None:
        problems = []
        if not self.loopback and not (self.certificate and self.key and self.passphrase):
            problems.append(
                "Beyond this machine the server needs a certificate, its key and a passphrase: --certificate FILE "
                "--key FILE --passphrase-file FILE."
            )
        if self._anywhere and not self.names:
            problems.append(f"Nobody asks for a server by {self.host}. Say the name that browsers use: --name NAME.")
        if bool(self.certificate) != bool(self.key):
            problems.append("A certificate and its key go together: --certificate FILE --key FILE.")
        if self.passphrase is not None and len(self.passphrase) < SHORTEST:
            problems.append(f"The passphrase is too short: it needs at least {SHORTEST} letters.")
        odd = [name for name in self.desks if not _DESK.fullmatch(name)]
        if odd or not self.desks or len(set(self.desks)) < len(self.desks):
            problems.append(
                f"Desks need names of their own, of letters, digits, - and _, at most 40. Got {', '.join(self.desks)}."
            )
        if problems:
            raise ParameterError(problems)

    @property
    def _anywhere(self) -> bool:
        return self.host in ("0.0.0.0", "::", "")

    @property
    def hosts(self) -> tuple[str, ...]:
        """Every name by which this server is asked for, in small letters as browsers send it."""
        here = ("127.0.0.1", "localhost", "::1") if self.loopback else ()
        own = () if self._anywhere else (self.host,)
        return tuple(dict.fromkeys(name.lower() for name in (*self.names, *own, *here)))

    @property
    def loopback(self) -> bool:
        """Whether nobody but this machine can reach it."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def address(self) -> str:
        """Where a browser finds it."""
        host = self.names[0] if self.names else self.host
        name = f"[{host}]" if ":" in host else host
        return f"http{'s' if self.certificate else ''}://{name}:{self.port}"
