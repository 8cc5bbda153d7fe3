"""Signatures: who wrote a release, by Ed25519 (RFC 8032) over the bytes of ``release.json``.

Hashes tell that files fit a manifest, not who wrote the manifest: whoever changes both leaves no trace. The manifest
has the hash of every file, so a signature of its bytes covers the whole folder. It lies beside it as ``release.sig``,
JSON with the public key and the signature, each in base64. The key in the file says nothing by itself: a recipient gets
the holder's key from elsewhere and names it.

Key files are PEM: PKCS 8 without a passphrase, readable by their owner alone, and beside each the public key, as
``openssl`` writes them too.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from undercover.ending import changing
from undercover.errors import DataError, MissingExtraError, OutputError, ParameterError, unreadable, unwritable
from undercover.io.plain import as_json
from undercover.io.release.contents import MANIFEST, PUBLIC, SIGNATURE, WITHHELD, read_json
from undercover.whole import write_whole

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

ALGORITHM = "ed25519"
PUBLIC_SUFFIX = ".pub"


def new_key(path: str | os.PathLike[str]) -> Path:
    """Write a new private key to ``path`` (mode 0600) and its public key beside it; where the public key is.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     new_key(Path(folder, "key")).name
    'key.pub'
    """
    ed25519, serialization = _library("Making a key")
    private = ed25519.Ed25519PrivateKey.generate()
    place = Path(path)
    public = place.with_name(place.name + PUBLIC_SUFFIX)
    secret = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    shown = private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    written: list[Path] = []
    try:
        for target, content, mode in ((place, secret, 0o600), (public, shown, 0o644)):
            changing(target)
            handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            written.append(target)
            with os.fdopen(handle, "wb") as file:
                file.write(content)
    except BaseException as error:
        for half in written:
            half.unlink()
        if isinstance(error, FileExistsError):
            raise OutputError(f"`{target}` already exists. Keys are never replaced: choose another name.") from None
        if isinstance(error, OSError):
            raise OutputError(unwritable(f"`{target}`", error)) from error
        raise
    return public


def private_key(path: str | os.PathLike[str]) -> Ed25519PrivateKey:
    """The private key of a file."""
    ed25519, serialization = _library("Signing a release")
    content = _content(path)
    found = _read(serialization.load_pem_private_key, content, password=None)
    if not isinstance(found, ed25519.Ed25519PrivateKey):
        raise ParameterError(
            f"`{path}` is no private Ed25519 key in PEM without a passphrase. Make one: undercover sign --new-key FILE."
        )
    key: Ed25519PrivateKey = found
    return key


def public_key(path: str | os.PathLike[str]) -> Ed25519PublicKey:
    """The public key of a file."""
    ed25519, serialization = _library("Checking a signature")
    content = _content(path)
    found = _read(serialization.load_pem_public_key, content)
    if not isinstance(found, ed25519.Ed25519PublicKey):
        raise ParameterError(f"`{path}` is no public Ed25519 key in PEM: give the file that ends in {PUBLIC_SUFFIX}.")
    key: Ed25519PublicKey = found
    return key


def _read(load: Callable[..., Any], content: bytes, **options: Any) -> Any:
    """A key of any kind; nothing where it is none, or of a kind that nobody here knows."""
    from cryptography.exceptions import UnsupportedAlgorithm

    try:
        return load(content, **options)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return None


def write_signature(folder: Path, key: Ed25519PrivateKey) -> Path:
    """Sign the manifest of a public folder; an earlier signature is replaced."""
    signature = key.sign((folder / MANIFEST).read_bytes())
    content = {
        "algorithm": ALGORITHM,
        "public_key": base64.b64encode(_raw(key.public_key())).decode(),
        "signature": base64.b64encode(signature).decode(),
    }
    path, part = folder / SIGNATURE, folder.absolute().name
    # What a kill leaves must not lie among what is published: nobody could verify that, or sign it again.
    beside = folder.parent if part in (PUBLIC, WITHHELD) else None
    write_whole(path, as_json(content), private=part == WITHHELD, beside=beside)
    return path


def check_signature(folder: Path, trusted: Ed25519PublicKey | None = None) -> tuple[str | None, list[str]]:
    """The fingerprint of the key that signed a public folder (``None``: nobody did), and what is wrong with that."""
    path = folder / SIGNATURE
    if not path.is_file():
        return None, [] if trusted is None else [f"The release is not signed: there is no `{SIGNATURE}`."]
    ed25519, _ = _library("Checking a signature")
    content = read_json(path)
    try:
        if set(content) != {"algorithm", "public_key", "signature"} or content["algorithm"] != ALGORITHM:
            raise ValueError("not of this kind")
        named = base64.b64decode(content["public_key"], validate=True)
        signature = base64.b64decode(content["signature"], validate=True)
        key = ed25519.Ed25519PublicKey.from_public_bytes(named)
    except (ValueError, TypeError, KeyError):
        return None, [f"`{SIGNATURE}` is no signature of a release."]
    if not _is_signed(key, signature, (folder / MANIFEST).read_bytes()):
        return None, [f"The signature does not fit {MANIFEST}: the manifest or the signature was changed."]
    if trusted is not None and _raw(trusted) != named:
        return None, [f"The release is signed by another key, {fingerprint(named)}, not by the one that is trusted."]
    return fingerprint(named), []


def fingerprint(raw: bytes) -> str:
    """A key in short, for people to compare.

    >>> fingerprint(bytes(32))
    'SHA256:Zmh6rfhivXdsj8GLjp+OIAiXFIVu4jOzkCpZHQ1fKSU'
    """
    return "SHA256:" + base64.b64encode(hashlib.sha256(raw).digest()).decode().rstrip("=")


def _is_signed(key: Ed25519PublicKey, signature: bytes, content: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature

    try:
        key.verify(signature, content)
    except InvalidSignature:
        return False
    return True


def _raw(key: Ed25519PublicKey) -> bytes:
    _, serialization = _library("Signing a release")
    raw: bytes = key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return raw


def _content(path: str | os.PathLike[str]) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise DataError(unreadable(f"The key `{path}`", error)) from error


def _library(purpose: str) -> tuple[Any, Any]:
    """The parts of ``cryptography`` that are needed; an error that names the extra where it is not installed."""
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError as error:
        raise MissingExtraError("cryptography", "sign", purpose) from error
    return ed25519, serialization
