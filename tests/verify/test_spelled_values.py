"""What nobody can tell apart is one value: counted so by every promise about values, and told."""

from pathlib import Path

import pyarrow as pa
import pytest

import undercover as uc
from undercover.errors import DataError
from undercover.guarantees.verify import verify_table
from undercover.io.csv.text import write_csv
from undercover.model.spellings import as_read, find_near, list_spellings, number_values

pytestmark = pytest.mark.usefixtures("unjudged")

ONE_VALUE = ("flu", "flu\u200b", "fl\u00adu", "\uff46lu", "flu ", "f\u2060lu")
INVISIBLE = (
    "\u200b",
    "\u00ad",
    "\u034f",
    "\u061c",
    "\u115f",
    "\u180e",
    "\u200f",
    "\u2066",
    "\u3164",
    "\ufe0f",
    "\ufeff",
)


@pytest.mark.parametrize("character", INVISIBLE)
def test_a_character_that_is_not_shown_makes_no_value(character: str) -> None:
    assert as_read(f"f{character}lu{character}") == "flu"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ﬂu", "flu"),
        ("Ⅷ", "VIII"),
        ("e\u0301", "é"),
        ("a\u00a0b", "a b"),
        ("a \t b", "a b"),
        ("①", "1"),
        ("\u2800", ""),
    ],
)
def test_compatibility_forms_and_blanks(one: str, other: str) -> None:
    assert as_read(one) == as_read(other)


@pytest.mark.parametrize(("one", "other"), [("flu", "Flu"), ("B-12", "B12"), ("1.5", "15"), ("Köln", "Koln")])
def test_what_can_be_told_apart_stays_apart(one: str, other: str) -> None:
    assert as_read(one) != as_read(other)


def test_six_invisible_spellings_are_one_value() -> None:
    table = pa.table({"age": ["[20, 29]"] * 6, "ill": list(ONE_VALUE)})
    asked = [uc.KAnonymity(k=6), *(uc.LDiversity(l=2, form=form) for form in ("frequency", "distinct", "entropy"))]
    asked += [uc.LDiversity(l=2, form="recursive", c=1), uc.KLAnonymity(k=2, l=2)]
    found = verify_table(table, ["age"], ["ill"], asked)
    assert [finding.holds for finding in found.findings] == [True, False, False, False, False, False]
    honest = pa.table({"age": ["[20, 29]"] * 6, "ill": ["flu", "cold", "gout", "rash", "ulcer", "asthma"]})
    assert verify_table(honest, ["age"], ["ill"], asked).holds


def forge(values: tuple[str, ...], folder: Path) -> Path:
    """Publish six honest diseases in one class, then write others in their place, and hash them anew."""
    from undercover.testing.forged import Folder

    honest = pa.table({"age": [20, 21, 22, 23, 24, 25], "ill": ["flu", "cold", "gout", "rash", "ulcer", "asthma"]})
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="ill")
    public = uc.save(uc.publish(honest, schema, uc.Mondrian(k=6, l=6)), folder / "out") / "public"
    assert uc.verify(public).holds
    write_csv(pa.table({"age": ["[20, 25]"] * 6, "ill": list(values)}), public / "table.csv")
    Folder(public).seal()
    return public


def test_a_release_that_spells_one_value_in_six_ways(tmp_path: Path) -> None:
    found = uc.verify(forge(ONE_VALUE, tmp_path))
    assert found.holds is False
    assert ("l-diversity", 1.0) in [(failure.name, failure.actual) for failure in found.failures]
    assert any("spells one value in 6 ways" in note and "\\u200b" in note for note in found.to_dict()["notes"])


