"""The command line: one sub-command a step of the workflow, so that every rule can be run by hand.

Each prints JSON on standard output; progress and warnings go to standard error. Exit code 0, or 2 with one line
that says what is wrong with the input.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from .errors import BiasgridError
from .processes import end_with_starter


def main(arguments: list[str] | None = None) -> int:
    """Run one sub-command; returns the exit code."""
    warnings.showwarning = lambda message, *_: print(f"biasgrid: warning: {message}", file=sys.stderr)
    end_with_starter()
    parsed = _parser().parse_args(arguments)
    try:
        # one BLAS thread, as in the workflow: the same bytes wherever a cell is computed
        with threadpool_limits(1):
            record = parsed.run(parsed)
        from .measure import dumps

        # the byte of a path that is no UTF-8 becomes JSON's \udcxx
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
        print(dumps(record, indent=1))
    except BiasgridError as error:
        print(f"biasgrid: {' '.join(str(error).splitlines())}", file=sys.stderr)
        return 2
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"biasgrid: {where}{error.strerror or error}", file=sys.stderr)
        return 2
    return 0


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """A metric on a query on a model."""
    from . import metrics
    from .debias.transform import Transform
    from .embeddings.readers import open_model
    from .measure import as_json, split_options
    from .measure import measure as measure_query
    from .query import Query
    from .study import INFERRED

    metric = metrics.metric(args.metric)
    options = _options(args.param)
    asked = {part: getattr(args, part) for part in INFERRED}
    asked = {
        part: _options(given, f"--{part.replace('_', '-')}")
        for part, given in asked.items()
        if given is not None
    }
    if asked:
        # imported late: scipy.stats takes a second
        from .inference.options import checked
        from .inference.results import inferred

        asked = {part: checked(part, given) for part, given in asked.items()}
    if "seed" in options:
        raise BiasgridError("--param seed: the seed is given with --seed")
    parameters, words = split_options(metric, options)
    query, metric = Query.read(args.query), metric.under(parameters)
    if not query.fits(metric.template):
        raise BiasgridError(
            f"{args.query}: {metric.name} has template {metric.template}, the query {query.template}"
        )
    with open_model(args.model, **_of_file(args)) as model:
        record = {"metric": metric.name, "model": model.name, "params": options, "seed": args.seed}
        if args.debias:
            transform = Transform.load(args.debias)
            model = model.under(transform)
            record["debias"] = transform.method
        results = measure_query(metric, query, model, parameters, words, args.seed)
        if asked:
            record["asked"] = asked | {"interval": args.interval}
            results = inferred(
                results, metric, query, model, parameters, words, args.seed, asked, args.interval
            )
    if len(results) == 1 and query.exactly(metric.template):
        return record | as_json(results[0])
    return record | {"query": query.name, "subqueries": [as_json(result) for result in results]}


def debias(args: argparse.Namespace) -> dict[str, Any]:
    """A debias method fitted on a model; with --materialize, the debiased model as a file."""
    from . import debias as methods
    from .configs import read_json
    from .debias.materialize import materialize
    from .embeddings.readers import open_model
    from .embeddings.writers import STORE, check_folder, format_of

    method = methods.method(args.method)
    words = read_json(args.words)
    if not isinstance(words, dict):
        raise BiasgridError(f"{args.words}: not a mapping of {', '.join(method.words)} to words")
    options = _options(args.param)
    if args.materialize:
        # refused before anything is fitted
        if format_of(args.materialize) == STORE:
            check_folder(args.materialize)
        _check_output(args.materialize, [args.model, args.words])
    _check_output(args.output, [args.model, args.words, *filter(None, [args.materialize])])
    if args.output.is_dir():
        raise BiasgridError(f"{args.output}: is a folder; a transform is a file, such as hard.npz")
    try:
        method.check_words(words)
    except BiasgridError as error:
        raise BiasgridError(f"{args.words}: {error}") from None
    method.check_parameters(options)
    with open_model(args.model, **_of_file(args)) as model:
        transform = method(model, **words, **options, seed=args.seed)
        for name, lost in transform.fitted_on["lost"].items():
            if lost and method.words.get(name) == "sets":
                warnings.warn(f"{name}: left out, as {model.name} lacks a word of each: {lost}", stacklevel=1)
        record = {"transform": str(args.output), **transform.summary()}
        if args.materialize:
            record["materialized"] = materialize(model, transform, args.materialize)
        # last: nothing is written where something fails
        transform.save(args.output)
    return record


def fit(args: argparse.Namespace) -> dict[str, Any]:
    """A debias method of a study fitted on one of its models, written where the workflow writes it."""
    from . import mitigation

    study = _study(args.study)
    if (args.model, args.debias) not in study.fits:
        known = ", ".join(dict.fromkeys(key for model, key in study.fits if model == args.model)) or "none"
        raise BiasgridError(f"{args.study}: no method {args.debias!r} for {args.model!r}; it has {known}")
    transform = mitigation.fit(study, study.fits[args.model, args.debias])
    return {"transform": str(study.transform_file(args.model, args.debias)), **transform.summary()}


def evaluate(args: argparse.Namespace) -> dict[str, Any]:
    """What a debias method of a study costs and hides, or a model's quality, written where the workflow writes it."""
    from . import mitigation

    study = _study(args.study)
    evaluations = study.evaluations | study.quality
    if args.evaluation not in evaluations:
        known = f"such as {next(iter(evaluations))!r}" if evaluations else "none"
        raise BiasgridError(f"{args.study}: no evaluation {args.evaluation!r}; it has {known}")
    chosen = evaluations[args.evaluation]
    mitigation.evaluate(study, chosen)
    return {"evaluation": str(study.evaluation_file(chosen))}


