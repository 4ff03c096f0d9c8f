"""Which numbers a picture must show, where a kind's `Example.shown` does not name columns: as places of marks, or, if
text, written."""

import json

import biasgrid_plugin_properties as properties
import numpy as np
import pandas as pd

from biasgrid.core.numbers import coefficient, interval, plain, share, typeset, typographic
from validation.calibration.pictures import p_values_of
from validation.planted_bias import pictures as factory
from validation.planted_bias.pictures import metrics_of
from validation.properties.pictures import verdicts


def shown(picture, found):
    """What a picture must show of its tables."""
    numbers = SHOWN.get(picture.stem) or SHOWN.get(picture.kind)
    if numbers:
        return numbers(found)
    assert picture.kind, f"{picture.stem}: SHOWN of picture_numbers.py says which numbers a picture must show"
    columns = picture.example.shown
    says = f"{picture.kind}: Example.shown names columns whose numbers stand in the figure, by table"
    assert columns, says
    return [x for name, of_table in columns.items() for x in found[name][list(of_table)].to_numpy().ravel()]


def ranks_shown(found):
    ranks = found["rank_intervals"]
    both = ranks[ranks["resampled"] == "both"]
    return [*both["rank"], *both[["low", "high"]].to_numpy().ravel()]


def query_ranks_shown(found):
    ranks, correlations = found["query_ranks"], found["query_correlations"]["correlation"]
    return [*ranks[["rank", "rank_low", "rank_high"]].to_numpy().ravel(), *map(correlation, correlations)]


def models_shown(found):
    """The mean standardised bias of each ranked model, and its two intervals."""
    ranked = found["rankings"].dropna(subset="value_shared")[["criterion", "metric", "model"]]
    table = found["aggregates"].merge(ranked).dropna(subset="standardized")
    ends = [f"standardized{part}_{end}" for part in ("", "_half") for end in ("low", "high")]
    return list(table[["standardized", *ends]].to_numpy().ravel())


def quality_shown(found):
    ranks = pd.concat([found["rankings"]["rank"], found["quality"]["common_rank"]])
    return [f"{rank:g}" for rank in ranks.dropna()]


def correlation(value):
    return typeset(value, form=coefficient)


def correlations_shown(found):
    table = found["correlations"]
    return [
        correlation(value) for value in table["correlation"][table["metric_a"] > table["metric_b"]].dropna()
    ]


def mtmm_shown(found):
    table = found["mtmm"]
    return map(correlation, table["correlation"][table["block"] == "same trait"])


def printed_shown(quantity, write=float):
    """The printed numbers of a quantity."""

    def numbers(found):
        table = found["published"]
        return [write(value) for value in table.loc[table["quantity"] == quantity, "published"]]

    return numbers


def means_shown(found):
    return list(found["scores"].groupby(["metric", "model"])["value"].mean())


def frequency_shown(found):
    """The rank correlations with frequency, and their intervals, as they are written."""
    table = found["phenomenon_correlations"]
    table = table[(table["quantity"] == "frequency") & (table["method"] == "spearman")]
    texts = (
        typographic(f"{coefficient(row.correlation)} {interval(row.ci_low, row.ci_high, form=coefficient)}")
        for row in table.itertuples()
    )
    return [word for text in texts for word in text.split()]


def trade_off_shown(found):
    """Of each method: how much bias it removes, and how much quality it keeps, on average and at most."""
    table = found["mitigation"][found["mitigation"]["before"] > 0]
    table = table.assign(kept=table["after"] / table["before"])
    shown = []
    for _, part in table.groupby(["model", "debias"]):
        removed = (1 - part.loc[part["group"] == "metric", "kept"]).clip(lower=-1)
        kept = part.loc[part["group"] == "similarity", "kept"]
        is_drawn = removed.notna().any() and kept.notna().any()
        shown += [removed.mean(), kept.mean(), removed.max(), kept.max()] if is_drawn else []
    return shown


def hidden_shown(found):
    hidden = found["mitigation"][found["mitigation"]["group"] == "hidden"]
    untouched = hidden.drop_duplicates(["model", "measure"])["before"]
    return [*untouched, *hidden["after"]]


