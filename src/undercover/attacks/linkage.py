"""Linkage: the attacker knows a person's quasi-identifiers and looks for the rows that match.

Samarati & Sweeney 1998 for identity disclosure by matching; the class-majority guess for attribute disclosure is the
"background knowledge free" attack of Machanavajjhala et al. 2006.

A published row matches if every known value lies in its cell. With m matching rows the person is any of them with
probability 1/m; a sensitive value is as probable as it is frequent among them. Guessing is shown beside it: what the
attacker can do without the release, knowing only the overall distribution.

Where quasi-identifiers were drawn at random (mutual cover), the rows that fit need not include the person's own; he
then finds it with probability 0. Where boxes are so wide that people and the boxes that fit them cannot be listed, they
are counted: exactly, but for the best guess, which is then looked at for a part of the people
(:mod:`undercover.forms.matching`). With ``p_match`` he matches on some of the columns he knows only: see
:mod:`undercover.attacks.partial.profile`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from undercover.attacks.partial.profile import PAPERS, Profile, kept, profile
from undercover.errors import ParameterError, unknown
from undercover.forms.boxes import Boxes, boxes_of, match, original_as_release, value_codes
from undercover.forms.buckets.merged_boxes import merged_boxes
from undercover.forms.matching import MOST_PAIRS, can_be_counted, counted_matches, pairs_expected
from undercover.forms.perturbed.posteriors import STORY as PERTURBED_STORY
from undercover.forms.perturbed.posteriors import perturbed_posteriors
from undercover.forms.written import first_rows, number
from undercover.model.drawn import is_drawn, is_perturbed, own_rows_of_release
from undercover.model.release import Release
from undercover.model.table import Table

AT_RISK = 0.2  # the threshold commonly used by statistics offices and health data holders
SIZE_BINS = (1, 2, 3, 5, 10, 20, 50, 100)
WORST = 20
_LEAST_GUESSED = 1000  # people whose whole distribution is looked at, where boxes are too wide for everybody's
_EDGES = np.linspace(0.0, 1.0, 21)

STORY = (
    "The attacker knows that a person is in the table and knows the person's values in the columns {known}. "
    "He looks for the published rows these values fit, takes the person to be any of them with equal probability, "
    "and guesses the sensitive value that is most frequent among them."
)
DRAWN_STORY = (
    " The values of a row were drawn at random: the rows that fit need not include the person's own, and then he is "
    "wrong. He cannot tell whether they do."
)
P_MATCH_STORY = (
    " He does not match on all of these values: on each with probability {p:g}, whatever he does with the others. What "
    "he achieves is averaged over all subsets."
)


@dataclass(frozen=True)
class Disclosure:
    """What the attacker achieves on every row."""

    matches: NDArray[Any]  # (n_rows,) published rows that fit; with p_match the expected number
    attribute: Mapping[str, NDArray[np.float64]]  # probability he gives the true value
    hits: Mapping[str, NDArray[np.float64]]  # probability that his guess is right; NaN where it was not looked at
    found: NDArray[np.float64] | None = None  # identity, where it is not simply one of the rows that fit

    @property
    def identity(self) -> NDArray[np.float64]:
        """Probability of picking the person's own row; 0 where nothing fits."""
        if self.found is not None:
            return self.found
        matches: NDArray[np.float64] = self.matches.astype(np.float64)
        return np.divide(1.0, matches, out=np.zeros(len(matches)), where=matches > 0)

    def to_dict(self) -> dict[str, Any]:
        """Means and worst cases."""
        identity = self.identity
        return {
            "identity": {
                "mean": float(identity.mean()),
                "max": float(identity.max()),
                "at_risk_share": float((identity > AT_RISK).mean()),
                "unique_rows": int((identity > 1.0 - 1e-12).sum()),
            },
            "attribute": {
                name: {
                    "mean": float(probability.mean()),
                    "max": float(probability.max()),
                    **_success(self.hits[name]),
                    "certain_rows": int((probability > 1.0 - 1e-12).sum()),
                }
                for name, probability in self.attribute.items()
            },
        }


