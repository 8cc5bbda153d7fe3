"""Who lives in the built-in census: the labels of every column and the trees over them.

The domain sizes are those of the tables the five papers measure on (79 ages, 2 sexes, 13 relationships,
17 educations, 6 marital statuses, 9 races, 8 work classes, 57 birthplaces, 500 occupations in 50 groups, 50 income
classes, 850 salaries). Labels and shares are our own; the people do not exist.
"""

from __future__ import annotations

AGES = range(17, 96)
HOURS = range(1, 100)
INCOMES = range(50)
OCCUPATIONS = range(1000, 1500)

SEXES = ("Female", "Male")


def _under(groups: dict[str, tuple[str, ...]]) -> tuple[tuple[str, str], ...]:
    """Every label with the coarser one it stands under."""
    return tuple((label, group) for group, labels in groups.items() for label in labels)


# From the least to the most schooling.
EDUCATIONS = _under(
    {
        "Primary school": ("No schooling", "Kindergarten", "Grades 1 to 4", "Grades 5 and 6"),
        "Middle school": ("Grades 7 and 8", "Grade 9"),
        "High school, unfinished": ("Grade 10", "Grade 11", "Grade 12, no diploma"),
        "High school": ("High school diploma", "Equivalent of a diploma"),
        "College, unfinished": ("College, under a year", "College, no degree"),
        "First degree": ("Associate degree", "Bachelor's degree"),
        "Higher degree": ("Master's degree", "Doctorate"),
    }
)
EDUCATION_BROAD = {
    "Primary school": "Below high school",
    "Middle school": "Below high school",
    "High school, unfinished": "Below high school",
    "High school": "High school or some college",
    "College, unfinished": "High school or some college",
    "First degree": "Degree",
    "Higher degree": "Degree",
}

MARITAL_STATUSES = _under(
    {
        "Not married": ("Never married",),
        "In a marriage": ("Married", "Married, spouse absent"),
        "Formerly together": ("Separated", "Divorced", "Widowed"),
    }
)

RELATIONSHIPS = _under(
    {
        "Couple or head": ("Householder", "Spouse", "Unmarried partner"),
        "Relative": ("Child", "Child-in-law", "Parent", "Parent-in-law", "Sibling", "Grandchild", "Other relative"),
        "Not related": ("Housemate", "Lodger", "Resident of an institution"),
    }
)

RACES = _under(
    {
        "White": ("White",),
        "Black": ("Black",),
        "Indigenous": ("American Indian", "Alaska Native", "Pacific Islander"),
        "Asian": ("East Asian", "Other Asian"),
        "Other or several": ("Another race", "Several races"),
    }
)

WORK_CLASSES = _under(
    {
        "Private employer": ("Private company", "Charity"),
        "Government": ("Local government", "State government", "Federal government"),
        "Self-employed": ("Own company", "Own account", "Family business, unpaid"),
    }
)

# Division, region, and each place with its inhabitants in hundred thousands (for places abroad: who came from there).
GEOGRAPHY: tuple[tuple[str, str, dict[str, int]], ...] = (
    (
        "New England",
        "Northeast",
        {"Connecticut": 36, "Maine": 14, "Massachusetts": 70, "New Hampshire": 14, "Rhode Island": 11, "Vermont": 6},
    ),
    ("Middle Atlantic", "Northeast", {"New Jersey": 93, "New York": 202, "Pennsylvania": 130}),
    ("East North Central", "Midwest", {"Illinois": 128, "Indiana": 68, "Michigan": 101, "Ohio": 118, "Wisconsin": 59}),
    (
        "West North Central",
        "Midwest",
        {
            "Iowa": 32,
            "Kansas": 29,
            "Minnesota": 57,
            "Missouri": 62,
            "Nebraska": 20,
            "North Dakota": 8,
            "South Dakota": 9,
        },
    ),
    (
        "South Atlantic",
        "South",
        {
            "Delaware": 10,
            "District of Columbia": 7,
            "Florida": 215,
            "Georgia": 107,
            "Maryland": 62,
            "North Carolina": 104,
            "South Carolina": 51,
            "Virginia": 86,
            "West Virginia": 18,
        },
    ),
    ("East South Central", "South", {"Alabama": 50, "Kentucky": 45, "Mississippi": 30, "Tennessee": 69}),
    ("West South Central", "South", {"Arkansas": 30, "Louisiana": 47, "Oklahoma": 40, "Texas": 291}),
    (
        "Mountain",
        "West",
        {
            "Arizona": 72,
            "Colorado": 58,
            "Idaho": 18,
            "Montana": 11,
            "Nevada": 31,
            "New Mexico": 21,
            "Utah": 33,
            "Wyoming": 6,
        },
    ),
    ("Pacific", "West", {"Alaska": 7, "California": 395, "Hawaii": 15, "Oregon": 42, "Washington": 77}),
    ("The Americas", "Abroad", {"Canada": 12, "Latin America": 230}),
    ("Overseas", "Abroad", {"Africa": 25, "Asia": 140, "Europe": 52, "Oceania": 5}),
)
BIRTHPLACES = tuple(place for _, _, places in GEOGRAPHY for place in places)

# Broad group and its five groups; group g holds the ten codes 1000 + 10 g to 1009 + 10 g.
OCCUPATION_GROUPS: tuple[tuple[str, tuple[str, str, str, str, str]], ...] = (
    ("Management", ("Executives", "Finance managers", "Operations managers", "Shop managers", "Farm managers")),
    ("Science and technology", ("Software", "Engineering", "Natural science", "Mathematics", "Technicians")),
    ("Health", ("Physicians", "Nursing", "Therapy", "Medical technicians", "Care aides")),
    ("Education and culture", ("Universities", "Schools", "Early childhood", "Arts and media", "Libraries")),
    ("Law and public service", ("Law", "Social work", "Clergy", "Police", "Fire and rescue")),
    ("Office", ("Accounting", "Secretaries", "Clerks", "Post", "Customer desks")),
    ("Sales", ("Estate agents", "Sales representatives", "Retail sales", "Cashiers", "Insurance agents")),
    ("Personal service", ("Cooks", "Waiting staff", "Cleaners", "Hair and beauty", "Guards")),
    ("Construction and repair", ("Builders", "Electricians", "Plumbers", "Mechanics", "Miners")),
    ("Production and transport", ("Machinists", "Assemblers", "Drivers", "Warehouse hands", "Farm hands")),
)
