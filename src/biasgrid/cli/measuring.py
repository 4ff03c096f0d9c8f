"""Metrics and debias methods on one model."""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import BiasgridError, join_names, quote
from ..core.numbers import count, interval, number, p_value, plain, share
from ..core.phrases import capitalized
from ..core.validation import Strict
from ..measure import significance
from ..measure.caveats import ONE_WORD, is_at_floor, lookalike_text, other_reasons, p_with_lowest
from ..measure.options import INTERVALS, Bootstrap, Reliability, Sensitivity
from .arguments import FILE, MODEL, PLUGINS, Commands, NoResultError, check_output, key_values, open_model
from .layout import add_forms, paragraph, wants_table

if TYPE_CHECKING:
    from ..measure.result import Result
    from ..metrics import Metric
    from ..queries.query import Query


def measure(args: argparse.Namespace) -> dict[str, Any] | str:
    """Measure one query on one model with one metric. The exit code is 2 if there is no value.

    biasgrid measure --metric weat --model vectors.bin --query query.json
    biasgrid measure --metric rnsb --model models/glove --query query.json \\
        --permutation --bootstrap draws=500
    """
    from .. import metrics
    from ..debias.transform import Transform
    from ..measure.measure import measure as measure_query
    from ..measure.measurement_spec import MeasurementSpec, check_kind, misfit, split_options
    from ..measure.result import as_json
    from ..measure.value_warnings import warn_shared
    from ..queries.query import Query

    metric = metrics.metric(args.metric)
    options = key_values(args.param)
    if "seed" in options:
        raise BiasgridError("--param seed: the seed is given with --seed")
    parts = {
        part: significance.complete_options(
            part, key_values(getattr(args, part), f"--{part.replace('_', '-')}")
        )
        for part in significance.parts()
        if getattr(args, part) is not None
    }
    parameters, words = split_options(metric, options)
    query, metric = Query.read(args.query), metric.under(parameters)
    if not query.fits(metric.template):
        raise BiasgridError(f"{args.query}: {misfit(metric, query)}")
    warn_shared(query)
    model = open_model(args, metric.needs)
    record = {"metric": metric.name, "model": model.name, "params": options, "seed": args.seed}
    transform = Transform.load(args.debias) if args.debias else None
    check_kind(metric, model)
    if transform is not None:
        model = model.under(transform)
        record["debias"] = transform.method
    if parts:
        record["asked"] = parts | {"interval": args.interval}
    request = MeasurementSpec(metric, parameters, words, args.seed, parts, args.interval, draw_seed=args.seed)
    results = measure_query(request, query, model)
    output: dict[str, Any] | str
    if wants_table(args):
        output = table(record, metric, query, results)
    elif len(results) == 1 and query.exactly(metric.template):
        output = record | as_json(results[0])
    else:
        output = record | {"query": query.name, "subqueries": [as_json(result) for result in results]}
    if all(math.isnan(result.value) for result in results):
        raise NoResultError(
            f"{args.query}: {metric.name} has no value on {model.name}: {results[0].reason}", output
        )
    return output


def table(record: dict[str, Any], metric: Metric, query: Query, results: Iterable[Result]) -> str:
    """Return what was measured as text: a line with the value of each query, and sentences about it."""
    note = f" after {record['debias']} debiasing" if "debias" in record else ""
    title = f"{metric.label} of {record['model']}{note}: no bias is {plain(metric.neutral)}, {_range(metric)}"
    results = list(results)
    width = min(max(len(result.query) for result in results), 50)
    lines = paragraph("", title)
    for result, part in zip(results, query.subqueries(metric.template), strict=True):
        note = f" ({ONE_WORD})" if result.is_fixed else ""
        lines += ["", f"{result.query:{width}}  {number(result.value)}{note}"]
        lines += [
            line for text in _sentences(record, metric, part, result) for line in paragraph("  ", text, 4)
        ]
    return "\n".join(lines)


def _sentences(record: dict[str, Any], metric: Metric, query: Query, result: Result) -> Iterator[str]:
    """Yield the sentences about a result."""
    from ..measure.evidence import NO_PROOF, NONE, UNTESTED
    from ..measure.result_text import evidence_phrase

    side = "above" if result.value > metric.neutral else "below"
    if result.value != metric.neutral and (meaning := getattr(metric, side)) and not math.isnan(result.value):
        names = ([s.name for s in sets] for sets in (query.target_sets, query.attribute_sets))
        yield f"{side.capitalize()} {plain(metric.neutral)}: {metric.sentence(meaning, *names)}."
    level = record.get("asked", {}).get("bootstrap", {}).get("level", 0.95)
    for units, low, high in (
        ("words", result.ci_low, result.ci_high),
        ("sentences", result.scalars.get("ci_low", math.nan), result.scalars.get("ci_high", math.nan)),
    ):
        if not math.isnan(low):
            yield f"{share(level)} interval over {units}: {interval(low, high)}."
    made = result.inference or {}
    nouns = {test.column: test.noun_of(metric) for test in significance.tests()}
    tests = []
    for column, noun in nouns.items():
        if not math.isnan(p := getattr(result, column)):
            form = partial(p_value, at_most=is_at_floor(made[result.tests[column]]))
            tests.append(f"{noun}, {p_with_lowest(p, result.p_lowest(column), form)}")
    if tests:
        yield f"Tests: {'; '.join(tests)}."
    yield from _sensitivity(result)
    if result.evidence != UNTESTED:
        yield f"{capitalized(evidence_phrase(result))}."
    if result.evidence == NONE:
        yield NO_PROOF
    if "reliability" in (result.inference or {}):
        yield from (row["says"] for row in result.reliability if row["says"])
    for name, reason in result.reasons.items():
        yield f"No {nouns.get(name, name)}: {reason}."
    if lost := list(dict.fromkeys(word for words in result.lost.values() for word in words)):
        yield f"Missing words ({count(len(lost))}): {join_names(lost)}."
        if reasons := other_reasons(result.why_lost):
            yield f"Reasons: {join_names(reasons)}."
        if alike := lookalike_text(result.why_lost):
            yield f"{alike}."


