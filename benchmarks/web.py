"""``make bench-web``: the web application as somebody meets it: first page, answers, a large file, many at once.

Every part starts a server of its own as ``undercover serve`` does and asks it over HTTP. Options: ``--only``
(beginnings of parts, by commas: first, interaction, large, sessions), ``--rows``, ``--large-rows``, ``--sessions``.
"""

from __future__ import annotations

import argparse
import csv
import random
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pyarrow.csv
from tests.web.calling import Caller
from tests.web.running import Running, running

import undercover as uc
from benchmarks.measure import Book

FIRST = 1.0
"""Seconds from the start of the process to the first page."""
ANSWER = 0.2
"""Seconds of an interaction."""
GIGABYTES = 2.0
"""Of any process while a large file is uploaded and profiled."""
SPEC = {
    "roles": {"quasi_identifiers": ["age", "sex", "education", "zip"], "sensitive": ["income"]},
    "columns": {},
    "method": {"name": "mondrian", "k": 20},
}


def first(book: Book) -> None:
    """From starting the process to the first page, signed in."""
    book.section("First page")
    times = []
    for _ in range(5):
        with tempfile.TemporaryDirectory() as folder:
            began = time.perf_counter()
            with running(Path(folder)) as server, httpx.Client(follow_redirects=True) as client:
                assert client.get(server.addresses[0]).status_code == 200
                times.append(time.perf_counter() - began)
    book.add("from start to the first page, median of five", statistics.median(times), "s", FIRST)


def interaction(book: Book, rows: int) -> None:
    """Pages and live figures of a table of so many rows."""
    book.section(f"Interactions, {rows:,} rows")
    with tempfile.TemporaryDirectory() as folder, running(Path(folder, "w")) as server:
        file = Path(folder, "census.csv")
        pyarrow.csv.write_csv(uc.datasets.census(rows, seed=1), file)
        with Caller(server.addresses[0]) as caller:
            key = caller.upload(file)
            columns = caller.asked("GET", f"/api/tables/{key}/profile")["inspection"]["columns"]
            names = [column["name"] for column in columns]
            caller.decide(key, fitted(names))
            number = caller.publish(key)
            caller.freed(key, number)
            for title, call in asked(caller, key, number, names).items():
                times = []
                for _ in range(15):
                    began = time.perf_counter()
                    call()
                    times.append(time.perf_counter() - began)
                book.add(f"{title}: median", statistics.median(times), "s", ANSWER, note=f"worst {max(times):.3f} s")


def fitted(names: list[str]) -> dict[str, Any]:
    """The spec for the columns there are."""
    known = [name for name in SPEC["roles"]["quasi_identifiers"] if name in names]
    return {**SPEC, "roles": {"quasi_identifiers": known, "sensitive": SPEC["roles"]["sensitive"]}}


def asked(caller: Caller, key: str, number: int, names: list[str]) -> Mapping[str, Callable[[], None]]:
    """What somebody clicks, by its name."""
    here, http = f"/tables/{key}", caller.http
    token = http.get("/").text.split('name="csrf" value="')[1].split('"')[0]

    def get(path: str) -> Callable[[], None]:
        def call() -> None:
            answer = http.get(path)
            assert answer.status_code == 200, f"{path}: {answer.status_code}"

        return call

    def post(path: str, fields: Callable[[], dict[str, str]]) -> Callable[[], None]:
        def call() -> None:
            about = {"x-csrf": token, "hx-request": "true"}
            answer = http.post(path, data=fields(), headers=about)
            assert answer.status_code in (200, 303), f"{path}: {answer.status_code} {answer.text[:200]}"

        return call

    chance = random.Random(1)

    def roles() -> dict[str, str]:
        drawn = {f"role-{place}": chance.choice(("quasi_identifiers", "drop")) for place in range(len(names))}
        return {**drawn, f"role-{names.index('income')}": "sensitive", "missing": "error"}

    opened = http.post(f"/ask/from/{key}/{number}", headers={"x-csrf": token}).headers["location"]
    while "ask" in opened and "/question" not in http.get(opened).text:
        time.sleep(0.2)
    return {
        "data page": get(f"{here}/data"),
        "columns page": get(f"{here}/columns"),
        "live counts of people singled out": post(f"{here}/columns/figures", roles),
        "protect page": get(f"{here}/protect"),
        "methods": get(f"{here}/method"),
        "form of a method": get(f"{here}/method/mondrian"),
        "what parameters lead to": post(f"{here}/method/mondrian/look", lambda: {"k": str(chance.randint(2, 50))}),
        "run page": get(f"{here}/run"),
        "result page": get(f"{here}/releases/{number}"),
        "before and after": get(f"{here}/releases/{number}/rows"),
        "attacks": get(f"{here}/releases/{number}/attacks"),
        "riskiest people": get(f"{here}/releases/{number}/people"),
        "a question to the release": post(
            f"{opened}/question", lambda: {"what": "count", "low-0": str(chance.randint(20, 60))}
        ),
    }