def analogy(args: argparse.Namespace) -> dict[str, Any]:
    """What a model answers to "a is to b as c is to ?"; any pairs, any words c."""
    from .debias.transform import Transform
    from .embeddings.readers import open_model
    from .evaluation.answers import answers

    pairs = [pair.split(":") for pair in args.pairs]
    for given, pair in zip(args.pairs, pairs, strict=True):
        if len(pair) != 2 or not all(pair) or pair[0] == pair[1]:
            raise BiasgridError(f"--pairs {given!r}: expected two different words such as he:she")
    if args.best < 1:
        raise BiasgridError(f"--best {args.best}: must be 1 or more")
    if args.vocabulary < 0:
        raise BiasgridError(f"--vocabulary {args.vocabulary}: must be 0 (all words) or more")
    with open_model(args.model, **_of_file(args)) as model:
        record = {"model": model.name}
        if args.debias:
            transform = Transform.load(args.debias)
            model = model.under(transform)
            record["debias"] = transform.method
        given = dict.fromkeys([*args.word, *(word for pair in pairs for word in pair)])
        if lost := [word for word in given if model.vocab_prefix + word not in model]:
            warnings.warn(f"{model.name} lacks {', '.join(map(repr, lost))}", stacklevel=1)
        found = answers(
            model,
            pairs,
            args.word,
            methods=[args.method],
            excluded=[not args.keep_question_words],
            best=args.best,
            vocabulary=args.vocabulary or None,
            seed=args.seed,
        )
    return record | {"questions": found}


def convert(args: argparse.Namespace) -> dict[str, Any]:
    """A file of vectors into a store."""
    from .embeddings.readers import convert as convert_file
    from .embeddings.writers import check_folder

    check_folder(args.output)
    store = convert_file(
        args.input,
        args.output,
        name=args.name or args.output.name,
        format=args.format,
        sha256=args.sha256,
        trust_pickle=args.trust_pickle,
        vocab_prefix=args.vocab_prefix,
    )
    return {"store": str(store.path), **store.metadata}


def fetch(args: argparse.Namespace) -> dict[str, Any]:
    """A study's model, downloaded, checked and converted."""
    from .embeddings import build_store
    from .study import Study

    study = Study.read(args.config)
    if args.model not in study.models:
        raise BiasgridError(f"{args.config}: no model {args.model!r}; it has {', '.join(study.models)}")
    store = build_store(args.model, study.models[args.model], study.embeddings, study.shares_embeddings)
    return {"store": str(store.path), **store.metadata}


