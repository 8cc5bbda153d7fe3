"""`undercover serve` as a command: what it prints, how it ends, and what it refuses."""

from __future__ import annotations

import datetime
import signal
import socket
import ssl
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from running import Running, begun, running

from undercover.cli.serve import command
from undercover.errors import MissingExtraError, OutputError, ParameterError
from undercover.web.serve import bound
from undercover.web.settings import Settings

PASSPHRASE = "correct horse battery"


def ended(workspace: Path, *options: str) -> tuple[int, str]:
    """Exit code and stderr of a command that does not start."""
    with begun(workspace, *options) as process:
        out, told = process.communicate(timeout=60)
        assert out == ""
        return process.returncode, told


@contextmanager
def entered(server: Running) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.base, follow_redirects=True) as client:
        assert client.get(server.addresses[0]).status_code == 200
        yield client


def test_it_serves_until_interrupted_also_while_a_job_runs(tmp_path: Path, census_file: Path) -> None:
    workspace = tmp_path / "w"
    with running(workspace) as server, entered(server) as client:
        csrf = client.get("/").text.split('name="csrf" value="')[1].split('"')[0]
        with census_file.open("rb") as content:
            assert client.post("/new", data={"csrf": csrf}, files={"file": content}).status_code == 200
        assert ended(workspace, "--port", "0")[0] == 2, "a second server in the same folder"
        began = time.monotonic()
        code, out, told = server.stopped(signal.SIGINT)
        assert time.monotonic() - began < 8
        assert (code, out) == (130, "")
        assert told == f"Stopped. Tables and releases are kept in {workspace}.\n"
    loose = [place for place in workspace.rglob("*") if stat.S_IMODE(place.stat().st_mode) & 0o077]
    assert loose == []
    assert list((workspace / "temporary").iterdir()) == []
    assert not list(workspace.glob("log/*")), "nothing went wrong"
    with running(workspace, "--desk", "own", "--desk", "second", desks=2) as server:
        assert [line.split(": ")[0] for line in server.addresses] == ["own", "second"]
        assert server.stopped(signal.SIGTERM)[0] in (-signal.SIGTERM, 143)


def test_a_port_in_use(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(OutputError, match="--port 0 takes any that is free") as refused:
            bound(Settings(workspace=tmp_path, port=taken.getsockname()[1]))
    assert refused.value.exit_code == 2


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A self-signed one of 127.0.0.1, and its key."""
    place, key = tmp_path_factory.mktemp("tls"), ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "undercover")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    paths = place / "certificate.pem", place / "key.pem"
    paths[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    paths[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, *plain))
    return paths


def test_tls_and_a_passphrase(tmp_path: Path, certificate: tuple[Path, Path]) -> None:
    said = tmp_path / "passphrase"
    said.write_text(f"{PASSPHRASE}\n")
    said.chmod(0o644)
    options = ("--certificate", str(certificate[0]), "--key", str(certificate[1]), "--passphrase-file", str(said))
    with running(tmp_path / "w", *options) as server:
        assert server.base.startswith("https://127.0.0.1:")
        trust = ssl.create_default_context(cafile=str(certificate[0]))
        with httpx.Client(base_url=server.base, verify=trust) as client:
            token = server.addresses[0].partition("token=")[2]
            assert client.get(f"/?token={token}").status_code == 401
            answer = client.post("/enter", data={"token": token, "passphrase": PASSPHRASE})
            assert answer.status_code == 303
            cookie = answer.headers["set-cookie"]
            assert cookie.startswith("__Host-undercover-")
            assert "Secure" in cookie
            assert "Path=/" in cookie
            assert client.get("/").status_code == 200
        told = server.stopped(signal.SIGINT)[2]
        assert f"chmod 600 {said}" in told
        assert PASSPHRASE not in told


def test_what_is_refused(tmp_path: Path, certificate: tuple[Path, Path]) -> None:
    said = tmp_path / "passphrase"
    said.write_bytes(b"\xff\xfe")
    for file, why in ((said, "it is no text"), (tmp_path / "none", "No such file"), (tmp_path, "Is a directory")):
        with pytest.raises(ParameterError, match=f"`{file}` cannot be read: {why}"):
            command(passphrase_file=file)
    with pytest.raises(ParameterError, match=r"--certificate FILE --key FILE --passphrase-file FILE(?s:.*)--name NAME"):
        command(host="0.0.0.0")
    with pytest.raises(ParameterError, match="are no certificate with its key"):
        command(workspace=tmp_path / "w", certificate=certificate[0], key=certificate[0], no_browser=True)


def test_without_the_extra_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "python_multipart", None)
    with pytest.raises(MissingExtraError, match="The web application needs `python_multipart`"):
        command()
    (tmp_path / "uvicorn.py").write_text("raise ModuleNotFoundError('gone', name='uvicorn')")
    path = f"{tmp_path}:{':'.join(place for place in sys.path if place)}"
    with begun(tmp_path / "w", PYTHONPATH=path) as process:
        _, told = process.communicate(timeout=60)
    assert process.returncode == 2
    assert told == (
        "error: The web application needs `uvicorn`, which is not installed. Install it with: "
        "pip install 'undercover[web]'\n"
    )
