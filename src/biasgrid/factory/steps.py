"""The steps of a benchmark."""

from __future__ import annotations

from typing import Any

from .. import metrics
from ..plan.step import Step
from .study import Factory, Model


def fine_tuning_step(factory: Factory, model: Model) -> Step:
    """The step that fine-tunes a model, which takes the time; its files are kept."""
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
        "biasgrid.factory.fine_tuning:make",
    )


def model_step(factory: Factory, model: Model) -> Step:
    """The step that measures a model; it also trains one that is not fine-tuned before."""
    functions = {entry["metric"] for entry in factory.config["metrics"].values()}
    inputs: dict[str, Any] = {"templates": factory.templates_file}
    if "start" in model.spec:
        trained = factory.trained_file(model.name)
        inputs["trained"] = [trained, trained.with_name("model.safetensors")]
        inputs |= {key: factory.sentences_file(key) for key in ("test_templates", "frames")}
    return Step(
        f"model {model.name}",
        inputs,
        factory.model_file(model.name),
        {**model.spec, "occupations": factory.occupations},
        "biasgrid.factory.model:make",
        tuple(sorted(metrics.REGISTRY.module(name) for name in functions)),
    )


def table_steps(factory: Factory) -> dict[str, Step]:
    """The steps that make the tables, in order, by the path below the results."""
    models = {"models": list(map(factory.model_file, factory.models))}
    written = {
        "factory.csv": (models, {}, "recovery:write_models"),
        "recovery.csv": ({"models": factory.results / "factory.csv"}, {}, "recovery:write_recovery"),
        "recovery.md": (
            {"recovery": factory.results / "recovery.csv"},
            {"labels": factory.labels},
            "markdown:write",
        ),
    }
    for figure in ("words", *(f"truth-{trainer}" for trainer in factory.config["trainers"])):
        inputs = {"models": factory.results / "factory.csv"}
        written[f"figures/{figure}.csv"] = inputs, {"figure": figure}, "recovery:write_figure_table"
    return {
        name: Step(f"table {name}", inputs, factory.results / name, spec, f"biasgrid.factory.{function}")
        for name, (inputs, spec, function) in written.items()
    }


def figure_steps(factory: Factory) -> dict[str, Step]:
    """The steps that draw the figures, by the figure's name; a step's output is its files' stem."""
    labels = {"labels": factory.labels}
    drawn = {"words": (labels, "words")}
    # a figure per truth, as one of all would be taller than a page
    of_truth: dict[str, list[str]] = {}
    for metric, entry in factory.config["metrics"].items():
        of_truth.setdefault(entry["truth"], []).append(metric)
    for trainer in factory.config["trainers"]:
        for truth, of in of_truth.items():
            spec = labels | {"trainer": trainer, "truth": truth, "metrics": of}
            drawn[f"truth-{trainer}-{truth}"] = (spec, "truth")
    return {
        name: Step(
            f"figure {name}",
            {"models": factory.results / "factory.csv"},
            factory.results / "figures" / name,
            spec,
            f"biasgrid.factory.figures:{function}",
        )
        for name, (spec, function) in drawn.items()
    }