def influence_shown(found):
    """How far scores move without a word, in standard errors."""
    keys = ["query", "metric", "model", "debias"]
    errors = found["intervals"].query("kind == 'jackknife'")[[*keys, "standard_error"]].drop_duplicates()
    table = found["influence"].merge(errors, on=keys, how="left")
    return list((table["influence"] / table["standard_error"]).dropna())


def before_after_shown(found):
    """What is left of a metric's bias."""
    table = found["mitigation"]
    return [share(left) for left in table["after"] / table["before"]]


def word_maps_shown(found):
    return [x for record in found["evaluations"] for place in record["map"]["xy"] for x in place]


def set_map_shown(found):
    return [x for record in found["evaluation"] for place in record["set_map"]["xy"] for x in place]


def extremes_shown(found):
    direct = found["evaluation"][0]["direct"]
    return [typeset(value) for words in direct["projections"].values() for _, value in words[:5]]


def sentiments_shown(found):
    """The shares of names; each is a set of one word here."""
    details = [r["detail"]["negative_sentiment_distribution"] for c in found["cells"] for r in c["results"]]
    return [x for of_cell in details for words in of_cell.values() for x in words.values()]


def differences_shown(found):
    """The means of each version, which are lines."""
    sets = {
        name: of_set
        for cell in found["cells"]
        for result in cell["results"]
        for name, of_set in list(result["detail"]["difference"].items())[::2]
    }
    return [float(np.mean([*of_set.values()])) for of_set in sets.values()]


def distributions_shown(found):
    """Ends of the curves: the smallest and the largest score."""
    sets = [
        of_set for cell in found["cells"] for r in cell["results"] for of_set in r["detail"]["score"].values()
    ]
    return [float(end([*of_set.values()])) for of_set in sets for end in (min, max)]


def null_shown(found):
    (result,) = json.loads(found["null"]["results"].tobytes())
    return [result["value"], *result["bootstrap"]["jackknife"]]


def projections_shown(found):
    """The values of the five words furthest to either side."""
    values = found["words"]["value"].sort_values()
    return [typeset(abs(value)) for value in [*values[:5], *values[-5:]]]


def ratings_shown(found):
    """The places of the words that have a rating and a value."""
    rated = found["rated"].set_index("word")["rating"]
    value = found["words"].set_index("word")["value"].dropna()
    return [float(x) for word in value.index.intersection(rated.index) for x in (rated[word], value[word])]


def comparison_shown(found):
    """Printed numbers, and ours in three digits."""
    table = found["comparison"]
    printed = [typeset(value, form=plain) for value in table["published"]]
    return [*printed, *(typeset(value) for value in table["ours"].dropna())]


def concepts_shown(found):
    table = found["scores"]
    ends = table[["ci_low", "ci_high"]].to_numpy().ravel()
    return [*table["value"], *ends, typeset(table["value"].iloc[0])]


def p_values_shown(found):
    values = p_values_of(found["p_values"]).values()
    return [float(p) for of_cell in values if of_cell is not None for p in of_cell]


def coverage_shown(found):
    values = found["simulation"]["value"]
    return list(values[values >= 0.7])  # lower ones are marked at the edge


def calibration_shown(found):
    table = found["calibration"]
    return list(table["rejected_0.05"][table["kind"].isin(["random", "coherent"])].dropna())


def frequency_tests_shown(of):
    """Of tests on shuffled corpora, by training or by metric."""

    def numbers(found):
        table = found["frequency_tests"]
        is_drawn = (table[list(of)] == of).all(axis=1) & ~table["width"].isin([2, 3, 6, 8])
        return list(table["rejected_0.05"][is_drawn].dropna())

    return numbers


def planted_shown(study, truth=""):
    """Each metric's numbers, and what is true of the same models."""

    def numbers(found):
        (table,) = found.values()
        names = factory.study(study).config.metrics if not truth else metrics_of(study, truth)
        values = []
        for metric in table.columns.intersection(list(names)):
            rows = table[table[metric].notna()]
            values += [*rows[metric], *(rows[f"true_{truth}"] if truth else [])]
        return values

    return numbers


