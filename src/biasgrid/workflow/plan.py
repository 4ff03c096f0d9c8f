"""The steps of a study by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from ..figures.null import drawing
from ..report.report_step import report_step
from ..study import steps
from ..study.step import Step
from ..study.study import Study
from . import stores


class Plan(Mapping[str, Step]):
    """The steps of a study by name, such as "cell glove-6b-50d/none/weat/gender_1", "table scores" or "report".

    Steps come in an order in which they can be made. A step is planned when it is first asked for: a study has
    thousands of cells.

    Parameters
    ----------
    study
        A study, or finished results.
    """

    def __init__(self, study: Study):
        self._study = study
        self._makers = dict(_makers(study))
        self._steps: dict[str, Step] = {}

    def __getitem__(self, name: str) -> Step:
        if name not in self._steps:
            self._steps[name] = self._makers[name]() if name in self._makers else self._on_request(name)
        return self._steps[name]

    @cached_property
    def evaluated(self) -> set[str]:
        """Return the names of the evaluations, and of the steps that read one, or what is made of one."""
        names: set[str] = set()
        files: set[str] = set()
        for name, step in self.items():
            if name.startswith("evaluation ") or not files.isdisjoint(step.files):
                names.add(name)
                files.update(step.outputs)
        return names

    @cached_property
    def makers(self) -> dict[str, str]:
        """Return the step that makes each file."""
        return {file: name for name, step in self.items() for file in step.outputs}

    def files_made(self, names: Iterable[str]) -> list[str]:
        """Return the files that steps make."""
        return [file for name in names for file in self[name].outputs]

    def files_read(self, names: Sequence[str]) -> list[str]:
        """Return the files that steps read and none of them makes."""
        made = set(self.files_made(names))
        return [
            file
            for file in dict.fromkeys(file for name in names for file in self[name].files)
            if file not in made
        ]

    def _on_request(self, name: str) -> Step:
        """Return the step of null distributions, which exist for any tested cell and are made on request alone."""
        kind, _, cell = name.removeprefix("figure ").rpartition("null")
        cell = cell.lstrip(" /")
        if kind or cell not in self._study.grid.cells:
            raise KeyError(name)
        if name.startswith("figure "):
            return steps.figure_step(self._study, drawing(self._study, self._study.grid.cells[cell]))
        return steps.null_step(self._study, self._study.grid.cells[cell])

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


def _makers(study: Study) -> Iterator[tuple[str, Callable[[], Step]]]:
    """Yield the name of each step and a function that plans it."""
    grid = study.grid
    scored = steps.cells_by_sentences(study)
    pooled = [model for model in study.models if grid.needs_pool and study.kind(model).random_groups]
    groups, evaluations = grid.inference_groups, grid.evaluations | grid.quality
    nulls = {name: grid.cells[name] for name in study.config.null_distributions}
    # each function that plans steps, and its arguments by the names of its steps
    planned: list[tuple[Callable[..., Step], dict[str, list[Any]]]] = [
        (stores.archive_step, {f"archive {name}": [name] for name in study.sources}),
        (stores.store_step, {f"store {model}": [model] for model in study.models}),
        (steps.query_step, {f"query {query}": [query] for query in study.queries}),
        (steps.fit_step, {f"debias {model}/{key}": [model, key] for model, key in grid.fits}),
        (
            steps.sentence_scores_step,
            {f"sentence scores {model}/{asked}": [model, asked] for model, asked in scored},
        ),
        (steps.cell_step, {f"cell {name}": [cell] for name, cell in grid.cells.items()}),
        (steps.pool_step, {f"pool {model}": [model] for model in pooled}),
        (steps.inference_step, {f"inference {name}": [group] for name, group in groups.items()}),
        (steps.aggregates_step, {f"aggregates {name}": [groups[name]] for name in grid.aggregate_criteria}),
        (steps.evaluation_step, {f"evaluation {name}": [asked] for name, asked in evaluations.items()}),
        (steps.frequency_step, {f"frequency {model}": [model] for model in grid.models_with_frequencies}),
        (steps.rank_samples_step, {"rank_samples": []} if study.config.inference.bootstrap else {}),
        (steps.table_step, {f"table {name}": [name] for name in study.tables}),
        (steps.null_step, {f"null {name}": [cell] for name, cell in nulls.items()}),
        (steps.figure_step, {f"figure null/{name}": [drawing(study, cell)] for name, cell in nulls.items()}),
        (steps.figure_step, {f"figure {name}": [drawn] for name, drawn in study.figures.items()}),
        (report_step, {"report": []}),
    ]
    for plan_step, arguments in planned:
        for name, of_step in arguments.items():
            yield name, partial(plan_step, study, *of_step)
