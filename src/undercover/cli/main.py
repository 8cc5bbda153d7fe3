"""``undercover``: the commands, and what becomes of errors.

Results go to stdout, progress and problems to stderr. Exit codes: 0 done, 2 bad usage or input, 3 the guarantee cannot
be reached on this table, 4 verification failed, 1 a bug of ours, 130 interrupted.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core

from undercover.cli.hierarchy import app as hierarchy_commands


class _InterruptedError(Exception):
    """Ctrl-C, by another name: typer would turn it into an exit code without a word."""


class _Commands(typer.core.TyperGroup):
    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise _InterruptedError from error


app = typer.Typer(
    name="undercover",
    cls=_Commands,
    help="Publishes tables about people without giving the people away.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

app.add_typer(hierarchy_commands)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Qi = Annotated[str | None, typer.Option("--qi", help="Quasi-identifiers, by commas: what an attacker may know.")]
Sensitive = Annotated[str | None, typer.Option(help="Sensitive columns, by commas: what he must not learn.")]
Identifiers = Annotated[str | None, typer.Option(help="Identifiers, by commas: never published.")]
Insensitive = Annotated[str | None, typer.Option(help="Columns to publish unchanged, by commas.")]
Missing = Annotated[str | None, typer.Option(help="What a missing value means: error, drop or category.")]
SpecFile = Annotated[Path | None, typer.Option("--spec", help="A spec in TOML; `inspect --write-spec` writes one.")]
Require = Annotated[
    list[str] | None,
    typer.Option(help="What must hold, such as k=5, l=3, distinct-l=3, t=0.2, growth=0.25 or rho1=0.2,rho2=0.5."),
]
Force = Annotated[bool, typer.Option(help="Replace what stands there.")]
Original = Annotated[str | None, typer.Option(help="The original table: a file or database URL.")]


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.", is_eager=True)] = False,
) -> None:
    if version:
        from undercover.version import VERSION

        print(VERSION)
        raise typer.Exit


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Where to write the releases.")] = Path("undercover-demo"),
    rows: Annotated[int, typer.Option(help="People in the built-in census.", min=1000)] = 30_000,
    force: Force = False,
) -> None:
    """Take the whole tour on built-in data: every method, verified, attacked and measured."""
    from undercover.cli.demo import run

    run(out, rows, force=force)


@app.command()
def inspect(
    data: Annotated[str, typer.Argument(help="A CSV or Parquet file, or a database URL.")],
    spec: SpecFile = None,
    qi: Qi = None,
    sensitive: Sensitive = None,
    identifiers: Identifiers = None,
    write_spec: Annotated[Path | None, typer.Option(help="Write a commented spec to start from.")] = None,
    population_fraction: Annotated[float, typer.Option(help="Share of the population that is in the table.")] = 1.0,
    force: Force = False,
    json: Json = False,
) -> None:
    """Look at a table: its columns, suggested roles, who is singled out, and how risky it is as it stands."""
    from undercover.cli.inspect import run

    run(
        data,
        spec=spec,
        roles=_roles(qi=qi, sensitive=sensitive, identifiers=identifiers),
        write_spec=write_spec,
        population_fraction=population_fraction,
        force=force,
        as_json=json,
    )


@app.command()
def publish(
    data: Annotated[str, typer.Argument(help="A CSV or Parquet file, or a database URL.")],
    out: Annotated[Path, typer.Option(help="The release folder to make.")],
    spec: SpecFile = None,
    qi: Qi = None,
    sensitive: Sensitive = None,
    identifiers: Identifiers = None,
    insensitive: Insensitive = None,
    missing: Missing = None,
    method: Annotated[str | None, typer.Option(help="By name, such as mondrian; an unknown one lists all.")] = None,
    set: Annotated[list[str] | None, typer.Option(help="A parameter of the method, such as k=5.")] = None,  # noqa: A002
    require: Require = None,
    format: Annotated[str, typer.Option(help="Of the published tables: csv or parquet.")] = "csv",  # noqa: A002
    seed: Annotated[int | None, typer.Option(help="Reproducible, and therefore not for publication.")] = None,
    engine: Annotated[str, typer.Option(help="Where the work runs: local.")] = "local",
    allow_unsafe: Annotated[bool, typer.Option(help="Use a method that an informed attacker can undo.")] = False,
    force: Force = False,
    json: Json = False,
) -> None:
    """Make a release: anonymised, verified, attacked, and written with its report and datasheet."""
    from undercover.cli.publish import run

    run(
        data,
        out,
        spec=spec,
        roles=_roles(qi=qi, sensitive=sensitive, identifiers=identifiers, insensitive=insensitive),
        missing=missing,
        method=method,
        settings=set or [],
        require=require or [],
        format=format,
        seed=seed,
        engine=engine,
        allow_unsafe=allow_unsafe,
        force=force,
        as_json=json,
    )


@app.command()
def verify(
    target: Annotated[str, typer.Argument(help="DIR/public, DIR, or a table nobody here made.")],
    qi: Qi = None,
    sensitive: Sensitive = None,
    require: Require = None,
    original: Original = None,
    spec: SpecFile = None,
    json: Json = False,
) -> None:
    """Recompute every claim from the published tables alone; exit code 4 if one does not hold."""
    from undercover.cli.verify import run

    run(
        target,
        roles=_roles(qi=qi, sensitive=sensitive),
        require=require or [],
        original=original,
        spec=spec,
        as_json=json,
    )


@app.command()
def attack(
    directory: Annotated[Path, typer.Argument(help="The release folder DIR, with its private part.")],
    known: Annotated[str | None, typer.Option(help="What the attacker knows, by commas; by default all.")] = None,
    p_match: Annotated[
        float | None, typer.Option(help="He matches on each value with this probability only.", min=0, max=1)
    ] = None,
    knows_tables: Annotated[
        bool, typer.Option("--knows-tables", help="Of mutual cover: he knows groups and output tables, too.")
    ] = False,
    knows_algorithm: Annotated[
        bool, typer.Option("--knows-algorithm", help="He knows the method, too: Mondrian, or at most 8 people.")
    ] = False,
    victim: Annotated[
        int | None, typer.Option(help="Of perturbed generalization: one input row, attacked exactly.")
    ] = None,
    corrupted: Annotated[
        str, typer.Option(help="With --victim, whose values he knows: all, none, or input rows by commas.")
    ] = "all",
    original: Original = None,
    json: Json = False,
) -> None:
    """Attack a release with what its holder knows, and set it beside guessing."""
    from undercover.cli.attack import run, run_informed

    if victim is not None:
        from undercover.cli.corruption import run_victim

        run_victim(directory, row=victim, corrupted=corrupted, original=original, as_json=json)
        return
    if knows_tables:
        from undercover.cli.informed import run as run_with_tables

        run_with_tables(directory, original=original, as_json=json)
        return
    if knows_algorithm:
        run_informed(directory, original=original, as_json=json)
        return
    run(directory, known=_names(known), original=original, as_json=json, p_match=p_match)


@app.command()
def measure(
    directory: Annotated[Path, typer.Argument(help="The release folder DIR, or DIR/public.")],
    original: Annotated[str, typer.Option(help="The original table: a file or database URL.")],
    spec: SpecFile = None,
    queries: Annotated[int, typer.Option(min=0, help="Also ask so many random COUNT queries.")] = 0,
    json: Json = False,
) -> None:
    """Say what a release costs: discernibility, class sizes and loss per column."""
    from undercover.cli.measure import run

    run(directory, original=original, spec=spec, queries=queries, as_json=json)


@app.command()
def guarantee(
    domain: Annotated[int, typer.Option(help="Number of values in the declared domain.")],
    k: Annotated[int | None, typer.Option(help="The least people of a cell.")] = None,
    sample: Annotated[str | None, typer.Option(help="Instead of k: the share of rows that may be published.")] = None,
    p: Annotated[str | None, typer.Option(help="Probability of keeping a value.")] = None,
    rho1: Annotated[str | None, typer.Option(help="How sure he is of a property beforehand.")] = None,
    rho2: Annotated[str | None, typer.Option(help="Instead of p: how sure he may be afterwards.")] = None,
    growth: Annotated[str | None, typer.Option(help="Instead of p: by how much he may become surer.")] = None,
    skew: Annotated[str, typer.Option(help="How sure he may be of a single value beforehand.")] = "1",
    bound: Annotated[str, typer.Option(help="tight, or the paper's.")] = "tight",
    map: Annotated[Path | None, typer.Option(help="Write a page with a heat map over k and p.")] = None,  # noqa: A002
    force: Force = False,
    json: Json = False,
) -> None:
    """Say what perturbed generalization promises, or the largest p that keeps a promise."""
    from undercover.cli.guarantee import run

    run(
        k=k,
        sample=sample,
        domain=domain,
        p=p,
        rho1=rho1,
        rho2=rho2,
        growth=growth,
        skew=skew,
        bound=bound,
        page=map,
        force=force,
        as_json=json,
    )


@app.command()
def apply(
    directory: Annotated[Path, typer.Argument(help="The release folder DIR whose recipe is used.")],
    to: Annotated[str, typer.Option(help="The new table: a CSV or Parquet file, or a database URL.")],
    out: Annotated[Path, typer.Option(help="The release folder to make.")],
    original: Annotated[
        str | None, typer.Option(help="The table of DIR, if it is no longer where it was: people are compared.")
    ] = None,
    format: Annotated[  # noqa: A002
        str | None, typer.Option(help="Of the published tables: csv or parquet; by default as in DIR.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Reproducible, and therefore not for publication.")] = None,
    engine: Annotated[str, typer.Option(help="Where the work runs: local.")] = "local",
    force: Force = False,
    json: Json = False,
) -> None:
    """Publish a new table by the recipe of a release: same method, schema and requirements, verified again."""
    from undercover.cli.apply import run

    run(
        directory,
        to,
        out,
        original=original,
        format=format,
        seed=seed,
        engine=engine,
        force=force,
        as_json=json,
    )


@app.command("joint-risk")
def joint_risk(
    tables: Annotated[list[str], typer.Argument(help="Public folders, or files with named columns, of anybody.")],
    sensitive: Annotated[str | None, typer.Option(help="The sensitive column the tables share.")] = None,
    qi: Annotated[str | None, typer.Option("--qi", help="Quasi-identifiers of files; by default all others.")] = None,
    known: Annotated[str | None, typer.Option(help="What the attacker knows, by commas; by default all.")] = None,
    shared: Annotated[str, typer.Option(help="Quasi-identifiers in several tables: refuse or nested.")] = "refuse",
    suppressed: Annotated[bool, typer.Option("--suppressed", help="Suppressed rows are a class of their own.")] = False,
    worst: Annotated[int, typer.Option(help="How many of the worst combinations to list.", min=1)] = 10,
    size: Annotated[int | None, typer.Option(help="People in a combination, if the attacker knows it.", min=1)] = None,
    l: Annotated[int | None, typer.Option("--l", help="Values that must be left; exit code 4 if fewer.", min=1)] = None,  # noqa: E741
    strict: Annotated[
        bool, typer.Option("--strict", help="Count values possible whatever the attacker knows.")
    ] = False,
    json: Json = False,
) -> None:
    """Say what published tables about the same people give away together."""
    from undercover.cli.joint_risk import run

    run(
        tables,
        sensitive=sensitive,
        qi=_names(qi),
        known=_names(known),
        shared=shared,
        suppressed=suppressed,
        worst=worst,
        size=size,
        least=l,
        strict=strict,
        as_json=json,
    )


@app.command()
def compare(
    data: Annotated[str, typer.Argument(help="A CSV or Parquet file, or a database URL.")],
    out: Annotated[Path, typer.Option(help="The folder for the results; an interrupted comparison in it goes on.")],
    spec: SpecFile = None,
    qi: Qi = None,
    sensitive: Sensitive = None,
    identifiers: Identifiers = None,
    insensitive: Insensitive = None,
    missing: Missing = None,
    methods: Annotated[str | None, typer.Option(help="Only these methods, by commas.")] = None,
    queries: Annotated[int, typer.Option(min=1, help="COUNT queries about each set of columns, and sums.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Of the methods and the queries.")] = 0,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget what is in the folder.")] = False,
    json: Json = False,
) -> None:
    """Set all methods side by side on one table: privacy against utility, time and memory."""
    from undercover.cli.compare import run

    run(
        data,
        out,
        spec=spec,
        roles=_roles(qi=qi, sensitive=sensitive, identifiers=identifiers, insensitive=insensitive),
        missing=missing,
        methods=_names(methods),
        queries=queries,
        seed=seed,
        fresh=fresh,
        as_json=json,
    )


@app.command()
def experiment(
    name: Annotated[
        str, typer.Argument(help="Whose evaluation to run again, such as streamliner; all runs every one.")
    ],
    out: Annotated[Path, typer.Option(help="The folder for the results; an interrupted run in it goes on.")],
    data: Annotated[str | None, typer.Option(help="A table of your own; by default the built-in census.")] = None,
    spec: SpecFile = None,
    qi: Qi = None,
    sensitive: Sensitive = None,
    missing: Missing = None,
    rows: Annotated[int | None, typer.Option(help="Use so many rows.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A small variant that takes seconds.")] = False,
    repetitions: Annotated[int | None, typer.Option(help="How often what varies is measured.")] = None,
    seed: Annotated[int, typer.Option(help="Of the census, the methods and the queries.")] = 0,
    set: Annotated[list[str] | None, typer.Option(help="A choice of this experiment, NAME=VALUE.")] = None,  # noqa: A002
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget what is in the folder.")] = False,
    json: Json = False,
) -> None:
    """Measure what a paper measured, and judge what it says by the figures."""
    from undercover.cli.experiment import run

    run(
        name,
        out,
        data=data,
        spec=spec,
        roles=_roles(qi=qi, sensitive=sensitive),
        missing=missing,
        rows=rows,
        quick=quick,
        repetitions=repetitions,
        seed=seed,
        settings=set or [],
        fresh=fresh,
        as_json=json,
    )


def _names(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(name.strip() for name in text.split(",") if name.strip())


def _roles(**given: str | None) -> dict[str, tuple[str, ...]]:
    names = {"qi": "quasi_identifiers"}
    return {names.get(role, role): _names(text) or () for role, text in given.items() if text is not None}


def main() -> None:
    """Run the command line; every error becomes a message and an exit code."""
    signal.signal(signal.SIGTERM, _terminated)
    try:
        code = app(standalone_mode=False)
    except BaseException as error:
        code = _explain(error)
    sys.exit(code if isinstance(code, int) else 0)


def _terminated(number: int, frame: Any) -> None:
    # Raised in the main thread, so that whatever is half-written is removed on the way out.
    raise SystemExit(128 + number)


def _explain(error: BaseException) -> int:
    from undercover.errors import UndercoverError

    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else 1
    if isinstance(error, UndercoverError):
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    if isinstance(error, _InterruptedError | KeyboardInterrupt | typer.Abort):
        print("interrupted; nothing was written", file=sys.stderr)
        return 130
    if isinstance(error, MemoryError):
        print("error: not enough memory for this table on this machine.", file=sys.stderr)
        return 2
    show, exit_code = getattr(error, "show", None), getattr(error, "exit_code", None)
    if show is not None and isinstance(exit_code, int):  # usage errors of the command-line library
        show()
        return exit_code
    import traceback

    traceback.print_exception(error)
    print("This is a bug of undercover, not of your data. Nothing was written.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    main()
