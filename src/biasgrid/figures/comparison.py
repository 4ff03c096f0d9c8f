"""Figure of published numbers next to the study's numbers, as a table, for any study with published numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.numbers import plain, typeset, typographic
from ..tables.published.quantities import MEASURES, name_of
from ..tables.published.verdict import (
    NO_VALUE,
    NOT_ASKED,
    OTHER_QUERIES,
    OTHER_VECTORS,
    UNJUDGED,
    WITH_AN_ERROR,
)
from .figure import Drawing, Example, Figure
from .frame import NARROW, Frame, empty_page, styled
from .questions import PRINT
from .rows import from_tables, rows_of
from .text import published_label
from .types.table import column_ends, fitted, height, table
from .visuals import legend_area

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from ..tables.planned import Planned

COMPUTED = "computed by other code"
# The difference may be due to rounding in the publication.
IN_PRINT = "differs in print"
# Result of the check -> its mark and shade, which are distinct without colour, and its meaning.
VERDICTS = {
    "differs": ("✗", "#F3C9C0", "not as published"),
    IN_PRINT: ("≠", "#F9E3DC", "not as published, but rounding may explain it"),
    "explained": ("○", "#F6EBD0", "the cause is known and tested (see comparison.csv)"),
    "compatible": ("≈", "#EAF2E4", "one random run was published; within 2 standard deviations"),
    "reproduced": ("✓", "#D5EBD0", "rounds to the published value, or is within random variation"),
    WITH_AN_ERROR: ("◇", "#EBEBEB", "known to be wrong as published; not compared"),
    OTHER_VECTORS: ("△", "#EBEBEB", "published for other vectors; not compared"),
    OTHER_QUERIES: ("□", "#EBEBEB", "published for other queries or words; not compared"),
    NO_VALUE: ("–", "#EBEBEB", "comparison.csv has the reason"),
    NOT_ASKED: ("–", "#EBEBEB", "left out by the study"),
}
# Largest number of rows of a panel, so that it fits on a page of a PDF.
MOST = 45
HEADING = "Published and reproduced values"


@styled
def comparison(
    comparison: pd.DataFrame,
    labels: Mapping[str, str],
    queries: Sequence[tuple[str, str]],
    metric: str | None = None,
) -> figure.Figure:
    """Draw every published number, this study's number, their difference and the result of the check.

    There is a table for each source and model. Numbers that differ are on top, sorted by the difference as a share of
    the larger number. A number "differs in print" if it differs by less than one and a half units of the last printed
    digit. A printed power of ten may differ tenfold.

    Parameters
    ----------
    comparison
        The study's comparison with published numbers.
    labels
        Labels of the keys of metrics, models and debias methods.
    queries
        Ids and names of queries.
    metric
        Metric whose numbers are drawn; "" for numbers of an evaluation; by default all. Without such numbers the
        figure has a sentence instead.

    Raises
    ------
    BiasgridError
        For an empty table.
    """
    numbers = rows_of(comparison, "comparison")
    subject = "Evaluations" if metric == "" else labels.get(metric, metric) if metric else "All metrics"
    if metric is not None:
        numbers = numbers[numbers["metric"].str.partition("~")[0] == metric]
    if numbers.empty:
        why = "the published files have no number of it for these models and queries."
        return empty_page(f"{HEADING}: {subject}", why)
    difference = numbers["ours"] - numbers["published"]
    larger = np.maximum(numbers["ours"].abs(), numbers["published"].abs()).where(lambda x: x > 0, 1)
    numbers = numbers.assign(
        verdict=_verdicts(numbers), difference=difference, share=(difference / larger).abs()
    )
    numbers["place"] = numbers["verdict"].map([*VERDICTS].index)
    numbers = numbers.sort_values(["place", "share"], ascending=[True, False], ignore_index=True)
    counts = {verdict: int((numbers["verdict"] == verdict).sum()) for verdict in VERDICTS}
    page = Frame(_finding(counts), f"{subject}: published values and those of this study", _notes(counts))
    inches = page.inside - 0.1
    texts = _texts(numbers, labels, dict(queries))
    # Leave out the column of differences on a narrow page.
    if page.width < NARROW:
        texts = texts.drop(columns="difference").assign(check=texts["check"].str[0])
    ends = column_ends(texts, inches)
    parts, heads = {}, {}
    for (source, model), part in fitted(texts, ends).groupby([numbers["source"], numbers["model"]]):
        head = f"{source}\n{published_label(model, labels)}" if model else source
        for start in range(0, len(part), MOST):
            parts[source, model, start] = part[start : start + MOST]
            heads[source, model, start] = head + ", continued" * (start > 0)
    heights = {key: height(part) for key, part in parts.items()}
    for key, axes in page.panels(heads, heights, line=1).items():
        of_rows = numbers["verdict"].loc[parts[key].index]
        shades = {(row, "check"): VERDICTS[verdict][1] for row, verdict in enumerate(of_rows)}
        table(axes, parts[key], ends, shades)
    legend = [
        (f"{mark} {verdict}: {meaning}", legend_area(facecolor=shade))
        for verdict, (mark, shade, meaning) in VERDICTS.items()
        if (numbers["verdict"] == verdict).any()
    ]
    return page.done(legend)


def _verdicts(numbers: pd.DataFrame) -> pd.Series:
    """Return the results of the checks; for numbers that differ, whether rounding may explain it."""
    printed, what = numbers["published"], numbers["quantity"].str.rpartition(": ")[2]
    is_power = (
        what.isin(["p_value", "p_normal"])
        & (printed <= 0.01)
        & printed.map(lambda x: f"{x:e}".startswith("1.000000e"))
    )
    # A number may have lost zeros at its end: count the digits of all numbers of its column.
    digits = printed.map(lambda x: len(np.format_float_positional(x).partition(".")[2])).where(~is_power, 0)
    digits = digits.groupby([numbers["source"], numbers["table"], what]).transform("max")
    by_a_unit = (digits > 0) & ((numbers["ours"] - printed).abs() < 1.5 * 10.0**-digits)
    tenfold = (numbers["ours"] / printed.where(is_power)).between(0.1, 10)
    is_near = tenfold.where(is_power, by_a_unit) & (what != "rank")
    return numbers["verdict"].mask((numbers["verdict"] == "differs") & is_near, IN_PRINT)


def _finding(counts: Mapping[str, int]) -> str:
    """Say how many of the comparable published numbers are reproduced."""
    judged = sum(count for verdict, count in counts.items() if verdict not in UNJUDGED)
    reproduced = counts["reproduced"]
    if not judged:
        return "No published number can be compared"
    if judged == 1:
        return (
            "The published number is reproduced" if reproduced else "The published number is not reproduced"
        )
    if judged == reproduced:
        return f"All {judged} published numbers are reproduced"
    return f"{reproduced} of {judged} published numbers are reproduced"


def _notes(counts: Mapping[str, int]) -> list[str]:
    listed = ", ".join(f"{verdict} {count}" for verdict, count in counts.items() if count)
    return ["What differs most, as a share of the larger number, is on top.", f"Counts: {listed}."]


def _texts(numbers: pd.DataFrame, labels: Mapping[str, str], queries: Mapping[str, str]) -> pd.DataFrame:
    """Return the texts of the rows, by column."""
    import pandas as pd

    names = [_name(row, labels, queries) for row in numbers.itertuples()]
    # A source may print a number several times, or for several criteria.
    for column in ("criterion", "table"):
        keys = [numbers["source"], numbers["model"], numbers["metric"], pd.Series(names, numbers.index)]
        several = numbers.groupby(keys)[column].transform("nunique") > 1
        names = [
            f"{name}, {of}" if more else name
            for name, of, more in zip(names, numbers[column], several, strict=True)
        ]
    by_metric = numbers["metric"].str.partition("~")[0].nunique() > 1
    if by_metric:
        names = [
            f"{labels.get(m, m)}: {name}" if m and "~" not in m else name
            for m, name in zip(numbers["metric"], names, strict=True)
        ]
    other = "computed" if (numbers["origin"] == COMPUTED).all() else "published"
    return pd.DataFrame(
        {
            "number": names,
            other: [typographic(plain(value)) for value in numbers["published"]],
            "this study": [typeset(value, 3) or "–" for value in numbers["ours"]],
            "difference": [typeset(value, 2) or "–" for value in numbers["difference"]],
            "check": [f"{VERDICTS[verdict][0]} {verdict}" for verdict in numbers["verdict"]],
        },
    )


def _name(row: Any, labels: Mapping[str, str], queries: Mapping[str, str]) -> str:
    """Return the name of a number: its query, or criterion, and its quantity."""
    query, _, quantity = row.quantity.rpartition(": ")
    says = name_of(quantity)
    if quantity.rpartition("/")[0] in MEASURES:
        return says
    if "~" in row.metric:
        says += " of " + " and ".join(labels.get(key, key) for key in row.metric.split("~"))
    of = queries.get(query, query) if query else row.criterion
    return f"{of}: {says}" if says else of


def _drawings(study: Planned) -> Iterator[Drawing]:
    if study.config.published or study.config.computed:
        # Plan a figure per metric, and one for numbers without a metric.
        metrics = dict.fromkeys(cell.metric for cell in study.grid.cells.values())
        queries = [[key, query.name] for key, query in study.queries.items()]
        for metric in [*metrics, *([""] if study.grid.evaluations else [])]:
            yield Drawing(
                f"comparison-{metric or 'evaluations'}", spec={"queries": queries, "metric": metric}
            )


FIGURES = (
    Figure(
        "comparison",
        "Published numbers, the study's own, and whether they agree.",
        from_tables(comparison),
        question=PRINT,
        heading=HEADING,
        asks="Are published numbers reproduced?",
        learn="You learn which published numbers this study reproduces, and by how much the others differ.",
        drawings=_drawings,
        reads=("comparison",),
        facts=("labels",),
        needs="numbers to compare with (published, computed)",
        reading="What differs most is on top. 'Differs in print' may be due to rounding, a dash means "
        "that this study has no value; `comparison.csv` has the causes.",
        example=Example(
            "caliskan",
            "comparison-weat_es",
            {"criterion": "Caliskan et al. 2017", "model": "word2vec-google-news-300-subset"},
        ),
    ),
)
