"""Verify: recompute every claim of a release."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from undercover.engines.spark import is_frame
from undercover.errors import MissingExtraError, ParameterError, listed
from undercover.forms import read
from undercover.forms.against import compared
from undercover.guarantees.checking import Checkable
from undercover.guarantees.contradictions import emptied, uncheckable, unsafe_unsaid, unwritten
from undercover.guarantees.verify import Verification, verify_private
from undercover.guarantees.verify import verify as verify_release
from undercover.io.release.contents import has_datasheet, is_withheld, public_part
from undercover.io.release.folder import load_both
from undercover.io.release.manifest import Public, read_public
from undercover.io.signatures import check_signature, public_key
from undercover.model.release import Release
from undercover.model.run import Run
from undercover.model.schema import Schema
from undercover.verbs.store import original_of, table_of
from undercover.wording import option

UNSIGNED = (
    "Hashes tell that the files fit release.json, not who wrote it: whoever changes both leaves no trace. A signature "
    "tells, checked with --trusted-by."
)

OLD_LAYOUT = (
    "release.json has an old layout, or was cut down to look like one: it lacks {lacking}. What they would say cannot "
    "be checked. Ask the holder to write the release anew, or have the rest of it verified: {option}."
)

WITHHELD = (
    "WITHHELD: the tables are as they were made, and are not published. `undercover accept DIR --because TEXT` "
    "publishes them."
)


def verify(
    target: Release | Run | str | os.PathLike[str] | Any,
    *,
    also: Sequence[Checkable] = (),
    original: Any = None,
    schema: Schema | None = None,
    trusted_by: str | os.PathLike[str] | None = None,
    allow_old: bool = False,
) -> Verification:
    """Recompute every claim of a release from its published tables alone.

    Parameters
    ----------
    target
        A release, a run, a folder ``DIR/public``, or a folder ``DIR`` with both parts; or a DataFrame of Spark, of
        which ``also`` says what must hold and ``schema`` which columns it is about.
    also
        Further guarantees to check.
    original, schema
        With the original table: also whether every row is covered and nothing was invented.
    trusted_by
        The file of a public key: the folder must be signed by it.
    allow_old
        Whether a folder may have an old layout, which says less of itself: a folder that was cut down looks the same.

    Examples
    --------
    >>> import undercover as uc
    >>> schema = uc.Schema(quasi_identifiers=["age"], sensitive="income")
    >>> run = uc.publish(uc.datasets.census(1000), schema, uc.Mondrian(k=10))
    >>> uc.verify(run.release).holds
    True
    """
    if is_frame(target):
        from undercover.verbs.spark.verify import verify_frame

        if schema is None:
            raise ParameterError("A DataFrame does not say which of its columns are what. Give its `schema`.")
        return verify_frame(target, schema.quasi_identifiers, schema.sensitive, also)
    if isinstance(target, str | os.PathLike):
        verification, release, run = _of_folder(Path(target), also, trusted_by, allow_old=allow_old)
    elif trusted_by is not None:
        raise ParameterError("Only a folder is signed. Give `trusted_by` with the folder of a release.")
    else:
        run, release = (target, target.release) if isinstance(target, Run) else (None, target)
        verification = verify_release(release, also=also)
    if run is not None:
        verification = verify_private(verification, run)
    if original is None:
        return verification
    ours = original_of(run, original, schema) if run is not None else table_of(original, schema, release)
    return verification.extended(replace(found, is_promise=False) for found in compared(read(release), ours, run))


def _of_folder(
    place: Path, also: Sequence[Checkable], trusted_by: str | os.PathLike[str] | None, *, allow_old: bool
) -> tuple[Verification, Release, Run | None]:
    """What the files of a folder show: what is in them, whether they fit together, who signed them."""
    trusted = None if trusted_by is None else public_key(trusted_by)
    where = public_part(place)
    if (place / "private").is_dir():
        run, public = load_both(place, strict=True)
    else:
        run, public = None, read_public(where, strict=True)
    release, notes = public.release, [*([WITHHELD] if is_withheld(place) else []), *public.notes]
    problems = [*public.problems, *emptied(release)]
    if public.is_old:
        problems += (
            [] if allow_old else [OLD_LAYOUT.format(lacking=listed(public.lacking), option=option(allow_old=True))]
        )
    else:
        problems += [*unsafe_unsaid(release), *unwritten(release)]
    try:
        signed_by, wrong = check_signature(where, trusted)
    except MissingExtraError as error:
        if trusted is not None:
            raise
        signed_by, wrong = None, []
        notes.append(f"The signature was not checked: {error}")
    if signed_by is None:
        notes.append(UNSIGNED)
    elif trusted is None:
        notes.append(f"Signed by {signed_by}. Whose key that is, only `--trusted-by` can tell.")
    found = verify_release(release, also=also, problems=[*problems, *wrong]).extended(notes=notes)
    found = _with_datasheet(found, where, public)
    if public.recorded is not None:
        recorded = public.recorded
        found = replace(found, stated={name: recorded.get(name) == getattr(release, name) for name in found.stated})
    unchecked = () if public.is_old or public.recorded is not None else uncheckable(release)
    return replace(found, signed_by=signed_by, old=public.is_old, unchecked=tuple(unchecked)), release, run


def _with_datasheet(found: Verification, where: Path, public: Public) -> Verification:
    """The same verification, with what the datasheet says that the release does not account for.

    Pages and the words of methods are loaded for it, and only when every promise was checked without them.
    """
    if not has_datasheet(where) or found.problems:
        return found
    from undercover.pages.datasheet_comparison import compare_datasheet

    said = compare_datasheet(where, public)
    return replace(found, problems=(*found.problems, *said.problems)).extended(notes=said.notes)
