"""What is asked of a metric, whatever the query and the model: parameters, look-up, seed, inference; checked once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from . import metrics
from .embeddings.kinds import REGISTRY as KINDS
from .errors import BiasgridError, InputError, join_names, not_allowed, quote
from .metrics.registry import Metric
from .options import INTERVALS, check_interval
from .preprocessing import default_forms, recorded_forms
from .query import Query
from .words import WordOptions


@dataclass(frozen=True)
class Request:
    """A metric under its parameters, and what is inferred of its values.

    Parameters
    ----------
    metric
        It is kept as it is under the parameters (`Metric.under`).
    parameters
        The metric's own.
    words
        How words are looked up.
    seed
        From 0; of a metric that draws at random.
    inference
        Part -> its options: what `inference.significance.complete` takes, or has completed.
    interval
        Which one `Result.ci_low` and `ci_high` are.
    draw_seed
        Of permutations, random groups, resamples and halves.

    Raises
    ------
    BiasgridError
        For an unknown parameter or option, and a value that is not allowed.
    """

    metric: Metric
    parameters: Mapping[str, Any] = field(default_factory=dict)
    words: WordOptions = field(default_factory=WordOptions)
    seed: int = 0
    inference: Mapping[str, Any] = field(default_factory=dict)
    interval: str = INTERVALS[0]
    draw_seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "metric", self.metric.under(self.parameters))
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise BiasgridError(not_allowed("seed", self.seed, "whole numbers from 0 on"))
        if self.metric.paired and KINDS[self.metric.needs].scores and self.words.strategy != "first":
            raise InputError(
                f"strategy: {self.words.strategy}: a sentence of a pair has one form; {self.metric.name} needs first"
            )
        check_interval(self.interval)

    @classmethod
    def of_cell(cls, spec: Mapping[str, Any], inference: Mapping[str, Any] | None = None) -> Request:
        """What a cell's spec asks (`cell.compute_cell`), and what its inference does: parts, and the `draw_seed`."""
        parts = dict(inference or {})
        return cls(
            metrics.metric(spec["function"]),
            spec["params"],
            WordOptions(**spec["words"] | {"preprocessors": recorded_forms(spec["words"])}),
            spec.get("seed", 0),
            draw_seed=parts.pop("draw_seed", 0),
            inference=parts,
        )

    @property
    def variants(self) -> int:
        """How many slots a word of a set has: `FoundSet.slots // variants` is its place in the set."""
        return len(self.words.preprocessors) if self.words.strategy == "all" else 1

    @property
    def arguments(self) -> dict[str, Any]:
        """What the metric's function takes besides words, and what it needs of a model."""
        return {**self.parameters, **({"seed": self.seed} if self.metric.seeded else {})}


def split_options(
    metric: Metric, options: Mapping[str, Any], other_names: Iterable[str] = ()
) -> tuple[dict[str, Any], WordOptions]:
    """Return the metric's parameters among options, and the options of the word look-up with their defaults.

    `other_names` are further options that the caller takes: the message for an unknown name lists them, too.
    """
    option_names = [f.name for f in fields(WordOptions)]
    # of a metric of sentences, `normalize` is its own
    word_options = (set(option_names) - metric.parameters.keys()) & set(options)
    parameters = {name: value for name, value in options.items() if name not in word_options}
    metric.check_parameters(parameters, [*option_names, *other_names])
    forms = {"preprocessors": default_forms(KINDS[metric.needs])}
    return parameters, WordOptions(**forms | {name: options[name] for name in word_options})


def check_kind(metric: Metric, model: Any) -> None:
    """Raises BiasgridError for a model of another kind than the metric is measured on."""
    if (kind := getattr(model, "kind", metric.needs)) != metric.needs:
        raise InputError(
            f"{metric.name} needs a model of kind {metric.needs}, and {model.name} is one of {kind} "
            "(biasgrid list metrics, biasgrid list kinds)"
        )


def check_template(metric: Metric, query: Query, parameters: Mapping[str, Any]) -> None:
    """Raises BiasgridError for a query that has not the metric's template as it is under these parameters."""
    if not query.exactly(metric.under(parameters).template):
        raise BiasgridError(misfit(metric.under(parameters), query))


def misfit(metric: Metric, query: Query) -> str:
    """A message's text for a query that has not the metric's template: what to do about it."""
    if query.fits(metric.template):
        advice = f"take its sub-queries: query.subqueries({metric.template})"
    else:
        registry = metrics.REGISTRY.values()
        names = [m.name for m in registry if m.needs == metric.needs and query.exactly(m.template)]
        advice = f"metrics that take it: {join_names(names, 'biasgrid list metrics')}"
    return f"{metric.name} has template {metric.template} and query {quote(query.name)} {query.template}; {advice}"
