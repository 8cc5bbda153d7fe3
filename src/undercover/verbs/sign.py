"""Sign: say who wrote a release, so that nobody else can write another in its place."""

from __future__ import annotations

import os
from pathlib import Path

from undercover.errors import VerificationError, join_problems
from undercover.io.release.contents import public_part
from undercover.io.release.folder import load_both
from undercover.io.release.manifest import read_public
from undercover.io.signatures import new_key, private_key, write_signature

__all__ = ["new_key", "sign"]


def sign(directory: str | os.PathLike[str], key: str | os.PathLike[str]) -> Path:
    """Sign a release folder with the private key of a file; where the signature is.

    A folder that is not as it was written is refused: a signature would make it look as if it were.

    Examples
    --------
    >>> import tempfile, undercover as uc
    >>> schema = uc.Schema(quasi_identifiers=["age"], sensitive="income")
    >>> run = uc.publish(uc.datasets.census(1000), schema, uc.Mondrian(k=10))
    >>> with tempfile.TemporaryDirectory() as place:
    ...     public_key = uc.new_key(Path(place, "key"))
    ...     out = uc.save(run, Path(place, "out"))
    ...     _ = uc.sign(out, Path(place, "key"))
    ...     uc.verify(out / "public", trusted_by=public_key).holds
    True
    """
    secret, place = private_key(key), Path(directory)
    folder = public_part(place)
    public = load_both(place)[1] if (place / "private").is_dir() else read_public(folder)
    if public.problems:
        raise VerificationError(f"`{place}` is not as it was written: {join_problems(public.problems)}")
    return write_signature(folder, secret)
