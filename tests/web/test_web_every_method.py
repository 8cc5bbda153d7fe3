"""Every method from the table of a desk to a download that holds what it promises, with jobs in this process.

``tests/browser/test_web_way.py`` has the same way with jobs in processes of their own.
"""

from __future__ import annotations

from pathlib import Path

from every_method import released
from inside import Inside
from serving import serving

from undercover import plugins


def test_every_method_that_fits(tmp_path: Path) -> None:
    names = plugins.names("methods")
    with serving(tmp_path / "workspace", workers=0) as client, Inside(client) as caller:
        found, pages = released(caller, names, tmp_path)
        assert {name: holds for name, holds in found.items() if not holds} == {"swap": None}, "which promises nothing"
        assert len(pages) == len(names)
        for page in pages:
            assert client.get(page).text.count("<h1") == 1
