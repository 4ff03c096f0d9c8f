"""A study's steps, run in this process in the order in which they need each other: seconds less than Snakemake."""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path

from conftest import Project

from biasgrid.core.files import write_text
from biasgrid.models import build_store
from biasgrid.report.report_step import report_step
from biasgrid.study import plugins, steps
from biasgrid.study.study import Study
from biasgrid.workflow import config_file
from biasgrid.workflow.plan import Plan


def make_inputs(study: Study, *models: str) -> None:
    """What the steps of a plan read first: the study's file, its queries, and the stores of (these of) its models."""
    write_text(study.results / "study.json", study.to_json())
    if text := plugins.record_text(study):
        write_text(study.results / plugins.FILE, text)
    for key, query in study.queries.items():
        write_text(study.paths.query_file(key), query.to_json())
    for name in models or study.models:
        build_store(name, study.models[name], study.embeddings)
        record = study.embeddings / name / "model.json"
        write_text(study.paths.model_file(name), record.read_text(encoding="utf-8"))


def make_project(project: Project) -> None:
    """Make the whole study of a project, with downloads and figures, by one `biasgrid step` in place of Snakemake."""
    with chdir(project.folder):
        study = Study.read("config/config.yaml")
        config_file.record(study.results, "config/config.yaml", False)
        write_text(study.results / "study.json", study.to_json())
        if text := plugins.record_text(study):
            write_text(study.results / plugins.FILE, text)
        done = project.biasgrid("step", *Plan(study), "--study", "config/config.yaml")
    assert done.returncode == 0, done.stderr


def make_cells(study: Study) -> None:
    """The cells and their inference."""
    for model, sentences in steps.cells_by_sentences(study):
        steps.sentence_scores_step(study, model, sentences).run()
    for cell in study.grid.cells.values():
        steps.cell_step(study, cell).run()
    if study.grid.needs_pool:
        for model in filter(lambda model: study.kind(model).random_groups, study.models):
            steps.pool_step(study, model).run()
    for group in study.grid.inference_groups.values():
        steps.inference_step(study, group).run()
    for name in study.grid.aggregate_criteria:
        steps.aggregates_step(study, study.grid.inference_groups[name]).run()


def make_some(study: Study, *names: str) -> None:
    """Cells of these names, each with its inference."""
    for name in names:
        steps.cell_step(study, study.grid.cells[name]).run()
        if name in study.grid.inferences:
            steps.inference_step(study, [study.grid.inferences[name]]).run()


def make_tables(study: Study, *names: str) -> None:
    """Tables, and those that they are made from; all of the study where none is named."""
    files = {study.paths.table_file(name): steps.table_step(study, name) for name in study.tables}
    if study.config.inference.bootstrap:
        files[study.paths.ranks_file] = steps.rank_samples_step(study)
    files |= {
        study.paths.frequency_file(model): steps.frequency_step(study, model)
        for model in study.grid.models_with_frequencies
    }
    made: set[Path] = set()

    def make(file: Path) -> None:
        if file in files and file not in made:
            for needed in files[file].files:
                make(Path(needed))
            files[file].run()
            made.add(file)

    for name in names or study.tables:
        make(study.paths.table_file(name))


def make_measured(study: Study) -> Study:
    """A study without debias methods, to its cells and inference."""
    make_inputs(study)
    make_cells(study)
    return study


def make(study: Study) -> Study:
    """A study without debias methods and evaluations, to its page; its figures are left out."""
    make_measured(study)
    make_tables(study)
    report_step(study).run()
    return study


def make_debiased(study: Study) -> Study:
    """A study with debias methods, to its cells and inference."""
    make_inputs(study)
    for model, key in study.grid.fits:
        steps.fit_step(study, model, key).run()
    make_cells(study)
    return study


def make_all(study):
    """A study with debias methods and evaluations, to its page."""
    make_debiased(study)
    for evaluation in (study.grid.evaluations | study.grid.quality).values():
        steps.evaluation_step(study, evaluation).run()
    make_tables(study)
    report_step(study).run()
    return study