def test_letters_of_other_scripts_that_look_alike_are_one_value(tmp_path: Path) -> None:
    found = uc.verify(forge(("cold", "c\u043eld", "gout", "rash", "ulcer", "asthma"), tmp_path))
    assert found.holds is False
    assert any("spells one value in 2 ways" in note and "\\u043e" in note for note in found.to_dict()["notes"])
    assert list_spellings(["\u0421OPD", "COPD", "\u0421\u041e\u0420D"]) == [
        ("\u0421OPD", "COPD", "\u0421\u041e\u0420D")
    ]


def test_near_values_are_told_and_counted_as_they_are(tmp_path: Path) -> None:
    found = uc.verify(forge(("flu", "cold", "gout", "rash", "astma", "asthma"), tmp_path))
    assert found.holds
    assert any("nearly spelled alike" in note and "(1 pair)" in note for note in found.notes)


@pytest.mark.parametrize(
    "spellings",
    [
        ("HIV", "hiv", "H.I.V.", "\u0397IV", "HIV ", "H-I-V", "h i v", "H\u0399V"),
        ("1.5", "1,5", "1.50", "1,50", "+1.5"),
        ("10", "10.0", "10,0"),
        ("diabetes type 2", "Diabetes, Type 2", "diabetes (type-2)", "DIABETES_TYPE 2"),
        ("Crohn's", "Crohn\u2019s", "crohns"),
        ("\u0412\u0418\u0427", "\u0432\u0438\u0447"),
        ("Stra\u00dfe", "STRASSE"),
    ],
)
def test_spellings_of_one_value(spellings: tuple[str, ...]) -> None:
    assert set(number_values(spellings).tolist()) == {0}


@pytest.mark.parametrize(
    "values",
    [
        ("A+", "A-", "A", "HIV?", "HIV"),
        ("1.5", "15", "-1.5", "1,500", "1500", "007", "7"),
        ("E11", "E11.0", "E110", "E11-12"),
        ("10-20", "1020", "10/20", "<5", ">5", "5"),
        ("type 1", "type 2", "type 12"),
        ("-5 C", "5 C"),
        ("K\u00f6ln", "Koln"),
    ],
)
def test_values_that_stay_apart(values: tuple[str, ...]) -> None:
    assert len(set(number_values(values).tolist())) == len(values)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("asthma", "astma"),
        ("allergy", "allergies"),
        ("diabetes type 2", "diabetes, type II"),
        ("type 2 diabetes", "diabetes type 2"),
        ("anaemia", "anemia"),
        ("chronic bronchitis", "chronic brnochitis"),
        ("HIV", "HlV"),
        ("M\u00fcller", "Muller"),
    ],
)
def test_near_values(one: str, other: str) -> None:
    assert find_near(["gout", one, "ulcer", other]) == [tuple(sorted((one, other)))]


def test_values_that_only_seem_near_are_not_asked_about() -> None:
    assert not find_near(["asthma 1", "asthma 2", "E11", "E12", "type 1", "type 2", "grade 1a", "grade 1b"])
    assert not find_near(["low", "slow", "middle", "high", "very high", "cold", "gold", "rash", "rush"])
    assert not find_near(["symptomatic", "asymptomatic", "microcytic", "macrocytic", "hypertension", "hypotension"])
    assert not find_near(["2 of 3", "3 of 2", "10000", "10001", "stage IIIA", "stage IIIB"])


def test_dirty_values_are_refused_as_input_not_called_our_bug() -> None:
    dirty = pa.table({"age": [20, 21, 22, 23], "ill": ["flu", "flu ", "flu", "flu "]})
    with pytest.raises(DataError, match=r"`ill` seems to spell 1 value in 2 ways") as told:
        uc.publish(dirty, uc.Schema(quasi_identifiers=["age"], sensitive="ill"), uc.Mondrian(k=2, l=2))
    assert "flu" not in str(told.value)


def test_values_that_show_nothing_are_missing() -> None:
    table = pa.table({"age": [1, 1, 1], "ill": ["\u200b", " ", None]})
    assert not verify_table(table, ["age"], ["ill"], [uc.LDiversity(l=2, form="distinct")]).holds
