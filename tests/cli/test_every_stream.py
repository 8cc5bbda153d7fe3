"""Every command over streams that nobody reads, that are full, or that have no letters but those of ASCII.

Whatever is made stays, and nothing of it is a bug. The letters of the table, its columns and its folders are not ASCII.
"""

import errno
import io
import json
import os
import sys
from pathlib import Path

import pytest

import undercover as uc
from undercover.cli.main import COMMANDS, main
from undercover.errors import UndercoverError
from undercover.pages import jinja

ROLES = ["--qi", "Âge,sexe,ville", "--sensitive", "maladie", "--identifiers", "prénom"]
MADE = ["--method", "anatomy", "--set", "l=2", "--drop", "*"]
COMMAND_LINES = {
    "inspect": ["{people}", "--html", "{new}.html"],
    "publish": ["{people}", *ROLES, *MADE, "--out", "{new}"],
    "accept": ["{release}", "--because", "für Łódź", "--by", "Zoë"],
    "verify": ["{release}"],
    "sign": ["--new-key", "{new}.clé"],
    "attack": ["{release}"],
    "measure": ["{release}", "--original", "{people}"],
    "guarantee": ["--domain", "10", "--k", "5", "--p", "0.3", "--rho1", "0.2"],
    "apply": ["{release}", "--to", "{people}", "--out", "{new}"],
    "joint-risk": ["{release}/public", "{release}/public", "--shared", "nested"],
    "recommend": ["{people}", *ROLES, "--methods", "mondrian", "--time", "1"],
    "hierarchy": ["intervals", "--widths", "5,10", "--from", "0", "--to", "99"],
    "ledger": ["add", "{new}.ledger", "{release}"],
    "--version": [],
    "--help": [],
}
REFUSED = {"accept", "joint-risk"}  # with a sentence that has letters in it
LATER = {"demo", "compare", "serve", "experiment", "warm-up"}  # `make soak`, and the tests of the server


class Raw(io.RawIOBase):
    """What stands behind a stream: it takes everything, or nothing for a reason."""

    def __init__(self, why: int = 0) -> None:
        self.why, self.taken = why, b""

    def writable(self) -> bool:
        return True

    def write(self, content: object) -> int:
        if self.why:
            raise OSError(self.why, os.strerror(self.why))
        self.taken += bytes(content)  # type: ignore[call-overload]
        return len(content)  # type: ignore[arg-type]


def stream(raw: Raw, errors: str = "strict") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding="ascii", errors=errors, line_buffering=True)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """People with letters in their names that ASCII has not, and a release of them."""
    place = tmp_path_factory.mktemp("données")
    people, release = place / "Bürger.csv", place / "veröffentlicht"
    lines = ["prénom,Âge,sexe,ville,maladie"]
    for i in range(60):
        town, disease = ("Zürich", "Genève", "Łódź")[i % 3], ("grippe", "angine", "fièvre")[i // 3 % 3]
        lines.append(f"Zoë{i},{20 + i * 7 % 50},{'♀♂'[i % 2]},{town},{disease}")
    people.write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch = pytest.MonkeyPatch()
    undraw(monkeypatch)
    schema = uc.Schema(quasi_identifiers=["Âge", "sexe", "ville"], sensitive="maladie", identifiers=["prénom"])
    uc.save(uc.publish(people, schema, uc.Anatomy(l=2)), release, accept="est", by="Zoë")
    monkeypatch.undo()
    return {"people": str(people), "release": str(release)}


def undraw(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jinja, "drawings", lambda picture, name="": "<svg></svg>")


def run(monkeypatch: pytest.MonkeyPatch, arguments: list[str], out: Raw, err: Raw) -> int:
    undraw(monkeypatch)
    monkeypatch.setattr(sys, "argv", ["undercover", *arguments])
    monkeypatch.setattr(sys, "stdin", None)
    monkeypatch.setattr(sys, "stdout", stream(out))
    monkeypatch.setattr(sys, "stderr", stream(err, "backslashreplace"))
    with pytest.raises(SystemExit) as left:
        main()
    out.why = err.why = 0  # what is left in them may go
    assert isinstance(left.value.code, int)
    return left.value.code


def spelled(command: str, world: dict[str, str], new: Path) -> list[str]:
    return [command, *(word.format(**world, new=new) for word in COMMAND_LINES[command])]


def test_every_command_is_swept() -> None:
    assert set(COMMAND_LINES) | LATER == {*COMMANDS, "hierarchy", "ledger", "--version", "--help"}


@pytest.mark.parametrize("command", COMMAND_LINES)
def test_letters_that_the_terminal_has_not(
    command: str, world: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, err = Raw(), Raw()
    code = run(monkeypatch, spelled(command, world, tmp_path / "neu"), out, err)
    assert b"Traceback" not in err.taken, err.taken.decode()
    assert code in ((2,) if command in REFUSED else (0, 5)), err.taken.decode()
    assert out.taken or command in REFUSED


@pytest.mark.parametrize("command", COMMAND_LINES)
def test_nobody_reads_and_nobody_listens(
    command: str, world: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = run(monkeypatch, spelled(command, world, tmp_path / "neu"), Raw(errno.EPIPE), Raw(errno.ENOSPC))
    assert code in (2, 141)
    for made in tmp_path.glob("neu"):
        assert uc.verify(made).holds


def test_json_for_a_terminal_without_letters_is_json(world: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    out = Raw()
    assert run(monkeypatch, ["inspect", world["people"], "--json"], out, Raw()) == 0
    assert "Âge" in json.dumps(json.loads(out.taken), ensure_ascii=False)


def test_an_error_that_nobody_hears_keeps_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, ["inspect", "nowhere.csv"], Raw(), Raw(errno.ENOSPC)) == UndercoverError.exit_code
