"""What every method must pass: it keeps its claims, gives the same again, and tells no more than it says.

The parameters are the examples its :class:`~undercover.model.about.About` names, the tables those of a few people and
of marked people (:mod:`undercover.testing.tables`).
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from undercover import plugins
from undercover.engines.local import LocalEngine
from undercover.errors import InternalError, UnreachableError
from undercover.forms import read
from undercover.io.release.contents import MANIFEST, public_part
from undercover.io.spec.load import load_spec, resolve
from undercover.model.protocols import Method, corruption_robust, lists_outcomes, per_unit
from undercover.model.run import Run
from undercover.model.table import Table
from undercover.parameters import make
from undercover.randomness import Randomness
from undercover.studies.algorithm_aware.attack import AlgorithmAware
from undercover.studies.algorithm_aware.result import Inference
from undercover.testing.attacks import TRIALS, by_name, truthful
from undercover.testing.holding import SEED, examples_of, in_bytes, must, reached
from undercover.testing.public_scan import scan_public
from undercover.testing.tables import FILE, ILLNESSES, MARKED, marked, marked_file, secrets_of, tiny, visits
from undercover.threads import however_little
from undercover.verbs.attack import case_of
from undercover.verbs.joint import method_of
from undercover.verbs.publish import publish
from undercover.verbs.store import load, save
from undercover.verbs.verify import verify

FEW = 20
"""Runs of a method that lists its outcomes: after the first table, or where it does not declare itself safe."""
MOST_PEOPLE, MOST_DRAWN, MOST_WITH_KNOWN = 6, 5, 4
"""Whom he goes through; fewer where published values are drawn as well, or where he knows the value of another."""


def check_method(method: str | Method, *, tables: Sequence[Table] | None = None, trials: int = TRIALS) -> None:
    """Hold a method to everything it declares.

    Parameters
    ----------
    method
        The name of a method, which is tried with all its examples; or a method with its parameters.
    tables
        A few people each, in place of :func:`undercover.testing.tables.tiny`.
    trials
        How often a method is run that does not list its outcomes.

    Examples
    --------
    >>> from undercover import Anatomy
    >>> from undercover.testing.tables import people
    >>> check_method(Anatomy(l=2), tables=[people((0, 1, 2, 3), (2, 1, 1))])
    """
    few = tiny() if tables is None else tables
    if isinstance(method, str):
        made = examples_of(method, "safe", "unsafe")
        must(made, f"The method {method} names no example it can be tried with. See About.examples.")
        must(made[0].name == method, f"The method {made[0].name} is offered under the name {method}.")
        for refused in examples_of(method, "unreachable"):
            must(not list(reached(refused, few)), f"{refused} is said to be out of reach, and was reached.")
        for safe, expected in ((True, "safe"), (False, "unsafe")):
            for one in examples_of(method, expected):
                must(one.algorithm_safe is safe, f"{one} is an example of {expected}, but declares the contrary.")
    else:
        made = [method]
    for one in made:
        keeps_its_claims(one, few)
        minds_people(one)
        gives_the_same_again(one)
        tells_no_more(one, few, trials=trials)
    for one in examples_of(method, "unsafe") if isinstance(method, str) else []:
        must(caught(one, few), f"{one} is said to be unsafe, but no table of these gives anything away.")
    with tempfile.TemporaryDirectory() as folder:
        goes_there_and_back(made[0], Path(folder))


def keeps_its_claims(method: Method, tables: Sequence[Table]) -> None:
    """Whatever a method claims of a table it does not refuse holds, and so it does against the original."""
    try:
        runs = list(reached(method, tables))
    except InternalError as error:
        raise AssertionError(f"{method}: {error}") from error
    must(runs, f"{method} refuses every one of the {len(tables)} tables it was tried on.")
    for run in runs:
        found = verify(run, original=run.original)
        wrong = [*found.problems, *(finding for finding in found.findings if finding.holds is not True)]
        must(not wrong, f"{method} does not keep its word: {wrong}")


def minds_people(method: Method) -> None:
    """Where a method declares that it minds people who have several rows, it promises them something and keeps it."""
    if not per_unit(method):
        return
    try:
        runs = list(reached(method, [visits()]))
    except InternalError as error:
        raise AssertionError(f"{method} declares that it minds people with several rows: {error}") from error
    for run in runs:
        claims = [claim for claim in run.release.guarantees if claim.get("per")]
        must(claims, f"{method} declares that it minds people with several rows, and promises them nothing (per=...).")


def gives_the_same_again(method: Method) -> None:
    """A seed gives the same bytes, on one thread as on three."""
    with however_little():
        first, again = (in_bytes(_published(method, threads=threads).release) for threads in (1, 3))
    must(again == first, f"{method} gives another release with the same seed, on 1 thread or on 3.")


def tells_no_more(method: Method, tables: Sequence[Table], *, trials: int = TRIALS) -> None:
    """Where a method declares that knowing it does not help, it does not: on no table of a few people.

    Nor do the values of others help where it declares that, nor does its being refused tell anything.
    """
    if not method.algorithm_safe:
        return
    found = caught(method, tables, trials=trials, known=1 if corruption_robust(method) else 0)
    must(not found, f"{method} declares that knowing the algorithm does not help. It does: {found}")


def caught(method: Method, tables: Sequence[Table], *, trials: int = TRIALS, known: int = 0) -> Inference | str | None:
    """What the adversary who knows the method learns beyond a release, of the first table that tells anything.

    A method that lists its outcomes is gone through on every table, and run on the first of them if it declares itself
    safe; another one is run.
    """
    watched = 0
    for table in tables:
        if table.n_rows > (MOST_DRAWN if _through_channel(method, table) else MOST_PEOPLE):
            continue
        few = lists_outcomes(method, table) and (watched or not method.algorithm_safe)
        attack = AlgorithmAware(trials=FEW if few else trials, known=known if table.n_rows <= MOST_WITH_KNOWN else 0)
        try:
            result = attack.on(table, method, randomness=Randomness(SEED))
        except UnreachableError:
            continue
        watched += 1
        if not result.safe:
            return result.differs or result.largest_gain
        if result.refusal_tells:
            return result.refusal
    return None


def _through_channel(method: Method, table: Table) -> bool:
    return any(read(run.release).channel is not None for run in reached(method, [table]))


def goes_there_and_back(method: Method, folder: Path) -> None:
    """Saved, loaded, verified by whoever holds the public folder alone, scanned for people, attacked, made again."""
    source = marked_file(folder)
    run = publish(source, MARKED, method, seed=SEED)
    out = save(run, folder / "release")
    _comes_back(run, out)
    checked = verify(public_part(out))
    must(
        checked.holds is not False,
        f"{method}: its public folder does not verify: {checked.problems or checked.failures}",
    )
    private = (out / "private" / name for name in ("report.html", "report.json", "spec.toml"))
    for file in (public_part(out) / "datasheet.html", *private):
        must(file.stat().st_size, f"{method}: `{file.name}` is empty.")
    beside = save(publish(marked("second"), MARKED, method, seed=SEED), folder / "beside")
    secrets = secrets_of(marked(), MARKED, seed={str(SEED)}, path={FILE.removesuffix(".csv"), str(folder)})
    leaks = scan_public(public_part(out), public_part(beside), secrets=secrets, declared=ILLNESSES)
    must(not leaks, f"{method}: its public folder tells of people: {leaks}")
    case = case_of(run)
    for name in plugins.names("attacks"):
        truthful(by_name(name), case)
    if _is_offered(method):
        must(method_of(load(out)) == method, f"{method}: its recipe makes another method: {method_of(load(out))}")
        _spec_makes_it_again(run, out)


def _comes_back(run: Run, out: Path) -> None:
    """What was saved is what is loaded."""
    back, called = load(out), run.release.method
    same = in_bytes(run.release)
    must(in_bytes(back.release) == same, f"{called}: the release does not come back from its folder as it was.")
    wrote = {name: (public_part(out) / name).read_bytes() for name in same}
    said, saved = (dict(json.loads(files.pop(MANIFEST)), files=None) for files in (same, wrote))  # there: a datasheet
    must((wrote, saved) == (same, said), f"{called}: what was saved is not what was made.")
    must(back.release.form == run.release.form, f"{called}: the form comes back as {back.release.form}.")
    must(back.frames.keys() == run.frames.keys(), f"{called}: private frames were lost.")


def _spec_makes_it_again(run: Run, out: Path) -> None:
    """The spec that was written makes the same release of the same table."""
    spec = load_spec(out / "private" / "spec.toml")
    again = make("methods", str(spec.method_name), spec.method_parameters)
    made = publish(marked(), resolve(spec, marked()), again, seed=SEED)
    must(in_bytes(made.release) == in_bytes(run.release), f"The spec of {run.method} makes another release.")


def _published(method: Method, *, threads: int) -> Run:
    return publish(marked(), MARKED, method, seed=SEED, engine=LocalEngine(threads=threads))


def _is_offered(method: Method) -> bool:
    """Whether a method's class is the one its name stands for here."""
    known = method.name in plugins.names("methods")
    return known and plugins.load("methods", method.name) is type(method)
