"""rankings.csv and pairs.csv of models with any values and p-values, and what is read off them."""

from itertools import combinations
from math import isnan, nan

import pandas as pd

from biasgrid.tables.conclusions.least_biased import answers
from biasgrid.tables.pairs import PAIRS
from biasgrid.tables.rankings import RANKINGS

OF = 7  # queries


def tables(values, p_values, queries=None, states=(), why="", smallest=0.2):
    """Tables of models by metric.

    values    metric -> model -> value; NaN is none
    p_values  metric -> pair of models -> adjusted p; 1 where nothing is said
    queries   model -> how many queries it has; fewer than 5 of 7 are too few to be ranked and compared
    states    model, value and p of models under "hard"
    why       why no two models, and no two states, are compared; empty where they are
    smallest  difference that pairs that are compared would find
    """
    rankings, pairs = [], []
    for metric, by_model in values.items():
        count = {model: (queries or {}).get(model, OF) for model in by_model}
        reasons = {
            m: "no value" if isnan(v) else "" if count[m] > 4 else "too few queries"
            for m, v in by_model.items()
        }
        if list(reasons.values()).count("") < 2:
            reasons = {
                m: reason if reason == "no value" else "too few models" for m, reason in reasons.items()
            }
        ranks = pd.Series({m: v for m, v in by_model.items() if not reasons[m]}, dtype=float).rank()
        for model, value in by_model.items():
            is_ranked = model in ranks
            rankings.append(
                {"metric": metric, "model": model, "debias": "none", "value": value}
                | {"value_shared": value if is_ranked else nan, "rank_shared": ranks.get(model, nan)}
                | {"queries": 0 if isnan(value) else count[model], "reason": reasons[model]}
            )
        for a, b in combinations(by_model, 2):
            of_metric = p_values.get(metric, {})
            shared = min(count[a], count[b])
            reason = (
                "no value"
                if isnan(by_model[a] + by_model[b])
                else why
                if shared > 4
                else "too few shared queries"
            )
            p = of_metric.get((a, b), of_metric.get((b, a), 1.0)) if not reason else nan
            pairs.append(
                _pair(
                    *(
                        metric,
                        "models",
                        (a, "none"),
                        (b, "none"),
                        by_model[a] - by_model[b],
                        p,
                        shared,
                        reason,
                    ),
                    smallest,
                )
            )
        for model, value, p in states:
            rankings.append(
                {"metric": metric, "model": model, "debias": "hard", "value": value, "value_shared": value}
                | {"rank_shared": nan, "queries": OF, "reason": "debiased"}
            )
            difference = value - by_model[model]
            pairs.append(
                _pair(metric, "states", (model, "hard"), (model, "none"), difference, p, OF, why, smallest)
            )
    rows = [
        {column.name: 0 for column in RANKINGS.columns} | {"criterion": "Gender", "queries_of": OF} | row
        for row in rankings
    ]
    return pd.DataFrame(rows, columns=RANKINGS.names), pd.DataFrame(pairs).reindex(columns=PAIRS.names)


def _pair(metric, family, a, b, difference, p, queries, reason, smallest):
    width = nan if reason else 0.2
    numbers = nan if reason else difference, difference - width, difference + width, nan if reason else p
    values = ("Gender", metric, family, *a, *b, *numbers, 1, queries, OF, reason)
    row = dict(zip(PAIRS.names, values, strict=False))
    return row | {"scale": "standardized", "smallest_difference": nan if reason else smallest}


def answered(values, p_values=None, bootstrap=True, **more):
    rankings, pairs = tables(values, p_values or {}, **more)
    return answers(rankings, pairs if bootstrap else None, list(values), 0.95)


def only(values, p_values=None, **more):
    (answer,) = answered({"weat": values}, {"weat": p_values or {}}, **more)
    return answer
