"""What report and datasheet say of mutual cover: the table keeps its shape, and its protection is what is hidden."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from undercover.model.release import PublishedTable, Release

DONE = (
    "Similar rows were put into groups in which the sensitive values differ. For every group and quasi-identifier a "
    "table was computed that says with which probability each person releases which value: as near to the own value as "
    "can be, while nobody has more than a fixed share of any value. From these the published values were drawn. "
    "Sensitive values were not changed. The published table looks like an original one."
)
UNCHANGED = {
    "resample": "Rows all of whose values came through were drawn again.",
    "paper": "In rows all of whose values came through some values were replaced.",
    "off": "Rows all of whose values came through were left as they are.",
}
PROMISE = (
    "Of every value that may be released in a group, no person has more than this share of the probability. It bounds "
    "a share, not the probability of being found, and it speaks of the output tables, which are private."
)
FROM_RUN = "Recomputed from the private output tables; published tables cannot show it."
QUASI_IDENTIFIER = "Drawn at random from the values of similar people: near the person's own, and often equal to it."
VALUE = "A single value."
ORDER_KEPT = "is that of the input: whoever knows it knows which row is whose"


def done(parameters: Mapping[str, Any]) -> str:
    """What was done, in words.

    >>> done({"unchanged": "off"}).endswith("left as they are.")
    True
    """
    said = [DONE, UNCHANGED.get(str(parameters.get("unchanged")), "")]
    if parameters.get("tables") == "uniform":
        said.append("The tables make every value of a group equally likely.")
    return " ".join(filter(None, said))


def limits(release: Release) -> list[str]:
    """What a release of mutual cover does not protect.

    >>> limits(Release("mutual-cover", {"keep_order": True}, (), False))[0].split(":")[0]
    'The rows stand in the order of the input'
    """
    said = []
    if release.parameters.get("keep_order"):
        said.append("The rows stand in the order of the input: whoever knows that order knows which row is whose.")
    said += [
        "δ is the largest share one person has of any value that may be released in the group. It does not bound the "
        "probability of being found: somebody who keeps a value that others rarely draw is found more often than δ "
        "says. The holder has these figures.",
        "The protection rests on what is hidden: groups, output tables and draws. Somebody who knew the groups and "
        "the tables could often tell which row is whose; whoever knows the method can guess at both.",
        "Sensitive values stand in the rows of their owners: whoever finds the row knows the value. Groups were made "
        "so that in each of them the values differ, but nothing is promised about rows that look alike in the "
        "published table.",
        "The promise is about each column by itself. An attacker may match on several at once; he then meets rows that "
        "are not the person's, and cannot tell, but a part of his guesses is right.",
    ]
    unchanged = sorted({name for table in release.tables for name in table.names("insensitive")})
    if unchanged:
        said.append(
            f"Published unchanged, as declared: {', '.join(unchanged)}. Whoever knows these of a person can use them "
            "to find the row; no promise covers them."
        )
    said += [
        "The release is not algorithm-safe: the groups depend on sensitive values.",
        "The promises are about this release alone. A second release about the same people, or a second draw from the "
        "same table, can be joined with it.",
        "The promises are per row: a person with several rows is not covered by them.",
        "What holds for a whole group (people of this age earn more) can be learnt, and is meant to be; it applies to "
        "members of the group whether they are in the table or not.",
    ]
    return said


def snippets(table: PublishedTable, file_format: str) -> list[dict[str, str]]:
    """Code for recipients: an ordinary table, to be read as one."""
    reader = "read_parquet" if file_format == "parquet" else "read_csv"
    found = [
        {
            "title": "Read the table",
            "text": "It has the shape of an original table: one row per person, one plain value per cell.",
            "code": f'import pandas as pd\n\ntable = pd.{reader}("{table.name}.{file_format}")\n',
        }
    ]
    quasi, sensitive = table.names("quasi-identifier"), table.names("sensitive")
    found.append(
        {
            "title": f"Count by {quasi[0]}",
            "text": "Use it as an ordinary table. Distributions of single columns are nearly those of the original; "
            "tables of several columns are blurred, as values were drawn column by column. Single rows mean nothing: "
            "a row is a mixture of similar people.",
            "code": f"print(table[{quasi[0]!r}].value_counts(normalize=True))\n",
        }
    )
    if sensitive:
        kind = table.data.column(sensitive[0]).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        by_group = f"print(pd.crosstab(table[{quasi[0]!r}], table[{sensitive[0]!r}], normalize='index').round(3))\n"
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            by_group = f"print(table.groupby({quasi[0]!r})[{sensitive[0]!r}].mean())\n"
        found.append(
            {
                "title": f"Distribution of {sensitive[0]}, and by {quasi[0]}",
                "text": "Sensitive values are as they were, each as often. By group they are off by as much as the "
                "group's borders are blurred: small groups suffer most, and there are no bounds to compute.",
                "code": f"print(table[{sensitive[0]!r}].value_counts(normalize=True).head(10))\n" + by_group,
            }
        )
    return found


def beside_delta(diagnostics: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The figures that stand beside δ in the holder's report, each with what it means.

    >>> beside_delta({"effective_share": {"max": 0.5, "mean": 0.2, "tables_above_delta": 0.25}})[0]["max"]
    0.5
    """
    found: list[dict[str, Any]] = []
    shares = diagnostics.get("effective_share")
    if shares:
        words = (
            f"The same share in the values as they were released, after unchanged rows were dealt with; above δ in "
            f"{shares['tables_above_delta']:.0%} of the tables."
        )
        found.append({"title": "Effective share", "mean": shares["mean"], "max": shares["max"], "words": words})
    near = diagnostics.get("reidentification_by_one_value")
    if near:
        words = "Somebody knows one value of a person, looks for it among the rows of the group and picks one."
        found.append({"title": "Found by one value, within the group", **_ends(near), "words": words})
        if "over_all_rows" in near:
            words = "The same among all published rows that show the value."
            found.append({"title": "Found by one value, over all rows", **_ends(near["over_all_rows"]), "words": words})
    return found


def _ends(figures: Mapping[str, Any]) -> dict[str, float]:
    return {"mean": float(figures["mean"]), "max": float(figures["max"])}
