"""Publish a CSV file: make a release, ask whether it may go out, verify it as a recipient would, attack it.

Run it with ``python examples/publish_csv.py``. It writes to a temporary folder; for your own data put in your paths.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import undercover as uc
from undercover.io.csv.text import write_csv


def main() -> None:
    """Walk one table from file to release."""
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder, "people.csv"), Path(folder, "out")
        write_csv(uc.datasets.census(5000), data)

        schema = uc.Schema(quasi_identifiers=["age", "sex", "education", "race"], sensitive="income", drop="*")
        run = uc.publish(data, schema, uc.Mondrian(k=10, l=4))
        uc.save(run, out)  # to out/public, or to out/withheld where the verdict is "Do not publish"

        # Whether it may be published: nobody is over a limit of the policy, and the method leaves one thing to decide.
        print(f"verdict: {run.verdict.title}")
        for reason in run.verdict.reasons:
            print(f"  {reason.sentence()}")

        # Whoever receives out/public can do this: nothing but the published files is read.
        checked = uc.verify(out / "public")
        print(f"verified: {checked.holds}")
        for finding in checked.findings:
            print(f"  {finding.name}: asked for {finding.required}, found {finding.shown()}")

        # This needs the original, so it is for the holder.
        found = uc.attack(out).to_dict()
        before, after, guessing = found["before"], found["after"], found["baseline"]
        print(f"rows found, worst: {before['identity']['max']:.0%} -> {after['identity']['max']:.0%}")
        print(
            f"income guessed: {before['attribute']['income']['guess_success']:.0%} -> "
            f"{after['attribute']['income']['guess_success']:.0%}, "
            f"without the release {guessing['attribute']['income']['guess_success']:.0%}"
        )
        print(f"loss: {uc.measure(data, run).loss['arx'].arithmetic:.3f}")

        print("files:", *sorted(path.relative_to(out).as_posix() for path in out.rglob("*.*")))


if __name__ == "__main__":
    main()
