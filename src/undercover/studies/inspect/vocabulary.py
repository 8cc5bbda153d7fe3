"""What column names mean: the words that give a column away, in English, German, and a little French and Spanish.

A rule is a meaning, the role that follows from it, and words. A word stands for itself and its plural; with a star
(``geburt*``) for every word that contains it, as German puts words together; joined by ``+`` for several words that
must all occur in the name. The upper-case names of survey codebooks (AGEP, SCHL, …) are words like any other. The
first rule that fits wins, so the special ones stand before the general ones.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from undercover.model.schema import Role

SuggestedRole = Role | Literal["none"]

# Words that turn a column into a number of things: number_of_diagnoses is no diagnosis.
COUNT_WORDS = frozenset({"num", "number", "count", "n", "nb", "anzahl", "nombre", "amount", "days", "years"})


@dataclass(frozen=True)
class Rule:
    """One meaning a column name can have."""

    meaning: str
    role: SuggestedRole
    words: str
    codes: bool = False  # numbers in such a column are names of categories, not amounts
    person: bool = False  # such a column stands for one person, so a repeated value is the same person again
    unless: str = ""  # words that take the meaning away: the name of a town is no person's name

    def fits(self, words: frozenset[str]) -> bool:
        """Whether the words of a column name are words of this rule."""
        return self._any(self._patterns, words) and not self._any(self._exceptions, words)

    @cached_property
    def _patterns(self) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(pattern.split("+")) for pattern in self.words.split())

    @cached_property
    def _exceptions(self) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(pattern.split("+")) for pattern in self.unless.split())

    @staticmethod
    def _any(patterns: tuple[tuple[str, ...], ...], words: frozenset[str]) -> bool:
        return any(all(_occurs(part, words) for part in pattern) for pattern in patterns)


def words_of(name: str) -> frozenset[str]:
    """The words of a column name, lower case, without accents, and the name as a single word."""
    spelled = name.replace("ß", "ss")
    plain = "".join(c for c in unicodedata.normalize("NFKD", spelled) if not unicodedata.combining(c))
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})|(?<=\D)(?=\d)|(?<=\d)(?=\D)", " ", plain)
    parts = re.findall(r"[^\W_]+", spaced.lower())
    return frozenset([*parts, "".join(parts)]) - {""}


def meanings_of(name: str) -> Iterator[Rule]:
    """The rules that fit a column name, the most special first."""
    words = words_of(name)
    return (rule for rule in RULES if rule.fits(words))


def _occurs(pattern: str, words: frozenset[str]) -> bool:
    if pattern.endswith("*"):
        return any(pattern[:-1] in word for word in words)
    return pattern in words or f"{pattern}s" in words


_PEOPLE = (
    "patient* person* user client* kunde* customer* member* mitglied* employee* mitarbeiter* personal* student* pupil "
    "schueler* schuler* citizen* participant* teilnehmer* subject proband* applicant* respondent* resident* household* "
    "haushalt* hh versicherte* paciente* cliente* assure* insured* case fall* record* encounter* serial* medical+record"
)
_NUMBERS = "id nr no num nbr number nummer* key schlussel hash pseudonym* numero token"
_NUMBERED_PEOPLE = " ".join(f"{who}+{what}" for who in _PEOPLE.split() for what in _NUMBERS.split())
_GLUED = " ".join(
    f"{who}{what}"
    for who in ("patient", "person", "user", "client", "customer", "member", "employee", "student", "case", "hh")
    for what in ("id", "nr", "no", "number")
)

RULES: tuple[Rule, ...] = (
    Rule(
        "bookkeeping of the file",
        "none",
        "split fold train+test rownum row+number row+nr index unnamed",
        unless="mass body",
    ),
    Rule(
        "a survey weight",
        "none",
        "fnlwgt pwgtp* wgtp* wgt* hochrechnung* instance+weight sampl*+weight survey+weight person+weight "
        "household+weight final+weight design+weight expansion+weight replicate+weight stat*+gewicht*",
    ),
    Rule("an e-mail address", "identifier", "email* e+mail* mail correo*", person=True),
    Rule(
        "a telephone number",
        "identifier",
        "phone* telephon* telefon* mobile mobil handy* cell+number cellphone* tel fax movil",
        person=True,
        unless="has no service type model",
    ),
    Rule(
        "an official or account number",
        "identifier",
        "ssn social+security* sozialversicherung* svnr sv+nummer versichertennummer* nhs+number national+id "
        "insurance+number tax+id tax+number steuernummer* steuer+id passport* reisepass* ausweis* iban konto* "
        "account+number credit+card kreditkarte* license+plate licence+plate driver*+license kennzeichen* mrn dni "
        "numero+securite nir curp matrikel*",
        person=True,
    ),
    Rule("a network address or an account name", "identifier", "ip ipaddress* mac+address username* user+name login*"),
    Rule("a web address", "identifier", "url website homepage"),
    Rule("a key of persons, households or cases", "identifier", f"{_NUMBERED_PEOPLE} {_GLUED} uuid guid", person=True),
    Rule(
        "a full address", "identifier", "address* street* strasse* adresse* anschrift* hausnummer* calle rue direccion"
    ),
    Rule("coordinates of a place", "identifier", "latitude* longitude* lat lon lng gps* koordinate* coordinate*"),
    Rule(
        "a part of a person's name",
        "identifier",
        "firstname lastname surname* forename* givenname* maiden+name first+name last+name middle+name given+name "
        "family+name vorname* nachname* familienname* geburtsname* zuname* prenom apellido* initials initialen",
    ),
    Rule(
        "a person's name",
        "identifier",
        "name fullname full+name nom nombre",
        person=True,
        unless="file column variable product produkt country land city town ort state drug company firma school "
        "hospital brand disease test class klasse category region county department medication*",
    ),
    Rule(
        "a date or place of birth",
        "quasi-identifier",
        "birth* dob geburt* naissance nacimiento geb pobp bpl",
        codes=True,
    ),
    Rule(
        "a stay in hospital",
        "quasi-identifier",
        "specialty speciality fachrichtung* payer* kostentrager* admission admitted aufnahme* discharge* entlass* "
        "ward station",
        codes=True,
    ),
    Rule("an age", "quasi-identifier", "age agep alter edad lebensalter* altersgruppe* years+old"),
    Rule(
        "pay, wealth or debt",
        "sensitive",
        "salar* income* inc wage* wagp earning* pay+amount payment* gehalt* lohn* einkommen* vermogen* revenu* "
        "salaire* ingreso* pincp* pernp* hincp capital+gain* capital+loss* dividend* credit* kredit* debt* "
        "schulden* loan mortgage* balance povpip* poverty armut* tax taxes steuer* benefit* welfare* bonus "
        "rent+amount miete*",
    ),
    Rule(
        "an illness or disability",
        "sensitive",
        "disease* diagnos* diag dx icd illness* sick* condition symptom* krank* befund* leiden maladie* "
        "enfermedad* cancer* krebs* tumor* tumour* hiv aids hepatit* infection* infektion* todesursache* "
        "cause+death dis dear deye drem dphy dout ddrs dvet hicov disab* behinder* handicap*",
        codes=True,
    ),
    Rule(
        "health",
        "sensitive",
        "health* gesundheit* diabet* covid* asthma* depress* mental* psych* addict* sucht* smok* rauch* alcohol* "
        "alkohol* pregnan* schwanger* abortion* therap* treatment* behandlung* medication* medikament* medicine* "
        "drug prescription* rezept* insulin a1c* glu glucose* cholester* bmi body+mass blood* blut* lab lipid* "
        "procedure* surgery* operation readmi* outcome death* mortality* genetic* gene genom* vaccin* impf* "
        "test+result",
    ),
    Rule(
        "belief, politics, sexual life or an offence",
        "sensitive",
        "religio* konfession* faith kirche* church* politic* politisch* party partei* vote voting union "
        "gewerkschaft* sexual* orientation crime* criminal* offence* offense* arrest* convict* straf* delikt* "
        "sentence* prison* caste*",
        codes=True,
    ),
    Rule(
        "a judgement on a person",
        "sensitive",
        "score gpa grade schulnote* noten* zensur* rating bewertung* exam examination* prufung* performance*",
        unless="education school schooling salary pay age",
    ),
    Rule("a sex or gender", "quasi-identifier", "sex gender geschlecht* sexe sexo genre", codes=True),
    Rule("a postcode", "quasi-identifier", "zip* postcode* postal* plz postleitzahl* codigo+postal code+postal cp"),
    Rule(
        "a place",
        "quasi-identifier",
        "city town village county country countries state province region district municipality puma* location "
        "place residence* neighbourhood* neighborhood* census+tract block land bundesland* kreis* gemeinde* "
        "stadt* wohnort* ort staat* kanton* bezirk* pays ville departement commune pais ciudad provincia msa "
        "migration* sunbelt area+code",
        codes=True,
    ),
    Rule(
        "origin",
        "quasi-identifier",
        "race rac rac1p ethnic* ethnie hisp hispanic* nationalit* citizen* cit staatsangehorig* immigra* ancestry "
        "herkunft* rasse raza origin native* language* sprache* langue idioma eng lang",
        codes=True,
    ),
    Rule(
        "family and household",
        "quasi-identifier",
        "marital* mar msp married marriage* familienstand* relationship* relp relshipp* gq spouse* household* "
        "haushalt* famil* children kinder* noc npf estado+civil etat+civil parent* own+rent housing* tenure wohn* "
        "dwelling*",
        codes=True,
        unless="size num number anzahl",
    ),
    Rule(
        "the size of a family or household", "quasi-identifier", "household* haushalt* famil* children kinder* persons"
    ),
    Rule(
        "schooling",
        "quasi-identifier",
        "educat* schl schul* school* edu degree* abschluss* bildung* diploma* etude* estudio* estudios "
        "qualification* enroll*",
    ),
    Rule(
        "work",
        "quasi-identifier",
        "occup* occp* occ job* profession* beruf* tatigkeit* industr* indp* branche* sector employ* arbeitgeber* "
        "unemploy* workclass* work+class class+worker cow esr business* title position metier empleo profesion "
        "department* abteilung* own+self military mil veteran* militar*",
        codes=True,
    ),
    Rule("working time", "quasi-identifier", "hour* wkhp week weekly wochenstunde* arbeitszeit* heures horas stunden"),
    Rule("a body measure", "quasi-identifier", "height weight grosse gewicht* korper* eye+color hair* augenfarbe"),
    Rule("a vehicle", "quasi-identifier", "vehicle* car auto fahrzeug* vin"),
)
