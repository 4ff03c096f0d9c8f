"""Commands for the single steps of a study, which write their files where the workflow does."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from .. import checksums
from ..absence import STATUS
from ..errors import BiasgridError, unknown_name
from .arguments import STUDY, Commands, read_study

# commands that are listed by `biasgrid step --help` alone
STEPS = (
    *("query", "train", "fit", "sentence-scores", "cell", "infer", "infer-aggregates", "null", "evaluate"),
    *("table", "figure"),
)
ABSENT = {"status": STATUS}  # of a model that could not be downloaded
CELLS = "model/debias/metric/query"  # how cells are named
# how to see all of a long list
MORE = {
    "cell": f"they are named {CELLS}",
    "group": "they are named model/debias/metric",
    "query": "biasgrid list queries --study ...",
    "step": f"such as 'table scores', or cell and {CELLS}",
}


def step(args: argparse.Namespace) -> dict[str, Any]:
    """Run one step of a study, even if its inputs have not changed.

    biasgrid step "cell glove-6b-50d/none/weat/career" --study my-study.yaml
    biasgrid step "table scores" --study my-study.yaml
    """
    from ..workflow.plan import Plan

    study = _study_of_steps(args)
    step = _find("step", args.name, Plan(study), args)
    _make(study, step)
    return {"step": step.name, "files": step.outputs}


def query(args: argparse.Namespace) -> dict[str, Any]:
    """Print a query of a study as a query file.

    biasgrid query --study config/embedded.yaml --query gender_1 > query.json
    """
    queries = read_study(args.study, measures=False).queries
    return json.loads(_find("query", args.query, queries, args).to_json())


def cell(args: argparse.Namespace) -> dict[str, Any]:
    """Measure one score of a study. A score has one model, debias method, metric and query.

    biasgrid cell --study my-study.yaml --cell glove-6b-50d/none/weat/career
    """
    from ..plan.steps import cell_step

    study = _study_of_steps(args)
    study_cell = _find("cell", args.cell, study.grid.cells, args)
    step = cell_step(study, study_cell)
    _make(study, step)
    return {
        "cell": str(step.output),
        **_parts(step.output, "results"),
    }


def infer(args: argparse.Namespace) -> dict[str, Any]:
    """Compute tests, intervals and sensitivity of one score.

    biasgrid infer --study my-study.yaml --cell glove-6b-50d/none/weat/career
    """
    from ..plan.steps import cell_step, inference_step

    study = _study_of_steps(args)
    inference = _find_inference(study, args)
    # in one file with the metric's other queries, of which what is there is kept
    for member in (group := study.grid.inference_groups[inference.group]):
        if member is inference or not study.paths.cell_file(member.cell).is_file():
            _make(study, cell_step(study, member.cell))
    step = inference_step(study, group)
    # a cell that is asked for is inferred, also where nothing changed: else nobody could check it
    step = replace(step, spec={**step.spec, "again": [group.index(inference)]})
    records = step.run()
    if records is None:
        return {"inference": str(step.output), **ABSENT}
    return {"inference": str(step.output), "results": records[group.index(inference)]["results"]}


def infer_aggregates(args: argparse.Namespace) -> dict[str, Any]:
    """Test a model's average score against random word groups.

    biasgrid infer-aggregates --study my-study.yaml --group glove-6b-50d/none/weat
    """
    from ..plan.steps import aggregates_step

    study = _study_of_steps(args)
    if not study.grid.aggregate_criteria:
        raise BiasgridError(f"{args.study}: the study does not test average scores against random groups")
    _find("group", args.group, study.grid.aggregate_criteria, args)
    step = aggregates_step(study, study.grid.inference_groups[args.group])
    step.run()
    return {
        "aggregates": str(step.output),
        **_parts(step.output, "aggregates"),
    }


def null(args: argparse.Namespace) -> dict[str, Any]:
    """Compute the null distributions of one score. With --output, also draw them.

    biasgrid null --study my-study.yaml --cell glove-6b-50d/none/weat/career \\
        --output null
    """
    from ..figures import draw_file
    from ..figures.null import drawing
    from ..plan.steps import null_step

    study = _study_of_steps(args)
    cell = _find_inference(study, args).cell
    step = null_step(study, cell)
    try:
        numbers = _make(study, step)
    except BiasgridError as error:
        raise BiasgridError(f"{args.study}: {cell.name}: {error}") from None
    checksums.add(study.results, step.outputs)
    if numbers is None:
        return {"null": str(step.output), **ABSENT}
    record = {"null": str(step.output), "results": numbers.results}
    if args.output:
        of_cell = drawing(study, cell)
        record["figure"] = draw_file(of_cell.kind, of_cell.inputs, of_cell.spec, args.output)
    return record


def fit(args: argparse.Namespace) -> dict[str, Any]:
    """Fit a debias method of a study on one of its models.

    biasgrid fit --study config/embedded.yaml --debias gender-hard \\
        --model word2vec-google-news-300-subset
    """
    from ..plan.steps import fit_step

    study = _study_of_steps(args)
    if (args.model, args.debias) not in study.grid.fits:
        keys = [key for model, key in study.grid.fits if model == args.model]
        what = f"debias method of {args.model!r}"
        raise BiasgridError(f"{args.study}: {unknown_name(what, args.debias, keys)}")
    step = fit_step(study, args.model, args.debias)
    transform = step.run()
    return {"transform": str(step.output), **(transform.summary() if transform else ABSENT)}


def evaluate(args: argparse.Namespace) -> dict[str, Any]:
    """Measure a model's quality, or the effects of debiasing. These are the quality loss and the residual bias.

    biasgrid evaluate --study config/embedded.yaml \\
        --evaluation glove-6b-50d/none/quality
    """
    from ..plan.steps import evaluation_step

    study = _study_of_steps(args)
    evaluation = _find("evaluation", args.evaluation, study.grid.evaluations | study.grid.quality, args)
    step = evaluation_step(study, evaluation)
    step.run()
    return {"evaluation": str(step.output)}


def sentence_scores(args: argparse.Namespace) -> dict[str, Any]:
    """Score the sentences of a study with a language model. Known scores are kept.

    biasgrid sentence-scores --study my-study.yaml --model smollm2-135m \\
        --sentences gender_1
    """
    from ..plan.steps import cells_by_sentences, sentence_scores_step

    study = _study_of_steps(args)
    if (args.model, args.sentences) not in (cells := cells_by_sentences(study)):
        models = dict.fromkeys(model for model, _ in cells)
        _find("language model", args.model, models, args)
        of_model = {sentences: None for model, sentences in cells if model == args.model}
        _find("sentences", args.sentences, of_model, args)
    step = sentence_scores_step(study, args.model, args.sentences)
    return {"scores": str(step.output), **(_make(study, step) or ABSENT)}


def table(args: argparse.Namespace) -> dict[str, Any]:
    """Write one table of a study.

    biasgrid table --study my-study.yaml --table scores
    """
    from .. import tables
    from ..plan.steps import frequency_step, rank_samples_step, table_step

    study = _study_of_steps(args, measures=False)
    if args.table not in {*study.tables, *tables.REGISTRY}:
        raise BiasgridError(f"{args.study}: {tables.REGISTRY.unknown(args.table, study.tables)}")
    _find("table", args.table, study.tables, args)
    if args.table == "rankings" and study.config.inference.bootstrap:
        rank_samples_step(study).run()
    if args.table == "frequency":
        for model in study.grid.models_with_frequencies:
            frequency_step(study, model).run()
    step = table_step(study, args.table)
    return {"table": str(step.output), "rows": step.run()}


def figure(args: argparse.Namespace) -> dict[str, Any]:
    """Draw a figure of a study as PDF, SVG and PNG.

    biasgrid figure --study my-study.yaml --figure rankings
    """
    from ..figures.null import drawing
    from ..plan.steps import figure_step

    study = _study_of_steps(args, measures=False)
    inference = study.grid.inferences.get(args.figure.removeprefix("null/"))
    choice = (
        drawing(study, inference.cell) if inference else _find("figure", args.figure, study.figures, args)
    )
    step = figure_step(study, choice)
    try:
        record = {"figure": step.run()}
    except BiasgridError as error:
        raise BiasgridError(f"{args.study}: {error}") from None
    checksums.add(study.results, step.outputs)
    return record


def train(args: argparse.Namespace) -> dict[str, Any]:
    """Train a model of a study, or encode the study's words.

    biasgrid train --study config/text8.yaml --model text8-word2vec-sg
    """
    from ..workflow.stores import make_store

    study = _study_of_steps(args)
    if args.model not in study.trained_models:
        raise BiasgridError(
            f"{args.study}: {unknown_name('trained model', args.model, study.trained_models)}"
        )
    store = make_store(study, args.model)
    return {"store": str(store.path), **store.metadata} if store else ABSENT


def _study_of_steps(args: argparse.Namespace, measures: bool = True) -> Any:
    """Return the study, whose results are about to be written.

    Raises BiasgridError for a folder that is not its own, and for links that lead out of it.
    """
    from ..files import refuse_links, refuse_other_folder
    from ..workflow.config_file import OWN

    study = read_study(args.study, measures)
    refuse_other_folder(study.paths.results, OWN, "give the study another name")
    refuse_links(study.paths.results)
    return study


def _make(study: Any, step: Any) -> Any:
    """Write the queries that a step reads, and make it; returns what it returns."""
    from ..files import write_text

    keys = {str(study.paths.query_file(key)): key for key in study.queries}
    for file in keys.keys() & set(step.files):
        write_text(Path(file), study.queries[keys[file]].to_json())
    return step.run()


def _parts(path: Path, key: str) -> dict[str, Any]:
    """The results in a file that a step has written, or that there are none."""
    record = json.loads(path.read_text(encoding="utf-8"))
    return {"results": record[key]} if key in record else ABSENT


def _find(what: str, name: str, things: Mapping[str, Any], args: argparse.Namespace) -> Any:
    if name not in things:
        raise BiasgridError(f"{args.study}: {unknown_name(what, name, things, MORE.get(what, ''))}")
    return things[name]


def _find_inference(study: Any, args: argparse.Namespace) -> Any:
    _find("cell", args.cell, study.grid.cells, args)
    if args.cell not in study.grid.inferences:
        raise BiasgridError(f"{args.study}: no tests: the study's config has no inference")
    return study.grid.inferences[args.cell]


def add(commands: Commands) -> None:
    command = commands.add(step, study=STUDY)
    command.add_argument(
        "name", metavar="STEP", help='such as "table scores" or "cell MODEL/DEBIAS/METRIC/QUERY"'
    )
    cell_name = {"required": True, "help": CELLS}
    commands.add(query, study=STUDY, query={"required": True, "help": "the query's key"})
    commands.add(cell, study=STUDY, cell=cell_name)
    commands.add(infer, study=STUDY, cell=cell_name)
    commands.add(
        infer_aggregates,
        "infer-aggregates",
        study=STUDY,
        group={"required": True, "help": "model/debias/metric; needs the results of biasgrid infer"},
    )
    commands.add(
        null,
        study=STUDY,
        cell=cell_name,
        output={"type": Path, "metavar": "STEM", "help": "also draw them; the files' path without .png"},
    )
    commands.add(
        fit,
        study=STUDY,
        model={"required": True, "help": "the model's key"},
        debias={"required": True, "help": "the debias method's key"},
    )
    commands.add(train, study=STUDY, model={"required": True, "help": "the model's key"})
    commands.add(
        evaluate,
        study=STUDY,
        evaluation={"required": True, "help": "model/debias/criterion, or model/debias/quality"},
    )
    commands.add(
        sentence_scores,
        "sentence-scores",
        study=STUDY,
        model={"required": True, "help": "the key of a language model"},
        sentences={
            "required": True,
            "help": "the id of a query, or the path of a file of sentences after file.",
        },
    )
    commands.add(
        table, study=STUDY, table={"required": True, "help": "such as scores (biasgrid list tables)"}
    )
    commands.add(figure, study=STUDY, figure={"required": True, "help": "such as rankings"})
    lines = [f"  {name:17}{commands.help_of(name)}" for name in STEPS]
    command.epilog = "\n".join([command.epilog or "", "", "commands for single steps:", *lines])
