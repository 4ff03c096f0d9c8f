"""HTML of a grid in a notebook: a table per topic, models by metrics, on the common scale."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from ...core.notebook_html import BLUE, CELL, LINE, MUTED, block, isolate
from ...core.numbers import NO_VALUE, decimal, plain, typeset, typographic
from ...core.phrases import join_names, pluralize
from ...debias import UNTOUCHED
from ...measure.aggregation import OVERALL
from ...measure.evidence import ALL
from ...measure.statistics.scale import NO_BASELINE
from ...tables.aggregates import STANDARDIZED, of_ranking
from ...tables.scales import metrics_without_common_zero
from .frames import frame_of, states_of

if TYPE_CHECKING:
    from ..study import Study

MOST_TOPICS = 6
MOST_METRICS = 7  # side by side, which is 900 pixels
WIDTH, FIRST, COLUMN = 900, 180, 97
BAR, HEIGHT = 44, 12  # pixels of a data bar
ALL_TOPICS = "All topics"
SCALE = (
    "Mean standardised bias over the queries: 0 is as much as random word groups of the same model, "
    "2 is two standard deviations more."
)
BARS = "A filled bar is significant in the test against random word groups; an open one is not, or was not tested."
RAW = "Mean absolute scores, which are not comparable across metrics."
ADD_GROUPS = "random_groups gives metrics of vectors a common scale."


@dataclass(frozen=True)
class Scale:
    """The range of the data bars, over all topics and metrics."""

    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Scale:
        """Return the range of values, extended to 0."""
        finite = [value for value in values if math.isfinite(value)]
        return cls(min(0.0, *finite, 0.0), max(0.0, *finite, 0.0))

    def place(self, value: float) -> float:
        """Return the position of a value in pixels."""
        span = self.high - self.low
        return (BAR - 2) * (value - self.low) / span + 1 if span else BAR / 2


def grid_html(study: Study, title: str) -> str:
    """Return a grid as HTML for a notebook.

    Parameters
    ----------
    study
        A study with scores.
    title
        The numbers of scores, metrics, queries and models.

    Returns
    -------
    str
        HTML with its own styles, at most 900 pixels wide. Without random groups, there is not a common scale,
        and the tables contain the mean absolute scores without bars.
    """
    long = of_ranking(frame_of(study, "aggregates"), study.config.aggregation)
    column = STANDARDIZED if STANDARDIZED in long and long[STANDARDIZED].notna().any() else "value"
    if column == "value":
        long = of_ranking(frame_of(study, "aggregates"), "abs_avg")
    rows: dict[tuple[str, str, str, str], Any] = {
        (row.criterion, row.metric, row.model, row.debias): row for row in long.itertuples()
    }
    criteria = [name for name in [*study.config.criteria, OVERALL] if any(key[0] == name for key in rows)]
    if len(study.config.criteria) == 1:
        criteria = criteria[:1]
    scale = Scale.of(long[column].tolist()) if column == STANDARDIZED else None
    parts = [f'<div style="{MUTED} font-size: 12.5px;">{escape(title)}</div>']
    for criterion in criteria[:MOST_TOPICS]:
        parts += _topic_tables(study, criterion, rows, column, scale)
    if rest := criteria[MOST_TOPICS:]:
        parts.append(_note(f"Not shown: {pluralize(len(rest), 'more topic')}."))
    has_groups = "random_groups" in study.config.inference.parts
    notes = [SCALE, BARS] if scale else [RAW if has_groups else f"{RAW} {ADD_GROUPS}"]
    if scale and long[STANDARDIZED].isna().any():
        notes.append("No baseline: fewer than half of the scores can be compared with random word groups.")
    if scale and (metrics := metrics_without_common_zero(study)):
        names = join_names(study.labels[key] for key in metrics)
        notes.append(f"Do not compare models by {names}: they differ on random words, too.")
    parts.append(_note(" ".join([*notes, "grid.scores has every score, grid.summary() what they say."])))
    return block("".join(parts), WIDTH)


def _topic_tables(
    study: Study,
    criterion: str,
    rows: Mapping[tuple[str, str, str, str], Any],
    column: str,
    scale: Scale | None,
) -> Iterator[str]:
    """Yield the tables of a topic, with at most `MOST_METRICS` metrics in each."""
    metrics = [key for key in _metrics(study) if any(place[:2] == (criterion, key) for place in rows)]
    name = ALL_TOPICS if criterion == OVERALL else criterion
    yield f'<div dir="auto" style="font-weight: 700; margin: 10px 0 2px;">{escape(name)}</div>'
    for start in range(0, len(metrics), MOST_METRICS):
        yield _table(study, criterion, metrics[start : start + MOST_METRICS], rows, column, scale)


def _table(
    study: Study,
    criterion: str,
    metrics: Sequence[str],
    rows: Mapping[tuple[str, str, str, str], Any],
    column: str,
    scale: Scale | None,
) -> str:
    right = f"{CELL} text-align: right; white-space: nowrap;"
    head = "".join(
        f'<th scope="col" style="{right} font-weight: 600;">{_metric_heading(study, key, scale)}</th>'
        for key in metrics
    )
    lines = [f'<tr style="background: none;"><th style="{CELL} width: {FIRST}px;"></th>{head}</tr>']
    for model, debias in states_of(study):
        cells = [rows.get((criterion, key, model, debias)) for key in metrics]
        if not any(cells):
            continue
        numbers = [_score_cell(row, column, scale) for row in cells]
        texts = "".join(f'<td style="{right}">{number}</td>' for number in numbers)
        if not any(numbers):
            texts = f'<td colspan="{len(metrics)}" style="{CELL} {MUTED}">{NO_BASELINE if scale else NO_VALUE}</td>'
        name = f'<th scope="row" style="{CELL} font-weight: 400;">{_model_label(study, model, debias)}</th>'
        lines.append(f'<tr style="background: none;">{name}{texts}</tr>')
    return (
        '<table style="border-collapse: collapse; border: 0; font-size: 13px; margin: 0 0 4px; table-layout: fixed; '
        f'width: {FIRST + COLUMN * len(metrics)}px; font-variant-numeric: tabular-nums;">{"".join(lines)}</table>'
    )


def _metrics(study: Study) -> list[str]:
    return list(dict.fromkeys(key for name in study.config.criteria for key in study.metrics(name)))


def _metric_heading(study: Study, key: str, scale: Scale | None) -> str:
    """Return a metric's label, and its no-bias value if the metrics do not have a common scale."""
    label = isolate(study.labels[key])
    if scale:
        return label
    criterion = next(name for name in study.config.criteria if key in study.metrics(name))
    neutral = plain(study.metric(criterion, key).neutral)
    return f'{label}<br><span style="{MUTED} font-weight: 400;">no bias: {neutral}</span>'


