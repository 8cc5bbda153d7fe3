"""What values look like: keys and contacts by their pattern, categories by their words, numbers by their range.

Some looks are stronger than any name (a column of e-mail addresses is one, whatever it is called); the others speak
where the name says nothing. Words are those of English tables and the commonest of German, French and Spanish ones.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from undercover.studies.inspect.vocabulary import SuggestedRole

MOSTLY = 0.8  # share of the distinct values that must fit a pattern
HALF = 0.5  # share that must have a word of the list
_OLDEST = 120
_MANY_CODES = 5


@dataclass(frozen=True)
class Look:
    """What values look like, the role that follows, and whether a value stands for one person."""

    meaning: str
    role: SuggestedRole
    person: bool = False


_KEYS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("e-mail addresses", re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}")),
    ("web addresses", re.compile(r"(https?://|www\.)\S+", re.IGNORECASE)),
    ("IP addresses", re.compile(r"(\d{1,3}\.){3}\d{1,3}|([0-9A-Fa-f]{0,4}:){3,7}[0-9A-Fa-f]{0,4}")),
    ("universal identifiers", re.compile(r"\{?[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\}?")),
    ("account numbers (IBAN)", re.compile(r"[A-Z]{2}\d{2}( ?[A-Z0-9]{4}){2,7}( ?[A-Z0-9]{1,4})?")),
    ("social security numbers", re.compile(r"\d{3}-\d{2}-\d{4}")),
    (
        "telephone numbers",
        re.compile(r"(\+|00)\d[\d /().-]{6,}\d|\(?0\d{1,5}\)?[ /-]\d[\d -]{3,}\d|(\(\d{3}\) ?|\d{3}-)\d{3}-\d{4}"),
    ),
    ("scrambled keys (hashes)", re.compile(r"(?=.*\d)(?=.*[a-f])[0-9a-f]{8,}")),
)
_TIME = r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?( ?[AaPp][Mm])?( ?(Z|UTC|[+-]\d{2}:?\d{2}))?"
_MOMENT = re.compile(
    rf"(\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}[./-]\d{{1,2}}[./-](\d{{4}}|\d{{2}}))([T ]{_TIME})?|{_TIME}"
    r"|(18|19|20|21)\d{2}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])"
    r"|(\d{1,2}[ -])?[A-Z][a-zé]{2,8}\.?[ -](\d{1,2}, )?(\d{4}|\d{2})"
)
_MONEY = re.compile(r".*([$€£]\s?\d|\d\s?([$€£]|USD|EUR|GBP)|\d\s?[kK]\b).*")
_BAND = re.compile(r"\D{0,10}(\d{1,3})\s?(?:-|–|to|bis|\+)\s?\D{0,3}(\d{1,3})?\D{0,12}")
_DIAGNOSIS = re.compile(r"[A-TV-Z]\d{2}(\.\w{1,4})?|\d{3}(\.\d{1,2})?|[VE]\d{2,3}(\.\d{1,2})?")
_POSTCODE = re.compile(r"\d{5}(-\d{4})?|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]\d[A-Z] ?\d[A-Z]\d")
_STREET = re.compile(
    r".*\b(street|st|avenue|ave|road|rd|blvd|lane|hwy|drive|strasse|str|weg|platz|gasse|rue|calle|avenida)\b.*"
)

_RANKS = "pvt pfc cpl spc sgt ssg sfc msg lt 1lt 2lt cpt capt maj col gen private corporal sergeant lieutenant captain"
_WORDS: tuple[tuple[str, SuggestedRole, str], ...] = (
    ("ranks", "quasi-identifier", f"{_RANKS} major colonel general admiral tec4 tec5 gefreiter unteroffizier leutnant"),
    (
        "results of tests",
        "sensitive",
        "positive negative pos neg reactive nonreactive detected inconclusive indeterminate positiv negativ positif "
        "negatif positivo negativo abnormal",
    ),
    (
        "sexes",
        "quasi-identifier",
        "male female man woman mann frau mannlich weiblich divers homme femme hombre mujer masculino femenino",
    ),
    (
        "marital states",
        "quasi-identifier",
        "married divorced widowed separated unmarried widow widower spouse single ledig verheiratet geschieden "
        "verwitwet celibataire marie divorce veuf soltero casado divorciado viudo",
    ),
    (
        "origins",
        "quasi-identifier",
        "white black asian hispanic latino caucasian african indian chinese islander mestizo arab roma",
    ),
    (
        "beliefs",
        "sensitive",
        "protestant catholic jewish muslim buddhist hindu orthodox christian atheist evangelisch katholisch "
        "konfessionslos catholique musulman catolico",
    ),
    (
        "political views",
        "sensitive",
        "democrat republican liberal conservative socialist labour tory green greens cdu spd fdp afd linke progressive",
    ),
    (
        "schooling",
        "quasi-identifier",
        "bachelor bachelors master masters doctorate phd school college university graduate degree diploma secondary "
        "primary tertiary abitur hauptschule realschule gymnasium hochschule lehre licence baccalaureat",
    ),
    (
        "ways of being employed",
        "quasi-identifier",
        "employed unemployed retired student homemaker self-employed full-time part-time freelance apprentice "
        "arbeitslos rentner angestellt selbststandig retraite chomage jubilado",
    ),
    (
        "occupations",
        "quasi-identifier",
        "teacher nurse manager engineer driver clerk lawyer physician farmer scientist technician officer "
        "assistant analyst accountant consultant salesman mechanic lehrer arzt ingenieur",
    ),
    ("ways of living", "quasi-identifier", "rent renter owner tenant mortgage own homeless eigentum miete"),
    (
        "stays and places of treatment",
        "quasi-identifier",
        "hospital clinic ward inpatient outpatient emergency picu icu nursing surgery oncology pediatrics cardiology "
        "urgent elective medicare medicaid klinik krankenhaus ambulant stationar hopital",
    ),
    (
        "findings or medicines",
        "sensitive",
        "cancer diabetes asthma hypertension depression pneumonia influenza flu infection fracture stroke syndrome "
        "disease disorder chronic acute tumor hepatitis pain benign malignant",
    ),
    (
        "offences and what followed",
        "sensitive",
        "robbery assault theft burglary larceny battery possession cocaine arrest citation warning violation "
        "murder fraud dui felony misdemeanor homicide guilty acquitted convicted diebstahl betrug",
    ),
    (
        "judgements on people",
        "sensitive",
        "excellent poor fair insufficient unsatisfactory satisfactory outstanding failed passed bad delinquent "
        "unhappy dissatisfied",
    ),
    ("relatives", "quasi-identifier", "mother father husband wife daughter son sister brother mutter vater mere pere"),
    (
        "places",
        "quasi-identifier",
        "states germany france italy spain mexico canada india china japan brazil england poland portugal austria "
        "switzerland netherlands belgium greece turkey russia vietnam philippines cuba colombia california texas "
        "florida york ohio illinois pennsylvania berlin hamburg bayern sachsen hessen paris london madrid munich "
        "chicago boston county city town village district",
    ),
    ("languages", "quasi-identifier", "english spanish german french italian arabic turkish russian portuguese hindi"),
)
_GIVEN_NAMES = (
    "john mary james robert michael william david richard joseph thomas charles daniel matthew mark paul steven andrew "
    "kevin brian edward jason jeffrey ryan jacob eric peter martin anna emma laura sarah linda susan jessica karen "
    "nancy lisa betty sandra ashley emily donna michelle carol amanda melissa maria julia alice jean pierre marie "
    "jacques louis henri hans klaus jurgen wolfgang ursula monika petra sabine stefan andreas juan jose carlos luis "
    "miguel antonio carmen ana pedro mohamed ahmed fatima ali wei ivan olga sofia alex max lukas leon noah liam"
)
_NO_ANSWER = re.compile(r"(other|unknown|none|n/?a|missing|refused|unbekannt|not .*|don.t know|[?.-]*)", re.IGNORECASE)


def key_of(sample: Sequence[str]) -> Look | None:
    """Values that point at a person or a record by themselves."""
    found = next((what for what, pattern in _KEYS if mostly(sample, pattern)), None)
    return None if found is None else Look(found, "identifier", person=True)


def is_moment(sample: Sequence[str]) -> bool:
    """Whether values are dates, times of day or both, as they are commonly written."""
    return mostly(sample, _MOMENT)


def is_rank(sample: Sequence[str]) -> bool:
    """Whether values are ranks, so that a grade is none of a pupil."""
    return _share(sample, frozenset(_RANKS.split())) >= HALF


def look_of(sample: Sequence[str]) -> Look | None:
    """What text values look like where the name says nothing; the first that fits."""
    if not sample:
        return None
    if mostly(sample, _MONEY):
        return Look("amounts of money", "sensitive")
    if len(sample) >= _MANY_CODES and _coded(sample):
        return Look("codes of diagnoses (ICD)", "sensitive")
    if mostly(sample, _POSTCODE) and len(sample) >= _MANY_CODES:
        return Look("postcodes", "quasi-identifier")
    if _ages(sample):
        return Look("bands of ages", "quasi-identifier")
    plain = [_plain(value) for value in sample]
    if mostly(plain, _STREET):
        return Look("addresses", "identifier")
    if _share(sample, frozenset(_GIVEN_NAMES.split())) >= HALF:
        return Look("names of people", "identifier")
    shares = [(_share(sample, frozenset(words.split())), meaning, role) for meaning, role, words in _WORDS]
    share, meaning, role = max(shares, key=lambda entry: entry[0])
    return Look(meaning, role) if share >= HALF else None


def is_whole_name(sample: Sequence[str]) -> bool:
    """Whether values are several words of letters each, as names of people are."""
    return mostly(sample, re.compile(r"[^\W\d_]+[^\w]*( [^\W\d_]+[^\w]*){1,4}"))


def mostly(sample: Sequence[str], pattern: re.Pattern[str]) -> bool:
    """Whether nearly all values fit a pattern."""
    hits = sum(pattern.fullmatch(value.strip()) is not None for value in sample)
    return hits > 0 and hits >= MOSTLY * len(sample)


def _share(sample: Sequence[str], words: frozenset[str]) -> float:
    """Share of the values, answers that are none aside, with a word of the list; one value alone says nothing."""
    said = [value for value in sample if not _NO_ANSWER.fullmatch(value.strip())]
    hits = sum(not words.isdisjoint(re.findall(r"[\w-]+|\w+", _plain(value))) for value in said)
    return hits / len(said) if hits > 1 else 0.0


def _plain(value: str) -> str:
    spelled = unicodedata.normalize("NFKD", value.lower().replace("ß", "ss"))
    return "".join(letter for letter in spelled if not unicodedata.combining(letter))


def _coded(sample: Sequence[str]) -> bool:
    telling = sum("." in value or value[:1] in "VE" for value in sample)
    return mostly(sample, _DIAGNOSIS) and telling >= 0.1 * len(sample)


def _ages(sample: Sequence[str]) -> bool:
    bands = [found for value in sample if (found := _BAND.fullmatch(value.strip()))]
    ends = [int(number) for band in bands for number in band.groups() if number]
    enough = len(bands) >= max(3, 0.6 * len(sample))
    return enough and 40 <= max(ends) <= _OLDEST
