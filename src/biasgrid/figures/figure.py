"""What a figure of a study is: which of them a study has, what each is drawn from, how."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import TYPE_CHECKING, Any

from ..files import slug
from ..statistics.aggregation import OVERALL
from ..tables.inputs import When, facts_of, files_of, holds
from .text import method_name

if TYPE_CHECKING:
    from matplotlib import figure

    from ..planned import Cell, Evaluation, Planned

# a role -> a file (`in_memory.File`), or a list of files
Files = Mapping[str, Any]


@dataclass(frozen=True)
class Drawing:
    """One figure of a study: what it is drawn from.

    Parameters
    ----------
    name
        Its file below figures/, without extension, such as "scores-gender-weat".
    inputs
        Files by role that it alone is drawn from, such as those of some cells; `Figure.drawings_of` adds what its
        kind reads, such as {"scores": results/embedded/scores.csv}.
    spec
        Everything else that it depends on, as JSON has it, the order of mappings aside: labels, criterion, units;
        `Figure.drawings_of` adds the facts of its kind, such as the level.
    kind
        The name of the `Figure` that draws it; `figures.plan_figures` fills it in.
    order
        The keys of the study's "models" and "metrics", which colours follow; `figures.plan_figures` fills it in.
    """

    name: str
    inputs: Files = field(default_factory=dict)
    spec: Mapping[str, Any] = field(default_factory=dict)
    kind: str = ""
    order: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Example:
    """What the gallery shows of a kind: a figure of a study that ships, drawn from some rows of its tables.

    Parameters
    ----------
    config
        The study's file below config/, without extension.
    figure
        The name of the study's `Drawing`, such as "scores-gender-weat". The config need not list its kind.
    rows
        Column -> the value, or values, of the rows that are shown, in every table that has the column (of files of
        JSON: key -> the values of the files that are shown).
    keep
        (the tables by role, the drawing's spec) -> the part of them that is shown, where `rows` is not enough.
    shown
        Table -> columns. All of their numbers stand in the picture as places of marks, ends of lines or lengths of
        bars; a test looks for them.
    """

    config: str
    figure: str
    rows: Mapping[str, Any] = field(default_factory=dict)
    keep: Callable[[dict[str, Any], Mapping[str, Any]], dict[str, Any]] | None = None
    shown: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Figure:
    """A kind of figure: one file of this package, or of a plugin. Importing it imports no matplotlib and no pandas.

    Parameters
    ----------
    name
        The kind's.
    meaning
        What it shows, in a sentence.
    draw
        (inputs, spec) of a drawing -> the figure as matplotlib has it.
    drawings
        Study -> the figures of this kind that it has. It reads the plan, and no result. None: one, named after
        the kind; `each_criterion` is one of each ranked criterion.
    question
        What it answers, as one of `questions` or in words of your own: the gallery shows together what answers one.
    heading, asks, learn
        Of the gallery: what the kind is called in words, the question below its picture, and what a reader learns
        from it, in a sentence.
    reads, facts
        What each is drawn from, as of a `tables.Table`: names of tables, and facts; of "neutral" and "signs" `draw`
        gets those of its drawing's criterion, by metric, if it has one.
    when
        What a study must have for one, as of a `tables.Table`.
    needs
        The same in words. A config that lists it without that is an error, unless `needs` is empty.
    group
        The name that a config lists under `figures`, if not the kind's own; None: a config asks for it elsewhere.
    pages
        (study, metrics) -> what the `only` of each page is, if the kind is drawn of some metrics alone.
    reading
        How to read it, in a few sentences: what a mark, a colour and an open mark mean (docs/gallery.md).
    example
        What its picture in the gallery shows; a kind of a user's plugin needs none.
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
        """The name that a config lists under `figures`, if any."""
        return self.name if self.group == "" else self.group

    def drawings_of(self, study: Planned) -> Iterator[Drawing]:
        """The figures of this kind that a study has, with all that they are drawn from."""
        drawings = self.drawings or (lambda study: [Drawing(self.name)])
        for drawing in drawings(study) if holds(study, self.when) else ():
            files, facts = files_of(study, self.reads), facts_of(study, self.facts)
            yield replace(drawing, inputs={**files, **drawing.inputs}, spec={**facts, **drawing.spec})


def each_criterion(
    name: str, overall: bool = False, unranked: bool = False
) -> Callable[[Planned], Iterator[Drawing]]:
    """A figure of each ranked criterion, `name`-gender and so on; with `overall`, before them `name`, of all; with
    `unranked`, of each criterion where none is ranked."""

    def drawings(study: Planned) -> Iterator[Drawing]:
        if overall:
            yield Drawing(name, spec={"criterion": OVERALL})
        yield from of_criteria(name, study.ranked_criteria or (study.config.criteria if unranked else ()))

    return drawings


def of_criteria(name: str, criteria: Iterable[str]) -> Iterator[Drawing]:
    """A figure of each of these criteria, `name`-gender and so on."""
    for criterion in criteria:
        yield Drawing(f"{name}-{slug(criterion)}", spec={"criterion": criterion})


def state_label(study: Planned, cell: Cell) -> str:
    """What a cell's model is called, with its debias method."""
    model = study.labels[cell.model]
    return model if cell.debias == "none" else f"{model}, after {method_name(study.labels[cell.debias])}"


def cells_of(study: Planned, criteria: Iterable[str]) -> list[Cell]:
    """The cells of some criteria."""
    criteria = set(criteria)
    return [cell for cell in study.grid.cells.values() if cell.criterion in criteria]


def distinct_sets(queries: Sequence[Any]) -> dict[str, str]:
    """(Sub-)query -> the names of its sets that the other queries lack."""
    sets = {q.name: [s.name for s in (*q.target_sets, *q.attribute_sets)] for q in queries}
    common = set.intersection(*map(set, sets.values()))
    return {name: ", ".join(s for s in set_names if s not in common) for name, set_names in sets.items()}


def sign_lines(signs: Mapping[str, str], metrics: Iterable[str], labels: Mapping[str, str]) -> list[str]:
    """What the sign of a score means: one line for all metrics for which it means the same."""
    labels_by_sign: dict[str, list[str]] = {}
    for metric in metrics:
        if metric in signs:
            labels_by_sign.setdefault(signs[metric], []).append(labels.get(metric, metric))
    return [f"{', '.join(names)}: {sign}." for sign, names in labels_by_sign.items()]


def count_range(counts: Sequence[int]) -> str:
    """Sample sizes as text: the smallest to the largest."""
    low, high = int(min(counts)), int(max(counts))
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def evaluations_of(study: Planned, criterion: str | None) -> dict[str, list[Evaluation]]:
    """The evaluations on a criterion, by model: of the original, then after the debias methods."""
    models: dict[str, list[Evaluation]] = {}
    for evaluation in study.grid.evaluations.values():
        if evaluation.criterion == criterion:
            models.setdefault(evaluation.model, []).append(evaluation)
    return models


def page_name(name: str, i: int) -> str:
    """The name of one of several figures: name, name-2 and so on."""
    return name if i == 0 else f"{name}-{i + 1}"


def legend_height(labels: Iterable[str], others: Sequence[str] = ()) -> float:
    """Estimate the inches of a page's legend of models, with these labels, and of other entries."""
    lengths, longest_other = [len(label) + 7 for label in labels], max(map(len, others), default=0) + 7
    longest = max(lengths)
    side_by_side = 1 + max(0, (105 - max(longest, longest_other)) // longest)
    return 0.165 * ceil((len(lengths) + len(others)) / side_by_side)
