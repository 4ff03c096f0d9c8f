"""How far a score can be trusted, in words: one rule per question, from intervals and resamples alone.

Cutoffs of reliability are conventions. Nunnally (Psychometric Theory, 1978) names .7 for early research, .8 for basic
research, .9 for decisions on single cases; Lance, Butts, Michels (2006) show how little the .7 rests on. Koo, Li
(2016) compare the interval with them, not the coefficient, so that a short list cannot pass by luck; so does this.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..numbers import coefficient, interval
from ..numbers import share as percentage
from ..results import KEYS
from ..statistics.internal_consistency import UNCORRELATED, times_for

if TYPE_CHECKING:
    import pandas as pd

EXCELLENT, GOOD, ACCEPTABLE, UNDECIDED, POOR, NONE = LEVELS = (
    "excellent",
    "good",
    "acceptable",
    "undecided",
    "poor",
    "none",
)
HOLDS, MAY_TURN = "holds", "may turn"
VERDICTS = (*LEVELS, HOLDS, MAY_TURN)
# levels that have another name where people read them
LEVEL_NAMES = {UNDECIDED: "inconclusive", NONE: "unreliable"}
THRESHOLDS = {"acceptable": 0.7, "good": 0.8, "excellent": 0.9, "holds": 0.95}
SCORE, WORDS, METRICS, TRAININGS = QUESTIONS = ("score", "words", "metrics", "trainings")
SIGN, ORDER = "sign", "order"
NO_SIGN = "the metric's sign does not show a direction of bias"
GOAL = 0.8  # the reliability that lengths of lists are given for


def of_interval(low: float, high: float, thresholds: Mapping[str, float] = THRESHOLDS) -> str:
    """Return the highest of `LEVELS` that the whole interval is above; "poor" if it is below all; "undecided" if it
    contains the lowest; "" without an interval."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return ""
    for level in (EXCELLENT, GOOD, ACCEPTABLE):
        if low >= thresholds[level]:
            return level
    return POOR if high < thresholds[ACCEPTABLE] else UNDECIDED


def of_share(share: float, thresholds: Mapping[str, float] = THRESHOLDS) -> str:
    """Whether what another list gives in this share of cases "holds" or "may turn"; "" where it is not known."""
    if math.isnan(share):
        return ""
    return HOLDS if share >= thresholds["holds"] else MAY_TURN


def times_for_sign(z: float) -> float:
    """How many times as long all lists must be for the score to be told from the neutral value with a dependability
    (Brennan's Phi(lambda)) of .8: 4 / (z^2 - 1), with z^2 less its bias of 1; NaN where no length is known to do."""
    return GOAL / (1 - GOAL) / (z**2 - 1) if z**2 > 1 else math.nan


def card(
    record: Mapping[str, Any], words: int, thresholds: Mapping[str, float] = THRESHOLDS
) -> list[dict[str, Any]]:
    """What is said of one score by itself.

    Parameters
    ----------
    record
        A score's inference: `bootstrap`, and `reliability` where it was asked for.
    words
        How many words of its query were used.
    thresholds
        As `THRESHOLDS`.

    Returns
    -------
    list of dict
        question     "score": would another list turn its sign? "words": would other items order its words alike?
        coefficient, value, low, high, set, words, items, note  as in reliability.csv
        z            of "score": standard errors from the neutral value
        mc_error     of "words": the Monte Carlo error of a split-half
        percentile   of "words": the share of random groups whose coefficient is lower; NaN where none were asked for
        times        how many times as long the lists must be for .8
        verdict      one of `VERDICTS`, or ""
        says         the same in a sentence
    """
    rows: list[dict[str, Any]] = []
    if "bootstrap" in record:
        z = _number(record["bootstrap"].get("z"))
        row = {"question": SCORE, "coefficient": SIGN, "value": of_another_list(abs(z)), "z": z}
        row |= {"times": times_for_sign(z), "words": words, "note": NO_SIGN if math.isnan(z) else ""}
        rows.append(judged(row, thresholds))
    for part in record.get("reliability", ()):
        value, low, high = (_number(part[name]) for name in ("value", "low", "high"))
        row = {"question": WORDS, **part, "value": value, "low": low, "high": high}
        row |= {name: _number(part.get(name)) for name in ("mc_error", "percentile")}
        rows.append(judged(row | {"times": float(times_for(value))}, thresholds))
    return rows