def large(book: Book, rows: int) -> None:
    """A large file, uploaded and profiled."""
    with tempfile.TemporaryDirectory() as folder, running(Path(folder, "w")) as server:
        file = Path(folder, "large.csv")
        write_large(file, rows)
        size = file.stat().st_size / 1e6
        book.section(f"A CSV file of {rows:,} rows, {size:,.0f} MB")
        with Caller(server.addresses[0]) as caller, watched(server) as peaks:
            began = time.perf_counter()
            with file.open("rb") as content:
                key = caller.asked("POST", "/api/tables", files={"file": (file.name, content)})["id"]
            sent = time.perf_counter() - began
            caller.over(key, caller.asked("GET", f"/api/tables/{key}/jobs")[0]["id"])
            read = time.perf_counter() - began - sent
            slow = max(_timed(lambda: caller.http.get(f"/tables/{key}/columns")) for _ in range(3))
        book.add("uploading", sent, "s")
        book.add("profiling", read, "s")
        book.add("peak memory of the server", peaks["server"], "GB", GIGABYTES)
        book.add("peak memory of a worker", peaks["worker"], "GB", GIGABYTES)
        book.add("columns page afterwards", slow, "s")


def write_large(path: Path, rows: int) -> None:
    """People who do not exist, some 100 bytes each."""
    chance = random.Random(2)
    towns, jobs = [f"town of number {one:03d}" for one in range(120)], [f"occupation {one:02d}" for one in range(60)]
    with path.open("w", newline="", encoding="utf-8") as target:
        written = csv.writer(target)
        written.writerow(["id", "name", "age", "sex", "town", "zip", "born", "occupation", "income", "disease"])
        for row in range(rows):
            draw = chance.random
            written.writerow(
                [
                    f"{row:08d}",
                    f"Person {row * 7919 % 1_000_003:07d}",
                    int(18 + 70 * draw()),
                    "MF"[row % 2],
                    towns[int(120 * draw() * draw())],
                    10000 + int(9000 * draw()),
                    f"{1940 + int(65 * draw())}-{1 + int(12 * draw()):02d}-{1 + int(28 * draw()):02d}",
                    jobs[int(60 * draw())],
                    1000 * int(20 + 100 * draw()),
                    f"disease {int(40 * draw() * draw()):02d}",
                ]
            )


@contextmanager
def watched(server: Running) -> Iterator[dict[str, float]]:
    """Peaks of the server and of any process it starts, in gigabytes."""
    peaks, over = {"server": 0.0, "worker": 0.0}, threading.Event()

    def look() -> None:
        while not over.wait(0.05):
            peaks["server"] = max(peaks["server"], _peak(server.process.pid))
            peaks["worker"] = max([peaks["worker"], *map(_peak, _children(server.process.pid))])

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield peaks
    finally:
        over.set()
        thread.join()


