"""The papers' small examples as ready tables, each with its schema and where it is printed.

The values are those printed, with two spellings made plain: ages and postcodes are numbers where no leading zero
is lost, and a missing name of a column is given one (``owner`` for the numbered people of a figure).

Sources: Li, Wang & He (mutual cover); Tao, Xiao, Li & Zhang (perturbed generalization); Liu & Wang (privacy
streamliner); Cheong, Wu & Wong (non-centralized l-diversity); Li, Liu, Han & Zhang (cross-bucket generalization).

Deviations: the second private table of non-centralized l-diversity is the one of its Table 1; the published table the
paper derives from it (Table 2b) does not agree with it and is not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import pyarrow as pa

from undercover.errors import ParameterError, unknown
from undercover.model.schema import Schema


@dataclass(frozen=True)
class Example:
    """A small table of a paper.

    Examples
    --------
    >>> hospital("streamliner").table["condition"].to_pylist()
    ['flu', 'flu', 'cold', 'cold', 'HIV']
    """

    name: str
    table: pa.Table
    schema: Schema
    source: str
    note: str

    def __repr__(self) -> str:
        return f"<Example {self.name!r}: {self.table.num_rows} rows, {self.source}; .table and .schema are ready>"


@overload
def hospital() -> dict[str, Example]: ...


@overload
def hospital(name: str) -> Example: ...


def hospital(name: str | None = None) -> Example | dict[str, Example]:
    """All examples by name, or the one called ``name``.

    Examples
    --------
    >>> hospital("mutual-cover")
    <Example 'mutual-cover': 10 rows, Li, Wang & He, Figure 1(a); .table and .schema are ready>
    >>> list(hospital())[:2]
    ['mutual-cover', 'perturbed-generalization']
    """
    examples = {example.name: example for example in _examples()}
    if name is None:
        return examples
    if name not in examples:
        raise ParameterError(unknown("Example", name, examples))
    return examples[name]


def _examples() -> list[Example]:
    owners = enumerate(["pneumonia"] * 3 + ["HIV"] * 2 + ["bronchitis"] * 2 + ["lung_cancer"] * 2, start=1)
    return [
        Example(
            "mutual-cover",
            _table(
                "name age disease",
                "Daphne 28 flu, Helen 29 hepatitis, Dean 29 bronchitis, Rachel 32 gastritis, Neil 33 pneumonia",
                "Dave 35 pneumonia, Ella 39 gastritis, Bill 39 cancer, Tina 40 flu, Louis 41 bronchitis",
            ),
            Schema(identifiers="name", quasi_identifiers="age", sensitive="disease"),
            "Li, Wang & He, Figure 1(a)",
            "Ten people; the random output table of Figure 2 is for the ages of this group.",
        ),
        Example(
            "perturbed-generalization",
            _table(
                "owner age gender zipcode disease",
                "Bob 25 M 25000 bronchitis, Calvin 30 M 27000 pneumonia, Debbie 45 F 20000 pneumonia",
                "Ellie 50 F 15000 breast_cancer, Fiona 55 F 45000 ovarian_cancer, Gloria 58 F 32000 hypertension",
                "Henry 65 M 65000 Alzheimer, Isaac 80 M 55000 dementia",
            ),
            Schema(identifiers="owner", quasi_identifiers=["age", "gender", "zipcode"], sensitive="disease"),
            "Tao, Xiao, Li & Zhang, Table I(a)",
            "Eight patients; an adversary who has corrupted Bob learns what Calvin has.",
        ),
        Example(
            "perturbed-generalization-voters",
            _table(
                "name age gender zipcode",
                "Bob 25 M 25000, Calvin 30 M 27000, Debbie 45 F 20000, Ellie 50 F 15000, Emily 52 F 28000",
                "Fiona 55 F 45000, Gloria 58 F 32000, Henry 65 M 65000, Isaac 80 M 55000",
            ),
            Schema(identifiers="name", quasi_identifiers=["age", "gender", "zipcode"]),
            "Tao, Xiao, Li & Zhang, Table I(b)",
            "What the adversary holds against the eight patients: everybody who exists. Emily is not a patient.",
        ),
        Example(
            "perturbed-generalization-group",
            _table(
                "owner group disease",
                *(f"o{number} 1 {disease}" for number, disease in owners),
                "o10 1 SARS, o11 1 tuberculosis",
            ),
            Schema(identifiers="owner", quasi_identifiers="group", sensitive="disease"),
            "Tao, Xiao, Li & Zhang, Figure 1",
            "One group of eleven that is recursively (1/2, 3)-diverse and still tells 'a respiratory disease'.",
        ),
        Example(
            "streamliner",
            _table("name dob condition", "Ada 1985 flu, Bob 1980 flu, Coy 1975 cold, Dan 1970 cold, Eve 1965 HIV"),
            Schema(identifiers="name", quasi_identifiers="dob", sensitive="condition"),
            "Liu & Wang, Table 1",
            "Five people, 52 partitions; nine of them keep every value to at most two thirds of a group.",
        ),
        Example(
            "noncentralized-revenue",
            _table(
                "name age gender salary_class",
                "Alice 60 F High, Bob 50 M High, Carlo 55 M High, Diana 50 F High, Eva 48 F Middle, Fred 43 M Middle",
                "George 25 M Middle, Helen 37 F Middle, Ivan 57 M Low, Janice 57 F Low, Kate 18 F Low, Leslie 22 F Low",
            ),
            Schema(identifiers="name", quasi_identifiers=["age", "gender"], sensitive="salary_class"),
            "Cheong, Wu & Wong, Table 1(a)",
            "What the revenue office holds; cut at age 40 it is distinct 2-diverse.",
        ),
        Example(
            "noncentralized-census",
            _table(
                "name zip_code salary_class",
                "Alice 25434 High, Bob 27343 High, Carlo 19343 High, Diana 17234 High, Eva 28544 Middle",
                "Fred 24453 Middle, George 26211 Middle, Helen 23094 Middle, Ivan 29454 Low, Janice 12845 Low",
                "Kate 15341 Low, Leslie 22093 Low",
            ),
            Schema(identifiers="name", quasi_identifiers="zip_code", sensitive="salary_class"),
            "Cheong, Wu & Wong, Table 1(b)",
            "What the census office holds on the same people; cut at 20000 both tables together give Kate away.",
        ),
        Example(
            "cross-bucket",
            _table(
                "id age sex zip_code disease",
                "101 16 Female 43307 flu, 102 22 Male 43302 dyspepsia, 103 24 Female 43306 hepatitis",
                "104 26 Male 43307 bronchitis, 105 29 Male 43309 bronchitis, 106 31 Female 43312 pneumonia",
                "107 34 Female 43312 gastritis, 108 35 Male 43309 dyspepsia",
            ),
            Schema(identifiers="id", quasi_identifiers=["age", "sex", "zip_code"], sensitive="disease"),
            "Li, Liu, Han & Zhang, Figure 1(b)",
            "Eight rows for k = 2 and l = 4.",
        ),
        Example(
            "cross-bucket-voters",
            _table(
                "name sex age zip_code",
                "Tina Female 26 22105, Helen Female 31 43312, Louis Male 42 01274, Rachel Female 34 02732",
            ),
            Schema(identifiers="name", quasi_identifiers=["sex", "age", "zip_code"]),
            "Li, Liu, Han & Zhang, Figure 1(a)",
            "The voter list beside the eight rows; Helen is row 106.",
        ),
    ]


def _table(names: str, *rows: str) -> pa.Table:
    """Rows by commas, their cells by spaces; a column is numbers where none has a leading zero."""
    cells = [[cell.replace("_", " ") for cell in row.split()] for line in rows for row in line.split(", ")]
    columns = zip(names.split(), zip(*cells, strict=True), strict=True)
    return pa.table({name: [int(cell) for cell in column] if _whole(column) else column for name, column in columns})


def _whole(column: Sequence[str]) -> bool:
    return all(cell.isdecimal() and not cell.startswith("0") for cell in column)
