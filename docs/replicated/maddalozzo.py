"""Blocks of docs/replications/maddalozzo.md: chapter 3 in English (config/thesis.yaml)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import pandas as pd

from .results import (
    BY,
    Results,
    conclusions,
    items,
    numeric,
    paragraph,
    places,
    tiny,
    with_interval,
)

LEVEL = 0.05
QUERIES = {
    "career_family": "career, family × male, female",
    "math_arts": "math, arts × male, female",
    "science_arts": "science, arts 2 × male, female",
    "instruments_weapons": "instruments, weapons × Christianity, Islam",
    "pleasant_unpleasant": "pleasant, unpleasant × Christianity, Islam",
}
DIRECTIONS = {"math_and_arts": "gender", "terrorism": "religion and terrorism"}
CORPORA = {"brown": "Brown", "text8": "text8"}
VECTORS = {"brown-word2vec-30d": "Brown", "text8-word2vec-30d": "text8"}
TOPICS = {"Gender of 30 phenomena": "gender", "Religion of 30 phenomena": "religion"}
ATTRIBUTES = {
    "gender_weat_words": "WEAT's male and female terms",
    "gender_frequent": "he, man; she, woman",
    "gender_rare": "guy, grandfather; gal, grandmother",
    "gender_one_frequency_1": "father, brother; mother, sister",
    "gender_one_frequency_2": "son, husband; daughter, wife",
}
METHODS = {"pair_distance": "PairDistance", "3cosadd": "3CosAdd", "3cosavg": "3CosAvg", "lrcos": "LRCos"}
OCCUPATIONS = ("architect", "programmer", "taxi_driver", "bodyguard")
OF_METRICS = {"pmi": "PMI", "direct_bias": "Direct Bias", "rnd": "RND"}


def _printed(results: Results, quantity: str, **where: str) -> float:
    """Return what the thesis prints, NaN where it prints nothing."""
    values = results.table("comparison", quantity=quantity, **where)["published"]
    return math.nan if values.empty else values.iloc[0]


def _weat(results: Results) -> list[tuple[str, pd.Series]]:
    return [
        (label, results.row("scores", query_id=query, metric="weat_es")) for query, label in QUERIES.items()
    ]


def _directions(results: Results) -> list[tuple[str, pd.Series]]:
    return [
        (f"Direct Bias ({label})", results.row("scores", query_id=query, metric="direct_bias"))
        for query, label in DIRECTIONS.items()
    ]


def scores(results: Results) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Return WEAT of tables 3.4 and 3.5 and Direct Bias, with their tests and the thesis's numbers."""
    head = ("query", "value", "standardized", "p_one_sided", "p_two_sided", "p_random_groups", "p_both_adjusted",
            "thesis_effect_size", "thesis_p")  # fmt: skip
    rows = []
    for (label, score), query in zip(_weat(results), QUERIES, strict=True):
        upper = results.row("scores", query_id=query, metric="weat_es_upper")
        p_values = (upper["p_value"], score["p_value"], score["p_groups"], score["p_evidence"])
        thesis = (
            _printed(results, f"{query}: value", metric="weat_es"),
            _printed(results, f"{query}: p_value", metric="weat_es_upper"),
        )
        rows.append(
            (
                label,
                numeric(score["value"]),
                numeric(score["standardized"]),
                *(numeric(p_value, 2) for p_value in p_values),
                *map(numeric, thesis),
            )
        )
    for label, score in _directions(results):
        p_groups = numeric(score["p_groups"], 2)
        rows.append(
            (label, numeric(score["value"]), numeric(score["standardized"]), "", "", p_groups, "", "", "")
        )
    return head, rows


def tests(results: Results) -> str:
    """Say what the tests of WEAT and Direct Bias show."""
    return conclusions([*_weat(results), *_directions(results)])


def _family(results: Results) -> pd.DataFrame:
    """Return the share of right answers on Google's family section, with and without the question's words."""
    summary = results.table("analogy_summary", questions="family", measure="right")
    return summary.pivot(index="method", columns="excluded", values="value").loc[[*METHODS]]


def analogies(results: Results) -> str:
    """Say how often each method answers Google's family section right, and what 3CosAdd answers of occupations."""
    summary = results.table("analogy_summary", method="3cosadd", excluded="no", measure="own_c")
    own = summary[summary["questions"].str.startswith("from ")]
    same, asked = round((own["value"] * own["n"]).sum()), int(own["n"].sum())
    family = _family(results)
    shares = "; ".join(
        f"{label} {places(family.loc[method, 'yes'])}, {places(family.loc[method, 'no'])}"
        for method, label in METHODS.items()
    )
    return items(
        f"When 3CosAdd may repeat the question's words, its answer is the occupation itself in {same} of {asked} "
        "questions about occupations.",
        "Share of right answers on Google's family section, without the question's words and with them: "
        f"{shares}.",
    )


