"""Associations from people one by one, with scipy; no table of counts, no bins."""

from scipy.stats import chi2_contingency, spearmanr


def people_of(counts):
    """The bins of everybody in a table of whole counts."""
    rows, columns = [], []
    for row, entries in enumerate(counts):
        for column, count in enumerate(entries):
            rows += [row] * int(count)
            columns += [column] * int(count)
    return rows, columns


def plain_rank_correlation(counts):
    return float(spearmanr(*people_of(counts)).statistic)


def plain_cramers_v(counts):
    found = chi2_contingency(counts, correction=False).statistic
    return float((found / (sum(map(sum, counts)) * (min(len(counts), len(counts[0])) - 1))) ** 0.5)
