"""What a server is started with."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

from undercover.errors import ParameterError

PORT = 8765
MEGABYTE = 1 << 20


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
    >>> Settings(workspace=Path("w"), host="0.0.0.0")
    Traceback (most recent call last):
    undercover.errors.ParameterError: Beyond this machine the server needs a certificate, its key and a passphrase: \
--certificate FILE --key FILE --passphrase-file FILE.
    """

    workspace: Path = field(default_factory=home)
    host: str = "127.0.0.1"
    port: int = PORT
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
        if not self.loopback and not (self.certificate and self.key and self.passphrase):
            raise ParameterError(
                "Beyond this machine the server needs a certificate, its key and a passphrase: --certificate FILE "
                "--key FILE --passphrase-file FILE."
            )

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
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"http{'s' if self.certificate else ''}://{name}:{self.port}"