def train(args: argparse.Namespace) -> dict[str, Any]:
    """A study's model, trained on its corpus, written where the workflow writes it."""
    from .embeddings import build_store

    study = _study(args.study)
    if args.model not in study.trained:
        known = ", ".join(study.trained) or "none"
        raise BiasgridError(
            f"{args.study}: {args.model!r} is no model that is trained here; those are {known}"
        )
    store = build_store(args.model, study.models[args.model], study.embeddings, study.shares_embeddings)
    return {"store": str(store.path), **store.metadata}


def query(args: argparse.Namespace) -> dict[str, Any]:
    """A study's query as a query file."""

    queries = _study(args.study).queries
    if args.query not in queries:
        raise BiasgridError(f"{args.study}: no query {args.query!r}; it has {', '.join(queries)}")
    return json.loads(queries[args.query].to_json())


def cell(args: argparse.Namespace) -> dict[str, Any]:
    """One cell of a study, written where the workflow writes it."""
    from .cell import compute_cell
    from .files import write_text

    study = _study(args.study)
    if args.cell not in study.cells:
        example = next(iter(study.cells))
        raise BiasgridError(f"{args.study}: no cell {args.cell!r}; cells are named like {example!r}")
    chosen = study.cells[args.cell]
    write_text(study.query_file(chosen.query), study.queries[chosen.query].to_json())
    compute_cell(study, chosen)
    output = study.cell_file(chosen)
    return {"cell": str(output), "results": json.loads(output.read_text(encoding="utf-8"))["results"]}


def infer(args: argparse.Namespace) -> dict[str, Any]:
    """Test, intervals and sensitivity of a cell of a study, written, with the cell, where the workflow does."""
    from .cell import compute_cell
    from .files import write_text
    from .inference import infer_cells

    study = _study(args.study)
    if args.cell not in study.inferences:
        known = (
            f"such as {next(iter(study.inferences))!r}"
            if study.inferences
            else "none (inference: in its config)"
        )
        raise BiasgridError(f"{args.study}: {args.cell!r} has no inference; what has: {known}")
    chosen = study.inferences[args.cell]
    # in one file with the metric's other queries, of which what is there is kept
    for other in (group := study.inference_groups[chosen.group]):
        if other is chosen or not study.cell_file(other.cell).is_file():
            write_text(study.query_file(other.cell.query), study.queries[other.cell.query].to_json())
            compute_cell(study, other.cell)
    records = infer_cells(study, group)
    return {
        "inference": str(study.inference_file(chosen)),
        "results": records[group.index(chosen)]["results"],
    }


def null(args: argparse.Namespace) -> dict[str, Any]:
    """The null distributions of one cell of a study, as numbers; with --output, as a figure in PDF, SVG and PNG."""
    from .embeddings import study_store
    from .figures import draw_file
    from .figures.null import drawing
    from .files import write_text
    from .inference.null import write_null
    from .study import UNTOUCHED, no_test

    study = _study(args.study)
    if args.cell in study.cells and args.cell not in study.inferences:
        raise BiasgridError(f"{args.study}: no test: the study has no inference in its config")
    if args.cell not in study.inferences:
        example = next(iter(study.cells))
        raise BiasgridError(f"{args.study}: no cell {args.cell!r}; cells are named like {example!r}")
    cell, spec = study.cells[args.cell], json.loads(study.inferences[args.cell].spec)
    query, file = study.queries[cell.query].to_json(), study.query_file(cell.query)
    if not file.is_file() or file.read_text(encoding="utf-8") != query:
        write_text(file, query)
    try:
        if reason := no_test(study.metric(cell.criterion, cell.metric), spec["inference"]):
            raise BiasgridError(reason)
        store = study_store(study.embeddings, cell.model, study.models[cell.model]).path
        inputs = {"query": file, "store": store, "pool": study.pool_file(cell.model)}
        if cell.debias != UNTOUCHED:
            inputs["transform"] = study.transform_file(cell.model, cell.debias)
        numbers = write_null(inputs, spec, study.null_file(cell))
    except BiasgridError as error:
        raise BiasgridError(f"{args.study}: {cell.name}: {error}") from None
    record = {"null": str(study.null_file(cell)), "results": numbers.results}
    if args.output:
        of_cell = drawing(study, cell)
        record["figure"] = draw_file(of_cell.kind, of_cell.inputs, of_cell.spec, args.output)
    return record