def _model_label(study: Study, model: str, debias: str) -> str:
    method = "" if debias == UNTOUCHED else f", {isolate(study.labels[debias])}"
    return f"{isolate(study.labels[model])}{method}"


def _score_cell(row: Any, column: str, scale: Scale | None) -> str:
    """Return a number, with its bar if the metrics have a common scale."""
    value = math.nan if row is None else getattr(row, column)
    if math.isnan(value):
        return ""
    missing = f"{row.cells_nan} of {pluralize(row.cells, 'score')} missing" if row.cells_nan else ""
    text = typographic(decimal(value)) if scale else typeset(value, 2)
    number = f'<span title="{missing}">{text}</span>'
    return f"{number} {_bar(value, row.evidence == ALL, scale)}" if scale else number


def _bar(value: float, is_filled: bool, scale: Scale) -> str:
    zero, end = scale.place(0), scale.place(value)
    start, width = min(zero, end), abs(end - zero)
    fill = BLUE if is_filled else "none"
    return (
        f'<svg width="{BAR}" height="{HEIGHT + 4}" aria-hidden="true" style="vertical-align: middle;">'
        f'<line x1="{zero:.1f}" x2="{zero:.1f}" y1="0" y2="{HEIGHT + 4}" {LINE}/>'
        f'<rect x="{start:.1f}" y="3" width="{width:.1f}" height="{HEIGHT - 2}" fill="{fill}" stroke="{BLUE}"/></svg>'
    )


def _note(text: str) -> str:
    return f'<div style="{MUTED} font-size: 12.5px; max-width: 640px;">{escape(text)}</div>'
