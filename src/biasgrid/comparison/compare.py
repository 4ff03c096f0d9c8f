"""A study's numbers beside published ones, and ones that other code computed: do they agree?"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ..debias import UNTOUCHED
from ..statistics.aggregation import OVERALL
from .ours import Ours, measured, number, numbers, of_cell, of_halves, of_inference, unit
from .published import HALVED, MEASURE, RATED, TESTED
from .verdict import MISSES, NO_VALUE, NOT_ASKED, OTHER_VECTORS, WITHIN, rounding, verdict

COMPARISON = ["source", "table", "criterion", "metric", "model", "quantity"]
COMPARISON += ["published", "ours", "difference", "verdict", "note", "origin", "runs", "sd", "test"]
COMPARISON += ["query_id"]


def compare(
    published: pd.DataFrame,
    aggregates: pd.DataFrame,
    rankings: pd.DataFrame,
    correlations: pd.DataFrame,
    cells: Mapping[str, Path],
    published_as: Mapping[tuple[str, str], str],
    inference: Mapping[str, Path] | None = None,
    evaluations: Iterable[Path] = (),
    beside: Mapping[str, str | Sequence[str]] | None = None,
    rated: Mapping[tuple, float] | None = None,
    run_sds: Mapping[tuple, tuple[float, float]] | None = None,
) -> pd.DataFrame:
    """One row for each published number of a model that the study has, sorted, with its verdict.

    Verdicts, the first that holds:

    - "not asked": the study leaves the number out (no such metric, cell, test or measure);
    - "no value": it has no value for it, and the note says why;
    - "other vectors": the number was printed for vectors that ours does not claim to be;
    - "reproduced", "compatible", "explained", "differs": see `verdict`.

    `quantity` is led by the query's id; `query_id` has it where `cells` have the query. Ranks and their
    correlations depend on all models that are ranked: they are compared only where the study ranks exactly the
    models whose ranks the same source prints. Else, if it ranks all of these, a warning says so. A number over all
    criteria is asked only of a study that has all that the source prints it for.

    Parameters
    ----------
    published : pandas.DataFrame
        As `read` gives it.
    aggregates, rankings, correlations : pandas.DataFrame
        The study's tables.
    cells, inference : mapping
        The study's files of cells, by model/debias/metric/query, and of their inference, by model/debias/metric.
    published_as : mapping
        (model, debias key) -> the model whose published numbers it is compared with: for every model of the study
        as it is ("none") itself, or the model that it is a part of; for one under a debias method, which is called
        "<model> under <key>" here, the published debiased model, if any.
    evaluations : iterable of Path
        The study's evaluation files.
    beside : mapping
        Model -> a published model of other vectors, or several, whose numbers are set beside it and not judged.
    rated : mapping
        Correlations with ratings, by model, debias, metric, query's id and quantity.
    run_sds : mapping
        Of aggregates that hold chance, by criterion, metric, model and quantity: the standard deviation of one run,
        and how many runs ours is the mean of.
    """
    others = {m: [names] if isinstance(names, str) else names for m, names in (beside or {}).items()}
    values = numbers(aggregates, rankings, correlations)
    measures = measured(evaluations)
    # a model under a debias method ranks beside the others, so its presence counts
    ranked = rankings[["model", "debias"]].drop_duplicates().itertuples(index=False)
    ranked = sorted(published_as.get((m, d), unit(m, d)) for m, d in ranked)
    rows = []
    for source, part in published.groupby("source", sort=False):
        printed = set(part.loc[part["quantity"] == "rank", "model"])
        whole = ranked == sorted(printed)
        if printed and printed <= set(ranked) and not whole:
            more = ", ".join(name for name, n in Counter(ranked).items() if n > (name in printed))
            warnings.warn(
                f"{source}: its ranks and their correlations are not compared, as the study ranks more models than "
                f"these: {more}",
                stacklevel=2,
            )
        # what "Overall" is made of
        criteria = set(part.loc[part["query"] == "", "criterion"]) - {OVERALL}
        for row in part.itertuples(index=False):
            if row.quantity == "correlation":
                units = [("", UNTOUCHED)] if whole else []
            else:
                units = [state for state, other in published_as.items() if row.model in (unit(*state), other)]
                units += [(model, UNTOUCHED) for model, names in others.items() if row.model in names]
                if row.quantity == "rank" and not whole:
                    units = []
            for model, debias in units:
                name = unit(model, debias)
                cell = f"{model}/{debias}/{row.metric}/{row.query}"
                if row.quantity in HALVED:
                    ours = of_halves(inference or {}, cells, cell, HALVED[row.quantity])
                elif row.quantity in TESTED:
                    ours = of_inference(inference or {}, cells, cell, row.quantity)
                elif row.quantity in RATED:
                    correlation = (rated or {}).get((model, debias, row.metric, row.query, row.quantity))
                    ours = number(correlation, "the study has no such ratings")
                elif row.query:
                    ours = of_cell(cells.get(cell), row.quantity)
                elif MEASURE.fullmatch(row.quantity):
                    missing = Ours(why="the study evaluates no such measure", asked=False)
                    ours = measures.get((row.criterion, model, debias, row.quantity), missing)
                else:
                    place = row.metric, name, row.quantity
                    ours = number(values.get((row.criterion, *place)), "the study has no such number")
                    if row.criterion == OVERALL and not all((c, *place) in values for c in criteria):
                        ours = Ours(why="the study has not all criteria that this is over", asked=False)
                    elif chance := (run_sds or {}).get((row.criterion, *place)):
                        ours = Ours(ours.value, ours.why, run_sd=chance[0], runs=chance[1])
                other = debias == UNTOUCHED and row.model in others.get(model, ())
                rows.append(_compared(row, name, ours, other))
    table = pd.DataFrame(rows, columns=COMPARISON).sort_values(COMPARISON[:7], ignore_index=True)
    measured_queries = {cell.rpartition("/")[2] for cell in cells}
    table["query_id"] = table["query_id"].where(table["query_id"].isin(measured_queries), "")
    return table


def _compared(row: Any, model: str, ours: Ours, other_vectors: bool) -> tuple:
    """The row of the comparison."""
    notes, sd = [ours.why], math.nan
    if not ours.asked:
        judged = NOT_ASKED
    elif math.isnan(ours.value):
        judged = NO_VALUE
    elif other_vectors:
        judged = OTHER_VECTORS
    else:
        if row.runs is not None:
            sd, note = _chance(row, ours)
            notes.append(note)
        judged = verdict(row.published, ours.value, row.digits, row.runs, sd, bool(row.test))
        if judged == "differs" and ours.words_lost:
            notes.append(f"ours lacks {ours.words_lost} of the query's words")
    notes.append(f"printed for {row.model}" if model not in (row.model, "") else "")
    # what is said of the printed number's agreement says nothing of other vectors
    test = row.test if judged == "explained" else ""
    notes += [] if judged == OTHER_VECTORS else [row.note, f"recomputed by {test}" if test else ""]
    quantity = f"{row.query}: {row.quantity}" if row.query else row.quantity
    place = (row.source, row.table, row.criterion, row.metric, model, quantity)
    runs = math.nan if row.runs is None else row.runs
    numbers = row.published, ours.value, ours.value - row.published
    return (*place, *numbers, judged, "; ".join(filter(None, notes)), row.origin, runs, sd, test, row.query)


def _chance(row: Any, ours: Ours) -> tuple[float, str]:
    """The standard deviation that a printed random number is judged by, and a note that says how far ours is off."""
    run_sd = ours.run_sd if math.isnan(row.run_sd) else row.run_sd
    if math.isnan(run_sd):
        return math.nan, "what a run varies by was not measured on these vectors"
    if row.runs == 1:
        what, sd = "a single run was printed", run_sd
    else:
        # ours is a mean, too
        what, sd = (
            f"a mean of {row.runs:g} runs was printed",
            run_sd * math.sqrt(1 / row.runs + 1 / ours.runs),
        )
    off = max(abs(ours.value - row.published) - rounding(row.digits), 0.0)
    off = f"{off / sd:.1f} standard deviations ({sd:.2g})" if sd > 0 else f"{off:.2g} (no run differed)"
    return sd, f"{what}: {off} from ours, {MISSES} are expected beyond {WITHIN}"