def _peak(process: int) -> float:
    """Gigabytes that a process ever held; 0 where it is gone."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 2**20 for line in lines if line.startswith("VmHWM")), 0.0)


def _children(process: int) -> list[int]:
    found: list[int] = []
    for place in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            found += map(int, place.read_text().split())
        except OSError:
            continue
    return found + [one for child in found for one in _children(child)]


def _timed(call: Callable[[], Any]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def sessions(book: Book, count: int) -> None:
    """So many people at the same time, each with a table of his own, from the upload to a verified download."""
    book.section(f"{count} sessions at the same time, two workers")
    desks = [f"desk-{number:02d}" for number in range(count)]
    options = [word for desk in desks for word in ("--desk", desk)]
    with tempfile.TemporaryDirectory() as folder:
        with running(Path(folder, "w"), *options, "--workers", "2", desks=count) as server, watched(server) as peaks:
            began = time.perf_counter()
            with ThreadPoolExecutor(count) as pool:
                work = [(line.rpartition(" ")[2], number, Path(folder)) for number, line in enumerate(server.addresses)]
                wrong = [problem for problem in pool.map(lambda one: session(*one), work) if problem]
            took = time.perf_counter() - began
        book.add("sessions with a wrong result", len(wrong), "", 0, note="; ".join(wrong)[:300])
        book.add("all of them, from upload to a verified download", took, "s", note=f"{took / count:.1f} s each")
        book.add("peak memory of the server", peaks["server"], "GB", GIGABYTES)


def session(address: str, number: int, folder: Path) -> str:
    """The whole way with a table that nobody else has; what is wrong with what came back."""
    file = folder / f"table-{number}.csv"
    rows = 200 + number
    write_small(file, rows, number)
    try:
        with Caller(address) as caller:
            key = caller.upload(file)
            roles = {"quasi_identifiers": ["age", "sex", "zip"], "sensitive": ["disease"], "identifiers": ["name"]}
            caller.decide(key, {"roles": roles, "method": {"name": "mondrian", "k": 5}, "policy": {"name": "none"}})
            release = caller.publish(key)
            caller.freed(key, release)
            place = caller.download(key, release, folder / f"public-{number}")
            if len(caller.asked("GET", "/api/tables")) != 1:
                return f"{number}: sees tables of others"
    except (AssertionError, httpx.HTTPError) as error:
        return f"{number}: {error}"
    with next(place.glob("*.csv")).open(encoding="utf-8") as content:
        published = list(csv.DictReader(content))
    if not uc.verify(place).holds:
        return f"{number}: does not verify"
    strange = [row for row in published if not row["disease"].endswith(f"-{number}")]
    return f"{number}: rows of another table" if strange or len(published) != rows else ""


def write_small(path: Path, rows: int, number: int) -> None:
    """A table whose values say whose it is."""
    chance = random.Random(number)
    lines = ["name,age,sex,zip,disease"]
    for row in range(rows):
        ill = f"{chance.choice(('flu', 'cold', 'asthma', 'gout', 'fever'))}-{number}"
        lines.append(
            f"P{number}-{row},{chance.randint(20, 80)},{chance.choice('MF')},{10000 + chance.randint(0, 300)},{ill}"
        )
    path.write_text("\n".join(lines) + "\n")


def main() -> None:
    """Parse and run."""
    wanted = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    wanted.add_argument("--only", default="", help="beginnings of parts, by commas")
    wanted.add_argument("--rows", type=int, default=30_000)
    wanted.add_argument("--large-rows", type=int, default=1_000_000)
    wanted.add_argument("--sessions", type=int, default=50)
    options = wanted.parse_args()
    parts: dict[str, Callable[[Book], None]] = {
        "first": first,
        "interaction": lambda book: interaction(book, options.rows),
        "large": lambda book: large(book, options.large_rows),
        "sessions": lambda book: sessions(book, options.sessions),
    }
    book = Book()
    for name, part in parts.items():
        if name.startswith(tuple(options.only.split(","))):
            part(book)
    target = Path("build")
    target.mkdir(exist_ok=True)
    book.write(target / "web.json")


if __name__ == "__main__":
    main()
