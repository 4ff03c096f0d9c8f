"""Steps of a benchmark."""

from __future__ import annotations

from typing import Any

from biasgrid import metrics
from biasgrid.core.resources import find_file
from biasgrid.models.store_of import StoreOf
from biasgrid.study.step import Step

from ..experiment import STEP, Cell, Rule
from .corpus import TEMPLATES
from .study import Factory


def cell_rules(factory: Factory) -> list[Rule]:
    """Return the rules of the steps that compute: models, and the fine-tuning of models that start with weights."""
    fine_tuned = {name: cell for name, cell in factory.cells.items() if "start" in cell.spec}
    trained = factory.trained_file(STEP)
    return [
        # Fine-tune BERT on a corpus. BERT-tiny takes a minute on one core, and BERT base takes hours.
        Rule(
            "fine_tune",
            {name: fine_tuning_step(factory, cell) for name, cell in fine_tuned.items()},
            (str(trained), str(trained.with_name("model.safetensors"))),
            memory=4000,
            minutes=300,
            wanted=False,
        ),
        # Measure all metrics of a model, and train it if it is static, which takes seconds.
        Rule(
            "planted",
            {name: model_step(factory, cell) for name, cell in factory.cells.items()},
            (str(factory.paths.model_file(STEP)),),
            group="factory",
        ),
    ]


def fine_tuning_step(factory: Factory, model: Cell) -> Step:
    """Return the step that fine-tunes a model, which is slow; its files are kept."""
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
        {
            "templates": factory.templates_file,
            "start": factory.paths.source_file(start := model.spec["start"]),
            "weights": StoreOf(factory.embeddings / "raw" / start),
        },
        factory.trained_file(model.name),
        {**{key: model.spec[key] for key in settings}, "occupations": factory.occupations},
        "validation.planted_bias.fine_tuning:make",
    )


def model_step(factory: Factory, model: Cell) -> Step:
    """Return the step that measures a model; it also trains static models."""
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
    """Return the steps that make the texts, and the tables of figures, by the path inside the results."""
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
    """Return the steps that draw the figures, by the figure's name. A step's output is the stem of its files."""
    labels = {"labels": factory.labels}
    models, claims = factory.results / "factory.csv", factory.results / "claims.csv"
    figures = {
        name: (models, labels | ({"against": against} if against else {}), "words")
        for name, against in _words_figures(factory).items()
    }
    # Draw a figure for each truth, because one figure of all would be taller than a page.
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
    """Return the trainers whose models predict masked words, so that metrics are compared with their behaviour."""
    return [key for key, entry in factory.config.trainers.items() if entry.algorithm == "bert"]


def _words_figures(factory: Factory) -> dict[str, str]:
    """Return the kind of truth of each figure of words and its table, by name; empty for the injected bias."""
    return {"words": ""} | (
        {f"words-{against}": against for against in ("unmasking", "errors")}
        if _bert_trainers(factory)
        else {}
    )


def _truth_figures(factory: Factory) -> dict[str, tuple[str, str]]:
    """Return trainer and kind of truth of each table of sets, by name; empty for the injected bias."""
    planted = {f"truth-{trainer}": (trainer, "") for trainer in factory.config.trainers}
    return planted | {
        f"truth-{trainer}-unmasking": (trainer, "unmasking") for trainer in _bert_trainers(factory)
    }


def _model_figures(factory: Factory) -> list[str]:
    """Return the names of figures, and of their tables, with numbers of models."""
    return ["directions", "example", *(["gate"] if _bert_trainers(factory) else [])]


def _claims_figures(factory: Factory) -> list[str]:
    """Return the names of figures, and of their tables, of claims."""
    return ["claims", *(["downstream"] if _bert_trainers(factory) else [])]
