"""The tables of docs/calibration.md say what the files beside the experiment say."""

import csv
from collections import defaultdict

from conftest import ROOT

NUMBERS = ROOT / "validation" / "calibration" / "numbers"
LINES = (ROOT / "docs" / "calibration.md").read_text(encoding="utf-8").splitlines()


def file(name):
    with (NUMBERS / f"{name}.csv").open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def table(head):
    """The rows of the page's table of which the head begins so, by their first cell."""
    start = next(i for i, line in enumerate(LINES) if line.startswith(head)) + 2
    rows = {}
    for line in LINES[start:]:
        if not line.startswith("|"):
            return rows
        first, *rest = (cell.strip() for cell in line.strip("|").split("|"))
        rows[first] = rest
    return rows


def span(values, form):
    low, high = min(values), max(values)
    return form(low) if low == high else f"{form(low)} to {form(high)}"


def short(share):
    return f"{share:.2f}".lstrip("0").replace(".00", "") or "0" if 0 < share < 1 else f"{share:g}"


def test_level_against_random_groups():
    kinds = ("a word and its 7 nearest", "a word and 7 of its 60 nearest", "8 words of a category")
    shares = {(row["metric"], row["groups"]): row["all"] for row in file("random_groups_level")}
    shown = table("| metric | a word and its 7 nearest")
    assert shown == {metric: [shares[metric, kind] for kind in kinds] for metric in shown}
    assert {metric for metric, kind in shares if kind in kinds} == set(shown)


def test_power_against_random_groups():
    found = {}
    for row in file("random_groups_power"):
        between = [
            float(row[model].split(", ")[1]) for model in ("word2vec", "GloVe 6B", "GloVe 840B", "spaCy")
        ]
        found.setdefault(row["metric"], []).append(span(between, short))
    assert table("| metric | 0 | .05") == found


def test_false_alarms_by_frequency():
    names = {"permutation": "plain", "frequency bands": "within bands", "control words": "control words"}
    free, planted = (
        {row["test"]: row for row in file(name) if row["training"] == "all together"}
        for name in ("frequency_no_bias", "frequency_planted")
    )
    expected = {
        shown: [free[test][kind] for kind in ("none", "targets", "both", "both_8")]
        + [planted[test][kind] for kind in ("strong", "strong_both")]
        for shown, test in names.items()
    }
    assert table("| test | equal frequencies") == expected


def test_coverage_of_intervals():
    found = defaultdict(lambda: defaultdict(list))
    for row in file("intervals"):
        metric = row["metric"].replace("(mean)", "(`relation: mean`)")
        for kind in ("jackknife", "percentile", "BCa"):
            found[metric][kind] += map(int, row[kind].split(" · "))
    expected = {metric: [span(shares, str) for shares in kinds.values()] for metric, kinds in found.items()}
    assert table("| metric | `jackknife`") == expected


def test_orders_of_models():
    columns = ("family error", "pairs found", "all six intervals hold")
    expected = {row["metric"]: [row[column] for column in columns] for row in file("pairs")}
    assert table("| metric | samples with a wrong decision") == expected
