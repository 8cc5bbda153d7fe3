"""Dates as people write them: told apart by their values, refused where these do not tell, else kept as written."""

import locale
from datetime import date, datetime

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from undercover.errors import DataError, SchemaError
from undercover.model.kinds.dates import FORMATS, as_dates, find_dates, is_day_number, read_date
from undercover.model.schema import Column, Schema
from undercover.model.table import Table

STRFTIME = {
    "YYYY-MM-DD": "%Y-%m-%d",
    "YYYY/MM/DD": "%Y/%m/%d",
    "YYYY.MM.DD": "%Y.%m.%d",
    "YYYYMMDD": "%Y%m%d",
    "DD.MM.YYYY": "%d.%m.%Y",
    "DD/MM/YYYY": "%d/%m/%Y",
    "DD-MM-YYYY": "%d-%m-%Y",
    "MM/DD/YYYY": "%m/%d/%Y",
    "MM-DD-YYYY": "%m-%d-%Y",
    "MM.DD.YYYY": "%m.%d.%Y",
    "DD Mon YYYY": "%d %b %Y",
    "Mon DD YYYY": "%B %d, %Y",
}
MONTHS = {
    "English": "January February March April May June July August September October November December",
    "German": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "French": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "Spanish": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
}
DAYS = st.dates(date(1850, 1, 1), date(2150, 12, 31))


def encoded(texts: list[str | None], **settings: object) -> Table:
    schema = Schema(
        quasi_identifiers=["born"],
        columns={"born": Column(**settings)} if settings else {},  # type: ignore[arg-type]
        missing="category",
    )
    return Table.from_arrow(pa.table({"born": pa.array(texts)}), schema)


@pytest.mark.parametrize("form", FORMATS)
@given(days=st.lists(DAYS, min_size=1, max_size=8, unique=True))
def test_what_is_written_in_a_format_is_read_in_it(form: str, days: list[date]) -> None:
    assert locale.setlocale(locale.LC_TIME) in ("C", "C.UTF-8", "en_US.UTF-8")  # strftime writes English months
    texts = [day.strftime(STRFTIME[form]) for day in days]
    assert as_dates(pa.array(texts), form).to_pylist() == days
    found = find_dates(texts)
    both = {form, form.replace("DD", "xx").replace("MM", "DD").replace("xx", "MM")}
    assert found.format in both or found.problem  # all days up to the twelfth: either order, or a question
    if found.format == form:
        assert as_dates(pa.array(texts), None).to_pylist() == days


@pytest.mark.parametrize("language", MONTHS)
@pytest.mark.parametrize(
    "written", ["{0}. {1} {2}", "{0} de {1} de {2}", "{0}-{1}-{2}", "{1} {0}, {2}", "{0} {1}. {2}"]
)
def test_months_have_names_in_four_languages(language: str, written: str) -> None:
    names = MONTHS[language].split()
    texts = [written.format(3 + number, name, 1980 + number) for number, name in enumerate(names)]
    expected = [date(1980 + number, number + 1, 3 + number) for number in range(12)]
    assert as_dates(pa.array(texts), None).to_pylist() == expected
    assert as_dates(pa.array([text.upper() for text in texts]), None).to_pylist() == expected


@pytest.mark.parametrize(
    ("texts", "form"),
    [
        (["31/12/1980", "01/02/1975"], "DD/MM/YYYY"),
        (["12/31/1980", "01/02/1975"], "MM/DD/YYYY"),
        (["05/05/1980", "7/7/1975"], "DD/MM/YYYY"),  # the same day either way
        (["01.02.1975", "3.4.1980"], "DD.MM.YYYY"),  # dots: the day comes first, if it can
        (["02.28.1975", "3.4.1980"], "MM.DD.YYYY"),
        (["1980-12-31T10:00:00Z"], "YYYY-MM-DD"),
        (["31.12.1980 23:59", "01.01.1975 00:00:00.5"], "DD.MM.YYYY"),
    ],
)
def test_values_tell_the_format(texts: list[str], form: str) -> None:
    assert find_dates(texts) == (form, "")


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        (["01/02/1975", "03/04/1980"], "DD/MM/YYYY or MM/DD/YYYY, and no value tells which"),
        (["01-02-1975", "03-04-1980"], "DD-MM-YYYY or MM-DD-YYYY"),
        (["31/12/1980", "12/31/1980"], "1 other value (a text of"),
        (["31.01.2020", "31.02.2020"], "1 other value (a text of"),
        (["30.02.2020", "31.02.2020"], "that the calendar does not have"),
        (["31.12.1980", "1980-12-30", "29.12.1980"], "1 other value (a text of"),
        (["31.12.1980", "30.12.1980", "unknown"], "1 other value (a text of"),
        (["1980-12-31", "1980-12-30", "unknown"], "the format YYYY-MM-DD and 1 other value (a text of"),
        (["31.12.80", "01.02.75"], "two digits"),
        (["31.12.1980 24:00", "30.12.1980"], "1 other value"),
    ],
)
def test_what_is_not_certain_is_asked(texts: list[str], says: str) -> None:
    with pytest.raises(DataError, match="Column `born` holds") as refused:
        encoded(list(texts))
    assert says in str(refused.value)
    assert 'Column(kind="categorical") for `born`' in str(refused.value)
    assert encoded(list(texts), kind="categorical")["born"].domain.labels == tuple(sorted(texts))