def judged(row: Mapping[str, Any], thresholds: Mapping[str, float] = THRESHOLDS) -> dict[str, Any]:
    """A row of the card with its `verdict`, and what it `says`."""
    if row["question"] == SCORE:
        verdict = of_share(row["value"], thresholds)
    else:
        low, high = (row.get(name, math.nan) for name in ("low", "high"))
        is_none = UNCORRELATED in row.get("note", "")
        verdict = NONE if is_none else of_interval(low, high, thresholds)
    return {**row, "verdict": verdict, "says": _says(row, verdict) if verdict else ""}


def _says(row: Mapping[str, Any], verdict: str) -> str:
    if row["question"] == SCORE:
        return sentence(row["coefficient"], row["value"], row["words"])
    words = f"the words{' of ' * bool(row['set'])}{row['set']}"
    if verdict == NONE:
        return f"Halves of the {row['items']} items do not order {words} alike ({row['coefficient']}: none)."
    other, does = {
        WORDS: (f"Another list of {row['items']} items", "would order"),
        METRICS: (f"Another metric ({row.get('beside')})", "scores"),
        TRAININGS: ("Training with another seed", "scores"),
    }[row["question"]]
    if verdict in (POOR, UNDECIDED):
        never, verb = ("would not", "order") if row["question"] == WORDS else ("does not", "score")
        does = f"{never if verdict == POOR else 'may or may not'} {verb}"
    ends = interval(row["low"], row["high"], form=coefficient)
    number = f"{row['coefficient']} {coefficient(row['value'])} {ends}, {LEVEL_NAMES.get(verdict, verdict)}"
    return f"{other} {does} {words} alike ({number})."


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def of_another_list(z: float) -> float:
    """Return the share of cases in which another list of as many words gives the same sign: Phi(z / sqrt 2).

    Parameters
    ----------
    z
        How many standard errors over words the number is away from zero, on the side that is asked for. A resample
        says where this list's number may be. That of another list errs as much again: the difference of the two has
        sqrt 2 times the standard error.
    """
    return 0.5 * (1 + math.erf(z / 2))


def sentence(what: str, share: float, words: int) -> str:
    """Say in what share of cases another list of as many words gives the same: `what` is "sign" or "order"."""
    gives = {"sign": "give the same sign", "order": "order two models alike"}[what]
    about = "more than 99 %" if share > 0.995 else f"about {percentage(share)}"
    return f"Another list of {words} words would {gives} in {about} of cases."


def of_scores(table: pd.DataFrame) -> pd.DataFrame:
    """Of reliability.csv one row per score, with the verdict of its sign; of a metric without a sign, with that of
    its order among the models."""
    rows = table[(table["question"] == SCORE) & (table["verdict"] != "")]
    return rows.sort_values("coefficient", ascending=False, kind="stable").drop_duplicates(KEYS).sort_index()


def of_word_orders(table: pd.DataFrame) -> pd.DataFrame:
    """Of reliability.csv one row per score, with the verdict of the order of its words, of all sets together."""
    rows = table[(table["question"] == WORDS) & (table["verdict"] != "")]
    return rows.sort_values("set", kind="stable").drop_duplicates(KEYS).sort_index()


def turned(rows: pd.DataFrame) -> str:
    """Of how many of a metric's scores, as `of_scores` has them, another list may turn what: "3 of 8 signs"."""
    what = {SIGN: "signs", ORDER: "orders"}[rows["coefficient"].iloc[0]]
    return f"{(rows['verdict'] == MAY_TURN).sum()} of {len(rows)} {what}"


def unstable_by_metric(table: pd.DataFrame | None) -> pd.DataFrame | None:
    """Return by metric how many scores could change sign with another list of words of the same size.

    Returns
    -------
    DataFrame, optional
        By metric "sum", of "size" scores, and their "mean", in the table's order; None without such scores.
    """
    if table is None or (rows := table[(table["coefficient"] == SIGN) & (table["verdict"] != "")]).empty:
        return None
    return (rows["verdict"] != HOLDS).groupby(rows["metric"], sort=False).agg(["sum", "size", "mean"])
