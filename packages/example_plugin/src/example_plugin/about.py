"""What is to be known of swapping beyond its class."""

from undercover.model.about import About, Example, asked
from undercover.model.release import Release


def did(release: Release) -> str:
    """What was done, from public facts."""
    share = release.parameters["share"]
    return f"Of every quasi-identifier, the values of a random {share:.0%} of the rows changed places."


ABOUT = About(
    title="Swapping",
    did=did,
    main=asked("share"),
    examples=(Example({"share": 0.9}, "safe"), Example({"share": 0.5}, "safe"), Example({"share": 0.1}, "unreachable")),
)
