"""Blocks of docs/replications/maddalozzo.md: chapter 3 in English (config/thesis.yaml)."""

from __future__ import annotations

import math

import pandas as pd

from biasgrid.core.numbers import count

from .results import (
    BY,
    Results,
    conclusions,
    items,
    p,
    paragraph,
    places,
    standardized,
    table,
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


def tests(results: Results) -> str:
    """Return WEAT of tables 3.4 and 3.5, and what its tests say."""
    rows, scores = [], []
    for query, label in QUERIES.items():
        score = results.row("scores", query_id=query, metric="weat_es")
        upper = results.row("scores", query_id=query, metric="weat_es_upper")
        scores.append((label, score))
        d, one_sided = (
            _printed(results, f"{query}: value", metric="weat_es"),
            _printed(results, f"{query}: p_value", metric="weat_es_upper"),
        )
        thesis = "" if math.isnan(d) else f"{places(d)}, p {tiny(one_sided)}"
        rows.append(
            (
                label,
                places(score["value"]),
                standardized(score),
                tiny(upper["p_value"]),
                tiny(score["p_value"]),
                p(score["p_groups"]),
                p(score["p_evidence"]),
                thesis,
            )
        )
    head = ("query", "effect size", "standardised bias", "p, one-sided", "p, two-sided", "p, random groups",
            "p, both, adjusted", "thesis (Spanish)")  # fmt: skip
    directions = [
        (f"Direct Bias ({label})", results.row("scores", query_id=query, metric="direct_bias"))
        for query, label in DIRECTIONS.items()
    ]
    along = paragraph(
        *(
            f"{label}: {places(score['value'], 3)}, standardised {standardized(score)}, p against random groups "
            f"{p(score['p_groups'])}."
            for label, score in directions
        )
    )
    return "\n\n".join([table(head, rows), along, conclusions([*scores, *directions])])


def analogies(results: Results) -> str:
    """Return how often each method answers Google's family section right, and what it says of occupations."""
    summary = results.table("analogy_summary")
    family = summary[summary["questions"].eq("family") & summary["measure"].eq("right")]
    family = family.set_index(["method", "excluded"])
    rows = []
    for method, label in METHODS.items():
        n = int(family.loc[(method, "yes"), "n"])
        shares = (places(family.loc[(method, excluded), "value"]) for excluded in ("yes", "no"))
        rows.append((label, *shares, str(n)))
    own = summary[
        summary["questions"].str.startswith("from ")
        & summary["method"].eq("3cosadd")
        & summary["excluded"].eq("no")
        & summary["measure"].eq("own_c")
    ]
    same, asked = round((own["value"] * own["n"]).sum()), int(own["n"].sum())
    return "\n\n".join(
        [
            paragraph(
                f"When 3CosAdd may repeat the question's words, its answer is the occupation itself in {same} of "
                f"{asked} questions about occupations. Right answers on Google's family section:"
            ),
            table(("", "without the question's words", "with them", "questions"), rows),
        ]
    )


def phenomena(results: Results) -> str:
    """Return the means of 30 phenomena, table 3.3, and what their tests say."""
    rows, significant, rejected = [], [], []
    for criterion, topic in TOPICS.items():
        for metric, label in OF_METRICS.items():
            for model, corpus in (CORPORA if metric == "pmi" else VECTORS).items():
                found = results.row("phenomena", criterion=criterion, metric=metric, model=model)
                by_thesis = "" if corpus == "text8" else _thesis_p(results, criterion, metric)
                name = f"{label} of {topic} ({corpus})"
                rows.append(
                    (
                        f"{topic}, {label}, {corpus}",
                        str(found["n"]),
                        places(found["mean"], 3),
                        tiny(found["p_z"]),
                        tiny(found["p_sign_flips"]),
                        p(found["p_groups"]),
                        by_thesis,
                    )
                )
                made = [x for x in (found["p_sign_flips"], found["p_groups"]) if not math.isnan(x)]
                if max(made) <= LEVEL:
                    significant.append(name)
                if found["p_z"] <= LEVEL:
                    rejected.append(name)
    head = (
        "",
        "n",
        "mean",
        "p of the z-test",
        "p, sign flips",
        "p, random groups",
        "thesis, p of the z-test",
    )
    smoothed = results.row(
        "phenomena", criterion="Religion of 30 phenomena", metric="pmi_smoothed", model="brown"
    )
    plain = results.row("phenomena", criterion="Religion of 30 phenomena", metric="pmi", model="brown")
    return "\n\n".join(
        [
            table(head, rows),
            items(
                f"The z-test rejects in {len(rejected)} of {len(rows)} rows. Every valid test that a row has is "
                f"significant in {len(significant)}, before adjustment: {'; '.join(significant) or 'none'}.",
                f"On Brown, {smoothed['n'] - plain['n']} of {smoothed['n']} phenomena have no PMI of religion. "
                f"Smoothing gives them one: the mean is then {places(smoothed['mean'])} (p, sign flips, "
                f"{tiny(smoothed['p_sign_flips'])}).",
            ),
        ]
    )


def _thesis_p(results: Results, criterion: str, metric: str) -> str:
    printed = _printed(results, "p_z", criterion=criterion, metric=metric)
    return "about 0" if printed == 0 else tiny(printed)


def frequency(results: Results) -> str:
    """Return how values of phenomena go with the frequency of their words."""
    rows, clear = [], []
    correlations = results.table("phenomenon_correlations", quantity="frequency", method="pearson")
    for metric, label in OF_METRICS.items():
        for criterion, topic in TOPICS.items():
            cells = []
            for model, corpus in (CORPORA if metric == "pmi" else VECTORS).items():
                found = correlations[
                    correlations["criterion"].eq(criterion)
                    & correlations["metric"].eq(metric)
                    & correlations["model"].eq(model)
                ].iloc[0]
                few = f" ({found['n']} values)" if found["n"] < 30 else ""
                interval = (found["ci_low"], found["ci_high"])
                cells.append(with_interval(found["correlation"], *interval, places) + few)
                if found["ci_low"] > 0 or found["ci_high"] < 0:
                    clear.append(f"{label} of {topic} ({corpus})")
            thesis = places(_printed(results, "frequency_pearson", criterion=criterion, metric=metric))
            rows.append((f"{label}, {topic}", *cells, thesis))
    rnd = results.table("phenomenon_correlations", metric="rnd", quantity="pmi", method="pearson")
    rnd = pd.concat(
        [
            rnd[rnd["model"].eq(model) & rnd["of"].eq(corpus)]
            for model, corpus in zip(VECTORS, CORPORA, strict=True)
        ]
    )
    return "\n\n".join(
        [
            table(("", "Brown", "text8", "thesis"), rows),
            items(
                f"The interval leaves out 0 in {len(clear)} of {2 * len(rows)} cases: {'; '.join(clear) or 'none'}.",
                "RND goes with PMI of the corpus that the vectors were trained on: r "
                f"{places(rnd['correlation'].min())} to {places(rnd['correlation'].max())} (of {rnd['n'].min()} to "
                f"{rnd['n'].max()} phenomena).",
            ),
        ]
    )


def weat_frequency(results: Results) -> str:
    """Return WEAT with attribute words of different and of the same frequency, table 3.6."""
    head = (
        "attributes",
        "mean frequency",
        "d",
        "standardised bias",
        "p",
        "p, random groups",
        "thesis (Spanish)",
    )
    parts, scores = [], []
    for model, corpus in VECTORS.items():
        rows = []
        for query, label in ATTRIBUTES.items():
            sets = results.table("frequency", query_id=query, model=model)
            sets = sets[~sets["set"].isin(("Career", "Family"))]
            score = results.row("scores", query_id=query, metric="weat_es_upper", model=model)
            scores.append((f"{label} ({corpus})", score))
            d = _printed(results, f"{query}: value", metric="weat_es")
            one_sided = _printed(results, f"{query}: p_value", metric="weat_es_upper")
            rows.append(
                (
                    label,
                    count(round((sets["mean"] * sets["words"]).sum() / sets["words"].sum())),
                    places(score["value"]),
                    standardized(score),
                    tiny(score["p_value"]),
                    p(score["p_groups"]),
                    "" if math.isnan(d) else f"{places(d)}, p {tiny(one_sided)}",
                )
            )
        parts += [f"On {corpus}:", table(head, rows)]
    drawn = results.table("subsamples", query_id="gender_one_frequency_2", metric="weat_es").set_index(
        "model"
    )
    spread = " and ".join(
        f"{places(drawn.loc[model, 'low'])} to {places(drawn.loc[model, 'high'])} on {corpus}"
        for model, corpus in VECTORS.items()
    )
    by = pd.Series([BY[score["evidence"]] for _, score in scores]).value_counts()
    said = ", ".join(f"{n} by {name}" for name, n in by.items())
    notes = items(
        f"Significant, adjusted: of {len(scores)} effect sizes, {said}.",
        f"*Son, husband; daughter, wife* with {int(drawn['words'].iloc[0])} of its 8 target words, drawn at random, "
        f"has d of {spread}. This is 95 % of the draws (`subsamples.csv`).",
    )
    return "\n\n".join([*parts, notes])


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
    rows = [
        (
            score["query"].replace(" wrt ", " × "),
            score["model_label"].split(" (")[0],
            places(score["value"], 3),
        )
        for _, score in results.table("scores", metric="weat").iterrows()
    ]
    return table(("query", "model", "WEAT statistic"), [(q, m, value or "no value") for q, m, value in rows])


BLOCKS = {
    ("thesis_singletons", "statistics"): singletons,
    ("thesis", "tests"): tests,
    ("thesis", "analogies"): analogies,
    ("thesis", "phenomena"): phenomena,
    ("thesis", "frequency"): frequency,
    ("thesis", "weat_frequency"): weat_frequency,
    ("thesis", "all_pairs"): all_pairs,
}
