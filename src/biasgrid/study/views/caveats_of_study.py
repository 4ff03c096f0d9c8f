"""Limitations of the scores of a study, or of a grid in memory, one line per kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ...core.errors import BiasgridError, join_names, quote
from ...core.phrases import pluralize
from ...measure.caveats import ONE_WORD, is_fixed, lowest_p, shared_text, shared_words
from ...measure.results import results
from ...metrics.one_word import KEEP

if TYPE_CHECKING:
    from ..study import Study

Place = tuple[str, str, str]  # metric, query, model


def caveats(study: Study, lowest: Mapping[Place, float]) -> list[str]:
    """Return lines about the limitations that the study has.

    They name queries with a word in two sets, scores whose size is fixed by two sets of one word, and p-values
    that cannot be small.

    Parameters
    ----------
    study
        A study, whose cells may be missing, or a grid in memory.
    lowest
        The lowest p-value that the tests of a score can give, by metric, query and model.
    """
    shared: dict[str, list[str]] = {}  # the words and their sets, as text -> names of queries
    for query in (study.queries[key] for key in dict.fromkeys(c.query for c in study.grid.cells.values())):
        if text := shared_text(shared_words(query)):
            shared.setdefault(text, []).append(query.name)
    fixed = [_describe_place(place) for place in _fixed_scores(study)]
    large = [(place, text) for place, p in lowest.items() if (text := lowest_p(p))]
    lines = []
    if shared:
        texts = (
            f"{text} (query {quote(names[0])}{f' and {len(names) - 1:,} more' if len(names) > 1 else ''})"
            for text, names in shared.items()
        )
        lines.append(f"a word is in two sets: {join_names(texts)}")
    if fixed:
        lines.append(f"{_count_scores(len(fixed))} kept, where {ONE_WORD}: {join_names(fixed)}")
    if large:
        place, text = large[0]
        lines.append(
            f"{_count_scores(len(large))} of too few words or draws for a small p; the first: "
            f"{_describe_place(place)} ({text})"
        )
    return lines


def _fixed_scores(study: Study) -> Iterator[Place]:
    """Yield the scores whose size is fixed by two sets of one word each, and which the study keeps."""
    for cell in study.grid.cells.values():
        metric = study.metric(cell.criterion, cell.metric)
        if not metric.one_word or cell.spec["params"].get("one_word") != KEEP:
            continue
        parts = {part.name: part for part in study.queries[cell.query].subqueries(metric.template)}
        try:
            cell_results = list(results([study.paths.cell_file(cell)]))
        except BiasgridError:
            continue  # not measured yet
        for (_, name, *_), _, result in cell_results:
            if result["status"] == "ok" and is_fixed(metric, parts[name], result["found"]):
                yield cell.metric, name, cell.model


def _count_scores(number: int) -> str:
    return f"{pluralize(number, 'score')} {'is' if number == 1 else 'are'}"


def _describe_place(place: Place) -> str:
    metric, query, model = place
    return f"{metric} of {quote(query)} on {quote(model)}"
