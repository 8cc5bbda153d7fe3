"""``undercover verify``, ``attack`` and ``measure``: exit codes, JSON, folders, foreign files and tampering."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("unjudged")

Command = Callable[..., Any]


def test_a_release_is_verified_from_its_public_folder_alone(undercover: Command, release: Path, tmp_path: Path) -> None:
    shutil.copytree(release / "public", tmp_path / "received")
    for target in (release, release / "public", tmp_path / "received"):
        done = undercover("verify", target)
        assert done.code == 0
        assert done.out.rstrip().endswith("verified")
        content = json.loads(undercover("verify", target, "--json").out)
        assert content["holds"] is True
        assert content["guarantees"][0]["actual"] >= 5


def test_more_can_be_required_and_fails_with_four(undercover: Command, release: Path) -> None:
    assert undercover("verify", release, "--require", "k=4", "--require", "l=1").code == 0
    done = undercover("verify", release, "--require", "k=100")
    assert done.code == 4
    assert "DOES NOT HOLD" in done.out
    assert "VERIFICATION FAILED" in done.out
    done = undercover("verify", release, "--require", "k=100", "--json")
    assert (done.code, json.loads(done.out)["holds"]) == (4, False)


def test_against_the_original(undercover: Command, release: Path, people: Path, tmp_path: Path) -> None:
    assert undercover("verify", release, "--original", people).code == 0
    assert undercover("verify", release / "public", "--original", people).code == 0
    other = tmp_path / "other.csv"
    other.write_text(people.read_text().replace(",flu", ",cold"))
    assert undercover("verify", release / "public", "--original", other).code == 4
    for command in ("verify", "attack", "measure"):
        refused = undercover(command, release, "--original", other)
        assert refused.code == 2
        assert "is not the table the release was made from" in refused.err
        assert "in `disease`" in refused.err
    (tmp_path / "roles.toml").write_text('[roles]\nquasi_identifiers = ["age", "sex", "zip"]\nsensitive = "disease"\n')
    for command in ("verify", "measure"):
        with_spec = ["--spec", tmp_path / "roles.toml"]
        assert undercover(command, release, "--original", other, *with_spec).code == 2
        assert undercover(command, release, "--original", people, *with_spec).code == 0


def test_a_tampered_table_fails_with_four(undercover: Command, release: Path) -> None:
    table = release / "public" / "table.csv"
    original = table.read_text()
    rows = original.splitlines(keepends=True)
    for changed in (
        original.replace("flu", "cold", 1),
        "".join(rows[:-1]),
        "".join([rows[0], rows[2], rows[1], *rows[3:]]) if rows[1] != rows[2] else original + rows[1],
        original + "ragged\n",
        original.replace("disease", "illness", 1),
    ):
        table.write_text(changed)
        done = undercover("verify", release / "public")
        assert done.code == 4
        assert "was changed" in done.out + done.err
    table.write_text(original)
    assert undercover("verify", release / "public").code == 0


def edited(content: dict[str, Any], change: str) -> dict[str, Any]:
    guarantee = content["guarantees"][0]
    if change == "sha256":
        content["tables"][0]["sha256"] = "0" * 64
    elif change == "rows":
        content["tables"][0]["rows"] += 1
    elif change == "actual":
        guarantee["actual"] += 1
    elif change == "more":
        guarantee["k"] = guarantee["required"] = guarantee["actual"] = 50
    elif change == "less":
        guarantee["k"] = guarantee["required"] = 3
    else:
        guarantee["name"] = "trust-me"
    return content


@pytest.mark.parametrize("change", ["sha256", "rows", "actual", "more", "less", "unknown"])
def test_a_tampered_manifest_fails_with_four(undercover: Command, release: Path, change: str) -> None:
    path = release / "public" / "release.json"
    path.write_text(json.dumps(edited(json.loads(path.read_text()), change)))
    assert undercover("verify", release / "public").code == 4


@pytest.mark.parametrize(
    ("text", "message"), [("{", "cannot be read"), ("{}", "not the manifest"), (None, "no release.json")]
)
def test_a_broken_manifest_is_bad_input(undercover: Command, release: Path, text: str | None, message: str) -> None:
    path = release / "public" / "release.json"
    path.unlink() if text is None else path.write_text(text)
    done = undercover("verify", release / "public")
    assert (done.code, message in done.err) == (2, True)
    assert done.out == ""


def test_a_missing_table_is_bad_input(undercover: Command, release: Path) -> None:
    (release / "public" / "table.csv").unlink()
    done = undercover("verify", release / "public")
    assert (done.code, "lacks `table.csv`" in done.err) == (2, True)


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """Somebody else's table: classes of 3 and 2, and a suppressed row."""
    path = tmp_path / "foreign.csv"
    path.write_text(
        "age,zip,ill\n20-29,47***,flu\n20-29,47***,cold\n20-29,47***,flu\n30-39,48***,flu\n30-39,48***,gout\n*,*,cold\n"
    )
    return path


