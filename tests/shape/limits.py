"""What the house must be: every figure of `make shape` with what it was before the rebuild, and what it may be now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MOST_FILES = 40
"""Of one folder."""

MOST_LINES = 800
"""Of one file."""

MOST_KERNEL_LINES = 1_000
"""Of one file of compiled loops."""

MOST_FUNCTION_LINES = 119
"""Of one function, its docstring included."""

MOST_ARGUMENTS = 10
"""Of one kernel."""

MOST_SOURCE = 46_000 + 6_300 + 3_300 + 10_000 + 2_600 + 700 + 850 + 360 + 300 + 750 + 6_000 + 9_000 + 4_500 + 12_000
"""Lines of the whole: of the house when it was built; of what made its labels true (attackers who see everything that
is published, several releases of the same people, the ledger, a closed world to verify in, signatures); of the safe
variants (class dealing, covers by permuting, their law, promises and words, programs that end, sums and curves); of
the verdict about people (policies, what is withheld and accepted, people who have several rows, the journalist, what
`inspect` sees in names and values, kinds and levels nobody gave, recommendations); of what people look at and hold
(files of every office, frames that go back as they came, words and code of the datasheet, the report's first page);
of the transformer for pipelines and exact frames; of releases as Excel, Stata and SPSS files; of looks, labels and
intervals of figures, words for one of something; of pictures drawn for phones, losses by one name and what sampling
does to counts; of waiting and words (one watch, settings spelled for whoever asks); of tables
beyond memory and beyond one machine (codes all the way, parts, engines, Spark);
of the web application (steps, jobs, access, texts, the JSON interface); of trust (strict readers, values as they are
written, faults and limits, what is looked for in a release before it is shown); of true statements (self-test before
writing, joint promises, strict verification, repeated people, spellings; decision 84)."""

PAPERS = "studies/experiments/papers/"
"""Studies of papers: they compare methods, so they name them."""

MAY_NAME_METHODS = (
    "plugins.py",
    "datasets/hospital.py",
    PAPERS,
    "io/release/before_forms.py",
    "methods/mutual_cover/",  # partition = "mondrian" is a value of its own parameter
    "methods/cross_bucket/",  # so is boxes = "mondrian"
    "methods/perturbed_generalization/",  # so are recoding = "mondrian" and "incognito"
)
"""Files, and folders with all that is in them, in which a method's name may stand."""

MAY_NAME_FORMS = (*MAY_NAME_METHODS, "model/form.py", "testing/")
"""The same of forms."""

MAY_STATE_FORMS = ("methods/", "steps/", "testing/")
"""Who makes tables says of what form they are; nobody asks."""

MAY_READ_TABLES = (
    "engines/joining.py",
    "engines/spark/pieces.py",
    "forms/",
    "io/",
    "model/formats/",
    "model/frames/",
    "model/release.py",
    "testing/",
    "studies/algorithm_aware/watching.py",
)
"""Where the cells of a published table are read, besides the modules of a method that make it.

(The attacker who watches a method compares what is written, whatever it means; what joins the tables of parts puts
them behind each other.)
"""

STATED_SHARED = ("undercover.guarantees.breach.bounds", "undercover.guarantees.breach.composition")
"""What a method takes from the promise it is about, said openly: the bound that defines it, and its inverse."""

IMPORTED_AT_FIRST = ("undercover", "undercover.version")
"""What `import undercover` loads of the package."""

NOT_VERIFYING = ("methods", "steps", "compiled", "pages")
"""Rooms of which verifying a folder loads nothing; nor kernels anywhere."""


@dataclass(frozen=True)
class Limit:
    """One figure: what it was, and what it may be at most (or must be exactly)."""

    title: str
    before: str
    goal: float
    sense: Literal["at most", "exactly"] = "at most"

    def met(self, value: float) -> bool:
        """Whether a figure is what it must be."""
        return value == self.goal if self.sense == "exactly" else value <= self.goal


LIMITS = {
    "naming": Limit("general files that name a method or form, or ask for it by name", "36", 0),
    "rooms": Limit("mutual cover: rooms it lies in besides its slice", "10", 0),
    "files": Limit("mutual cover: files that are about it alone", "29", 16),
    "shared": Limit("functions a method shares with its verification", "5", 0),
    "cells": Limit("files that read the cells of published tables and should not", "21", 0),
    "verifications": Limit("journey 1 (publish, mutual cover): verifications", "3", 1, "exactly"),
    "columns": Limit("journey 1: columns of cells turned into codes", "61", 8),
    "questions": Limit("journey 1: questions by name", "49", 0),
    "journey_files": Limit("journey 1: files", "110", 85),
    "journey_functions": Limit("journey 1: functions", "660", 520),
    "journey_calls": Limit("journey 1: distinct calls from file to file", "555", 350),
    "inside_files": Limit("journey 1: files inside `anonymize`", "25", 21),
    "originals": Limit("journey 2 (attack, perturbed): reads of the original", "2", 1, "exactly"),
    "boxes": Limit("journey 2: boxes built", "3", 2),
    "modules": Limit("journey 2: modules loaded", "208", 100),
    "signatures": Limit("signatures of an attack's `run`", "6", 1, "exactly"),
    "widest": Limit("files in the widest folder", "36", MOST_FILES),
    "one_importer": Limit("modules with one importer, in a hundred", "36", 18),
    "largest": Limit("lines of the largest function", "402", MOST_FUNCTION_LINES),
    "arguments": Limit("kernels with more than ten arguments", "33", 0),
    "longest": Limit("lines of the longest file that is no kernel", "661", MOST_LINES),
    "longest_kernel": Limit("lines of the longest file of kernels", "714", MOST_KERNEL_LINES),
    "lines": Limit("lines of source", "49,824", MOST_SOURCE),
}
"""By the key under which it is measured, in the order in which it is printed.

(Modules with one importer were 114 of 320 and were to be 59: shares, since the house has almost twice the rooms now.)
"""
