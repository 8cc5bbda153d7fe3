"""A release of people in order, and its public files as they are written."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scanning_people import SCHEMA, crowd

import undercover as uc
from undercover.io.release.contents import DATASHEET
from undercover.io.release.manifest import write_tables
from undercover.model.run import Run
from undercover.pages.datasheet import datasheet_summary
from undercover.pages.render import datasheet_html
from undercover.scanning.result import Scan
from undercover.scanning.scan import scan

Scanned = Callable[..., Scan]


@pytest.fixture(scope="session")
def made() -> Run:
    """A generalised release of them."""
    return uc.publish(crowd(), SCHEMA, uc.Mondrian(k=8))


@pytest.fixture
def public(tmp_path: Path) -> Path:
    """Where public files are written."""
    place = tmp_path / "somewhere" / "public"
    place.mkdir(parents=True)
    return place


@pytest.fixture
def scanned(public: Path) -> Scanned:
    """What is found in the public files of a run, after something was planted in them."""

    def look(run: Run, *, plant: Any = None, said: Any = None, file_format: Any = "csv") -> Scan:
        (public / DATASHEET).write_text(datasheet_html(datasheet_summary(run.release)), encoding="utf-8")
        write_tables(run.release, public, format=file_format, said=said or run.schema.said)
        if plant is not None:
            plant(public)
        return scan(run, public, public.parent, file_format)

    return look