@pytest.mark.parametrize(
    ("require", "code"),
    [
        (["k=2"], 0),
        (["k=3"], 4),
        (["k=2", "distinct-l=2"], 0),
        (["l=1.5"], 0),
        (["l=2"], 4),
        (["entropy-l=1.8"], 0),
        (["recursive-l=2,c=2"], 0),
        (["recursive-l=1,c=2"], 6),  # asks for nothing, as do the next three
        (["k=1"], 6),
        (["t=1"], 6),
        (["k=1", "l=1", "beta=100"], 6),
        (["k=1", "t=0.9"], 0),
        (["t=0.9"], 0),
        (["t=0.01"], 4),
    ],
)
def test_a_table_nobody_here_made(undercover: Command, foreign: Path, require: list[str], code: int) -> None:
    options = [option for one in require for option in ("--require", one)]
    done = undercover("verify", foreign, "--qi", "age,zip", "--sensitive", "ill", *options, "--json")
    assert done.code == code, done.err
    content = json.loads(done.out)
    assert (content["holds"], content["suppressed_rows"], content["rows"]) == ({0: True, 4: False, 6: None}[code], 1, 5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--require", "k=2"], "--qi"),
        (["--qi", "age"], "--require"),
        ([], "2 problems"),
        (["--qi", "agee", "--require", "k=2"], "Did you mean `age`?"),
        (["--qi", "age", "--require", "k=two"], "two"),
        (["--qi", "age", "--require", "l=2"], "sensitive"),
        (["--qi", "age", "--require", "k=2", "--original", "x.csv"], "--original belongs to a release folder"),
    ],
)
def test_a_foreign_table_about_which_too_little_is_said(
    undercover: Command, foreign: Path, options: list[str], message: str
) -> None:
    done = undercover("verify", foreign, *options)
    assert done.code == 2
    assert message in done.err
    assert done.out == ""


def test_no_such_target(undercover: Command, tmp_path: Path) -> None:
    done = undercover("verify", tmp_path / "nothing.csv", "--qi", "age", "--require", "k=2")
    assert (done.code, "There is no file" in done.err) == (2, True)
    assert undercover("verify", tmp_path).code == 2


def test_attack_before_and_after(undercover: Command, release: Path, people: Path) -> None:
    done = undercover("attack", release)
    assert done.code == 0
    assert "finds the person's row, worst" in done.out
    found = json.loads(undercover("attack", release, "--json").out)
    assert found["before"]["identity"]["max"] == 1.0
    assert found["after"]["identity"]["max"] <= 0.2
    less = json.loads(undercover("attack", release, "--known", "age", "--original", people, "--json").out)
    assert less["known"] == ["age"]
    assert less["after"]["identity"]["max"] <= found["after"]["identity"]["max"]


def test_what_attack_refuses(undercover: Command, release: Path, people: Path) -> None:
    done = undercover("attack", release, "--known", "agee")
    assert (done.code, "Did you mean `age`?" in done.err) == (2, True)
    assert undercover("attack", release / "public").code == 2
    people.unlink()
    done = undercover("attack", release)
    assert (done.code, "--original …" in done.err) == (2, True)


def test_measure_from_the_folder_and_from_its_public_part(undercover: Command, release: Path, people: Path) -> None:
    done = undercover("measure", release, "--original", people)
    assert done.code == 0
    assert "discernibility" in done.out
    whole = json.loads(undercover("measure", release, "--original", people, "--json").out)
    public = json.loads(undercover("measure", release / "public", "--original", people, "--json").out)
    assert whole == public
    assert whole["rows"] == 240
    assert undercover("measure", release).code == 2


def test_any_attack_by_name(undercover: Command, release: Path) -> None:
    named = undercover("attack", release, "--attacker", "linkage", "--set", "known=age,sex", "--json")
    assert named.code == 0, named.err
    assert json.loads(named.out) == json.loads(undercover("attack", release, "--known", "age,sex", "--json").out)
    for options, said in (
        (["--attacker", "linkag"], "Attack `linkag` is not known. Did you mean `linkage`?"),
        (
            ["--attacker", "linkage", "--set", "p_match=2"],
            "The 'p_match' parameter of Linkage must be a number in [0, 1]",
        ),
        (["--attacker", "linkage", "--set", "knows=age"], "Did you mean `known`?"),
        (["--attacker", "linkage", "--known", "age"], "Give its parameters with --set"),
        (["--set", "known=age"], "Name the attack with --attacker"),
    ):
        done = undercover("attack", release, *options)
        assert (done.code, said in done.err) == (2, True), done.err
