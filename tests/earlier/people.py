"""The people of the releases stored beside: 24 made-up rows, the same in every one of them."""

import pyarrow as pa

AGES = [23, 25, 27, 29, 31, 33, 35, 37, 41, 43, 45, 47, 52, 54, 56, 58, 61, 63, 65, 67, 72, 74, 76, 78]

PEOPLE = pa.table(
    {
        "name": [f"Person {number:02d}" for number in range(24)],
        "age": AGES,
        "sex": ["f", "m"] * 12,
        "city": ["Ulm", "Bonn", "Kiel"] * 8,
        "illness": ["flu", "cold", "gout", "asthma"] * 6,
    }
)
