"""Steps of a study."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .. import debias, figures, metrics, tables
from ..core.configs import canonical, sort_keys
from ..core.errors import BiasgridError
from ..core.files import slug, write_text
from ..core.resources import find_file
from ..debias import UNTOUCHED
from ..evaluation import evaluation as evaluations
from ..figures import Drawing
from ..measure import significance
from ..models import kinds, not_downloaded
from ..models.frequencies import ENGLISH, WORDFREQ
from ..models.store_of import StoreOf
from ..tables.planned import Cell, Evaluation, Inference
from . import code
from .step import Step
from .study import Study

NO_MODEL = "none of the study's models could be downloaded"
# Keys of a cell's spec that determine its requests to a language model.
ASKED = ("query", "function", "params", "words")


def query_step(study: Study, key: str) -> Step:
    """Return the step that writes a query's file."""
    spec = {"query": key, "digest": study.query_digest(key)}
    output = study.paths.query_file(key)
    return Step(f"query {key}", {"study": study}, output, spec, f"{__name__}:write_query", version="1")


def write_query(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Write a query's file, unless the file has this content."""
    text = inputs["study"].queries[spec["query"]].to_json()
    if not output.is_file() or output.read_text(encoding="utf-8") != text:
        write_text(output, text)


def cell_step(study: Study, cell: Cell) -> Step:
    """Return the step that measures a cell."""
    inputs = {"query": study.paths.query_file(cell.query), **_state_of(study, cell)}
    return Step(
        f"cell {cell.name}",
        inputs,
        study.paths.cell_file(cell),
        cell.spec,
        "biasgrid.measure.cell:compute_cell",
        _modules(study, [cell]),
    )


def inference_step(study: Study, group: Sequence[Inference]) -> Step:
    """Return the step that computes the inferences of cells of one model, debias method and metric."""
    cells, first = [inference.cell for inference in group], group[0]
    inputs = {
        "cells": list(map(study.paths.cell_file, cells)),
        "queries": [study.paths.query_file(cell.query) for cell in cells],
        **_state(study, first.cell.model, first.cell.debias),
    }
    if study.kind(first.cell.model).scores:
        inputs["store"] = [_state_of(study, cell)["store"] for cell in cells]
    if study.grid.needs_pool and study.kind(first.cell.model).random_groups:
        inputs["pool"] = study.paths.pool_file(first.cell.model)
    function = "biasgrid.measure.write_inference:infer_cells"
    modules = _inference_modules(study, cells, first.spec["inference"])
    spec = {
        "cells": [inference.spec for inference in group],
        # The step keeps the parts of its former output that were made by the same code.
        "code": code.digest(function.partition(":")[0], *modules),
    }
    # With a bootstrap, the step also writes the values of the cells' resamples.
    beside = (".npy",) if study.config.inference.bootstrap else ()
    output = study.paths.inference_file(first)
    return Step(f"inference {first.group}", inputs, output, spec, function, modules, beside)


def aggregates_step(study: Study, group: Sequence[Inference]) -> Step:
    """Return the step that tests means over queries against random groups."""
    members = [inference for inference in group if inference.cell.criterion in study.averaged_criteria]
    cells, first = [inference.cell for inference in members], group[0]
    inputs = {
        "inference": study.paths.inference_file(first),
        "queries": [study.paths.query_file(inference.cell.query) for inference in group],
        **_state(study, first.cell.model, first.cell.debias),
        "pool": study.paths.pool_file(first.cell.model),
    }
    function, modules = "biasgrid.measure.aggregates:write_aggregates", _modules(study, cells)
    spec = {
        "ranked": sorted(study.ranked_criteria),
        "criteria": study.grid.aggregate_criteria[first.group],
        "aggregation": study.config.aggregation,
        # The step keeps the values of random groups that were measured by the same code.
        "code": code.digest(function.partition(":")[0], *modules),
    }
    output = study.paths.aggregates_file(first)
    return Step(f"aggregates {first.group}", inputs, output, spec, function, modules, (".npz",))


def pool_step(study: Study, model: str) -> Step:
    """Return the step that writes the words from which a model's random groups are drawn."""
    inputs = _state(study, model, UNTOUCHED)
    return Step(
        f"pool {model}",
        inputs,
        study.paths.pool_file(model),
        {},
        "biasgrid.measure.candidate_words:write_pool",
    )


def cells_by_sentences(study: Study) -> dict[tuple[str, str], list[Cell]]:
    """Return the cells of each sentence-scoring step: (language model, name of the sentences) -> cells."""
    cells: dict[tuple[str, str], list[Cell]] = {}
    for cell in study.grid.cells.values():
        if study.kind(cell.model).scores:
            cells.setdefault((cell.model, sentences_of(study, cell)), []).append(cell)
    return cells


def sentences_of(study: Study, cell: Cell) -> str:
    """Return the name of the sentences that one step scores for a cell: its query, or all queries of its file."""
    file = study.config.criteria[cell.criterion].queries[cell.query].file
    return f"file.{slug(file.rpartition('.')[0])}" if file else cell.query


def sentence_scores_step(study: Study, model: str, sentences: str) -> Step:
    """Return the step that scores the sentences that metrics request for a query, or for all queries of a file."""
    cells = cells_by_sentences(study)[model, sentences]
    # Request the same scores only once, even if several cells need them.
    requests = {canonical(a): a for a in ({k: cell.spec[k] for k in ASKED} for cell in cells)}
    asked = [requests[key] for key in sorted(requests)]
    spec = {"model": model, "sentences": sentences, "asked": asked}
    queries = dict.fromkeys(cell.query for cell in cells)
    numbers = {query: number for number, query in enumerate(queries)}
    for entry in asked:
        entry["query"] = numbers[entry["query"]]
    inputs = {"queries": list(map(study.paths.query_file, queries)), **_state(study, model, UNTOUCHED)}
    modules = tuple(sorted({metrics.REGISTRY.module(metrics.metric(a["function"]).name) for a in asked}))
    output = study.paths.sentence_scores_file(model, sentences)
    function = "biasgrid.measure.sentence_scores:write"
    return Step(f"sentence scores {model}/{sentences}", inputs, output, spec, function, modules)


def frequency_step(study: Study, model: str) -> Step:
    """Return the step that looks up the frequencies of the words of a model's queries."""
    queries = dict.fromkeys((c.criterion, c.query) for c in study.grid.cells.values() if c.model == model)
    options = ("preprocessors", "strategy")
    spec: dict[str, Any] = {"model": model, "queries": []}
    for criterion, query in queries:
        look_up = study.word_options(criterion, None, model)
        spec["queries"].append(
            [criterion, query, {name: look_up[name] for name in options if name in look_up}]
        )
    if study.frequency_source(model) == WORDFREQ:
        spec |= {"source": WORDFREQ, "language": study.config.models[model].language or ENGLISH}
    inputs = {
        "queries": [study.paths.query_file(query) for _, query in queries],
        **_state(study, model, UNTOUCHED),
    }
    modules = (kinds.REGISTRY.module(study.kind(model).name),)
    function = "biasgrid.measure.frequency:write"
    return Step(
        f"frequency {model}", inputs, study.paths.frequency_file(model), sort_keys(spec), function, modules
    )


def fit_step(study: Study, model: str, key: str) -> Step:
    """Return the step that fits a debias method on a model."""
    spec = study.grid.fits[model, key].spec
    modules = (debias.REGISTRY.module(spec["method"]),)
    inputs = _state(study, model, UNTOUCHED)
    name = f"debias {model}/{key}"
    return Step(
        name, inputs, study.paths.transform_file(model, key), spec, "biasgrid.debias.write_fit:fit", modules
    )


def evaluation_step(study: Study, evaluation: Evaluation) -> Step:
    """Return the step that evaluates an original or debiased model."""
    raw, archives, input_files, places = study.embeddings / "raw", {}, [], {}
    records: list[Path] = []
    for path in study.evaluation_specs[evaluation.criterion].files:
        archive = path.partition(":")[0]
        places[path] = str(place := find_file(path))
        if archive in study.config.benchmarks:
            places[path] = str(raw / path.replace(":", "/", 1))
            archives[raw / archive] = study.config.benchmarks[archive].source
            records.append(study.paths.source_file(archive))
        elif place.is_file():
            # A missing file is not an input: the evaluation reports it.
            input_files.append(str(place))
    inputs = {
        **_state(study, evaluation.model, evaluation.debias),
        "files": [*dict.fromkeys(records), *input_files],
        "benchmarks": places,
        "archives": archives,
    }
    entries = evaluations.evaluations_of(study.evaluation_specs[evaluation.criterion])
    modules = tuple(sorted(evaluations.REGISTRY.module(e.name) for e in entries))
    return Step(
        f"evaluation {evaluation.name}",
        inputs,
        study.paths.evaluation_file(evaluation),
        evaluation.spec,
        "biasgrid.evaluation.evaluate:evaluate_state",
        modules,
        present=when_run(study, lambda present: _present_evaluation(study, present, evaluation)),
        own=tuple(input_files),
    )


def _present_evaluation(study: Study, present: Study, evaluation: Evaluation) -> Step:
    of_present = (present.grid.evaluations | present.grid.quality).get(evaluation.name)
    if of_present is not None:
        return evaluation_step(present, of_present)
    step = evaluation_step(study, evaluation)
    # The output records the reason: the model is absent, or all benchmarks are.
    absent = (
        file for file in (step.inputs["model"], *step.inputs["files"]) if not_downloaded.reasons_in(file)
    )
    return replace(step, inputs={"model": next(absent, step.inputs["model"])})


def null_step(study: Study, cell: Cell) -> Step:
    """Return the step that computes the null distributions of a cell."""
    inference = study.grid.inferences.get(cell.name)
    spec = inference.spec if inference else {**cell.spec, "inference": {}}
    inputs = {"query": study.paths.query_file(cell.query), **_state_of(study, cell)}
    if significance.needs_pool(spec["inference"]) and study.kind(cell.model).random_groups:
        inputs["pool"] = study.paths.pool_file(cell.model)
    function = "biasgrid.measure.null_distributions:write_null"
    modules = _inference_modules(study, [cell], spec["inference"])
    return Step(f"null {cell.name}", inputs, study.paths.null_file(cell), spec, function, modules)


def figure_step(study: Study, drawing: Drawing) -> Step:
    """Return the step that draws a figure; its output is the PDF."""
    stem = study.results / "figures" / drawing.name
    return Step(
        f"figure {drawing.name}",
        drawing.inputs,
        stem.with_name(f"{stem.name}.pdf"),
        {"kind": drawing.kind, "spec": drawing.spec, "order": drawing.order},
        "biasgrid.figures.drawing:write",
        (figures.REGISTRY.module(drawing.kind),),
        (".svg", ".png"),
        present=when_run(study, lambda present: _present_figure(study, present, drawing)),
        own=own_files(study, drawing.inputs),
    )


def _present_figure(study: Study, present: Study, drawing: Drawing) -> Step:
    planned = figure_step(study, drawing)
    if present is study:
        return planned
    inputs, is_absent = {}, False
    for role, files in drawing.inputs.items():
        inputs[role] = files
        if isinstance(files, list):
            inputs[role] = [file for file in files if not not_downloaded.reasons_in(file)]
        is_absent |= bool(not inputs[role] and files) or bool(not_downloaded.reasons_in(inputs[role]))
    of_present = present.figures.get(drawing.name)
    if not is_absent and inputs != drawing.inputs:
        return figure_step(study, replace(drawing, inputs=inputs))
    if is_absent or (of_present is None and drawing.name in study.figures):
        # Use the key of an archive of benchmarks, because archives do not have labels.
        models = [model["label"] for key, model in study.models.items() if key in present.absent]
        labels = models + [key for key in present.absent if key not in study.models]
        spec, function = {"figure": drawing.name, "labels": labels}, "biasgrid.figures.drawing:write_absent"
        return replace(planned, inputs={}, spec=spec, function=function)
    # Keep the planned step if the figure shows a null distribution, or if its files are not among the planned ones.
    step = planned if of_present is None else figure_step(present, of_present)
    return step if {*step.files} <= {*planned.files} else planned


def table_step(study: Study, name: str) -> Step:
    """Return the step that makes a table."""
    # A table has no input files, and no rows, if all its models and benchmarks are absent.
    inputs = {} if study.absent and name not in study.tables else study.tables[name]
    table = tables.REGISTRY[name]
    # The tests define which p-values are adjusted together, so their modules belong to the table's code.
    tested = (
        _test_modules(study.config.inference.parts) if "inferences" in inputs and "queries" in inputs else ()
    )
    spec = {
        "table": name,
        **(table.spec_of(study) if inputs else {not_downloaded.STATUS: table.absent(study)}),
    }
    return Step(
        f"table {name}",
        inputs,
        study.paths.table_file(name),
        spec,
        "biasgrid.tables:write",
        (tables.REGISTRY.module(name), *tested),
        present=when_run(study, lambda present: table_step(present, name)),
        own=own_files(study, inputs),
    )


def own_files(study: Study, inputs: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the user's files among a step's inputs: the files that other steps do not make."""
    values = (value if isinstance(value, list) else [value] for value in inputs.values())
    files = (str(file) for of_role in values for file in of_role if isinstance(file, (str, Path)))
    made = f"{study.results}/", f"{study.embeddings}/"
    return tuple(file for file in files if not file.startswith(made))


def when_run(study: Study, step_of: Callable[[Study], Step]) -> Callable[[], Step] | None:
    """Return a function that plans a step of several models again when it runs.

    The function plans it for the study without the models and archives that could not be downloaded. Return None for
    a `PresentStudy`, which already leaves them out.
    """

    def step() -> Step:
        present = study.present()
        return step_of(present) if present.models else Step("", {}, Path(), {}, f"{__name__}:refuse")

    return step if type(study) is Study else None


def refuse(*_: object) -> None:
    """Raise BiasgridError, because a step of several models has no model left."""
    raise BiasgridError(NO_MODEL)


def rank_samples_step(study: Study) -> Step:
    """Return the step that ranks the models in every bootstrap resample."""
    # Import late: the module imports pandas, and commands that run other steps save that time.
    from ..tables import rank_samples

    inputs, spec = rank_samples.inputs(study), rank_samples.spec(study)
    return Step(
        "rank_samples",
        inputs,
        study.paths.ranks_file,
        spec,
        "biasgrid.tables.rank_samples:write",
        present=when_run(study, rank_samples_step),
    )


def _state(study: Study, model: str, debias: str) -> dict[str, Any]:
    """Return the input files of an original or debiased model."""
    transform = {} if debias == UNTOUCHED else {"transform": study.paths.transform_file(model, debias)}
    return {"model": study.paths.model_file(model), "store": study.stores[model], **transform}


def _state_of(study: Study, cell: Cell) -> dict[str, Any]:
    """Return the input files of a cell's model. For a language model, these are its scores of sentences."""
    if not study.kind(cell.model).scores:
        return _state(study, cell.model, cell.debias)
    sentences = sentences_of(study, cell)
    scores = study.paths.sentence_scores_file(cell.model, sentences)
    # Make sure that scores copied from another model's folder are not read as this model's scores.
    made_of = json.dumps({"model": cell.model, "sentences": sentences})
    return {"model": scores, "store": StoreOf(scores, made_of, study.kind(cell.model).name)}


def _modules(study: Study, cells: Sequence[Cell]) -> tuple[str, ...]:
    """Return the modules of the cells' metrics and model types."""
    # A key can refer to different metrics in different criteria.
    functions = {metrics.metric(cell.spec["function"]).name for cell in cells}
    metric_modules = {metrics.REGISTRY.module(name) for name in functions}
    return tuple(
        sorted(metric_modules | {kinds.REGISTRY.module(study.kind(cell.model).name) for cell in cells})
    )


def _inference_modules(study: Study, cells: Sequence[Cell], inference: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the modules of the cells and of the requested tests."""
    return tuple(sorted({*_modules(study, cells), *_test_modules(inference)}))


def _test_modules(inference: Iterable[str]) -> tuple[str, ...]:
    registry = significance.REGISTRY
    return tuple(registry.module(test) for test in registry if test in inference)
