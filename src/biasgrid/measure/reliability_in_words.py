"""Trustworthiness of a score in words: one rule per question, from intervals and resamples only.

Cutoffs of reliability are conventions. Nunnally (Psychometric Theory, 1978) names .7 for early research, .8 for basic
research, .9 for decisions on single cases. Lance, Butts, Michels (2006) show how weak the basis of .7 is. Koo, Li
(2016) compare the interval with the cutoffs, not the coefficient, so that a short list cannot pass by luck. This
module does the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..core.numbers import coefficient, interval
from ..core.numbers import share as percentage
from .results import KEYS
from .statistics.internal_consistency import UNCORRELATED, times_for

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
# Levels that have another name in texts for readers.
LEVEL_NAMES = {UNDECIDED: "inconclusive", NONE: "unreliable"}
THRESHOLDS = {"acceptable": 0.7, "good": 0.8, "excellent": 0.9, "holds": 0.95}
SCORE, WORDS, METRICS, TRAININGS = QUESTIONS = ("score", "words", "metrics", "trainings")
SIGN, ORDER = "sign", "order"
NO_SIGN = "the metric's sign does not show a direction of bias"
# The reliability on which required lengths of lists are based.
GOAL = 0.8


def of_interval(low: float, high: float, thresholds: Mapping[str, float] = THRESHOLDS) -> str:
    """Return the highest of `LEVELS` that the whole interval reaches.

    The result is "poor" if the interval is below all levels, "undecided" if it contains the lowest one, and ""
    without an interval.
    """
    if not (math.isfinite(low) and math.isfinite(high)):
        return ""
    for level in (EXCELLENT, GOOD, ACCEPTABLE):
        if low >= thresholds[level]:
            return level
    return POOR if high < thresholds[ACCEPTABLE] else UNDECIDED


def of_share(share: float, thresholds: Mapping[str, float] = THRESHOLDS) -> str:
    """Return "holds" or "may turn" for the share of cases in which another list agrees; "" if it is unknown."""
    if math.isnan(share):
        return ""
    return HOLDS if share >= thresholds["holds"] else MAY_TURN


def times_for_sign(z: float) -> float:
    """Return by which factor all lists must be longer for the score to differ from the no-bias value.

    The factor is for a dependability (Brennan's Phi(lambda)) of .8: 4 / (z^2 - 1), where the bias of 1 is subtracted
    from z^2. It is NaN if no length is known to suffice.
    """
    return GOAL / (1 - GOAL) / (z**2 - 1) if z**2 > 1 else math.nan


def card(
    record: Mapping[str, Any], words: int, thresholds: Mapping[str, float] = THRESHOLDS
) -> list[dict[str, Any]]:
    """Return the reliability of one score by itself.

    Parameters
    ----------
    record
        A score's inference: `bootstrap`, and `reliability` if it was requested.
    words
        Number of words of its query that were used.
    thresholds
        Thresholds as in `THRESHOLDS`.

    Returns
    -------
    list of dict
        Each has the keys:

        - question: "score": could another list change its sign? "words": would other items order its words alike?
        - coefficient, value, low, high, set, words, items, note: as in reliability.csv
        - z: for "score", the distance from the no-bias value in standard errors
        - mc_error: for "words", the Monte Carlo error of a split-half
        - percentile: for "words", the share of random groups whose coefficient is lower; NaN if none were requested
        - times: by which factor the lists must be longer for .8
        - verdict: one of `VERDICTS`, or ""
        - says: the same in a sentence
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
    """Add its `verdict` to a row of reliability.csv, and the sentence `says`."""
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
    """Return the share of cases in which another list of the same size gives the same sign: Phi(z / sqrt 2).

    Parameters
    ----------
    z
        Distance of the number from zero, in standard errors over words, on the side in question. A resample shows
        where this list's number may be. The number of another list has the same error again, so the difference of the
        two has sqrt 2 times the standard error.
    """
    return 0.5 * (1 + math.erf(z / 2))


def sentence(what: str, share: float, words: int) -> str:
    """Say in what share of cases another list of the same size gives the same "sign" or "order" (`what`)."""
    gives = {"sign": "give the same sign", "order": "order two models alike"}[what]
    about = "more than 99 %" if share > 0.995 else f"about {percentage(share)}"
    return f"Another list of {words} words would {gives} in {about} of cases."


def of_scores(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row of reliability.csv per score: the assessment of its sign, or of its order without a sign."""
    rows = table[(table["question"] == SCORE) & (table["verdict"] != "")]
    return rows.sort_values("coefficient", ascending=False, kind="stable").drop_duplicates(KEYS).sort_index()


def of_word_orders(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row of reliability.csv per score: the assessment of its word order, over all sets together."""
    rows = table[(table["question"] == WORDS) & (table["verdict"] != "")]
    return rows.sort_values("set", kind="stable").drop_duplicates(KEYS).sort_index()


def turned(rows: pd.DataFrame) -> str:
    """Count the signs or orders of a metric's scores that another list may change: "3 of 8 signs".

    The rows are from `of_scores`.
    """
    what = {SIGN: "signs", ORDER: "orders"}[rows["coefficient"].iloc[0]]
    return f"{(rows['verdict'] == MAY_TURN).sum()} of {len(rows)} {what}"


def of_sign(table: pd.DataFrame) -> pd.DataFrame:
    """Select the rows with a verdict on whether a score keeps its sign with other words."""
    return table[(table["coefficient"] == SIGN) & (table["verdict"] != "")]