def table(args: argparse.Namespace) -> dict[str, Any]:
    """One table of a study, from the cells or tables that it is made of."""
    from . import tables

    study = _study(args.study)
    if args.table not in study.tables:
        raise BiasgridError(f"{args.study}: no table {args.table!r}; the study has {', '.join(study.tables)}")
    return {"table": str(study.results / f"{args.table}.csv"), "rows": tables.make(study, args.table)}


def figure(args: argparse.Namespace) -> dict[str, Any]:
    """One figure of a study as PDF, SVG and PNG."""
    from .errors import unknown
    from .figures import draw_file
    from .figures.null import drawing

    study = _study(args.study)
    cell = study.inferences.get(args.figure.removeprefix("null/"))
    of_figure = drawing(study, cell.cell) if cell else study.figures.get(args.figure)
    if of_figure is None:
        raise BiasgridError(f"{args.study}: {unknown('figure', args.figure, study.figures)}")
    stem = study.results / "figures" / of_figure.name
    try:
        return {"figure": draw_file(of_figure.kind, of_figure.inputs, of_figure.spec, stem)}
    except BiasgridError as error:
        raise BiasgridError(f"{args.study}: {error}") from None


def simulate(args: argparse.Namespace) -> dict[str, Any]:
    """One cell of a simulation, or a real model's store and pool; without either, tables and figures."""
    from . import simulation

    chosen = simulation.Simulation.read(args.config)
    if args.model is not None:
        if args.model not in chosen.config["models"]:
            known = ", ".join(chosen.config["models"]) or "none"
            raise BiasgridError(f"{args.config}: unknown model {args.model!r}; allowed: {known}")
        simulation.prepare(chosen, args.model)
        return {"pool": str(chosen.pool_file(args.model))}
    if args.cell is None:
        return {"results": simulation.summarise(chosen)}
    if args.cell in chosen.real_cells:
        cell = chosen.real_cells[args.cell]
        simulation.calibrate(chosen, cell)
        return {"cell": str(chosen.real_file(cell))}
    if args.cell not in chosen.cells:
        known = ", ".join([*chosen.cells, *chosen.real_cells])
        raise BiasgridError(f"{args.config}: no cell {args.cell!r}; it has {known}")
    simulation.simulate(chosen, chosen.cells[args.cell])
    return {"cell": str(chosen.cell_file(chosen.cells[args.cell]))}


def properties(args: argparse.Namespace) -> list[dict[str, Any]] | dict[str, Any]:
    """What each metric can and cannot see; with --output, a table, counterexamples and figures."""
    from . import metrics
    from .properties import examine, table, write

    chosen = {entry.name: entry for entry in map(metrics.metric, args.metric)}
    verdicts = examine(chosen or metrics.REGISTRY)
    return {"files": write(verdicts, args.output)} if args.output else table(verdicts)