def _sensitivity(result: Result) -> Iterator[str]:
    """Say how far single words and half of the words change a value."""
    from ..tables.influence import largest_change

    made = result.inference or {}
    if most := largest_change(made):
        _, word, change = most
        yield f"The most influential word is {quote(word)}: {number(result.value + change)} without it."
    for side, distance in made.get("halves", {}).items():
        if distance is not None:
            kind = side.removesuffix("s")
            yield f"With half of the {kind} words, the value changes by {number(distance)} on average."


def _range(metric: Metric) -> str:
    """Describe the range of a metric in words."""
    low, high = metric.range
    if math.isinf(low) and math.isinf(high):
        return "any number is possible"
    if math.isinf(high):
        return f"values are {plain(low)} or more"
    return f"values are from {plain(low)} to {plain(high)}"


def debias(args: argparse.Namespace) -> dict[str, Any]:
    """Fit a debias method on a model. With --materialize, also write the debiased model.

    biasgrid debias --method hard --model vectors.bin --words words.json \\
        --output hard.npz
    """
    from .. import debias as methods
    from ..core.configs import read_json
    from ..models.folder import check_folder
    from ..models.saving import materialize
    from ..models.writers import STORE, format_of

    method = methods.method(args.method)
    words = read_json(args.words)
    if not isinstance(words, dict):
        raise BiasgridError(f"{args.words}: not a mapping of {join_names(method.words)} to words")
    options = key_values(args.param)
    if args.materialize:
        # Refuse a wrong output before anything is fitted.
        if format_of(args.materialize) == STORE:
            check_folder(args.materialize)
        check_output(args.materialize, [args.model, args.words])
    check_output(args.output, [args.model, args.words, *filter(None, [args.materialize])])
    if args.output.is_dir():
        raise BiasgridError(f"{args.output}: is a folder; a transform is a file, such as hard.npz")
    try:
        method.check_words(words)
    except BiasgridError as error:
        raise BiasgridError(f"{args.words}: {error}") from None
    method.check_parameters(options)
    model = open_model(args)
    transform = method(model, **words, **options, seed=args.seed)
    for name, lost in transform.fitted_on["lost"].items():
        if lost and method.words.get(name) == "sets":
            warnings.warn(
                f"{name}: left out, as {model.name} lacks a word of each: {join_names(lost)}",
                stacklevel=1,
            )
    record = {"transform": str(args.output), **transform.summary()}
    if args.materialize:
        record["materialized"] = materialize(model, transform, args.materialize)
    # Save last, so that nothing is written if another step fails.
    transform.save(args.output)
    return record


def add(commands: Commands) -> None:
    parameter = {"action": "append", "default": [], "metavar": "KEY=VALUE"}
    tests: dict[str, Any] = {test.name: _part(test.help, test.options) for test in significance.tests()}
    transform = {"type": Path, "metavar": "TRANSFORM.npz"}
    command = commands.add(
        measure,
        metric={"required": True, "help": "its name, such as weat (biasgrid list metrics)"},
        model=MODEL,
        query={
            "required": True,
            "type": Path,
            "help": 'a JSON file: {"target_sets": [{"name": "Male", "words": ["he", ...]}, ...], '
            '"attribute_sets": [{"name": "Career", "words": ["office", ...]}, ...]}',
        },
        param=parameter
        | {
            "help": "a parameter of the metric or the vocabulary look-up (preprocessors, strategy, normalize, "
            "lost_vocabulary_threshold); the value is JSON or YAML"
        },
        seed={
            "type": int,
            "default": 0,
            "help": "seed of random draws, in metrics and in tests (default 0)",
        },
        **tests,
        bootstrap=_part("bootstrap intervals", Bootstrap),
        sensitivity=_part("influence of single words, and stability with half of the words", Sensitivity),
        reliability=_part("how reliably the words are ordered", Reliability),
        interval={
            "choices": INTERVALS,
            "default": INTERVALS[0],
            "help": f"kind of confidence interval in ci_low and ci_high (default {INTERVALS[0]})",
        },
        debias=transform | {"help": "measure the model after this debiasing"},
        plugins=PLUGINS,
        **FILE,
    )
    add_forms(command)
    commands.add(
        debias,
        method={"required": True, "help": "its name, such as hard (biasgrid list debias)"},
        model=MODEL,
        words={
            "required": True,
            "type": Path,
            "help": 'a JSON file of its words, such as {"definitional_pairs": [["she", "he"], ...]}',
        },
        output={"required": True, "type": Path, "help": "the transform's file (.npz)"},
        param=parameter | {"help": "a parameter of the method; the value is JSON or YAML"},
        seed={"type": int, "default": 0, "help": "seed of random draws (default 0)"},
        materialize={
            "type": Path,
            "metavar": "OUT",
            "help": "also write the debiased model: .bin (word2vec), .txt, .vec, .kv (gensim), .npz, or a "
            "folder for a store",
        },
        plugins=PLUGINS,
        **FILE,
    )


def _part(what: str, options: type[Strict]) -> dict[str, Any]:
    text = f"{what}: {', '.join(options.model_fields)} (none: defaults)"
    return {"nargs": "*", "action": "extend", "metavar": "KEY=VALUE", "help": text}
