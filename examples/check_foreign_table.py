"""Check a table that somebody else anonymised: which promises does it keep, and where does it fail?

Run it with ``python examples/check_foreign_table.py``. The table has a class in which everybody has the same disease,
a person of unknown age who is alone, and a suppressed row.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import undercover as uc
from undercover.guarantees.verify import verify_table
from undercover.io.source import ReadOptions, read

TABLE = """\
age,sex,disease
20-29,F,flu
20-29,F,gout
20-29,F,rash
30-39,M,HIV
30-39,M,HIV
30-39,M,HIV
,F,flu
*,*,cold
"""


def main() -> None:
    """Check k, l and t and print the worst classes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "foreign.csv")
        path.write_text(TABLE, encoding="utf-8")
        # Read as text: cells such as 20-29 and * are to be compared as they are written.
        table = read(path, options=ReadOptions(text=("age", "sex", "disease"))).data

    asked = [uc.KAnonymity(k=3), uc.LDiversity(l=2), uc.TCloseness(t=0.5)]
    found = verify_table(table, ["age", "sex"], ["disease"], asked)
    print(f"{found.rows} rows in {found.classes} classes, {found.suppressed_rows} suppressed")
    for finding in found.findings:
        verdict = "holds" if finding.holds else "does not hold"
        print(f"{finding.name} {verdict}: asked for {finding.required:g}, found {finding.shown()}")
        for example in finding.examples:
            print(f"  {example['size']} rows with {example['cells']}")


if __name__ == "__main__":
    main()
