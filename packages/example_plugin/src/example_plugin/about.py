"""What is to be known of swapping beyond its class."""

from undercover.model.about import About, Example, asked
from undercover.model.release import Release


def did(release: Release) -> str:
    """What was done, from public facts."""
    share = release.parameters["share"]
    return f"Of every quasi-identifier, the values of a random {share:.0%} of the rows changed places."


ABOUT = About(
    title="Swapping",
    idea="Values of each quasi-identifier change places among a share of the rows.",
    when="Take it to see how a method of your own is added; it promises little.",
    did=did,
    main=asked("share"),
    examples=(Example({"share": 0.9}, "safe"), Example({"share": 0.5}, "safe"), Example({"share": 0.1}, "unreachable")),
)