def _success(hits: NDArray[np.float64]) -> dict[str, Any]:
    """How often a guess is right; where only some people were looked at, how many and between which bounds (95%).

    >>> _success(np.array([1.0, 0.0]))
    {'guess_success': 0.5}
    >>> found = _success(np.array([1.0, 0.0, 1.0, 0.0, np.nan]))
    >>> found["guess_success"], found["guess_sample"], [round(end, 3) for end in found["guess_interval"]]
    (0.5, 4, [0.0, 1.0])
    """
    looked_at = hits[~np.isnan(hits)]
    mean = float(looked_at.mean())
    if len(looked_at) == len(hits):
        return {"guess_success": mean}
    spread = 1.96 * float(looked_at.std(ddof=1)) / math.sqrt(len(looked_at))
    interval = [max(0.0, mean - spread), min(1.0, mean + spread)]
    return {"guess_success": mean, "guess_sample": len(looked_at), "guess_interval": interval}


@dataclass(frozen=True)
class LinkageResult:
    """Linkage before and after, on every row, beside guessing."""

    known: tuple[str, ...]
    rows: NDArray[np.int64]  # input row of each target
    before: Disclosure
    after: Disclosure
    baseline: Mapping[str, Any]
    told: str = ""  # what else there is to say of the attacker
    p_match: float | None = None
    profile: Profile | None = None  # of the release, for every P
    raw_profile: Profile | None = None  # of the original as it is

    @property
    def story(self) -> str:
        """What the attacker knows and does."""
        return STORY.format(known=", ".join(f"`{name}`" for name in self.known)) + self.told

    def worst_rows(self, limit: int = WORST) -> list[dict[str, Any]]:
        """The rows an attacker learns most about after publication; for the holder's eyes only."""
        attribute = list(self.after.attribute.values())
        worst = np.max(attribute, axis=0) if attribute else np.zeros(len(self.rows))
        order = np.lexsort((self.rows, -self.after.identity, -worst))[:limit]
        return [
            {
                "row": int(self.rows[i]),
                "matches": self.after.matches[i].item(),
                "identity": float(self.after.identity[i]),
                "attribute": {name: float(values[i]) for name, values in self.after.attribute.items()},
            }
            for i in order
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-able values; ``worst_rows`` makes it private."""
        return {
            "attack": "linkage",
            "story": self.story,
            "known": list(self.known),
            "targets": len(self.rows),
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
            "baseline": dict(self.baseline),
            **self._by_matches(),
            "attribute_histogram": {
                name: {
                    "edges": _EDGES.round(2).tolist(),
                    "before": np.histogram(self.before.attribute[name], bins=_EDGES)[0].tolist(),
                    "after": np.histogram(self.after.attribute[name], bins=_EDGES)[0].tolist(),
                }
                for name in self.after.attribute
            },
            "worst_rows": self.worst_rows(),
        }

    def _by_matches(self) -> dict[str, Any]:
        """How many rows fit, or with ``p_match`` what every P gives."""
        if self.profile is not None and self.p_match is not None:
            sides = {"sweep": self.profile, "sweep_before": self.raw_profile or self.profile}
            ps = sorted({*PAPERS, self.p_match})
            return {"p_match": self.p_match, **{name: [side.means(p) for p in ps] for name, side in sides.items()}}
        return {
            "match_sizes": {
                "before": _size_histogram(self.before.matches),
                "after": _size_histogram(self.after.matches),
            }
        }

    def __repr__(self) -> str:
        return (
            f"<Linkage on {len(self.rows):,} people: identity {self.before.identity.max():.3f} -> "
            f"{self.after.identity.max():.3f} at worst; .to_dict() has everything>"
        )


@dataclass(frozen=True, kw_only=True)
class Linkage:
    """An attacker who knows quasi-identifiers and insensitive columns of a person in the table.

    Parameters
    ----------
    known
        The columns he knows; by default every quasi-identifier and every insensitive column.
    p_match
        He matches on each of them with this probability only, in [0, 1]; by default on all.

    Examples
    --------
    >>> Linkage(known=("age",)).known
    ('age',)
    >>> Linkage(p_match=1.5)
    Traceback (most recent call last):
    undercover.errors.ParameterError: The 'p_match' of Linkage must be a number in [0, 1]. Got 1.5 instead.
    """

    name: ClassVar[str] = "linkage"

    known: tuple[str, ...] | None = None
    p_match: float | None = None

    def __post_init__(self) -> None:
        p = self.p_match
        if p is not None and (isinstance(p, bool) or not isinstance(p, int | float) or not 0 <= p <= 1):
            raise ParameterError(f"The 'p_match' of Linkage must be a number in [0, 1]. Got {p!r} instead.")

    def run(
        self, original: Table, release: Release, *, own: NDArray[np.int64] | None = None, threads: int = 1
    ) -> LinkageResult:
        """Attack every row of ``original`` through ``release``.

        ``own`` is the published row of each row, where quasi-identifiers were drawn and the run knows it.
        """
        schema = original.schema
        possible = schema.quasi_identifiers + schema.insensitive
        known = possible if self.known is None else tuple(self.known)
        problems = [unknown("Known column", name, possible) for name in known if name not in possible]
        if problems or not known:
            raise ParameterError(problems or "Linkage needs at least one known column.")
        baseline = {
            "identity": 1.0 / original.n_rows,
            "attribute": {name: _guessing(original, name) for name in schema.sensitive},
        }
        own = own_rows_of_release(release) if own is None else own
        told = PERTURBED_STORY if is_perturbed(release) else DRAWN_STORY if is_drawn(release) else ""
        if self.p_match is not None:
            return self._subsets(original, release, known, own, baseline, told, threads)
        codes = np.stack([original[name].codes for name in known], axis=1).astype(np.int64)
        target_of, targets = distinct_rows(codes)
        raw = boxes_of(original_as_release(original, known, schema.sensitive), original, known, schema.sensitive)
        published = merged_boxes(release, original, known, schema.sensitive).boxes
        before = _disclosure(raw, original, target_of, targets, threads)
        if is_perturbed(release):
            offsets, members = match(published, targets, threads)
            (sensitive,) = schema.sensitive
            found = perturbed_posteriors(release, original[sensitive], known, offsets, members, target_of)
            after = Disclosure(found[0], {sensitive: found[1]}, {sensitive: found[2]})
        else:
            after = _disclosure(published, original, target_of, targets, threads)
        if is_drawn(release):
            right = kept(original, release, known, own).all(axis=1)
            after = replace(after, found=np.where(right, after.identity, 0.0))
        return LinkageResult(
            known=known,
            rows=original.rows,
            before=before,
            after=after,
            baseline=baseline,
            told=told,
        )

    def _subsets(
        self,
        original: Table,
        release: Release,
        known: tuple[str, ...],
        own: NDArray[np.int64] | None,
        baseline: Mapping[str, Any],
        told: str,
        threads: int,
    ) -> LinkageResult:
        assert self.p_match is not None
        p = float(self.p_match)
        raw = original_as_release(original, known, original.schema.sensitive)
        after = profile(original, release, known, own=own, threads=threads)
        before = profile(original, raw, known, threads=threads)
        return LinkageResult(
            known=known,
            rows=original.rows,
            before=_at(before, p),
            after=_at(after, p),
            baseline=baseline,
            told=told + P_MATCH_STORY.format(p=p),
            p_match=p,
            profile=after,
            raw_profile=before,
        )


def _at(found: Profile, p: float) -> Disclosure:
    identity, matches, attribute, hits = found.at(p)
    return Disclosure(matches, attribute, hits, identity)


def distinct_rows(codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the distinct rows: (number of each row, the distinct rows)."""
    keys = codes[:, 0]
    for j in range(1, codes.shape[1]):
        keys, _ = number(keys * (int(codes[:, j].max()) + 1) + codes[:, j])
    keys, count = number(keys)
    return keys, codes[first_rows(keys, count)]


def _disclosure(
    boxes: Boxes, original: Table, target_of: NDArray[np.int64], targets: NDArray[np.int64], threads: int
) -> Disclosure:
    pairs = pairs_expected(boxes, targets)
    if pairs <= MOST_PAIRS or not can_be_counted(boxes):
        return _listed(boxes, original, target_of, targets, threads)
    names: list[str | None] = [*boxes.sensitive] or [None]
    counted = [counted_matches(boxes, targets, target_of, None if n is None else original[n], threads) for n in names]
    matches = counted[0][0]
    # Who is guessed is looked at for some people only: rows, not targets, so that everybody is as likely to be among.
    some = max(_LEAST_GUESSED, int(MOST_PAIRS / 10 / pairs * len(targets)))
    rows = np.sort(np.random.default_rng(0).permutation(original.n_rows)[:some])
    chosen, position = np.unique(target_of[rows], return_inverse=True)
    guessed = _listed(boxes, original, position.reshape(-1), targets[chosen], threads, rows=rows)
    hits = {name: np.full(original.n_rows, np.nan) for name in boxes.sensitive}
    for name, found in guessed.hits.items():
        hits[name][rows] = found
    return Disclosure(
        matches[target_of], {n: found for n, (_, found) in zip(names, counted, strict=True) if n is not None}, hits
    )


def _listed(
    boxes: Boxes,
    original: Table,
    target_of: NDArray[np.int64],
    targets: NDArray[np.int64],
    threads: int,
    *,
    rows: NDArray[np.int64] | None = None,
) -> Disclosure:
    """From a list of all boxes that fit; ``rows`` are the rows ``target_of`` is about, by default all."""
    from undercover.forms.kernels import posteriors

    offsets, members = match(boxes, targets, threads)
    running = np.concatenate([[0], np.cumsum(boxes.weights[members])])
    matches = running[offsets[1:]] - running[offsets[:-1]]
    order = np.argsort(target_of, kind="stable")
    attribute, hits = {}, {}
    for name, distribution in boxes.sensitive.items():
        codes, n_values = value_codes(distribution, original[name])
        truth = original[name].codes if rows is None else original[name].codes[rows]
        probability, hit = posteriors(
            offsets,
            members,
            boxes.weights.astype(np.float64),
            boxes.bucket_of,
            distribution.starts,
            codes[distribution.value_index],
            distribution.counts.astype(np.float64),
            distribution.sizes.astype(np.float64),
            n_values,
            target_of[order],
            truth[order].astype(np.int64),
        )
        attribute[name], hits[name] = np.empty(len(order)), np.empty(len(order))
        attribute[name][order], hits[name][order] = probability, hit
    return Disclosure(matches[target_of], attribute, hits)


def _guessing(original: Table, name: str) -> dict[str, float]:
    shares = np.bincount(original[name].codes, minlength=original[name].domain.size) / original.n_rows
    return {"mean": float((shares**2).sum()), "guess_success": float(shares.max())}


def _size_histogram(matches: NDArray[np.int64]) -> list[dict[str, int | None]]:
    bins = []
    for i, low in enumerate(SIZE_BINS):
        high = SIZE_BINS[i + 1] - 1 if i + 1 < len(SIZE_BINS) else None
        inside = (matches >= low) if high is None else (matches >= low) & (matches <= high)
        bins.append({"from": low, "to": high, "rows": int(inside.sum())})
    return bins
