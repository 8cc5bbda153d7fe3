"""Marginal and pairwise distances by loops over rows and the values their cells cover, from published text."""

from collections import Counter
from itertools import combinations

from undercover.forms import read
from undercover.forms.meaning import leaf_values


def covered(original, table, name, cell):
    values = leaf_values(original[name])
    meaning = values.read(cell, table.form(name))
    return [values.labels[p] for p in (meaning.members or range(meaning.low, meaning.high + 1))]


def shown_people(original, release):
    """(quasi-identifier cells as lists of values, sensitive value -> expected people, people) of every row."""
    names, (secret,) = original.schema.quasi_identifiers, original.schema.sensitive
    if len(release.tables) > 1:
        qit, sat = release.published("qit"), release.published("sat")
        buckets = {}
        for line in sat.data.to_pylist():
            buckets.setdefault(line["bucket"], Counter())[str(line[secret])] += line["count"]
        for row in qit.data.to_pylist():
            shares = buckets[row["bucket"]]
            size = sum(shares.values())
            yield (
                {name: covered(original, qit, name, str(row[name])) for name in names},
                {value: count / size for value, count in shares.items()},
                1.0,
            )
        return
    table = release.published()
    noise = read(release).channel
    for row in table.data.to_pylist():
        cells = {name: covered(original, table, name, str(row[name])) for name in names}
        if noise is None:
            yield cells, {str(row[secret]): 1.0}, 1.0
            continue
        p, u = float(noise.p), float(noise.u)
        yield cells, {v: row["G"] * ((v == str(row[secret])) - u) / p for v in noise.domain}, float(row["G"])


def tables(original, release):
    """Estimated counts of every column and pair, at full resolution."""
    names, (secret,) = original.schema.quasi_identifiers, original.schema.sensitive
    found = {name: Counter() for name in (*names, secret)}
    for pair in [*combinations(names, 2), *((name, secret) for name in names)]:
        found[pair] = Counter()
    for cells, values, people in shown_people(original, release):
        for name in names:
            for value in cells[name]:
                found[name][value] += people / len(cells[name])
                for secret_value, weight in values.items():
                    found[name, secret][value, secret_value] += weight / len(cells[name])
        for value, weight in values.items():
            found[secret][value] += weight
        for a, b in combinations(names, 2):
            for x in cells[a]:
                for y in cells[b]:
                    found[a, b][x, y] += people / len(cells[a]) / len(cells[b])
    return found


def distance(true, estimated):
    kept = {value: max(count, 0.0) for value, count in estimated.items()}
    total, everybody = sum(kept.values()), sum(true.values())
    return sum(abs(true[v] / everybody - kept.get(v, 0) / total) for v in {*true, *kept}) / 2


def plain_distances(original, release):
    names, (secret,) = original.schema.quasi_identifiers, original.schema.sensitive
    rows = [
        {name: original[name].domain.labels[original[name].codes[i]] for name in (*names, secret)}
        for i in range(original.n_rows)
    ]
    found = {}
    for key, estimated in tables(original, release).items():
        parts = (key,) if isinstance(key, str) else key
        true = Counter(row[key] if isinstance(key, str) else tuple(row[p] for p in parts) for row in rows)
        found[key] = distance(true, estimated)
    return found
