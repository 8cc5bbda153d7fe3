"""``make bench-peers``: every package on the same tables, each run in a process of its own with limits.

Prints a table and appends every run to ``peers.json``. A table is tried only where the one before it (a tenth or a
third of its rows) took at most a quarter of the limit. Options: ``--rows``, ``--limit`` (seconds), ``--memory``
(gigabytes), ``--only`` (beginnings of names).
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import resource
import signal
import subprocess
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.peers.contenders import CONTENDERS, HOME, Contender
from benchmarks.peers.judge import judge_file
from benchmarks.peers.tables import NUMBERS, QUASI_IDENTIFIERS, SENSITIVE, hierarchies, write

ADAPTERS = Path(__file__).parent / "adapters"
CLAIMS: tuple[tuple[int, int | None], ...] = ((10, None), (10, 5))
SUPPRESSION = 0.05
Row = dict[str, Any]


def limited(command: list[str], seconds: float, gigabytes: float, log: Path, environment: dict[str, str]) -> Row:
    """Run a command until it ends or its time is over: how it ended, times of the whole process and its peak memory."""
    started = time.monotonic()
    with log.open("wb") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said, start_new_session=True, env=environment)
    most = int(gigabytes * 2**30)
    resource.prlimit(process.pid, resource.RLIMIT_AS, (most, most))
    over, pid = False, 0
    while not pid:
        time.sleep(0.02)
        pid, status, used = os.wait4(process.pid, os.WNOHANG)
        if not pid and not over and time.monotonic() - started > seconds:
            over = True
            os.killpg(process.pid, signal.SIGKILL)
    process.returncode = os.waitstatus_to_exitcode(status)
    outcome = "finished"
    if over:
        outcome = f"stopped after {seconds:.0f} s"
    elif process.returncode:
        last = [line for line in log.read_text(errors="replace").splitlines() if line.strip()][-1:]
        outcome = f"failed: {(last or [f'signal {-process.returncode}'])[0].strip()[:160]}"
    return {
        "outcome": outcome,
        "process_wall": time.monotonic() - started,
        "process_processor": used.ru_utime + used.ru_stime,
        "peak_megabytes": used.ru_maxrss / 1024,
    }


def one_run(who: Contender, rows: int, k: int, l: int | None, options: argparse.Namespace) -> Row:  # noqa: E741
    """A contender on a table with a claim; what it published is judged here, not there."""
    folder = HOME / "tables" / str(rows)
    tag = f"{who.adapter}-{who.task}-{who.variant or 'only'}-k{k}-l{l or 0}"
    output, times, asked = (folder / f"{tag}.{kind}" for kind in ("csv", "times.json", "settings.json"))
    trees, table = hierarchies(), folder / "table.csv"
    output.unlink(missing_ok=True), times.unlink(missing_ok=True)
    settings = {
        "task": who.task,
        "variant": who.variant,
        "table": str(folder / "undercover-publish-mondrian-k10-l5.csv" if who.task == "verify" else table),
        "quasi_identifiers": QUASI_IDENTIFIERS,
        "numbers": () if who.task == "verify" else NUMBERS,
        "sensitive": SENSITIVE,
        "hierarchies": trees,
        "k": k,
        "l": l,
        "suppression": SUPPRESSION,
        "repeats": 2 if who.ours else 1,
        "output": str(output),
        "times": str(times),
    }
    asked.write_text(json.dumps(settings))
    row: Row = {"date": f"{datetime.date.today()}", "who": who.name, "rows": rows, "k": k, "l": l}
    row["load"] = os.getloadavg()[0]
    try:
        python = who.python()
    except (OSError, subprocess.SubprocessError) as error:
        return row | {"outcome": str(error)[:200]}
    script = ADAPTERS / f"with_{who.adapter}.py"
    command, log = [str(python), str(script), str(asked)], folder / f"{tag}.log"
    environment = {name: value for name, value in os.environ.items() if who.ours or name != "PYTHONPATH"}
    row |= limited(command, options.limit, options.memory, log, environment)
    if row["outcome"] != "finished":
        return row
    row |= json.loads(times.read_text())
    if who.task == "publish":
        judged = judge_file(output, table, trees, SENSITIVE)
        row |= {"lost": rows - judged.rows, "keeps": judged.keeps(k, l), "judged": asdict(judged)}
    return row


def line(row: Row, who: Contender) -> str:
    """A row of the table in the docs."""
    claim = f"{row['k']}" if row["l"] is None else f"{row['k']}, {row['l']}"
    shown = [f"{row['rows']:,}", claim, who.name]
    if row["outcome"] != "finished":
        return f"| {' | '.join([*shown, row['outcome']])} |"
    calls = row["calls"]
    processor = " / ".join(f"{call['processor']:.2f}" for call in calls)
    wall = " / ".join(f"{call['wall']:.2f}" for call in calls)
    shown += [processor, wall, f"{row['process_processor']:.1f}", f"{row['peak_megabytes']:,.0f}"]
    if who.task == "verify":
        shown.append(f"k = {row['told']['k']:g}, l = {row['told']['l']:g}")
    else:
        found = row["judged"]
        shown += [f"{row['lost']:,}", f"{found['loss']:.3f}", f"{'yes' if row['keeps'] else 'NO'}: k = {found['k']}"]
        shown[-1] += f", l = {found['l']}" + (f", {found['invented']} invented" if found["invented"] else "")
    return f"| {' | '.join(shown)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[30_000, 300_000, 1_000_000])
    parser.add_argument("--limit", type=float, default=120.0)
    parser.add_argument("--memory", type=float, default=12.0)
    parser.add_argument("--only", nargs="+", default=[""])
    options = parser.parse_args()
    book = Path("peers.json")
    kept: list[Row] = json.loads(book.read_text()) if book.exists() else []
    print(f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print("| rows | k, l | who | processor s | wall s | whole process s | peak MB | rows lost | loss | kept |")
    slow: dict[tuple[str, int | None], str] = {}
    for rows in options.rows:
        folder = HOME / "tables" / str(rows)
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "table.csv").exists():
            write(rows, folder / "table.csv")
        for who in CONTENDERS:
            if not any(who.name.startswith(name) for name in options.only):
                continue
            for k, l in CLAIMS:  # noqa: E741
                if (l is None and who.task == "verify") or (l is not None and not who.diverse):
                    continue
                if (who.name, l) in slow:
                    row = {"who": who.name, "rows": rows, "k": k, "l": l, "outcome": slow[who.name, l]}
                else:
                    row = one_run(who, rows, k, l, options)
                    if row["outcome"] != "finished" or row["process_wall"] > options.limit / 4:
                        slow[who.name, l] = f"not tried, since with {rows:,} rows: {row['outcome']}"
                        if row["outcome"] == "finished":
                            slow[who.name, l] += f" after {row['process_wall']:.0f} s"
                print(line(row, who), flush=True)
                kept.append(row)
                book.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
