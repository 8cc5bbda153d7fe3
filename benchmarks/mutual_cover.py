"""Mutual cover: its programs against scipy's solver, the whole method at a million rows, and the attacks on it."""

from __future__ import annotations

import numpy as np

import undercover as uc
from benchmarks.cover import PAPER_ROWS, QUASI_IDENTIFIERS, cover
from benchmarks.measure import Book, best, peak_memory
from undercover.attacks.partial.profile import profile
from undercover.forms import read
from undercover.methods.mutual_cover.draw import picked_among
from undercover.methods.mutual_cover.kernels.likelihood import assignment_marginals

METHOD = uc.MutualCover(variant="paper", delta="1/5", l=10)


def mutual_cover(book: Book, rows: int, threads: int) -> None:
    cover(book, rows, threads)
    _end_to_end(book, rows)
    _attacks(book, threads)


def _schema() -> uc.Schema:
    return uc.datasets.census_schema(QUASI_IDENTIFIERS, "salary", hierarchies=False)


def _end_to_end(book: Book, rows: int) -> None:
    book.section(f"Mutual cover, delta=1/5, l=10, {rows:,} rows x 7 quasi-identifiers, from a frame to a verified run")
    whole, tenth = uc.datasets.census(rows, seed=1), uc.datasets.census(rows // 10, seed=1)
    uc.publish(tenth, _schema(), METHOD)
    small = best(lambda: uc.publish(tenth, _schema(), METHOD), 3)
    large = best(lambda: uc.publish(whole, _schema(), METHOD), 2)
    limit = 10.0 if rows <= 1_000_000 else None
    book.add(f"mutual cover: publish {rows:,} rows", large, "s", limit, note="encoding and verification included")
    book.add(f"mutual cover: growth {rows // 10:,} -> {rows:,}", large / small, "x", 12)
    memory = peak_memory(lambda: uc.publish(whole, _schema(), METHOD))
    book.add("mutual cover: peak memory", memory / rows, "bytes/row")


def _attacks(book: Book, threads: int) -> None:
    book.section(f"Attacks on {PAPER_ROWS:,} rows x 7 quasi-identifiers")
    people = uc.datasets.census(PAPER_ROWS, seed=1)
    for method in (METHOD, uc.Mondrian(k=10, l=10, cut="median"), uc.Anatomy(l=10)):
        run = uc.publish(people, _schema(), method)
        assert run.original is not None

        def attack(made: uc.Run = run) -> None:
            assert made.original is not None
            profile(
                read(made.release),
                made.original,
                QUASI_IDENTIFIERS,
                own=read(made.release).own_rows(made),
                threads=threads,
            )

        attack()
        book.add(f"P_match, all 128 subsets, {method.name}", best(attack, 2), "s")
    run = uc.publish(people, _schema(), METHOD)
    found = uc.attack(run, uc.Informed())
    seconds = best(lambda: uc.attack(run, uc.Informed()), 2)
    book.add("informed adversary", seconds, "s", note=f"exact for {found.exact.mean():.1%} of the people")
    rng = np.random.default_rng(0)
    likelihood = rng.random((14, 14))
    exact, approximate = (assignment_marginals(likelihood, sets)[0] for sets in (1 << 14, 0))
    error = float(np.abs(exact - approximate).max())
    book.add("informed adversary: approximation against exact, dense group of 14", error, "")
    others = rng.random(2_000)
    distribution = np.ones(1)
    for chance in others:
        distribution = np.convolve(distribution, [1 - chance, chance])
    by_convolution = float((distribution / np.arange(1, len(distribution) + 1)).sum())
    error = abs(picked_among(1.0, others.tolist()) / by_convolution - 1)
    book.add("re-identification among 2,000 carriers, relative error", error, "", 1e-10)
