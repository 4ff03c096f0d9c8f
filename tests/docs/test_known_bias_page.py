"""The numbers of docs/known-bias.md are those of the files beside the experiments and the picture."""

import csv
import re

import pandas as pd
from conftest import ROOT

NUMBERS = ROOT / "validation" / "planted_bias" / "numbers"
FREQUENCY = ROOT / "validation" / "frequency"
LINES = (ROOT / "docs" / "known-bias.md").read_text(encoding="utf-8").splitlines()
PAGE = re.sub(r"\]\([^)]*\)", "]", " ".join(" ".join(LINES).split()))
KINDS = [
    (trainer, kind) for trainer in ("PPMI", "word2vec") for kind in ("word + context", "word vectors alone")
]


def rows_of(path):
    """The rows of a file by their first cell; columns may have the same name."""
    with path.open(encoding="utf-8", newline="") as text:
        _, *rows = csv.reader(text)
    return {first: rest for first, *rest in rows}


def sets():
    """r of a metric's value with a truth, by trainer, kind of vectors, metric and truth."""
    with (NUMBERS / "sets.csv").open(encoding="utf-8", newline="") as text:
        return {
            (row["trainer"], kind, row["metric"], truth): row[f"{truth}, {kind}"]
            for row in csv.DictReader(text)
            for kind in ("word + context", "word vectors alone")
            for truth in ("mean", "sd", "distance")
        }


def table(head):
    start = next(i for i, line in enumerate(LINES) if line.startswith(head)) + 2
    rows = []
    for line in LINES[start:]:
        if not line.startswith("|"):
            return rows
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def number(text):
    return float(text.split()[0].replace("−", "-"))


def span(values):
    """The lowest and the highest, as the page has numbers."""
    texts = (f"{value:.2f}".replace("0.", ".", 1).replace("-", "−") for value in (min(values), max(values)))
    return " to ".join(texts)


def test_the_answer_depends_on_the_kind_of_vectors():
    scores, others, r = (
        rows_of(NUMBERS / "word_scores.csv"),
        rows_of(NUMBERS / "word_scores_distance.csv"),
        sets(),
    )
    expected = [
        [scores["SAME"][i] for i in (0, 2, 4, 6)],
        [scores["SAME"][i] for i in (1, 3, 5, 7)],
        others["SAME"][4:],
        *([r[*kind, metric, "sd"] for kind in KINDS] for metric in ("SAME", "MAC")),
        [r[*kind, "RIPA", "mean"] for kind in KINDS],
    ]
    assert [row[1:] for row in table("| question | PPMI, sums")] == expected


def test_scores_of_words():
    rows = rows_of(NUMBERS / "word_scores.csv")
    first = [
        "WEAT",
        "WEAT-ES",
        "SAME",
        "SAME skew",
        "SAME stereotype",
        "Direct Bias",
        "RND",
        "RIPA",
        "SemAxis",
    ]
    second = ["PMN", "NAS", "SC-WEAT"]
    r_squared = {name: [number(rows[name][i]) for i in (0, 4)] for name in rows}
    assert f"With sums, R² is {span([x for name in first for x in r_squared[name]])} for WEAT" in PAGE
    assert f"It is {span([x for name in second for x in r_squared[name]])} for PMN, NAS and SC-WEAT" in PAGE
    # RND is positive for the other group
    wrong = {number(rows[name][7]) if name == "RND" else 100 - number(rows[name][7]) for name in first}
    assert wrong == {98}
    assert "word2vec, 98 % of models have the wrong sign under each metric of the first group" in PAGE


def test_values_of_sets():
    r = {key: number(text) for key, text in sets().items() if text != "–"}
    sums, alone = "word + context", "word vectors alone"
    trainers = ("PPMI", "word2vec")
    apart = ("SAME", "Direct Bias", "WEAT", "Generalised WEAT", "SAME stereotype", "MAC")
    found = [abs(r[trainer, sums, metric, "sd"]) for trainer in trainers for metric in apart]
    assert f"follow how much words differ (|r| {span(found)})" in PAGE
    direction = ("RND", "NAS", "SC-WEAT", "SAME skew")
    assert min(abs(r["PPMI", sums, metric, "mean"]) for metric in direction) >= 0.97
    # RND's sign is the opposite
    wrong = [m for m in ("RIPA", "SemAxis", "PMN", *direction[1:]) if r["word2vec", sums, m, "mean"] < 0]
    assert wrong == ["RIPA", "SemAxis", "PMN", *direction[1:]]
    assert max(r["PPMI", sums, metric, "mean"] for metric in ("RIPA", "SemAxis")) < 0
    six = (*direction, "RIPA", "SemAxis")
    assert min(abs(r["PPMI", alone, metric, "mean"]) for metric in six) >= 0.95
    assert [m for m in six if (r["word2vec", alone, m, "mean"] < 0) == (m == "RND")] == ["RND"]
    assert (
        f"only RND does with the right sign (−{-r['word2vec', alone, 'RND', 'mean']:.2f}".replace("0.", ".")
        in PAGE
    )
    few = [r[trainer, alone, metric, "sd"] for trainer in trainers for metric in apart[:4]]
    assert f"do not follow how much words differ (r {span(few)})" in PAGE
    sizes = [r[trainer, kind, "WEAT-ES", "sd"] for trainer, kind in KINDS]
    assert f"size does not for either kind (r {span(sizes)})" in PAGE


def test_shuffled_text():
    shares = pd.read_csv(ROOT / "docs" / "images" / "shuffled.csv")
    medians = shares.groupby(["training", "corpus"])["share"].median()
    expected = [
        [name, *(f"{medians[name, corpus]:.1f}".removeprefix("0") for corpus in ("brown", "text8"))]
        for name in ("GloVe", "PPMI", "CBOW", "skip-gram", "fastText")
    ]
    assert table("| vectors, gender with career and family") == expected
    means = rows_of(FREQUENCY / "means.csv")
    low, high = re.findall(r"\.\d+", means["MAC"][0])
    assert f"on shuffled Brown MAC is {low} to {high}" in PAGE
    both_sides = next(row for metric, row in means.items() if metric.startswith("WEAT,"))
    differ, of = both_sides[2].partition(";")[0].split(" of ")
    assert f"Of {of} values of metrics with a sign, {differ} have an interval without 0" in PAGE
    assert both_sides[2].endswith("; 0")  # none is significant
    words = {
        name.removesuffix(", SemAxis"): row
        for name, row in rows_of(FREQUENCY / "word_correlations.csv").items()
    }
    first = {name: [cell.split()[0] for cell in row[:2]] for name, row in words.items()}
    assert "by {} on Brown and {} on shuffled Brown".format(*first["GloVe"]) in PAGE
    shuffled = [first[name][1] for name in ("CBOW", "skip-gram", "fastText")]
    assert (
        "With CBOW ({}), skip-gram ({}) and fastText ({}), shuffled text gives less".format(*shuffled) in PAGE
    )
    assert all(number(first[name][1]) < number(first[name][0]) for name in ("CBOW", "skip-gram", "fastText"))
