"""What column names mean: the words that give a column away, in English, German, and a little French and Spanish.

A rule is a meaning, the role that follows from it, and words. A word stands for itself and its plural; with a star
(``geburt*``) for every word that contains it, as German puts words together; with the star in front (``*inc``) for
every word that ends so; with ``=`` for the whole name; joined by ``+`` for several words that must all occur in the
name, and by ``|`` for one of several. The names of survey codebooks (AGEP, SCHL, …) are words like any other. The
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
_COUNTED = "num number count n nb anzahl nombre amount days years time duration length minutes hours distance"
COUNT_WORDS = frozenset(_COUNTED.split())


@dataclass(frozen=True)
class Rule:
    """One meaning a column name can have."""

    meaning: str
    role: SuggestedRole
    words: str
    codes: bool = False  # numbers in such a column are names of categories, not amounts
    person: bool = False  # such a column stands for one person, so a repeated value is the same person again
    unless: str = ""  # words that take the meaning away: the name of a town is no person's name
    if_few: SuggestedRole = "none"  # of an identifier: the role where a handful of values is shared by everybody
    topic: str = ""  # what a table is about in which many columns have this meaning

    def fits(self, words: frozenset[str]) -> bool:
        """Whether the words of a column name are words of this rule."""
        return self._any(self._patterns, words) and not self._any(self._exceptions, words)

    @cached_property
    def _patterns(self) -> tuple[tuple[str, ...], ...]:
        return _split(self.words)

    @cached_property
    def _exceptions(self) -> tuple[tuple[str, ...], ...]:
        return _split(self.unless)

    @staticmethod
    def _any(patterns: tuple[tuple[str, ...], ...], words: frozenset[str]) -> bool:
        return any(all(_occurs(part, words) for part in pattern) for pattern in patterns)


def words_of(name: str) -> frozenset[str]:
    """The words of a column name, lower case, without accents, and the name as a single word."""
    spelled = name.replace("ß", "ss")
    plain = "".join(c for c in unicodedata.normalize("NFKD", spelled) if not unicodedata.combining(c))
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})|(?<=\D)(?=\d)|(?<=\d)(?=\D)", " ", plain)
    parts = re.findall(r"[^\W_]+", spaced.lower())
    whole = "".join(parts)
    glued = (found[1] for part in parts if (found := _STEM.fullmatch(part)))
    spelled_out = (
        word for skeleton, word in _SKELETONS.items() for part in parts if _abbreviates(skeleton, part) and word != part
    )
    return frozenset([*parts, whole, f"={whole}", *glued, *spelled_out]) - {"", "="}


def _abbreviates(skeleton: str, part: str) -> bool:
    return skeleton in part if len(skeleton) > 3 else part.startswith(skeleton)


def meanings_of(name: str) -> Iterator[Rule]:
    """The rules that fit a column name, the most special first."""
    words = words_of(name)
    return (rule for rule in RULES if rule.fits(words))


def _split(patterns: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(pattern.split("+")) for pattern in patterns.split())


def _occurs(pattern: str, words: frozenset[str]) -> bool:
    if "|" in pattern:
        return any(_occurs(one, words) for one in pattern.split("|"))
    if pattern.startswith("*"):
        return any(word.endswith(pattern[1:]) for word in words)
    if pattern.endswith("*"):
        return any(pattern[:-1] in word for word in words)
    return pattern in words or f"{pattern}s" in words


# Words without their vowels: wrkstat, hrs1, pymnt.
_SPELLED = (
    "gender country county health work hours years payment amount citizen marital religion household birth child "
    "salary treatment patient district income diagnosis"
)
_SKELETONS = {re.sub(r"(?<=.)[aeiou]", "", word): word for word in _SPELLED.split()}

# The mother's, father's or respondent's own (maeduc, frace, Mjob), the total or latest one, in groups, as a code
# (empstat, agegrp, incwage): nothing but a stem between such parts.
_STEM = re.compile(
    "(?:m|f|r|ma|pa|mo|fa|sp|hh|tot|cur|prev|max)?"
    "(age|sex|race|hisp|eth|educ|edu|emp|job|occ|inc|income|wage|pay|mar|relig|lang|fam|hh|born|birth|diag|dis|vet|zip)"
    "(?:stat|status|st|size|siz|num|no|nr|cnt|tot|total|typ|type|cat|grp|group|cd|code|lvl|level|yr|yrs|year|amt|rate"
    "|wage|r)*"
)
_PEOPLE = (
    "patient* person* user client* kunde* customer* member* mitglied* employee* mitarbeiter* personal* student* "
    "pupil schueler* schuler* citizen* participant* teilnehmer* subject proband* applicant* respondent* resident* "
    "household* haushalt* hh versicherte* paciente* cliente* assure* insured* case fall* record* encounter* officer* "
    "worker* teacher* doctor* visitor* serial*"
)
_NUMBERS = "id nr no num nbr number nummer* key schlussel hash pseudonym* numero token"
_NUMBERED_PEOPLE = "+".join("|".join(words.split()) for words in (_NUMBERS, _PEOPLE))
_GLUED = " ".join(
    f"{who}{what}"
    for who in ("patient", "person", "user", "client", "customer", "member", "employee", "student", "case", "hh")
    for what in ("id", "nr", "no", "number")
)

RULES: tuple[Rule, ...] = (
    Rule(
        "bookkeeping of the file",
        "none",
        "split fold train+test rownum row+number row+nr index unnamed file+date version flag+imputed",
        unless="mass body price",
    ),
    Rule(
        "a survey weight or the design of a survey",
        "none",
        "fnlwgt pwgtp* wgtp* wgt* hochrechnung* instance+weight sampl*+weight survey+weight person+weight "
        "household+weight final+weight design+weight expansion+weight replicate+weight stat*+gewicht* wtint* wtmec* "
        "perwt hhwt stratum strata psu sdmv*",
        unless="gain pwgt",
    ),
    Rule("an e-mail address", "identifier", "email* e+mail* mail correo*", person=True),
    Rule(
        "a telephone number",
        "identifier",
        "phone* telephon* telefon* mobile mobil handy* cell+number cellphone* tel fax movil",
        person=True,
        unless="has no service type model own",
    ),
    Rule(
        "an official or account number",
        "identifier",
        "ssn social+security* sozialversicherung* svnr sv+nummer versichertennummer* nhs+number national+id "
        "insurance+number tax+id tax+number steuernummer* steuer+id passport* reisepass* ausweis* iban konto* "
        "account+number credit+card kreditkarte* license+plate licence+plate driver*+license kennzeichen* mrn dni "
        "numero+securite nir curp matrikel* license+number licence+number serial+number",
        person=True,
    ),
    Rule("a network address or an account name", "identifier", "ip ipaddress* mac+address username* user+name login*"),
    Rule("a web address", "identifier", "url website homepage"),
    Rule(
        "a key of persons, households or cases",
        "identifier",
        f"{_NUMBERED_PEOPLE} {_GLUED} uuid guid serialno =seqn =serial",
        person=True,
        unless="class type group typ",
    ),
    Rule(
        "a full address",
        "identifier",
        "address* street* strasse* adresse* anschrift* hausnummer* calle rue direccion addr",
        if_few="quasi-identifier",
        unless="state",
    ),
    Rule(
        "coordinates of a place",
        "identifier",
        "latitude* longitude* lat lon lng gps* koordinate* coordinate* easting northing",
        if_few="quasi-identifier",
    ),
    Rule(
        "a part of a person's name",
        "identifier",
        "firstname lastname surname* forename* givenname* maiden+name first+name last+name middle+name given+name "
        "fname lname family+name vorname* nachname* familienname* geburtsname* zuname* prenom* apellido* initials "
        "initialen =first =last =maiden",
    ),
    Rule(
        "a person's name",
        "identifier",
        "name fullname full+name nom nombre",
        person=True,
        unless="file column variable product produkt country land city town ort state drug company firma school "
        "hospital brand disease test class klasse category region county department medication* clinic* station* "
        "ward street unit",
    ),
    Rule(
        "a date or place of birth",
        "quasi-identifier",
        "birth* dob born* geburt* naiss* nacimiento geb pobp bpl nativity yoep dmdyrsus mbstate*",
        codes=True,
        unless="weight outcome",
    ),
    Rule(
        "a stay in hospital",
        "quasi-identifier",
        "specialty speciality fachrichtung* payer* payor* kostentrager* insurer* insurance* versicherung* admission "
        "admitted admit* aufnahme* discharge* entlass* ward hospital* krankenhaus* klinik* clinic* hopital* "
        "inpatient* outpatient* emergency appointment* visit+type facility bfacil",
        codes=True,
        unless="readmi* expire* death* flag",
    ),
    Rule(
        "an age",
        "quasi-identifier",
        "age agep alter edad lebensalter* altersgruppe* years+old ages agegroup* agegrp* ageyr* agemn* mager "
        "fagecomb dmdhragz senior*",
        unless="first+marriage",
    ),
    Rule(
        "pay, wealth or debt",
        "sensitive",
        "salar* income* inc *inc wage* wagp earning* pay pay+amount pay+total payment* gehalt* lohn* einkommen* "
        "vermogen* revenu* salaire* ingreso* pincp* pernp* hincp ssp ssip retp intp semp capital+gain* capital+loss* "
        "dividend* credit* kredit* debt* schulden* loan loans mortgage* balance povpip* poverty armut* tax taxes "
        "steuer* benefit* welfare* bonus rent+amount miete* saving* savings checking* installment* instalment* "
        "instal* default* delinq* arrear* overdue* bankrupt* bankruptcy interest+rate hourly+rate daily+rate "
        "monthly+rate pay+rate charges charge+amount stock+option* property wealth asset* compensation* scholarship* "
        "stipend* allowance* pension* rente indhhin indfmin indfmpir wic pay+rec cost expense* turnover umsatz* amnt "
        "amt bal pmt int+rate comp+total|yearly|annual|monthly revolving* revol dti fico* inquir* inq inctot "
        "hinctnta open+acc|account|accounts total+acc|account|accounts",
        unless="method life verification zinc",
        topic="money",
    ),
    Rule(
        "an illness or disability",
        "sensitive",
        "disease* diagnos* diag dx icd illness* sick* condition symptom* krank* befund* leiden maladie* enfermedad* "
        "cancer* krebs* tumor* tumour* hiv aids hepatit* infection* infektion* todesursache* cause+death dis dear "
        "deye drem dphy dout ddrs dvet disab* behinder* handicap* handcap* discapacidad* hipertens* hypertens* "
        "stroke angina* exang neumonia* pneumonia* asma epoc copd obes* cardiovasc* renal* inmusupr* inmunosup* "
        "comorbid* syndrom* epilep* tubercul* malaria* fever chest+pain",
        codes=True,
        topic="health",
    ),
    Rule(
        "a medicine",
        "sensitive",
        "*formin *glinide *glitazone *gliptin *gliflozin *amide *pizide *buride *piride *statin *sartan *olol "
        "*prazole *mycin *cillin *oxetine *azepam *mab *tinib *vir *caine *profen *codone *setron *triptan insulin*",
        topic="health",
    ),
    Rule(
        "health",
        "sensitive",
        "health* gesundheit* salud sante hicov* hins diab* covid* asthma* depress* mental* psych* anxiety* addict* "
        "sucht* smok* rauch* tabaq* cigar* cig *alc alcohol* alkohol* drink* pregnan* schwanger* embaraz* gravid* "
        "prgnt exprg abortion* fertil* therap* treatment* behandlung* medication* medikament* medicine* meds drug "
        "prescription* rezept* insulin* a1c* glu glucose* chol cholest* ldl hdl triglycer* bmi body+mass blood* "
        "blut* *bps *bp systol* diastol* ecg ekg pulse heart* lab lipid* hemoglob* fbs serum* procedure* surgery* "
        "operation readmi* outcome death* dead deces* todesf* gestorben* verstorben* genesen* recovered mortality* "
        "genetic* gene genom* vaccin* impf* test+result result resultado* resultat* ergebnis* intub* uci icu nicu "
        "apgar* gestat* combgest dbwt birth+weight dmeth* wtgain precare* infant* diffrem diffphys hcov* alcday "
        "surviv* hospital+expire*",
        topic="health",
    ),
    Rule(
        "belief, politics or sexual life",
        "sensitive",
        "religio* konfession* faith kirche* church* politic* politisch* party partei* vote voting union "
        "gewerkschaft* sexual* orientation romantic* caste* party* attend* sexfreq rlg* lrscale",
        codes=True,
    ),
    Rule(
        "an offence or the police",
        "sensitive",
        "crime* criminal* offence* offense* arrest* convict* straf* delikt* sentence* prison* jail* felon* "
        "misdemean* recidiv* probation parole citation* warning* summons* contraband* frisk* search searched weapon* "
        "violation* suspected reason+stop recid* prior priors juv juvenile* misd fel charge+desc*|degree gun guns "
        "armed threat* flee fled",
        codes=True,
        unless="engine research",
        topic="offences",
    ),
    Rule(
        "a judgement on a person",
        "sensitive",
        "score gpa grade schulnote* noten* zensur* rating bewertung* exam examination* prufung* performance* "
        "satisfaction* zufrieden* involvement* attrition* failure* absence* fehlzeit* work+life+balance evaluation* "
        "happiness* complaint* misconduct* disciplin* happy stflife demeanor* demeanour* behavio*",
        unless="education school schooling salary pay age",
        topic="judgements",
    ),
    Rule(
        "a sex or gender",
        "quasi-identifier",
        "sex gender* gendr* geschlecht* sexe sexo genre dmdhrgnd sexvar",
        codes=True,
    ),
    Rule("a postcode", "quasi-identifier", "zip* postcode* postal* plz postleitzahl* codigo+postal code+postal cp"),
    Rule(
        "a place",
        "quasi-identifier",
        "city town village county county* country countries state province region district municipality municip* "
        "entidad* puma* location place residence* resident* neighbourhood* neighborhood* census+tract block land "
        "bundesland* kreis* landkreis* gemeinde* stadt* wohnort* ort staat* kanton* bezirk* pays ville departement "
        "commune pais ciudad provincia msa migration* sunbelt area+code =st statefip zone precinct borough beat "
        "station* distance+home home+town hometown lieu* comm+naiss destination house lived moved cabin* embark* "
        "domicil* migrate*",
        codes=True,
    ),
    Rule(
        "origin",
        "quasi-identifier",
        "race eth rac rac1p ridreth* ethnic* ethnie hisp hispanic* mhisp* fhisp* mrace* frace* nationalit* "
        "nacionalid* citizen* cit dmdcitzn staatsangehorig* immig* migrant* migrante* foreign* auslander* ancestry "
        "anc1p anc2p herkunft* rasse raza origin native natives language* sprache* langue lengua* idioma eng lang "
        "lanx sialang ctzcntr brncntr lnghom* hispan* speakeng",
        codes=True,
    ),
    Rule(
        "family and household",
        "quasi-identifier",
        "marital* martl* mar fam hh dmar msp married marriage* familienstand* personal+status relationship* relp "
        "relshipp* gq spouse* partner* dependent* dependant* guardian* household* haushalt* famil* famsize famrel "
        "fmsiz* hhsiz* children kinder* noc npf estado+civil etat+civil parent* pstatus sibling* own+rent housing* "
        "home+owner* homeowner* tenure wohn* dwelling* fer priorlive* dplural twin* sib sibs sibsp parch child* "
        "childs nchild hompop hhmmb ownershp relate marst renthom*",
        codes=True,
        unless="size num number anzahl customer",
    ),
    Rule(
        "the size of a family or household",
        "quasi-identifier",
        "household* haushalt* famil* children kinder* persons dependent* dependant*",
    ),
    Rule(
        "schooling",
        "quasi-identifier",
        "educ* edu schl sch schul* school* edu degree* abschluss* bildung* diploma* etude* estudio* estudios "
        "qualification* enroll* university* college* grad edulvl* eisced",
        unless="support sup",
    ),
    Rule(
        "work",
        "quasi-identifier",
        "occup* occp* occ job* profession* beruf* tatigkeit* industr* indp* branche* branch sector employ* "
        "arbeitgeber* unemploy* workclass* work+class class+worker cow esr business* title position metier empleo "
        "profesion department* abteilung* own+self military mil miliz* vet veteran* militar* rank full+time "
        "part+time work worked working worker company companies firm role promotion manager supervisor salaried emp "
        "organisation+size organization+size org+size company+size devtype mnactic isco* empstat vetstat =ind "
        "uhrswork classwkr labforce",
        codes=True,
        unless="travel remote",
    ),
    Rule("working time", "quasi-identifier", "hour* wkhp week weekly wochenstunde* arbeitszeit* heures horas stunden"),
    Rule(
        "a way of travelling",
        "quasi-identifier",
        "jwtrns jwtr tranwork commut* means+transport* transport+mode verkehrsmittel*",
    ),
    Rule(
        "a body measure",
        "quasi-identifier",
        "height weight grosse gewicht* korper* eye+color eye+colour hair* augenfarbe taille peso estatura pwgt* "
        "ht+in shoe* body+build body+type",
    ),
    Rule("how long something has lasted", "quasi-identifier", "years seniority experience* workexp*"),
    Rule("a vehicle", "quasi-identifier", "vehicle* car auto fahrzeug* vin"),
    Rule(
        "when something happened",
        "quasi-identifier",
        "date datum* fecha* *datum meldedatum* timestamp* birthday* datetime* *date",
        unless="update updated",
    ),
)
