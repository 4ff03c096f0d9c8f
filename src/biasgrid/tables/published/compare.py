"""Comparison of a study's numbers with published ones, and with numbers that other code computed."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from ...debias import UNTOUCHED
from ...measure.aggregation import OVERALL
from .at_hand import QUANTITIES, models_at_hand
from .published import (
    CORRELATIONS,
    DRAWN,
    ERROR,
    FREQUENCY,
    HALVED,
    MEASURE,
    NGRAMS,
    OVER_QUERIES,
    RATED,
    TESTED,
)
from .queries import Queries, difference
from .study_values import (
    StudyValue,
    cell_value,
    has_words_of_ngrams,
    number,
    numbers,
    over_queries,
    p_value,
    read_measures,
    robustness,
    unit,
)
from .verdict import (
    MISSES,
    NO_VALUE,
    NOT_ASKED,
    OTHER_QUERIES,
    OTHER_VECTORS,
    WITH_AN_ERROR,
    WITHIN,
    rounding_error,
    verdict,
)
from .wholes import judge_wholes

if TYPE_CHECKING:
    import pandas as pd

    from ...core.in_memory import File

COMPARISON = ["source", "table", "criterion", "metric", "model", "quantity"]
COMPARISON += ["published", "ours", "difference", "verdict", "note", "origin", "runs", "sd", "test"]
COMPARISON += ["query_id"]


def compare(
    published: pd.DataFrame,
    aggregates: pd.DataFrame,
    rankings: pd.DataFrame,
    correlations: pd.DataFrame,
    cells: Mapping[str, File],
    published_as: Mapping[tuple[str, str], str],
    inference: Mapping[str, File] | None = None,
    evaluations: Iterable[File] = (),
    beside: Mapping[str, str | Sequence[str]] | None = None,
    rating_correlations: Mapping[tuple, float] | None = None,
    run_sds: Mapping[tuple, tuple[float, float]] | None = None,
    queries: Mapping[tuple[str, str], Queries] | None = None,
    with_ngrams: Collection[str] = (),
    frequencies: Mapping[tuple[str, str], float] | None = None,
) -> pd.DataFrame:
    """Return one row for each published number of a model that the study has, sorted, with its verdict.

    The verdict is the first one that applies:

    - "not asked": the study does not compute the number (no such metric, cell, test or measure);
    - "no value": the study's number is missing, and the note gives the reason; if the printed one is also
      missing, "reproduced";
    - "published with an error": the number is known to be wrong: its note begins with "error: ";
    - "other vectors": the number was printed for vectors that differ from the study's, or they differ in
      vectors from n-grams. Either the note begins with "with n-grams: " and the study does not use n-grams,
      or it does not and the study uses them for a word;
    - "other queries": the number was printed for other queries, or for other words of the query (if these are
      known), or for some of its words that were drawn without a seed (the note begins with "words drawn: ");
    - "reproduced", "compatible", "explained", "differs": see `verdict`; a rank or correlation has the verdict
      of its whole ranking or matrix (`wholes`).

    `quantity` starts with the query's id; `query_id` is that id if `cells` have the query. Ranks and their
    correlations depend on all ranked models, so they are compared among the models that both the source and
    the study rank (`at_hand`). A number over all criteria is compared only if the study has every criterion
    for which the source prints it.

    Parameters
    ----------
    published : pandas.DataFrame
        The table that `read` returns.
    aggregates, rankings, correlations : pandas.DataFrame
        The study's tables.
    cells, inference : mapping
        The study's files of cells, by model/debias/metric/query, and of their inference, by model/debias/metric.
    published_as : mapping
        (model, debias key) -> the published model that it is compared with. For an original model ("none"),
        this is the model itself, or the model that it is a part of. For a debiased model, which is called
        "<model> under <key>" here, it is the published debiased model, if any.
    evaluations : iterable of File
        The study's evaluation files.
    beside : mapping
        Model -> one or several published models of other vectors, whose numbers are shown for comparison
        without a verdict on agreement.
    rating_correlations : mapping
        Correlations with ratings, by model, debias, metric, query's id and quantity.
    run_sds : mapping
        For aggregates of random runs, by criterion, metric, model and quantity: the standard deviation of one
        run, and the number of runs in the study's mean.
    queries : mapping
        The study's queries (`tables.published.queries`), by criterion (and "Overall") and metric. By default,
        queries are not compared.
    with_ngrams : collection of str
        The models that make vectors of n-grams (`subwords: true`).
    frequencies : mapping
        (model, query) -> the mean frequency of the query's attribute words (`attribute_frequencies`).
    """
    import pandas as pd

    other_models = {m: [names] if isinstance(names, str) else names for m, names in (beside or {}).items()}
    queries = queries or {}
    words = {key: digest for of_metric in queries.values() for key, digest in of_metric.items()}
    values = numbers(aggregates, rankings, correlations)
    measures = read_measures(evaluations)
    is_of_ngrams = cache(lambda cell: has_words_of_ngrams(cells.get(cell)))
    rows = []
    for _, part in published.groupby("source", sort=False):
        at_hand = models_at_hand(part, rankings, published_as)
        # The criteria that "Overall" combines.
        criteria = set(part.loc[part["query"] == "", "criterion"]) - {OVERALL}
        overall = _queries_of_criteria(part, criteria)
        for row in part.itertuples(index=False):
            if row.quantity in CORRELATIONS:
                units = [("", UNTOUCHED)] if at_hand else []
            else:
                units = [
                    state
                    for state, counterpart in published_as.items()
                    if row.model in (unit(*state), counterpart)
                ]
                units += [(model, UNTOUCHED) for model, names in other_models.items() if row.model in names]
                if row.quantity == "rank":
                    units = [state for state in units if at_hand and state == at_hand.states.get(row.model)]
            for model, debias in units:
                name = unit(model, debias)
                cell = f"{model}/{debias}/{row.metric}/{row.query}"
                if row.quantity in HALVED:
                    study_value = robustness(inference or {}, cells, cell, HALVED[row.quantity])
                elif row.quantity in TESTED:
                    study_value = p_value(inference or {}, cells, cell, row.quantity)
                elif row.quantity in OVER_QUERIES:
                    places = {
                        query: f"{model}/{debias}/{row.metric}/{query}"
                        for query in queries.get((row.criterion, row.metric), ())
                    }
                    of_model = {query: n for (of, query), n in (frequencies or {}).items() if of == model}
                    study_value = over_queries(cells, places, row.quantity, of_model)
                elif row.quantity == FREQUENCY:
                    mean = (frequencies or {}).get((model, row.query))
                    study_value = number(mean, "the study has no such frequencies")
                elif row.quantity in RATED:
                    correlation = (rating_correlations or {}).get(
                        (model, debias, row.metric, row.query, row.quantity)
                    )
                    study_value = number(correlation, "the study has no such ratings")
                elif row.query:
                    study_value = cell_value(cells.get(cell), row.quantity)
                elif MEASURE.fullmatch(row.quantity):
                    missing = StudyValue(reason="the study evaluates no such measure", in_study=False)
                    study_value = measures.get((row.criterion, model, debias, row.quantity), missing)
                else:
                    place = row.metric, name, row.quantity
                    study_value = number(values.get((row.criterion, *place)), "the study has no such number")
                    if row.criterion == OVERALL and not all((c, *place) in values for c in criteria):
                        study_value = StudyValue(
                            reason="the study has not all criteria that this is over", in_study=False
                        )
                    elif chance := (run_sds or {}).get((row.criterion, *place)):
                        study_value = StudyValue(
                            study_value.value, study_value.reason, run_sd=chance[0], runs=chance[1]
                        )
                other_vectors = debias == UNTOUCHED and row.model in other_models.get(model, ())
                over = overall if row.criterion == OVERALL else row.queries
                if row.query:
                    ours: list[Queries] = [{row.query: words[row.query]}] if row.query in words else []
                else:  # a correlation belongs to two metrics
                    ours = [
                        queries[row.criterion, m]
                        for m in row.metric.split("~")
                        if (row.criterion, m) in queries
                    ]
                other_queries = (
                    "" if over is None else next(filter(None, (difference(q, over) for q in ours)), "")
                )
                compared_row = row
                if row.quantity in QUANTITIES and at_hand:
                    compared_row, study_value = at_hand.compared(row, study_value)
                # A correlation is computed over the ranked models.
                states = [(model, debias)] if model or not at_hand else [*at_hand.states.values()]
                other_ngrams = _other_ngrams(row, states, with_ngrams, queries, is_of_ngrams)
                rows.append(
                    _comparison_row(
                        compared_row, name, study_value, other_vectors, other_ngrams, other_queries
                    )
                )
    table = judge_wholes(pd.DataFrame(rows, columns=COMPARISON)).sort_values(
        COMPARISON[:7], ignore_index=True
    )
    measured_queries = {cell.rpartition("/")[2] for cell in cells}
    table["query_id"] = table["query_id"].where(table["query_id"].isin(measured_queries), "")
    return table


def _queries_of_criteria(part: pd.DataFrame, criteria: set[str]) -> dict[str, str] | None:
    """Return the queries of the criteria for which a source prints numbers, or None if some are unknown."""
    by_criterion = part[(part["query"] == "") & part["criterion"].isin(criteria)].groupby("criterion")[
        "queries"
    ]
    queries = [of_criterion for of_criterion in by_criterion.first() if of_criterion is not None]
    if len(queries) < len(criteria):
        return None
    return {key: digest for of_criterion in queries for key, digest in of_criterion.items()}


def _other_ngrams(
    row: Any,
    states: Sequence[tuple[str, str]],
    with_ngrams: Collection[str],
    queries: Mapping[tuple[str, str], Queries],
    is_of_ngrams: Callable[[str], bool],
) -> str:
    """Return why words outside the vocabulary have other vectors in print than in the study, or "".

    `is_of_ngrams` returns whether a cell, given by its name, has such words with vectors from n-grams.
    """
    making = [(model, debias) for model, debias in states if model in with_ngrams]
    if row.note.startswith(NGRAMS):
        return "" if len(making) == len(states) else "ours has no n-grams (subwords: true)"
    metrics = row.metric.split("~")
    names = [
        f"{model}/{debias}/{metric}/{query}"
        for model, debias in making
        for metric in metrics
        for query in ([row.query] if row.query else queries.get((row.criterion, metric), ()))
    ]
    # An evaluation may use any word.
    if any(map(is_of_ngrams, names)) or (making and MEASURE.fullmatch(row.quantity)):
        return f"ours has words of n-grams, and the published note does not begin with {NGRAMS.strip()!r}"
    return ""


def _comparison_row(
    row: Any,
    model: str,
    study_value: StudyValue,
    other_vectors: bool,
    other_ngrams: str,
    other_queries: str,
) -> tuple:
    """Return the row of the comparison for a published number and the study's."""
    notes, sd = [study_value.reason], math.nan
    if not study_value.in_study:
        outcome = NOT_ASKED
    elif math.isnan(study_value.value):
        outcome = "reproduced" if math.isnan(row.published) else NO_VALUE
    elif row.note.startswith(ERROR):
        outcome = WITH_AN_ERROR
    elif other_vectors or other_ngrams:
        outcome = OTHER_VECTORS
        notes.append("" if other_vectors else other_ngrams)
    elif other_queries or row.note.startswith(DRAWN):
        outcome = OTHER_QUERIES
        notes.append(other_queries or row.note)
    else:
        if row.runs is not None:
            sd, note = _chance_deviation(row, study_value)
            notes.append(note)
        outcome = verdict(row.published, study_value.value, row.digits, row.runs, sd, bool(row.test))
        if outcome == "differs" and study_value.words_lost:
            notes.append(f"ours lacks {study_value.words_lost} of the query's words")
    notes.append(f"printed for {row.model}" if model not in (row.model, "") else "")
    # Note and test refer to the printed vectors and queries, and do not apply to others.
    test = row.test if outcome == "explained" else ""
    notes += (
        []
        if outcome in (OTHER_VECTORS, OTHER_QUERIES)
        else [row.note, f"recomputed by {test}" if test else ""]
    )
    quantity = f"{row.query}: {row.quantity}" if row.query else row.quantity
    place = (row.source, row.table, row.criterion, row.metric, model, quantity)
    runs = math.nan if row.runs is None else row.runs
    numbers = row.published, study_value.value, study_value.value - row.published
    return (*place, *numbers, outcome, "; ".join(filter(None, notes)), row.origin, runs, sd, test, row.query)


def _chance_deviation(row: Any, study_value: StudyValue) -> tuple[float, str]:
    """Return the standard deviation for the verdict on a printed random number, and a note on the deviation."""
    run_sd = study_value.run_sd if math.isnan(row.run_sd) else row.run_sd
    if math.isnan(run_sd):
        return math.nan, "what a run varies by was not measured on these vectors"
    if row.runs == 1:
        publication, sd = "a single run was printed", run_sd
    else:
        # The study's number is also a mean.
        publication, sd = (
            f"a mean of {row.runs:g} runs was printed",
            run_sd * math.sqrt(1 / row.runs + 1 / study_value.runs),
        )
    deviation = max(abs(study_value.value - row.published) - rounding_error(row.digits), 0.0)
    deviation = (
        f"{deviation / sd:.1f} standard deviations ({sd:.2g})"
        if sd > 0
        else f"{deviation:.2g} (no run differed)"
    )
    return sd, f"{publication}: {deviation} from ours, {MISSES} are expected beyond {WITHIN}"
