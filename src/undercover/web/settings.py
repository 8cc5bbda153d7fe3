"""What a server is started with."""

from __future__ import annotations

import getpass
import os
import re
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from undercover.errors import ParameterError

PORT = 8765
MEGABYTE = 1 << 20
SHORTEST = 12
"""Letters of a passphrase."""
OWN = "own"
"""The only desk where nobody named any."""
_ORIGIN = re.compile(r"https://(?:[a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\])(?::[0-9]{1,5})?")
_DESK = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")


def _account() -> str:
    """Whose account this is, where the system knows a name for it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # such as in a container
        return OWN


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
    behind_proxy
        The origin (``https://name``) of a proxy on this machine that ends TLS and passes requests on.
    audit_log
        A file for sign-ins, decisions and downloads; by default beside the workspace.

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
    desks: tuple[str, ...] = (OWN,)
    folders: tuple[Path, ...] = ()
    databases: bool = True
    most_bytes: int = 2048 * MEGABYTE
    most_rows: int = 20_000_000
    workers: int = max(1, (os.cpu_count() or 1) // 2)
    certificate: Path | None = None
    key: Path | None = None
    passphrase: str | None = None
    behind_proxy: str | None = None
    audit_log: Path | None = None

    def __post_init__(self) -> None:
        problems = []
        if not self.loopback and not (self.certificate and self.key and self.passphrase):
            problems.append(
                "Beyond this machine the server needs a certificate, its key and a passphrase: --certificate FILE "
                "--key FILE --passphrase-file FILE."
            )
        if self._anywhere and not self.names:
            problems.append(f"Nobody asks for a server by {self.host}. Say the name that browsers use: --name NAME.")
        problems += self._proxy_problems()
        if self.audit_log is not None and self.workspace.absolute() in self.audit_log.absolute().parents:
            problems.append("The audit log must not lie in the workspace, which can be removed. Name a file elsewhere.")
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

    def _proxy_problems(self) -> list[str]:
        """What speaks against the proxy in front of the server."""
        if self.behind_proxy is None:
            return []
        problems = []
        if _ORIGIN.fullmatch(self.behind_proxy) is None:
            problems.append(
                "A proxy is named by the address that browsers use, without a path: --behind-proxy https://name. Got "
                f"{self.behind_proxy!r} instead."
            )
        if not self.loopback or self.certificate:
            problems.append(
                "Behind a proxy the server listens on this machine only, and the proxy has the certificate. Leave out "
                "--host, --certificate and --key."
            )
        if not self.passphrase:
            problems.append("Behind a proxy others can reach the server. Give it a passphrase: --passphrase-file FILE.")
        return problems

    @property
    def _anywhere(self) -> bool:
        return self.host in ("0.0.0.0", "::", "")

    @property
    def hosts(self) -> tuple[str, ...]:
        """Every name by which this server is asked for, in small letters as browsers send it."""
        here = ("127.0.0.1", "localhost", "::1") if self.loopback else ()
        own = () if self._anywhere else (self.host,)
        proxied = () if self.behind_proxy is None else (str(urlsplit(self.behind_proxy).hostname),)
        return tuple(dict.fromkeys(name.lower() for name in (*self.names, *own, *here, *proxied)))

    @property
    def loopback(self) -> bool:
        """Whether nobody but this machine can reach it."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def is_encrypted(self) -> bool:
        """Whether browsers reach it by TLS, so that cookies are never sent without."""
        return self.certificate is not None or self.behind_proxy is not None

    def user(self, desk: str) -> str:
        """The name of whoever works at a desk: its own, or that of the account where nobody named desks.

        >>> Settings(workspace=Path("w"), desks=("ann", "bob")).user("bob")
        'bob'
        """
        return _account() if desk == OWN and self.desks == (OWN,) else desk

    @property
    def address(self) -> str:
        """Where a browser finds it."""
        if self.behind_proxy is not None:
            return self.behind_proxy
        host = self.names[0] if self.names else self.host
        name = f"[{host}]" if ":" in host else host
        return f"http{'s' if self.certificate else ''}://{name}:{self.port}"