def directions_shown(found):
    table = found["directions"]
    known = table[(table["same"] - table["direct_bias"]).notna()]
    return [*known["angle"], *(known["same"] - known["direct_bias"])]


def example_shown(found):
    table = found["example"]
    ways = table[[f"example_{i}" for i in range(1, 11)]]
    return [*ways.to_numpy().ravel(), *table["example_same"]]


def verdicts_shown(found):
    return [
        {properties.UNDEFINED: "no value"}.get(verdict.holds, verdict.holds)
        for verdict in verdicts(found["properties"])
        # what was not examined has no row in the figure
        if not verdict.condition and verdict.holds != properties.NOT_EXAMINED
    ]


def examples_shown(found):
    """The words of the settings in which a metric does not see skew or stereotype."""
    settings = {
        verdict.example.settings[0].name: verdict.example.settings[0]
        for verdict in verdicts(found["properties"])
        if verdict.property in ("skew", "stereotype") and not verdict.condition
    }
    places = [
        np.unique(np.concatenate(setting.words)[:, :2].round(9), axis=0) for setting in settings.values()
    ]
    return [float(x) for rows in places for x in rows.ravel()]


def ranges_shown(found):
    """Settings in which the same metric has another range."""
    examples = [v.example for v in verdicts(found["properties"]) if v.property == "comparable" and v.example]
    return [word for example in examples for s in example.settings for word in s.name.split()]


def numbers_of(table, *columns):
    """All numbers of these columns."""
    return lambda found: list(found[table][list(columns)].to_numpy().ravel())


# stem, or kind of figure -> what it shows, from its tables
SHOWN = {
    "correlations": correlations_shown,
    "models": models_shown,
    "mtmm": mtmm_shown,
    "rank-intervals": ranks_shown,
    "quality-ranks": quality_shown,
    "query-ranks": query_ranks_shown,
    "trade-off": trade_off_shown,
    "hidden-bias": hidden_shown,
    "properties": verdicts_shown,
    "counterexamples": examples_shown,
    "ranges": ranges_shown,
    "simulation-p-values": p_values_shown,
    "simulation-coverage-expected": coverage_shown,
    "simulation-calibration": calibration_shown,
    "simulation-frequency-tests": frequency_tests_shown({"metric": "weat"}),
    "simulation-frequency-metrics": frequency_tests_shown({"training": "all"}),
    **{f"factory-truth-{truth}": planted_shown("factory", truth) for truth in ("mean", "sd", "absolute")},
    "factory-words": planted_shown("factory"),
    "planted-gate": numbers_of("gate", "gate"),
    "planted-words": planted_shown("planted_bert"),
    "planted-words-unmasking": planted_shown("planted_bert"),
    **{
        f"planted-truth-{truth}": planted_shown("planted_bert", truth) for truth in ("mean", "sd", "absolute")
    },
    "planted-directions": directions_shown,
    "planted-example": example_shown,
    "planted-claims": lambda found: [typeset(value) for value in found["claims"]["value"].dropna()],
    "planted-downstream": numbers_of("downstream", "value", "low", "high"),
    "comparison": comparison_shown,
    "concepts": concepts_shown,
    "paper-rankings": printed_shown("rank"),
    "paper-correlations": printed_shown("correlation", correlation),
    "analogies": lambda found: [answer.replace("_", " ") for answer in found["analogies"]["answer"][:9]],
    "before-after": before_after_shown,
    "directions": lambda found: [f"{angle:.1f}°" for angle in found["directions"]["angle"]],
    "influence": influence_shown,
    "null": null_shown,
    "pair-differences": differences_shown,
    "phenomena": means_shown,
    "phenomenon-correlations": frequency_shown,
    "professions": extremes_shown,
    "projections": projections_shown,
    "ratings": ratings_shown,
    "score-distributions": distributions_shown,
    "sentiment": sentiments_shown,
    "set-map": set_map_shown,
    "word-map": word_maps_shown,
}