def _phenomena(results: Results) -> Iterator[tuple[str, str, str, pd.Series, float]]:
    """Yield topic, metric, corpus, the row of phenomena.csv, and the p-value that the thesis prints."""
    for criterion, topic in TOPICS.items():
        for metric, label in OF_METRICS.items():
            for model, corpus in (CORPORA if metric == "pmi" else VECTORS).items():
                found = results.row("phenomena", criterion=criterion, metric=metric, model=model)
                thesis = math.nan
                if corpus != "text8":
                    thesis = _printed(results, "p_z", criterion=criterion, metric=metric)
                yield topic, label, corpus, found, thesis


def means(results: Results) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Return the means of 30 phenomena, table 3.3, with their tests."""
    head = (
        "topic",
        "metric",
        "corpus",
        "phenomena",
        "mean",
        "p_z",
        "p_sign_flips",
        "p_random_groups",
        "thesis_p_z",
    )
    rows = [
        (
            topic,
            label,
            corpus,
            str(found["n"]),
            numeric(found["mean"]),
            *(numeric(found[name], 2) for name in ("p_z", "p_sign_flips", "p_groups")),
            numeric(thesis, 2),
        )
        for topic, label, corpus, found, thesis in _phenomena(results)
    ]
    return head, rows


def phenomena(results: Results) -> str:
    """Say what the tests of the means of 30 phenomena show."""
    significant, rejected, n_rows = [], [], 0
    for topic, label, corpus, found, _ in _phenomena(results):
        n_rows += 1
        valid = [x for x in (found["p_sign_flips"], found["p_groups"]) if not math.isnan(x)]
        if max(valid) <= LEVEL:
            significant.append(f"{label} of {topic} ({corpus}, p {tiny(max(valid))})")
        if found["p_z"] <= LEVEL:
            rejected.append(label)
    smoothed = results.row(
        "phenomena", criterion="Religion of 30 phenomena", metric="pmi_smoothed", model="brown"
    )
    plain = results.row("phenomena", criterion="Religion of 30 phenomena", metric="pmi", model="brown")
    return items(
        f"The z-test rejects in {len(rejected)} of {n_rows} cases. Every valid test of a case is significant in "
        f"{len(significant)}, before adjustment: {'; '.join(significant) or 'none'}.",
        f"On Brown, {smoothed['n'] - plain['n']} of {smoothed['n']} phenomena have no PMI of religion. Smoothing "
        f"gives them one: the mean is then {places(smoothed['mean'])} (p, sign flips, "
        f"{tiny(smoothed['p_sign_flips'])}).",
    )


def _correlations(results: Results) -> list[tuple[str, str, str, pd.Series, float]]:
    """Return metric, topic, corpus, the correlation with frequency, and the one that the thesis prints."""
    table = results.table("phenomenon_correlations", quantity="frequency", method="pearson")
    rows = []
    for metric, label in OF_METRICS.items():
        for criterion, topic in TOPICS.items():
            thesis = _printed(results, "frequency_pearson", criterion=criterion, metric=metric)
            for model, corpus in (CORPORA if metric == "pmi" else VECTORS).items():
                (found,) = (
                    row
                    for _, row in table.iterrows()
                    if (row["criterion"], row["metric"], row["model"]) == (criterion, metric, model)
                )
                rows.append((label, topic, corpus, found, thesis))
    return rows


def correlations(results: Results) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Return how values of phenomena correlate with the frequency of their words."""
    rows = [
        (
            label,
            topic,
            corpus,
            str(found["n"]),
            *(numeric(found[name]) for name in ("correlation", "ci_low", "ci_high")),
            numeric(thesis),
        )
        for label, topic, corpus, found, thesis in _correlations(results)
    ]
    return ("metric", "topic", "corpus", "phenomena", "r", "ci_low", "ci_high", "thesis_r"), rows


def frequency(results: Results) -> str:
    """Say which values of phenomena correlate with the frequency of their words."""
    rows = _correlations(results)
    clear = [
        f"{label} of {topic} ({corpus}, r "
        f"{with_interval(found['correlation'], found['ci_low'], found['ci_high'], places)})"
        for label, topic, corpus, found, _ in rows
        if found["ci_low"] > 0 or found["ci_high"] < 0
    ]
    rnd = results.table("phenomenon_correlations", metric="rnd", quantity="pmi", method="pearson")
    rnd = pd.concat(
        [
            rnd[rnd["model"].eq(model) & rnd["of"].eq(corpus)]
            for model, corpus in zip(VECTORS, CORPORA, strict=True)
        ]
    )
    return items(
        f"The interval leaves out 0 in {len(clear)} of {len(rows)} cases: {'; '.join(clear) or 'none'}.",
        "RND correlates with PMI of the corpus that the vectors were trained on: r "
        f"{places(rnd['correlation'].min())} to {places(rnd['correlation'].max())} (of {rnd['n'].min()} to "
        f"{rnd['n'].max()} phenomena).",
    )