def factory(args: argparse.Namespace) -> dict[str, Any]:
    """One model of a factory, trained and measured; without --model the tables and the figures, from its models."""
    from . import recovery
    from .factory import Factory, make

    chosen = Factory.read(args.config)
    if args.model is None:
        return {"results": recovery.summarise(chosen)}
    if args.model not in chosen.models:
        some = ", ".join(list(chosen.models)[:3])
        raise BiasgridError(
            f"{args.config}: no model {args.model!r}; its {len(chosen.models)} are {some}, ..."
        )
    make(chosen, chosen.models[args.model])
    return {"model": str(chosen.model_file(chosen.models[args.model]))}


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str):
        message = " ".join(message.split())
        message = message if len(message) <= 1000 else f"{message[:1000]} ..."
        print(f"{self.prog}: {message} ({self.prog} --help lists what is allowed)", file=sys.stderr)
        raise SystemExit(2)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="biasgrid", description=__doc__.splitlines()[0], allow_abbrev=False)
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)

    def command(function, **named):
        added = commands.add_parser(
            function.__name__, help=function.__doc__, description=function.__doc__, allow_abbrev=False
        )
        for flag, settings in named.items():
            added.add_argument("--" + flag.replace("_", "-"), **settings)
        added.set_defaults(run=function)

    from .embeddings.readers import FORMATS
    from .evaluation.answers import METHODS
    from .study import SCHEMA, TABLES

    intervals = SCHEMA["properties"]["inference"]["properties"]["interval"]
    file = {
        "sha256": {"help": "the input file's checksum, which must match"},
        "trust_pickle": {"action": "store_true", "help": "read a .kv file whose checksum is not pinned"},
        "vocab_prefix": {"default": "", "help": "what stands before every word in the vocabulary (/c/en/)"},
    }
    study = {
        "required": True,
        "type": Path,
        "help": "a study's config, or its results/<study>/study.json; - reads the latter on standard input",
    }
    model = {
        "required": True,
        "type": Path,
        "help": "a store, or word2vec text or binary, gzipped or not, or .kv",
    }

    def asked(what: str) -> dict[str, Any]:
        return {"nargs": "*", "action": "extend", "metavar": "KEY=VALUE", "help": f"{what} (none: defaults)"}

    command(
        measure,
        metric={"required": True, "help": "its name, such as weat"},
        model=model,
        query={"required": True, "type": Path, "help": "a query file (JSON)"},
        param={
            "action": "append",
            "default": [],
            "metavar": "KEY=VALUE",
            "help": "a parameter of the metric or the look-up (preprocessors, strategy, normalize, "
            "lost_vocabulary_threshold); the value is JSON or YAML",
        },
        seed={
            "type": int,
            "default": 0,
            "help": "for metrics that draw at random, and inference (default 0)",
        },
        permutation=asked("a permutation test: draws, exact, alternative"),
        random_groups=asked("a test against random groups: draws, alternative"),
        bootstrap=asked("bootstrap intervals: draws, level"),
        sensitivity=asked("influence of words, and robustness under halving the sets: halves"),
        interval={
            "choices": intervals["enum"],
            "default": intervals["default"],
            "help": f"which one ci_low and ci_high are (default {intervals['default']})",
        },
        debias={"type": Path, "metavar": "TRANSFORM.npz", "help": "measure the model under this transform"},
        **file,
    )
    command(
        debias,
        method={"required": True, "help": "its name, such as hard"},
        model=model,
        words={
            "required": True,
            "type": Path,
            "help": 'a JSON file of its words, such as {"definitional_pairs": [["she", "he"], ...]}',
        },
        output={"required": True, "type": Path, "help": "the transform's file (.npz)"},
        param={
            "action": "append",
            "default": [],
            "metavar": "KEY=VALUE",
            "help": "a parameter of the method; the value is JSON or YAML",
        },
        seed={"type": int, "default": 0, "help": "for methods that draw at random (default 0)"},
        materialize={
            "type": Path,
            "metavar": "OUT",
            "help": "also write the debiased model: .bin (word2vec), .txt, .kv (gensim), or a folder for a store",
        },
        **file,
    )
    command(
        analogy,
        model=model,
        pairs={"required": True, "nargs": "+", "metavar": "A:B", "help": "such as he:she man:woman"},
        word={
            "required": True,
            "nargs": "+",
            "metavar": "C",
            "help": "the words c, such as doctor; they should be neutral",
        },
        method={"choices": METHODS, "default": "3cosadd", "help": "default 3cosadd"},
        keep_question_words={
            "action": "store_true",
            "help": "let the question's own words be answers (default: they are not)",
        },
        best={"type": int, "default": 10, "help": "so many answers (default 10)"},
        vocabulary={
            "type": int,
            "default": 50_000,
            "help": "answers are among so many of the model's first words (default 50000; 0: all)",
        },
        seed={"type": int, "default": 0, "help": "for lrcos, which draws words (default 0)"},
        debias={"type": Path, "metavar": "TRANSFORM.npz", "help": "ask the model under this transform"},
        **file,
    )
    command(
        convert,
        input={
            "required": True,
            "type": Path,
            "help": "the file, or the folder of a format of several files",
        },
        output={"required": True, "type": Path, "help": "the store's folder"},
        name={"help": "the model's name (default: the folder's)"},
        format={"choices": FORMATS, "help": "default: found by looking into the file"},
        **file,
    )
    command(
        fetch,
        model={"required": True, "help": "the model's key in the config"},
        config={"required": True, "type": Path, "help": "the study's config"},
    )
    command(train, study=study, model={"required": True, "help": "the model's key"})
    command(query, study=study, query={"required": True, "help": "the query's id"})
    command(cell, study=study, cell={"required": True, "help": "model/debias/metric/query"})
    command(infer, study=study, cell={"required": True, "help": "model/debias/metric/query"})
    command(
        null,
        study=study,
        cell={"required": True, "help": "model/debias/metric/query"},
        output={"type": Path, "metavar": "STEM", "help": "also draw them; the files' name without .png"},
    )
    command(
        fit,
        study=study,
        model={"required": True, "help": "the model's key"},
        debias={"required": True, "help": "the debias method's key"},
    )
    command(
        evaluate,
        study=study,
        evaluation={"required": True, "help": "model/debias/criterion, or model/debias/quality"},
    )
    command(table, study=study, table={"required": True, "choices": TABLES})
    command(figure, study=study, figure={"required": True, "help": "such as rankings"})
    command(
        simulate,
        config={"required": True, "type": Path, "help": "the simulation's config"},
        cell={"help": "metric/words/bias, or model/kind"},
        model={"help": "fetch this model, and make its store and its pool of random groups"},
    )
    command(
        properties,
        metric={"action": "append", "default": [], "help": "only this one; may be given again"},
        output={
            "type": Path,
            "metavar": "DIR",
            "help": "write properties.csv, counterexamples.json, properties.md and the figures there",
        },
    )
    command(
        factory,
        config={"required": True, "type": Path, "help": "the factory's config"},
        model={"help": "trainer/mu/sigma/replicate"},
    )
    return parser


