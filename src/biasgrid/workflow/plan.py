"""The steps of a study by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial

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
    for name in study.sources:
        yield f"archive {name}", partial(stores.archive_step, study, name)
    for model in study.models:
        yield f"store {model}", partial(stores.store_step, study, model)
    for query in study.queries:
        yield f"query {query}", partial(steps.query_step, study, query)
    for model, key in study.grid.fits:
        yield f"debias {model}/{key}", partial(steps.fit_step, study, model, key)
    for model, asked in steps.cells_by_sentences(study):
        yield f"sentence scores {model}/{asked}", partial(steps.sentence_scores_step, study, model, asked)
    for name, cell in study.grid.cells.items():
        yield f"cell {name}", partial(steps.cell_step, study, cell)
    if study.grid.needs_pool:
        for model in (model for model in study.models if study.kind(model).random_groups):
            yield f"pool {model}", partial(steps.pool_step, study, model)
    for name, group in study.grid.inference_groups.items():
        yield f"inference {name}", partial(steps.inference_step, study, group)
    for name in study.grid.aggregate_criteria:
        yield f"aggregates {name}", partial(steps.aggregates_step, study, study.grid.inference_groups[name])
    for name, evaluation in (study.grid.evaluations | study.grid.quality).items():
        yield f"evaluation {name}", partial(steps.evaluation_step, study, evaluation)
    for model in study.grid.models_with_frequencies:
        yield f"frequency {model}", partial(steps.frequency_step, study, model)
    if study.config.inference.bootstrap:
        yield "rank_samples", partial(steps.rank_samples_step, study)
    for name in study.tables:
        yield f"table {name}", partial(steps.table_step, study, name)
    for name in study.config.null_distributions:
        cell = study.grid.cells[name]
        yield f"null {name}", partial(steps.null_step, study, cell)
        yield f"figure null/{name}", partial(steps.figure_step, study, drawing(study, cell))
    for name, drawn in study.figures.items():
        yield f"figure {name}", partial(steps.figure_step, study, drawn)
    yield "report", partial(report_step, study)
