"""Accept: publish a release that is withheld because its verdict says not to, by somebody's decision, which is kept.

In this order, so that a kill at any point leaves a withheld release or a public one with its decision, and whoever
accepts again finishes it: the ledger hears of it (an entry without public tables does not count), the decision is
written, the tables become public, the ledger's entry is finished.
"""

from __future__ import annotations

import getpass
import os
from datetime import UTC, datetime
from pathlib import Path

from undercover.errors import DataError, ParameterError, VerificationError, join_problems
from undercover.io.release.contents import MANIFEST, PRIVATE, PUBLIC, WITHHELD, read_json
from undercover.io.release.decision import Decision, alone_with, decision_of, make_public
from undercover.io.release.run_file import read_run
from undercover.io.source import sha256
from undercover.model.verdict import LEAK
from undercover.verbs.ledger import ENTRY, entered_now
from undercover.verbs.verify import verify
from undercover.wording import option


def accept(directory: str | os.PathLike[str], *, because: str, by: str | None = None) -> Decision:
    """Publish a release that is withheld: ``withheld`` becomes ``public``, and who decided so and why is kept.

    Parameters
    ----------
    directory
        The release folder.
    because
        Why it may be published although the verdict says not to.
    by
        Who decided; by default whoever is logged in.

    Raises
    ------
    DataError
        If the release is not withheld.
    VerificationError
        If the tables are not what the private run wrote, or do not keep what they promise; nothing is moved.

    Examples
    --------
    >>> import tempfile, undercover as uc
    >>> people = uc.datasets.hospital("cross-bucket")
    >>> run = uc.publish(people.table, people.schema, uc.Mondrian(k=2))
    >>> with tempfile.TemporaryDirectory() as place:
    ...     out = uc.save(run, Path(place, "out"))
    ...     decision = uc.accept(out, because="Nobody of the example exists.", by="the board")
    ...     sorted(part.name for part in out.iterdir()), decision.verdict
    (['private', 'public'], 'Do not publish')
    """
    place, by = Path(directory), decider(because, by)
    with alone_with(place):
        if (place / PUBLIC).exists() or not (place / WITHHELD).is_dir():
            return _finished(place)
        refuse_leaks(place)
        found = verify(place, allow_old=True)
        failed = [f"{finding.name} does not hold." for finding in found.findings if finding.holds is False]
        if found.problems or failed:
            wrong = join_problems([*found.problems, *failed])
            raise VerificationError(f"`{place}` is not as it was made, so nothing was moved: {wrong}")
        return decided(place, because, by)


def refuse_leaks(place: Path) -> None:
    """Nobody accepts what must not be in public files: its cause is to be removed."""
    _, _, judged = read_run(place / PRIVATE / "run.json")
    leaks = [reason.text for reason in (() if judged is None else judged.reasons) if reason.kind == LEAK]
    if leaks:
        raise DataError([*leaks, f"`{place}` cannot be accepted: a leak is not a risk to weigh. Publish again."])


def decider(because: str, by: str | None = None) -> str:
    """Who decides; refused without a reason, or where nobody is named and nobody is logged in."""
    if not because.strip():
        raise ParameterError(f"Say why it may be published although the verdict says not to: {option(because=...)}")
    try:
        name = (getpass.getuser() if by is None else by).strip()
    except (OSError, KeyError, ImportError):  # no such user, as in some containers; on Windows, no users at all
        name = ""
    if not name:
        raise ParameterError(f"Say who decides: {option(by=...)}")
    return name


def decided(place: Path, because: str, by: str) -> Decision:
    """Make a withheld release public, whose tables are known to be what was made."""
    judged = read_json(place / PRIVATE / "run.json").get("judged", {})
    decision = Decision(
        because=because.strip(),
        by=by,
        when=datetime.now(UTC).isoformat(timespec="seconds"),
        verdict=judged.get("verdict", "Do not publish"),
        reasons=tuple(judged.get("reasons", ())),
        policy=judged.get("policy"),
        release=sha256(place / WITHHELD / MANIFEST),
    )
    with entered_now(place):
        make_public(place, decision)
    return decision


def _finished(place: Path) -> Decision:
    """The decision about a release whose acceptance was cut short after its tables had become public."""
    decision = decision_of(place)
    if decision is None or not (place / PUBLIC).is_dir() or not (place / PRIVATE / ENTRY).is_file():
        known = "" if decision is None else f" {decision.sentence()}"
        raise DataError(f"`{place}` is not withheld, so there is nothing to accept.{known}")
    with entered_now(place):
        pass
    return decision