def _study(path: Path):
    """The study of a config file, or of standard input (-)."""
    from .configs import parse_json
    from .study import Study

    if str(path) == "-":
        sys.stdin.reconfigure(encoding="utf-8")
        try:
            config = parse_json(sys.stdin.read())
        except ValueError as error:
            raise BiasgridError(f"standard input: not JSON: {error}") from None
        return Study.of(config, "standard input")
    return Study.read(path)


def _check_output(output: Path, inputs: list[Path]) -> None:
    """Raises BiasgridError for an output that is one of the inputs, or lies inside of one."""
    for path in inputs:
        if path.resolve() in (output.resolve(), *output.resolve().parents):
            raise BiasgridError(f"{output}: would be written over {path}; give another output")


def _of_file(args: argparse.Namespace) -> dict[str, Any]:
    return {"sha256": args.sha256, "trust_pickle": args.trust_pickle, "vocab_prefix": args.vocab_prefix}


def _options(given: list[str], flag: str = "--param") -> dict[str, Any]:
    options = {}
    for item in given:
        key, equals, value = item.partition("=")
        if not equals or not key:
            raise BiasgridError(f"{flag} {item!r}: expected KEY=VALUE")
        if key in options:
            raise BiasgridError(f"{flag} {key}: given twice")
        options[key] = _value(f"{flag} {key}", value)
    return options


def _value(where: str, text: str) -> Any:
    from .configs import parse_json, parse_yaml

    # JSON first: YAML takes 1e-4 for a word
    try:
        return parse_json(text)
    except ValueError:
        pass
    try:
        return parse_yaml(text)
    except ValueError as error:
        text = text if len(text) <= 80 else f"{text[:80]} ..."
        raise BiasgridError(f"{where}: {text!r} is neither JSON nor YAML: {error}") from None
