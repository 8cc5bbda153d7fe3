"""``python -m tests.soak.soaking``: an hour of publishes, kills, attacks and web jobs, and what it does to a machine.

Random tables, methods and kills, from a seed that is printed. After every piece of work: every release verifies and has
the values of its table, a place that a kill left is used again and then clean, temporary files are gone. Memory and
open files of this process, in which releases are made, too, and of the server, are watched. Prints a line a minute and
a summary; leaves with 1 where anything was wrong. ``UNDERCOVER_SOAK_MINUTES`` says how long (60).
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.soak.small_tables import METHODS, begun, publish, write_table, wrong_with
from tests.web.calling import Caller
from tests.web.running import Running, running

import undercover as uc

MINUTES = float(os.environ.get("UNDERCOVER_SOAK_MINUTES", "60"))
GROWTH = 0.15
"""Gigabytes that a process may have more at the end than after its first few pieces of work."""
HANDLES = 20
"""Open files that it may have more."""
SCHEMA = uc.Schema(quasi_identifiers=["age", "sex", "zip"], sensitive="disease", identifiers=["name"])
WARM = 5
"""Pieces of work after which a process has loaded what it needs."""


class Watch:
    """Memory and open files of a process, as they were once it was warm and as they are now."""

    def __init__(self, name: str, process: int) -> None:
        self.name, self.process, self.seen = name, process, 0
        self.first = self.last = (0.0, 0)

    def look(self) -> None:
        """After a piece of work."""
        pages = int(Path(f"/proc/{self.process}/statm").read_text().split()[1])
        self.last = pages * os.sysconf("SC_PAGE_SIZE") / 1e9, len(os.listdir(f"/proc/{self.process}/fd"))
        self.seen += 1
        if self.seen <= WARM:
            self.first = self.last

    def wrong(self) -> str:
        """What it has too much of."""
        memory, handles = (last - first for last, first in zip(self.last, self.first, strict=True))
        return f"{self.name}: {self}" if memory > GROWTH or handles > HANDLES else ""

    def __str__(self) -> str:
        return (
            f"{self.first[0]:.2f} → {self.last[0]:.2f} GB, {self.first[1]} → {self.last[1]} open files "
            f"after {self.seen} pieces of work"
        )


class Soak:
    """One machine, one server, one process that goes on."""

    def __init__(self, home: Path, seed: int) -> None:
        self.home, self.chance = home, random.Random(seed)
        self.done: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.temporary = home / "temporary"
        self.temporary.mkdir()
        self.env = {**os.environ, "TMPDIR": str(self.temporary)}
        self.number = 0
        self.own = Watch("this process", os.getpid())
        self.served: list[Watch] = []
        self.stack = ExitStack()
        self.server: Running | None = None
        self.caller: Caller | None = None

    def work(self) -> dict[str, Callable[[], str]]:
        """What there is to do; each says what went wrong."""
        return {
            "published": self.publish,
            "published under kill -9": self.killed,
            "attacked and measured": self.attack,
            "published in this process": self.here,
            "published on the web": self.web,
            "server killed under a job": self.kill_server,
        }

    def one(self, name: str | None = None) -> None:
        """One piece of work, and what it left."""
        name = name or self.chance.choices(list(self.work()), [4, 4, 2, 4, 3, 1])[0]
        self.number += 1
        try:
            said = self.work()[name]()
        except Exception as error:  # whatever it is, it is told, and the next piece of work begun
            said = f"{type(error).__name__}: {error}"
        self.done[name] += 1
        left = sorted(os.listdir(self.temporary))
        if left and "kill" not in name:
            said += f" left in the temporary folder: {left}"
        for entry in left:
            self.done["left in the temporary folder by a kill"] += 1
            place = self.temporary / entry
            shutil.rmtree(place) if place.is_dir() else place.unlink()
        if said:
            self.wrong.append(f"{self.number}, {name}: {said}")

    def publish(self) -> str:
        table, out, method = self._drawn()
        done = self._ran(publish(table, out, method))
        return self._looked_at(done, table, out)

    def killed(self) -> str:
        """A release that replaces another is killed at any time; then it is made again."""
        table, out, method = self._drawn()
        if self.chance.random() < 0.5:
            before = self._ran(publish(table, out, method))
            if before.returncode:
                return self._looked_at(before, table, out)
        process = begun(publish(table, out, method, "--force"), self.env)
        try:
            process.communicate(timeout=self.chance.uniform(0.5, 6.0))
            self.done["was faster than the kill"] += 1
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        if out.exists():
            said = wrong_with(out, table)
            if said:
                return f"after the kill {said}"
        self.done["left beside the release by a kill"] += len(self._hidden(out))
        return self._looked_at(self._ran(publish(table, out, method, "--force")), table, out)

    def attack(self) -> str:
        table, out, method = self._drawn()
        made = self._ran(publish(table, out, method))
        said = self._looked_at(made, table, out, keep=True)
        for command, *more in (
            ("attack", "--original", str(table)),
            ("measure", "--original", str(table)),
            ("verify",),
        ):
            if not said and not made.returncode:
                done = self._ran([sys.executable, "-m", "undercover", command, str(out), "--json", *more])
                said = "" if done.returncode == 0 else f"{command}: {done.stderr[-300:]}"
        self._gone(table, out)
        return said

    def here(self) -> str:
        table, out, _ = self._drawn()
        run = uc.publish(table, SCHEMA, self.chance.choice([uc.Mondrian(k=5), uc.Anatomy(l=3)]), policy="none")
        uc.save(run, out)
        uc.attack(uc.load(out), original=table)
        said = wrong_with(out, table)
        self._gone(table, out)
        self.own.look()
        return said

    def web(self) -> str:
        table, out, _ = self._drawn()
        caller = self._served()
        key = caller.upload(table)
        roles = {"quasi_identifiers": ["age", "sex", "zip"], "sensitive": ["disease"], "identifiers": ["name"]}
        caller.decide(key, {"roles": roles, "method": {"name": "mondrian", "k": 5}, "policy": {"name": "none"}})
        number = caller.publish(key)
        caller.freed(key, number)
        place = caller.download(key, number, out)
        said = "" if uc.verify(place).holds else "does not verify"
        assert caller.http.delete(f"/api/tables/{key}").status_code == 204
        self._gone(table, out)
        self.served[-1].look()
        return said

    def kill_server(self) -> str:
        """The next one finishes what it finds."""
        table, out, _ = self._drawn()
        caller = self._served()
        with table.open("rb") as content:
            key = str(caller.asked("POST", "/api/tables", files={"file": (table.name, content)})["id"])
        time.sleep(self.chance.uniform(0.0, 1.0))
        assert self.server is not None
        self.server.process.send_signal(signal.SIGKILL)
        self._closed()
        caller = self._served()
        job = caller.asked("GET", f"/api/tables/{key}/jobs")
        if job:
            caller.over(key, job[0]["id"])
        assert caller.http.delete(f"/api/tables/{key}").status_code == 204
        self._gone(table, out)
        hidden = [str(path) for path in (self.home / "workspace").rglob(".*")]
        return f"left in the workspace: {hidden}" if hidden else ""

    def close(self) -> None:
        """End the server."""
        self._closed()

    def _drawn(self) -> tuple[Path, Path, int]:
        table = write_table(self.home / f"{self.number}.csv", self.chance.randint(60, 600), self.number)
        return table, self.home / f"out-{self.number}", self.chance.randrange(len(METHODS))

    def _ran(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, env=self.env, capture_output=True, text=True, timeout=600, check=False)

    def _looked_at(self, done: subprocess.CompletedProcess[str], table: Path, out: Path, *, keep: bool = False) -> str:
        if done.returncode == 3:
            self.done["cannot be reached on its table"] += 1
        said = "" if done.returncode in (0, 3) else f"left with {done.returncode}: {done.stderr[-300:]}"
        if not said and done.returncode == 0:
            said = wrong_with(out, table)
        if not said and self._hidden(out):
            said = f"left beside the release: {self._hidden(out)}"
        if not keep:
            self._gone(table, out)
        return said

    def _hidden(self, out: Path) -> list[str]:
        return [path.name for path in self.home.glob(f".{out.name}.*")]

    def _gone(self, table: Path, out: Path) -> None:
        table.unlink()
        shutil.rmtree(out, ignore_errors=True)

    def _served(self) -> Caller:
        if self.caller is None:
            self.server = self.stack.enter_context(running(self.home / "workspace"))
            self.caller = self.stack.enter_context(Caller(self.server.addresses[0]))
            self.served.append(Watch("the server", self.server.process.pid))
        return self.caller

    def _closed(self) -> None:
        self.stack.close()
        self.server = self.caller = None


@contextmanager
def soak(seed: int) -> Iterator[Soak]:
    """A folder of its own, which is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        one = Soak(Path(folder), seed)
        try:
            yield one
        finally:
            one.close()


def main() -> int:
    """Until the time is up."""
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else random.SystemRandom().randrange(1 << 32)
    began = said = time.monotonic()
    print(f"soaking for {MINUTES:g} minutes with the seed {seed}: {len(METHODS)} methods", flush=True)
    with soak(seed) as one:
        while time.monotonic() - began < MINUTES * 60:
            one.one()
            if time.monotonic() - said > 60:
                said = time.monotonic()
                minutes = (said - began) / 60
                print(f"{minutes:5.1f} min: {one.number} pieces of work, {len(one.wrong)} wrong; {one.own}", flush=True)
        watches = [one.own, *one.served]
        one.wrong += [watch.wrong() for watch in watches if watch.wrong()]
    for name, times in sorted(one.done.items()):
        print(f"{times:7,} {name}")
    for watch in watches:
        print(f"{watch.name}: {watch}")
    for problem in one.wrong:
        print(f"WRONG {problem}")
    print(f"{one.number} pieces of work, {len(one.wrong)} wrong")
    return 1 if one.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
