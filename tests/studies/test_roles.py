"""Suggested roles for columns people really have."""

import pyarrow as pa
import pytest

from undercover.studies.inspect.inspection import inspect

ROWS = 200


def role_of(name: str, values: list[object]) -> str:
    return inspect(pa.table({name: values})).columns[0].role


MANY_TEXT = [f"value {i}" for i in range(ROWS)]
MANY_NUMBERS = [1000 + 7 * i for i in range(ROWS)]
FEW = [f"value {i % 12}" for i in range(ROWS)]
FEW_NUMBERS = [i % 12 for i in range(ROWS)]


@pytest.mark.parametrize(
    "name",
    [
        *("name", "Name", "full_name", "fullName", "surname", "Vorname", "Nachname", "nom", "prénom", "apellidos"),
        *("email", "E-Mail", "phone", "Telefonnummer", "mobile", "ssn", "SSN", "social security number", "passport_no"),
        *("IBAN", "Kontonummer", "ip_address", "username", "street", "Straße", "Adresse", "address line 1", "latitude"),
        *("patient_id", "PatientID", "patient_nbr", "person no", "Patientennummer", "HHID", "household_id", "uuid"),
        *("customerId", "encounter_id", "Matrikelnummer", "case_number"),
    ],
)
def test_identifiers_by_name(name):
    assert role_of(name, MANY_TEXT) == "identifier"


@pytest.mark.parametrize("name", ["vorname", "first_name", "Last Name", "surname"])
def test_parts_of_a_name_are_identifiers_even_if_few(name):
    assert role_of(name, FEW) == "identifier"


@pytest.mark.parametrize(
    "name",
    [
        *(
            "age",
            "AGEP",
            "Alter",
            "âge",
            "edad",
            "sex",
            "gender",
            "Geschlecht",
            "sexe",
            "sexo",
            "race",
            "RAC1P",
            "ethnicity",
        ),
        *(
            "zip",
            "zip_code",
            "Zipcode",
            "ZIP Code",
            "postcode",
            "PLZ",
            "Postleitzahl",
            "code postal",
            "city",
            "Wohnort",
        ),
        *("country", "native-country", "state", "Bundesland", "PUMA", "birthplace", "country_of_birth", "Geburtsort"),
        *(
            "date_of_birth",
            "dob",
            "Geburtsdatum",
            "birth_year",
            "marital_status",
            "Familienstand",
            "relationship",
            "MAR",
        ),
        *(
            "education",
            "SCHL",
            "Schulabschluss",
            "education-num",
            "occupation",
            "OCCP",
            "Beruf",
            "job title",
            "workclass",
        ),
        *(
            "work_class",
            "industry",
            "hours",
            "hours-per-week",
            "Wochenstunden",
            "citizenship",
            "Nationalität",
            "language",
        ),
        *("height", "weight", "household_size", "number_of_children", "admission_type_id", "Staatsangehörigkeit"),
        *(
            "educ",
            "maeduc",
            "frace",
            "Mjob",
            "empstat",
            "agegrp",
            "famsize",
            "wrkstat",
            "gndr",
            "clinic_name",
            "boarding_date",
        ),
    ],
)
def test_quasi_identifiers_by_name(name):
    assert role_of(name, FEW) == "quasi-identifier"


@pytest.mark.parametrize(
    "name",
    [
        *("disease", "diagnosis", "diag_1", "ICD10", "Diagnose", "Krankheit", "maladie", "enfermedad", "hiv_status"),
        *(
            "salary",
            "Salary Class",
            "income",
            "inc50",
            "PINCP",
            "Gehalt",
            "Einkommen",
            "salaire",
            "capital-gain",
            "wage",
        ),
        *("religion", "Konfession", "party", "sexual_orientation", "criminal_record", "disability", "medication"),
        *(
            "treatment",
            "readmitted",
            "A1Cresult",
            "credit_score",
            "grade",
            "union",
            "body mass index",
            "cause of death",
        ),
        *("acetohexamide", "realrinc", "WAGP", "test_result", "Resultado", "hipertensión", "incwage", "hhinc"),
    ],
)
def test_sensitive_by_name(name):
    assert role_of(name, FEW) == "sensitive"


