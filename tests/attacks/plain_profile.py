"""The P_match attacker as its story tells it, one subset after the other: everybody is compared with every box anew."""

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.forms.boxes import Boxes, Buckets, boxes_of
from undercover.forms.case import Case
from undercover.forms.dealt.law import Law
from undercover.forms.dealt.rows import row_codes
from undercover.forms.reading import Reading

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
EQUAL = 1.0 - 1e-12


def plain_profile(case: Case, known: tuple[str, ...], reading: Reading | None = None) -> dict[str, Floats]:
    """(n_rows, d + 1) every figure of a profile by its name, of the release or of another ``reading``."""
    original, shown, d = case.original, reading or case.reading, len(known)
    boxes = boxes_of(shown, original, known, original.schema.sensitive)
    codes = np.stack([original[name].codes for name in known], axis=1).astype(np.int64)
    covered = covering(boxes, codes)
    names = ["identity", "matches", *(f"{kind} {name}" for name in boxes.sensitive for kind in ("belief", "hit"))]
    sums = {name: np.zeros((original.n_rows, d + 1)) for name in names}
    for size in range(d + 1):
        for subset in combinations(range(d), size):
            fits = np.logical_and.reduce([covered[j] for j in subset]) if subset else np.ones_like(covered[0])
            matches = fits @ boxes.weights
            chance = own_chance(case, known, list(subset), codes) if reading is None else 1.0
            sums["identity"][:, size] += np.where(matches > 0, chance / np.maximum(matches, 1), 0)
            sums["matches"][:, size] += matches
            offsets, members = np.append(0, np.cumsum(fits.sum(axis=1))), np.nonzero(fits)[1]
            for name in boxes.sensitive:
                buckets, truth = boxes.buckets(original[name]), original[name].codes.astype(np.int64)
                law = boxes.laws.get(name) or Law.of_rows(buckets.n_values)
                belief, hit = plain_posteriors(law, offsets, members, buckets, np.arange(len(truth)), truth)
                sums[f"belief {name}"][:, size] += belief
                sums[f"hit {name}"][:, size] += hit
    return sums


def covering(boxes: Boxes, codes: Whole) -> list[NDArray[np.bool_]]:
    """(n_people, n_boxes) of every column, whether a box covers the value of a person."""
    found = []
    for j, cover in enumerate(boxes.covers):
        bits = np.zeros((cover.n_cells, cover.n_positions), dtype=bool)
        for cell in range(cover.n_cells):
            for run in range(cover.starts[cell], cover.starts[cell + 1]):
                bits[cell, cover.low[run] : cover.high[run] + 1] = True
        found.append(bits[boxes.cells[:, j]][:, codes[:, j]].T)
    return found


def own_chance(case: Case, known: tuple[str, ...], subset: list[int], codes: Whole) -> Any:
    """(n_people,) how likely the own row fits."""
    if case.dealt is not None:
        cells = row_codes(case.reading, known, case.original)
        return case.dealt.chance(cells[:, subset], codes[:, subset])
    fits = case.reading.own_fits(known, case.original, case.own)
    return 1.0 if fits is None else fits[:, subset].all(axis=1)


def plain_posteriors(
    law: Law, offsets: Whole, members: Whole, buckets: Buckets, target_of: Whole, truth: Whole
) -> tuple[Floats, Floats]:
    """As :func:`undercover.forms.kernels.posteriors`, for all targets at once by sorting what they are shown."""
    weights, bucket_of, starts, values, counts, sizes, n_values = buckets
    n, bucket = len(offsets) - 1, bucket_of[members]
    target = np.repeat(np.arange(n), np.diff(offsets))
    total = np.bincount(target, weights=weights[members], minlength=n)
    times = starts[bucket + 1] - starts[bucket]
    entry = np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times - starts[bucket], times)
    rows = np.repeat(weights[members] / sizes[bucket], times) * counts[entry]
    target = np.repeat(target, times)
    over = np.where(total > 0, total, 1.0)
    spread = np.bincount(target, weights=rows * law.spread[values[entry]], minlength=n) / over
    keys, place = np.unique(target * n_values + values[entry], return_inverse=True)
    shown = np.bincount(place.reshape(-1), weights=rows, minlength=len(keys)) / over[keys // n_values]
    of_key, believed = keys // n_values, law.believed(keys % n_values, shown, spread[keys // n_values])
    top = law.base == law.base.max()
    unseen = law.base.max() * spread  # of the most frequent values, where no row shows them
    highest = unseen.copy()
    np.maximum.at(highest, of_key, believed)
    ties = np.bincount(of_key[believed >= highest[of_key] * EQUAL], minlength=n)
    seen = np.bincount(of_key[top[keys % n_values]], minlength=n)
    ties += np.where(unseen >= highest * EQUAL, int(top.sum()) - seen, 0)
    asked = target_of * n_values + truth
    found = np.minimum(np.searchsorted(keys, asked), max(len(keys) - 1, 0))
    mine = np.where(keys[found] == asked, shown[found], 0.0) if len(keys) else np.zeros(len(asked))
    there = total[target_of] > 0
    probability = np.where(there, law.believed(truth, mine, spread[target_of]), 0.0)
    best = there & (probability >= highest[target_of] * EQUAL)
    return probability, np.where(best, 1 / np.maximum(ties[target_of], 1), 0.0)
