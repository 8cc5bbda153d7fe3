"""A method's name stands in its own slice alone; nobody asks a release which method or form it is."""

from pathlib import Path

import pytest
from limits import LIMITS
from naming import named
from planting import planted
from sources import PACKAGE, Slice, slices

from undercover.plugins import BUILT_IN

LEAKS = {
    "identifier": ("studies/plan.py", "def sweep_mutual_cover():\n    return 1\n"),
    "class": ("verbs/attack.py", "def run(method):\n    return isinstance(method, MutualCover)\n"),
    "import": ("verbs/publish.py", "from undercover.methods.mondrian.method import Mondrian as M\n"),
    "text": ("cli/main.py", "HELP = 'as mutual cover does it'\n"),
    "part of a text": ("pages/words.py", "def title(k):\n    return f'mondrian, k={k}'\n"),
    "question": ("pages/words.py", "def title(release, asked):\n    return release.method == asked\n"),
    "another method": ("methods/anatomy/method.py", "from undercover.methods.mondrian.following import follow\n"),
    "form": (
        "attacks/linkage.py",
        "from undercover.model.form import Drawn\ndef f(x):\n    return isinstance(x.form, Drawn)\n",
    ),
    "form by name": ("attacks/linkage.py", "def f(release):\n    return release.form.name == 'drawn'\n"),
    "predicate": ("utility/measures.py", "def f(release):\n    return is_perturbed(release)\n"),
    "slice of a form": ("verbs/measure.py", "from undercover.forms.drawn.reading import DrawnReading\n"),
    "form of another": ("forms/buckets/reading.py", "from undercover.forms.drawn.reading import DrawnReading\n"),
}

HARMLESS = {
    "plugins.py": "BUILT_IN = {'mutual-cover': 'undercover.methods.mutual_cover.method:MutualCover'}\n",
    "studies/experiments/papers/mutual_cover/bench.py": "from undercover.methods.mondrian.method import Mondrian\n",
    "methods/mutual_cover/method.py": "from undercover.model.form import Drawn\nMutualCover = Drawn(order='input')\n",
    "pages/words.py": '"""Words; mutual cover has its own."""\nbuckets = {"drawn": True}\nmethod = "method"\n',
    "verbs/verify.py": "from undercover.model.form import Generalized\nform = Generalized()\n",
    "forms/drawn/reading.py": "from undercover.model.form import Drawn\nform: Drawn\n",
}


def test_no_general_file_names_a_method_or_a_form() -> None:
    found = named()
    files = {place.file for place in found}
    assert LIMITS["naming"].met(len(files)), "\n".join(map(str, found))


@pytest.mark.parametrize("leak", LEAKS)
def test_a_name_that_leaks_is_found(leak: str, tmp_path: Path) -> None:
    file, text = LEAKS[leak]
    assert {place.file for place in named(planted(tmp_path, {**HARMLESS, file: text}))} == {file}


def test_where_names_may_stand_nothing_is_found(tmp_path: Path) -> None:
    assert named(planted(tmp_path, HARMLESS)) == ()


def test_every_method_and_form_has_the_folder_that_is_looked_at() -> None:
    for kind in ("methods", "forms"):
        for found in slices(kind, BUILT_IN[kind]):
            assert (PACKAGE / found.folder).is_dir(), found
    assert Slice("mutual-cover", "methods/mutual_cover/", ("MutualCover",)) in slices("methods", BUILT_IN["methods"])