def test_words_with_a_date_among_them_stay_words() -> None:
    table = encoded(["flu", "cold", "since 2020-01-01", "2020-01-01"])
    assert table["born"].domain.kind == "categorical"


def test_an_hour_that_comes_twice_is_taken_in_utc() -> None:
    twice = ["2020-10-25T02:30:00+02:00", "2020-10-25T02:30:00+01:00", "2020-10-25T03:00:00+01:00"]
    domain = encoded([*twice])["born"].domain
    assert domain.kind == "date"
    assert domain.labels == ("2020-10-25T00:30:00", "2020-10-25T01:30:00", "2020-10-25T02:00:00")


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("12/31/1980 12:05 AM", datetime(1980, 12, 31, 0, 5)),
        ("12/31/1980 12:05 p.m.", datetime(1980, 12, 31, 12, 5)),
        ("12/31/1980 13:05 PM", None),
        ("12/31/1980 9:05:07,25", datetime(1980, 12, 31, 9, 5, 7, 250_000)),
        ("12/31/1980T09:05[Europe/Berlin]", datetime(1980, 12, 31, 9, 5)),
        ("12/31/0000", None),
    ],
)
def test_times(text: str, moment: datetime | None) -> None:
    assert read_date(text, "MM/DD/YYYY") == moment


def test_a_time_at_midnight_throughout_is_a_day() -> None:
    assert encoded(["31.12.1980 00:00:00", "01.01.1975 00:00"])["born"].domain.values.type == pa.date32()


def test_days_as_whole_numbers_are_dates_and_other_numbers_are_not() -> None:
    days = Table.from_arrow(
        pa.table({"born": [19801231, 20200229, None]}), Schema(quasi_identifiers=["born"], missing="category")
    )
    assert days["born"].domain.labels == ("1980-12-31", "2020-02-29", "")
    assert not is_day_number(pa.array([19801231, 20200230]))
    assert not is_day_number(pa.array([19801231, 5]))


def test_only_what_is_generalised_is_read_as_dates() -> None:
    data = pa.table({name: ["31.12.1980", "01.02.1975"] for name in ("born", "died", "seen")})
    table = Table.from_arrow(data, Schema(quasi_identifiers=["born"], sensitive=["died"], insensitive=["seen"]))
    assert table["born"].domain.labels == ("1975-02-01", "1980-12-31")
    assert table["died"].domain.labels == table["seen"].domain.labels == ("01.02.1975", "31.12.1980")
    assert table.schema.column("born").format == "DD.MM.YYYY"  # so that it is read alike ever after
    assert "died" not in table.schema.columns


def test_declared_dates_are_read_alike_ever_after() -> None:
    first = encoded(["31/12/1980", "01/02/1975"], kind="date")
    assert first.schema.column("born").format == "DD/MM/YYYY"
    again = Table.from_arrow(pa.table({"born": ["03/04/1990"]}), first.schema)
    assert again["born"].domain.labels == ("1990-04-03",)


def test_a_format_is_declared() -> None:
    assert encoded(["01/02/1975"], format="DD/MM/YYYY")["born"].domain.labels == ("1975-02-01",)
    assert encoded(["01/02/1975", None], format="MM/DD/YYYY")["born"].domain.labels == ("1975-01-02", "")
    with pytest.raises(DataError, match="no dates in the format MM/DD/YYYY: 1 value"):
        encoded(["31/02/1975"], format="MM/DD/YYYY")
    with pytest.raises(DataError, match="declared date and holds values that are no dates: 1 value"):
        encoded(["flu"], kind="date")
    with pytest.raises(SchemaError, match="Format of dates `DD:MM`"):
        Column(format="DD:MM")
    with pytest.raises(SchemaError, match="A format is of dates"):
        Column(format="DD/MM/YYYY", kind="numeric")
    assert encoded([None], kind="date")["born"].domain.size == 1
