"""Figure of a study: kinds of figures, their drawings, and their examples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import TYPE_CHECKING, Any

from ..core.files import slug
from ..measure.aggregation import OVERALL
from ..tables.inputs import When, facts_of, files_of, holds
from .text import method_name

if TYPE_CHECKING:
    from matplotlib import figure

    from ..tables.planned import Cell, Evaluation, Planned

# Map a role to a file (`in_memory.File`), or to a list of files.
Files = Mapping[str, Any]


@dataclass(frozen=True)
class Drawing:
    """Plan of one figure of a study, with its inputs.

    Parameters
    ----------
    name
        Its file below figures/, without extension, such as "scores-gender-weat".
    inputs
        Files by role that only this figure needs, such as files of some cells; `Figure.drawings_of` adds the inputs
        of its kind, such as {"scores": results/embedded/scores.csv}.
    spec
        All other values on which it depends, JSON-compatible, except for the order of mappings: labels, criterion,
        units; `Figure.drawings_of` adds the facts of its kind, such as the level.
    kind
        The name of the `Figure` that draws it; `figures.plan_figures` fills it in.
    order
        The keys of the study's "models" and "metrics", which determine colours; `figures.plan_figures` fills it in.
    """

    name: str
    inputs: Files = field(default_factory=dict)
    spec: Mapping[str, Any] = field(default_factory=dict)
    kind: str = ""
    order: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Example:
    """Example of a kind in the gallery: a figure of a shipped study, drawn from some rows of its tables.

    Parameters
    ----------
    config
        The study's file below config/, without extension.
    figure
        The name of the study's `Drawing`, such as "scores-gender-weat". The config need not list its kind.
    rows
        Column -> the value, or values, of the rows that are shown, in every table that has the column (for JSON
        files: key -> the values of the files that are shown).
    keep
        (the tables by role, the drawing's spec) -> the part of them that is shown, if `rows` is not enough.
    shown
        Table -> columns. All of their numbers are in the picture as positions of marks, ends of lines or lengths of
        bars; a test looks for them.
    """

    config: str
    figure: str
    rows: Mapping[str, Any] = field(default_factory=dict)
    keep: Callable[[dict[str, Any], Mapping[str, Any]], dict[str, Any]] | None = None
    shown: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Figure:
    """Kind of figure: one file of this package, or of a plugin. Importing it imports neither matplotlib nor pandas.

    Parameters
    ----------
    name
        The kind's name.
    meaning
        A sentence on the content of the figure.
    draw
        (inputs, spec) of a drawing -> the matplotlib figure.
    drawings
        Study -> the figures of this kind that it has. It reads the plan, but not the results. None: one figure, named
        after the kind; `each_criterion` plans one figure for each ranked criterion.
    question
        The question that it answers, one of `questions` or any other text: the gallery groups figures by question.
    heading, asks, learn
        For the gallery: the kind's name in words, the question below its picture, and a sentence on what a reader
        learns from it. `heading` names the kind for every study; `frame.Frame.title` states what one drawing finds.
    reads, facts
        Inputs, as in a `tables.Table`: names of tables, and facts. If a drawing has a criterion, `draw` gets only the
        entries of "neutral" and "signs" for it, by metric.
    when
        Condition on the study, as in a `tables.Table`.
    needs
        The condition in words. A config that lists the kind without fulfilling it is an error, unless `needs` is
        empty.
    group
        The name that a config lists under `figures`, if it is not the kind's own; None if a config requests it
        elsewhere.
    pages
        (study, metrics) -> the value of `only` for each page, if the kind can be drawn for some metrics only.
    reading
        How to read it, in a few sentences: the meaning of a mark, a colour and an open mark (docs/gallery.md).
    example
        Its picture in the gallery; a kind of a user's plugin does not need one.
    """

    name: str
    meaning: str
    draw: Callable[[Files, Mapping[str, Any]], figure.Figure]
    drawings: Callable[[Planned], Iterable[Drawing]] | None = None
    question: str = ""
    heading: str = ""
    asks: str = ""
    learn: str = ""
    reads: tuple[str, ...] = ()
    when: When = ""
    facts: tuple[str, ...] = ()
    needs: str = ""
    group: str | None = ""
    pages: Callable[[Planned, Sequence[str]], Sequence[Any]] | None = None
    reading: str = ""
    example: Example | None = None

    @property
    def config_name(self) -> str | None:
        """Return the name that a config lists under `figures`, if any."""
        return self.name if self.group == "" else self.group

    def drawings_of(self, study: Planned) -> Iterator[Drawing]:
        """Yield the figures of this kind that a study has, with all of their inputs."""
        drawings = self.drawings or (lambda study: [Drawing(self.name)])
        for drawing in drawings(study) if holds(study, self.when) else ():
            files, facts = files_of(study, self.reads), facts_of(study, self.facts)
            yield replace(drawing, inputs={**files, **drawing.inputs}, spec={**facts, **drawing.spec})


def each_criterion(
    name: str, overall: bool = False, unranked: bool = False
) -> Callable[[Planned], Iterator[Drawing]]:
    """Return a function that plans a figure of each ranked criterion: `name`-gender and so on.

    With `overall`, a figure `name` of all criteria comes first. With `unranked`, each criterion has a figure if none
    is ranked.
    """

    def drawings(study: Planned) -> Iterator[Drawing]:
        if overall:
            yield Drawing(name, spec={"criterion": OVERALL})
        yield from of_criteria(name, study.ranked_criteria or (study.config.criteria if unranked else ()))

    return drawings


def of_criteria(name: str, criteria: Iterable[str]) -> Iterator[Drawing]:
    """Yield a figure of each of these criteria, `name`-gender and so on."""
    for criterion in criteria:
        yield Drawing(f"{name}-{slug(criterion)}", spec={"criterion": criterion})


def state_label(study: Planned, cell: Cell) -> str:
    """Return the label of a cell's model, with its debias method."""
    model = study.labels[cell.model]
    return model if cell.debias == "none" else f"{model}, after {method_name(study.labels[cell.debias])}"


def cells_of(study: Planned, criteria: Iterable[str]) -> list[Cell]:
    """Return the cells of some criteria."""
    criteria = set(criteria)
    return [cell for cell in study.grid.cells.values() if cell.criterion in criteria]


def distinct_sets(queries: Sequence[Any]) -> dict[str, str]:
    """Map each (sub-)query to the names of its sets that the other queries lack."""
    sets = {q.name: [s.name for s in (*q.target_sets, *q.attribute_sets)] for q in queries}
    common = set.intersection(*map(set, sets.values()))
    return {name: ", ".join(s for s in set_names if s not in common) for name, set_names in sets.items()}


def sign_lines(signs: Mapping[str, str], metrics: Iterable[str], labels: Mapping[str, str]) -> list[str]:
    """Return lines on the meaning of a score's sign: one line for all metrics with the same meaning."""
    labels_by_sign: dict[str, list[str]] = {}
    for metric in metrics:
        if metric in signs:
            labels_by_sign.setdefault(signs[metric], []).append(labels.get(metric, metric))
    return [f"{', '.join(names)}: {sign}." for sign, names in labels_by_sign.items()]


def count_range(counts: Sequence[int]) -> str:
    """Write the smallest and the largest sample size."""
    low, high = int(min(counts)), int(max(counts))
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def evaluations_of(study: Planned, criterion: str | None) -> dict[str, list[Evaluation]]:
    """Return the evaluations on a criterion, by model: the original model first, then the debias methods."""
    models: dict[str, list[Evaluation]] = {}
    for evaluation in study.grid.evaluations.values():
        if evaluation.criterion == criterion:
            models.setdefault(evaluation.model, []).append(evaluation)
    return models


def page_name(name: str, i: int) -> str:
    """Return the name of one of several figures: name, name-2 and so on."""
    return name if i == 0 else f"{name}-{i + 1}"


def legend_height(labels: Iterable[str], others: Sequence[str] = ()) -> float:
    """Estimate the height in inches of a page's legend of models, with these labels, and of other entries."""
    lengths, longest_other = [len(label) + 7 for label in labels], max(map(len, others), default=0) + 7
    longest = max(lengths)
    side_by_side = 1 + max(0, (105 - max(longest, longest_other)) // longest)
    return 0.165 * ceil((len(lengths) + len(others)) / side_by_side)
