"""The steps of a benchmark."""

from __future__ import annotations

from typing import Any

from biasgrid import metrics
from biasgrid.plan.step import Step
from biasgrid.resources import find_file

from ..experiment import STEP, Cell, Rule
from .corpus import TEMPLATES
from .study import Factory


def cell_rules(factory: Factory) -> list[Rule]:
    """The steps that compute: models, and the fine-tuning of those that begin with weights."""
    fine_tuned = {name: cell for name, cell in factory.cells.items() if "start" in cell.spec}
    trained = factory.trained_file(STEP)
    return [
        # a corpus with planted frequencies, and BERT fine-tuned on it: BERT-tiny a minute on a core, BERT base hours
        Rule(
            "fine_tune",
            {name: fine_tuning_step(factory, cell) for name, cell in fine_tuned.items()},
            (str(trained), str(trained.with_name("model.safetensors"))),
            memory=4000,
            minutes=300,
            wanted=False,
        ),
        # all metrics of a model, and the training of one that is not fine-tuned: seconds
        Rule(
            "planted",
            {name: model_step(factory, cell) for name, cell in factory.cells.items()},
            (str(factory.paths.model_file(STEP)),),
            group="factory",
        ),
    ]


def fine_tuning_step(factory: Factory, model: Cell) -> Step:
    """The step that fine-tunes a model, the slow part; its files are kept."""
    settings = (
        "trainer",
        "mu",
        "sigma",
        "replicate",
        "params",
        "start",
        "trained",
        "plan_seed",
        "corpus_seed",
    )
    return Step(
        f"fine-tune {model.name}",
        {"templates": factory.templates_file, "start": factory.start_file(model.spec["start"])},
        factory.trained_file(model.name),
        {**{key: model.spec[key] for key in settings}, "occupations": factory.occupations},
        "validation.planted_bias.fine_tuning:make",
    )


def model_step(factory: Factory, model: Cell) -> Step:
    """The step that measures a model; it also trains the static ones."""
    functions = {entry.metric for entry in factory.config.metrics.values()}
    inputs: dict[str, Any] = {"templates": factory.templates_file}
    if "start" in model.spec:
        model_json = factory.trained_file(model.name)
        inputs["trained"] = [model_json, model_json.with_name("model.safetensors")]
        inputs |= {key: factory.sentences_file(key) for key in ("test_templates", "frames")}
        if "sentences" in model.spec["vectors"]:
            inputs["sentences"] = find_file(f"{TEMPLATES}/bleached.json")
    return Step(
        f"model {model.name}",
        inputs,
        factory.paths.model_file(model.name),
        {**model.spec, "occupations": factory.occupations},
        "validation.planted_bias.model:make",
        tuple(sorted(metrics.REGISTRY.module(name) for name in functions)),
    )


def text_steps(factory: Factory) -> dict[str, Step]:
    """The steps that make texts of the tables, and the tables beside the figures, by the path below the results."""
    results, labels = factory.results, {"labels": factory.labels}
    models, claims = {"models": results / "factory.csv"}, {"claims": results / "claims.csv"}
    texts = {
        "recovery.md": ({"recovery": results / "recovery.csv"}, labels, "markdown:write"),
        "claims.md": (claims, labels, "markdown:write_claims"),
    }
    for figure in (*_words_figures(factory), *_truth_figures(factory), *_model_figures(factory)):
        texts[f"figures/{figure}.csv"] = models, {"figure": figure}, "recovery:write_figure_table"
    for figure in _claims_figures(factory):
        texts[f"figures/{figure}.csv"] = claims, {"figure": figure}, "claims:write_figure_table"
    return {
        name: Step(f"table {name}", inputs, results / name, spec, f"validation.planted_bias.{function}")
        for name, (inputs, spec, function) in texts.items()
    }


def figure_steps(factory: Factory) -> dict[str, Step]:
    """The steps that draw the figures, by the figure's name; a step's output is its files' stem."""
    labels = {"labels": factory.labels}
    models, claims = factory.results / "factory.csv", factory.results / "claims.csv"
    figures = {
        name: (models, labels | ({"against": against} if against else {}), "words")
        for name, against in _words_figures(factory).items()
    }
    # a figure per truth, as one of all would be taller than a page
    of_truth: dict[str, list[str]] = {}
    for metric, entry in factory.config.metrics.items():
        of_truth.setdefault(entry.truth, []).append(metric)
    for trainer, against in _truth_figures(factory).values():
        for truth, metric_keys in of_truth.items():
            spec = labels | {"trainer": trainer, "truth": truth, "metrics": metric_keys}
            suffix = f"-{against}" if against else ""
            spec |= {"against": against} if against else {}
            figures[f"truth-{trainer}-{truth}{suffix}"] = (models, spec, "truth")
    figures |= {name: (models, labels, name) for name in _model_figures(factory)}
    figures |= {name: (claims, labels, name) for name in _claims_figures(factory)}
    return {
        name: Step(
            f"figure {name}",
            {"claims" if table == claims else "models": table},
            factory.results / "figures" / name,
            spec,
            f"validation.planted_bias.figures:{function}",
        )
        for name, (table, spec, function) in figures.items()
    }


def _bert_trainers(factory: Factory) -> list[str]:
    """The trainers whose models predict masked words, so that metrics are compared with their behaviour."""
    return [key for key, entry in factory.config.trainers.items() if entry.algorithm == "bert"]


def _words_figures(factory: Factory) -> dict[str, str]:
    """Name of a figure of words, and of its table -> the truth that it is about; empty: what was planted."""
    return {"words": ""} | (
        {f"words-{against}": against for against in ("unmasking", "errors")}
        if _bert_trainers(factory)
        else {}
    )


def _truth_figures(factory: Factory) -> dict[str, tuple[str, str]]:
    """Name of a table of sets -> trainer, and the truth that it is about; empty: what was planted."""
    planted = {f"truth-{trainer}": (trainer, "") for trainer in factory.config.trainers}
    return planted | {
        f"truth-{trainer}-unmasking": (trainer, "unmasking") for trainer in _bert_trainers(factory)
    }


def _model_figures(factory: Factory) -> list[str]:
    """Figures, and tables, of numbers of models."""
    return ["directions", "example", *(["gate"] if _bert_trainers(factory) else [])]


def _claims_figures(factory: Factory) -> list[str]:
    """Figures, and tables, of claims."""
    return ["claims", *(["downstream"] if _bert_trainers(factory) else [])]