@pytest.mark.parametrize(
    "name", ["fnlwgt", "PWGTP", "instance_weight", "survey weight", "split", "x17", "change", "foo"]
)
def test_nothing_known(name):
    assert role_of(name, FEW_NUMBERS) == "none"


@pytest.mark.parametrize(
    "name",
    ["average", "statement", "damage", "package", "sextant", "operating", "taxi", "language_no", "stage", "agenda"],
)
def test_words_inside_other_words_do_not_count(name):
    found = inspect(pa.table({name: FEW})).columns[0]
    assert "an age" not in found.reason
    assert "a sex" not in found.reason
    assert "a place" not in found.reason
    assert found.role != "sensitive"


@pytest.mark.parametrize(
    ("values", "role", "word"),
    [
        ([f"p{i}@example.org" for i in range(ROWS)], "identifier", "e-mail"),
        ([f"10.0.{i % 7}.{i}" for i in range(ROWS)], "identifier", "IP"),
        ([f"+49 30 {100000 + i}" for i in range(ROWS)], "identifier", "telephone"),
        ([f"(212) 555-{1000 + i}" for i in range(ROWS)], "identifier", "telephone"),
        ([f"078-05-{1000 + i}" for i in range(ROWS)], "identifier", "social security"),
        ([f"https://example.org/{i}" for i in range(ROWS)], "identifier", "web"),
        ([f"0000{i:04x}-aaaa-bbbb-cccc-0123456789ab" for i in range(ROWS)], "identifier", "universal"),
        ([f"DE89 3704 0044 0532 013{i:03d}" for i in range(ROWS)], "identifier", "IBAN"),
        ([f"{1 + i % 28}.{1 + i % 12}.19{50 + i % 40}" for i in range(ROWS)], "quasi-identifier", "date"),
        ([f"19{50 + i % 40}-0{1 + i % 9}-11" for i in range(ROWS)], "quasi-identifier", "date"),
        ([f"{1000 * i}-{1000 * i + 100000}" for i in range(50, 70)] * 10, "none", "Neither"),
        (MANY_TEXT, "identifier", "own value"),
        ([f"{i} " + "a long story " * 8 for i in range(ROWS)], "identifier", "Free text"),
        (MANY_NUMBERS, "identifier", "key"),
        ([i + 0.5 for i in range(ROWS)], "none", "single people out"),
        (["same"] * ROWS, "none", "same value"),
        ([None] * ROWS, "none", "missing"),
    ],
)
def test_by_what_the_values_look_like(values, role, word):
    found = inspect(pa.table({"q": values})).columns[0]
    assert found.role == role
    assert word in found.reason


def test_a_date_is_known_even_if_its_name_is_sensitive():
    dates = pa.array([f"2020-01-{1 + i % 28:02d}" for i in range(ROWS)]).cast(pa.date32())
    column = inspect(pa.table({"date_of_diagnosis": dates})).columns[0]
    assert (column.role, column.kind) == ("quasi-identifier", "date")


@pytest.mark.parametrize(
    ("name", "categories"),
    [
        ("sex", True),
        ("state", True),
        ("occupation", True),
        ("admission_type_id", True),
        ("diag_code", True),
        ("age", False),
        ("income", False),
        ("education", False),
        ("number_of_diagnoses", False),
        ("hours", False),
    ],
)
def test_numbers_that_name_categories(name, categories):
    assert inspect(pa.table({name: FEW_NUMBERS})).columns[0].categories is categories
    assert inspect(pa.table({name: FEW})).columns[0].categories is False


def test_weak_keys_need_many_values():
    assert role_of("item_id", MANY_NUMBERS) == "identifier"
    assert role_of("item_id", FEW_NUMBERS) == "none"


def test_every_reason_is_one_sentence():
    for name in ("age", "name", "disease", "foo", "fnlwgt"):
        reason = inspect(pa.table({name: FEW})).columns[0].reason
        assert reason.endswith(".")
        assert ". " not in reason
