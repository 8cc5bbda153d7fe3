"""The pages and charts of the gallery, by the code that makes them for everybody, from the built-in census."""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import undercover as uc
from undercover.model.view import Picture, View
from undercover.pages import jinja
from undercover.pages.render import inspection_html

QUASI_IDENTIFIERS = ["age", "sex", "education", "marital_status"]
PAGES = {
    "report": "The report of a release",
    "datasheet": "The datasheet of a release",
    "inspection": "The inspection of a table",
    "comparison": "A comparison of three methods",
    "cards": "Cards of a notebook",
}
"""What is shown in a frame of its own."""


def make(folder: Path, rows: int = 2000, methods: Sequence[str] = ("mondrian", "cross-bucket", "anatomy")) -> list[str]:
    """Write every page into a folder; the charts of the attacks, as markup."""
    folder.mkdir(parents=True, exist_ok=True)
    people = uc.datasets.census(rows, seed=1)
    schema = uc.Schema(quasi_identifiers=QUASI_IDENTIFIERS, sensitive="income", drop="*")
    run = uc.publish(people, schema, uc.CrossBucket(k=5, l=8))
    with tempfile.TemporaryDirectory() as own:
        uc.save(run, Path(own, "release"))
        uc.compare(people, schema, Path(own, "compared"), methods=methods, queries=20)
        places = ("release/private/report", "release/public/datasheet", "compared/compare")
        for page, place in zip(("report", "datasheet", "comparison"), places, strict=True):
            shutil.copyfile(Path(own, f"{place}.html"), folder / f"{page}.html")
    found = uc.inspect(people)
    _write(folder / "inspection.html", inspection_html(found.to_dict(), found.risks(), "people.csv"))
    attack = uc.attack(run)
    cards = "".join(thing._repr_html_() for thing in (schema, run, uc.verify(run.release), attack))
    head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Cards</title>'
    _write(folder / "cards.html", f'{head}<meta name="color-scheme" content="light dark"><body>{cards}')
    views = (attack.view(), uc.attack(run, uc.PartialKnowledge()).view(), uc.measure(people, run).view())
    pictures = [picture for view in views for picture in _pictures(view)]
    return [
        f"{jinja.drawings(picture, f'chart{place}')}<figcaption>{picture.sentence}</figcaption>"
        for place, picture in enumerate(pictures)
    ]


def _pictures(view: View) -> Iterator[Picture]:
    """The pictures of a view and of those within it."""
    for part in view.parts:
        made = part() if callable(part) else part
        if isinstance(made, View):
            yield from _pictures(made)
        elif isinstance(made, Picture):
            yield made


def _write(path: Path, page: str) -> None:
    path.write_text(page, encoding="utf-8")