def _by_frequency(results: Results) -> Iterator[tuple[str, str, str, pd.Series]]:
    """Yield corpus, query, attribute words and score of WEAT with attributes of different frequency."""
    for model, corpus in VECTORS.items():
        for query, label in ATTRIBUTES.items():
            score = results.row("scores", query_id=query, metric="weat_es_upper", model=model)
            yield corpus, query, label, score


def frequent_and_rare(results: Results) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Return WEAT with attribute words of different and of the same frequency, tables 3.6 and 3.7."""
    head = ("corpus", "attributes", "mean_frequency", "effect_size", "standardized", "p_one_sided", "p_random_groups",
            "thesis_effect_size", "thesis_p")  # fmt: skip
    rows = []
    for corpus, query, label, score in _by_frequency(results):
        sets = results.table("frequency", query_id=query, model=score["model"])
        sets = sets[~sets["set"].isin(("Career", "Family"))]
        rows.append(
            (
                corpus,
                label,
                str(round((sets["mean"] * sets["words"]).sum() / sets["words"].sum())),
                numeric(score["value"]),
                numeric(score["standardized"]),
                *(numeric(score[name], 2) for name in ("p_value", "p_groups")),
                numeric(_printed(results, f"{query}: value", metric="weat_es")),
                numeric(_printed(results, f"{query}: p_value", metric="weat_es_upper")),
            )
        )
    return head, rows


def weat_frequency(results: Results) -> str:
    """Say how far WEAT depends on the frequency of the attribute words, and on single words."""
    found = [(corpus, query, score) for corpus, query, _, score in _by_frequency(results)]
    values = {(corpus, query): score["value"] for corpus, query, score in found}

    def on_corpora(*queries: str) -> str:
        return ", and ".join(
            f"{' and '.join(places(values[corpus, query]) for query in queries)} on {corpus}"
            for corpus in VECTORS.values()
        )

    drawn = results.table("subsamples", query_id="gender_one_frequency_2", metric="weat_es")
    drawn = drawn.set_index("model")
    spread = " and ".join(
        f"{places(drawn.loc[model, 'low'])} to {places(drawn.loc[model, 'high'])} on {corpus}"
        for model, corpus in VECTORS.items()
    )
    by = pd.Series([BY[score["evidence"]] for *_, score in found]).value_counts()
    said = ", ".join(f"{n} by {name}" for name, n in by.items())
    return items(
        f"With frequent and rare attributes, d is {on_corpora('gender_frequent', 'gender_rare')}.",
        "With two lists of one frequency, it is "
        f"{on_corpora('gender_one_frequency_1', 'gender_one_frequency_2')}.",
        f"Significant, adjusted: of {len(found)} effect sizes, {said}.",
        f"For *son, husband; daughter, wife*, {int(drawn['words'].iloc[0])} of the 8 target words were also drawn at "
        f"random. In 95 % of the draws, d is {spread} (`subsamples.csv`).",
    )


def all_pairs(results: Results) -> str:
    """Return the occupations of figure 3.2 along the direction of all pairs of names."""
    query = "names_and_occupations"
    values = results.table("words", query_id=query, detail="bias").set_index("word")["value"]
    score = results.row("scores", query_id=query, metric="direct_bias_all_pairs")
    said = "; ".join(f"*{word}* {places(values[word])}" for word in OCCUPATIONS)
    return "\n\n".join(
        [
            paragraph(
                f"Positive is towards the European American names: {said}. Direct Bias is "
                f"{places(score['value'], 3)}."
            ),
            conclusions([("Direct Bias of occupations", score)]),
        ]
    )


def singletons(results: Results) -> str:
    """Return WEAT of single words, table 3.2, on each model."""
    said = []
    for model, scores in results.table("scores", metric="weat").groupby("model_label", sort=False):
        values = ", ".join(
            f"{places(score['value'], 3) or 'no value'} ({score['query'].split(' wrt ')[1]})"
            for _, score in scores.iterrows()
        )
        said.append(f"On {model.split(' (')[0]}: {values}.")
    return paragraph("The WEAT statistics of *door* and *curtain* are as follows.", *said)


BLOCKS = {
    ("thesis_singletons", "statistics"): singletons,
    ("thesis", "tests"): tests,
    ("thesis", "analogies"): analogies,
    ("thesis", "phenomena"): phenomena,
    ("thesis", "frequency"): frequency,
    ("thesis", "weat_frequency"): weat_frequency,
    ("thesis", "all_pairs"): all_pairs,
}
TABLES = {
    ("thesis", "maddalozzo_scores"): scores,
    ("thesis", "maddalozzo_phenomena"): means,
    ("thesis", "maddalozzo_frequency"): correlations,
    ("thesis", "maddalozzo_weat_frequency"): frequent_and_rare,
}
