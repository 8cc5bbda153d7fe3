"""Signatures: a folder is its holder's or it is not, whoever wrote the hashes."""

import base64
import json
import stat
import sys
from pathlib import Path

import pytest
from received import PEOPLE, made, saved
from typer.testing import CliRunner

import undercover as uc
from undercover.cli.main import app
from undercover.errors import DataError, MissingExtraError, OutputError, ParameterError, VerificationError
from undercover.io.csv.text import write_csv
from undercover.testing.forged import Folder

pytestmark = pytest.mark.usefixtures("unjudged")


def undercover(*words: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, [str(word) for word in words])
    return done.exit_code, done.output


@pytest.fixture
def key(tmp_path: Path) -> Path:
    uc.new_key(tmp_path / "key")
    return tmp_path / "key"


@pytest.fixture
def public_key(key: Path) -> Path:
    return key.with_name("key.pub")


@pytest.fixture
def signed(key: Path, tmp_path: Path) -> Path:
    out = saved("mondrian", tmp_path)
    assert uc.sign(out, key) == out / "public" / "release.sig"
    return out


def test_keys_are_made_once_and_the_private_one_is_private(key: Path, public_key: Path) -> None:
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert b"PRIVATE" not in public_key.read_bytes()
    before = key.read_bytes()
    with pytest.raises(OutputError, match="already exists"):
        uc.new_key(key)
    assert key.read_bytes() == before


def test_a_signed_release_is_trusted_by_its_key_and_by_no_other(signed: Path, public_key: Path, tmp_path: Path) -> None:
    for target in (signed, signed / "public"):
        found = uc.verify(target, trusted_by=public_key)
        assert found.holds
        assert found.to_dict()["signed_by"].startswith("SHA256:")
        assert not any("not who wrote it" in note for note in found.notes)
    other = uc.new_key(tmp_path / "other")
    found = uc.verify(signed / "public", trusted_by=other)
    assert (found.holds, found.signed_by) == (False, None)
    assert any("signed by another key" in problem for problem in found.problems)


def test_a_key_of_a_kind_that_nobody_knows_is_refused(signed: Path, key: Path, public_key: Path) -> None:
    for path in (key, public_key):
        first, *lines, last = path.read_bytes().splitlines()
        known = base64.b64decode(b"".join(lines))
        strange = known.replace(bytes([0x2B, 0x65, 0x70]), bytes([0x2B, 0x65, 0x7F]))  # 1.3.101.112 and .127
        assert strange != known
        path.write_bytes(b"\n".join([first, base64.b64encode(strange), last, b""]))
    with pytest.raises(ParameterError, match="is no public Ed25519 key in PEM"):
        uc.verify(signed, trusted_by=public_key)
    with pytest.raises(ParameterError, match="is no private Ed25519 key in PEM"):
        uc.sign(signed, key)


def test_an_unsigned_release_is_not_trusted(public_key: Path, tmp_path: Path) -> None:
    out = saved("mondrian", tmp_path)
    assert uc.verify(out).holds
    assert "The release is not signed: there is no `release.sig`." in uc.verify(out, trusted_by=public_key).problems


def test_whoever_rewrites_manifest_and_tables_together_is_told(signed: Path, public_key: Path) -> None:
    """A forgery without any fault of its own: another order of rows, and every hash anew."""
    folder = Folder(signed / "public")
    path = signed / "public" / "table.csv"
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join([lines[0], *lines[2:], lines[1]]), "utf-8")
    folder.seal()
    for trusted in (None, public_key):
        found = uc.verify(signed / "public", trusted_by=trusted)
        assert any("signature does not fit release.json" in problem for problem in found.problems)
    (signed / "public" / "release.sig").unlink()
    assert uc.verify(signed / "public").holds
    assert not uc.verify(signed / "public", trusted_by=public_key).holds


@pytest.mark.parametrize("content", ["{}", '{"algorithm": "none", "public_key": "", "signature": ""}', "[]", "x"])
def test_a_signature_that_is_none(content: str, signed: Path) -> None:
    (signed / "public" / "release.sig").write_text(content)
    if content == "x":
        with pytest.raises(DataError, match="cannot be read"):
            uc.verify(signed / "public")
    else:
        assert "`release.sig` is no signature of a release." in uc.verify(signed / "public").problems


def test_a_changed_folder_is_not_signed(key: Path, tmp_path: Path) -> None:
    out = saved("mondrian", tmp_path)
    (out / "public" / "datasheet.html").write_text("<p>Approved.</p>")
    with pytest.raises(VerificationError, match=r"`datasheet.html` was changed"):
        uc.sign(out / "public", key)
    assert not (out / "public" / "release.sig").exists()


def test_a_release_is_signed_when_it_is_saved(key: Path, public_key: Path, tmp_path: Path) -> None:
    out = uc.save(made("mondrian"), tmp_path / "out", sign=key)
    assert uc.verify(out, trusted_by=public_key).holds
    with pytest.raises(ParameterError, match="no private Ed25519 key"):
        uc.save(made("mondrian"), tmp_path / "not", sign=public_key)
    assert not (tmp_path / "not").exists()


def test_files_that_are_no_keys(signed: Path, key: Path, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"ends in \.pub"):
        uc.verify(signed, trusted_by=key)
    with pytest.raises(DataError, match="cannot be read"):
        uc.verify(signed, trusted_by=tmp_path / "nothing.pub")
    with pytest.raises(ParameterError, match="Only a folder is signed"):
        uc.verify(made("mondrian"), trusted_by=key)


def test_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_csv(PEOPLE, tmp_path / "people.csv")
    assert undercover("sign", "--new-key", "key") == (0, "for you alone:  key\nfor the world:  key.pub\n")
    roles = ("--qi", "age,sex,zip", "--sensitive", "disease", "--method", "mondrian", "--set", "k=5")
    assert undercover("publish", "people.csv", *roles, "--out", "out", "--sign", "key")[0] == 0
    assert undercover("verify", "out/public", "--trusted-by", "key.pub")[0] == 0
    (tmp_path / "out" / "public" / "release.sig").unlink()
    code, said = undercover("verify", "out/public", "--trusted-by", "key.pub")
    assert (code, "is not signed" in said) == (4, True)
    assert undercover("sign", "out", "--key", "key") == (0, "signed: out/public/release.sig\n")
    content = json.loads(undercover("verify", "out", "--trusted-by", "key.pub", "--json")[1])
    assert content["holds"] is True
    assert content["signed_by"].startswith("SHA256:")


@pytest.mark.parametrize("words", [(), ("out",), ("--key", "key"), ("out", "--new-key", "key")])
def test_what_sign_refuses(words: tuple[str, ...]) -> None:
    from undercover.cli.sign import command

    given = {"folder": Path("out") if "out" in words else None}
    given |= {name: Path("key") for name, option in (("key", "--key"), ("new", "--new-key")) if option in words}
    with pytest.raises(ParameterError):
        command(**given)


def test_without_the_package_the_extra_is_named(
    signed: Path, key: Path, public_key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "cryptography"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    for asked in (lambda: uc.sign(signed, key), lambda: uc.verify(signed, trusted_by=public_key)):
        with pytest.raises(MissingExtraError, match=r"pip install 'undercover\[sign\]'"):
            asked()
    found = uc.verify(signed)
    assert (found.holds, found.signed_by) == (True, None)
    assert any("The signature was not checked" in note for note in found.notes)
