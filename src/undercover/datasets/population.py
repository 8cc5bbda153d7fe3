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

# Label and coarser label, from the least to the most schooling.
EDUCATIONS = (
    ("No schooling", "Primary school"),
    ("Kindergarten", "Primary school"),
    ("Grades 1 to 4", "Primary school"),
    ("Grades 5 and 6", "Primary school"),
    ("Grades 7 and 8", "Middle school"),
    ("Grade 9", "Middle school"),
    ("Grade 10", "High school, unfinished"),
    ("Grade 11", "High school, unfinished"),
    ("Grade 12, no diploma", "High school, unfinished"),
    ("High school diploma", "High school"),
    ("Equivalent of a diploma", "High school"),
    ("College, under a year", "College, unfinished"),
    ("College, no degree", "College, unfinished"),
    ("Associate degree", "First degree"),
    ("Bachelor's degree", "First degree"),
    ("Master's degree", "Higher degree"),
    ("Doctorate", "Higher degree"),
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

MARITAL_STATUSES = (
    ("Never married", "Not married"),
    ("Married", "In a marriage"),
    ("Married, spouse absent", "In a marriage"),
    ("Separated", "Formerly together"),
    ("Divorced", "Formerly together"),
    ("Widowed", "Formerly together"),
)

RELATIONSHIPS = (
    ("Householder", "Couple or head"),
    ("Spouse", "Couple or head"),
    ("Unmarried partner", "Couple or head"),
    ("Child", "Relative"),
    ("Child-in-law", "Relative"),
    ("Parent", "Relative"),
    ("Parent-in-law", "Relative"),
    ("Sibling", "Relative"),
    ("Grandchild", "Relative"),
    ("Other relative", "Relative"),
    ("Housemate", "Not related"),
    ("Lodger", "Not related"),
    ("Resident of an institution", "Not related"),
)

RACES = (
    ("White", "White"),
    ("Black", "Black"),
    ("American Indian", "Indigenous"),
    ("Alaska Native", "Indigenous"),
    ("Pacific Islander", "Indigenous"),
    ("East Asian", "Asian"),
    ("Other Asian", "Asian"),
    ("Another race", "Other or several"),
    ("Several races", "Other or several"),
)

WORK_CLASSES = (
    ("Private company", "Private employer"),
    ("Charity", "Private employer"),
    ("Local government", "Government"),
    ("State government", "Government"),
    ("Federal government", "Government"),
    ("Own company", "Self-employed"),
    ("Own account", "Self-employed"),
    ("Family business, unpaid", "Self-employed"),
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
