"""Commands that start a study: `init` writes a config, and `run` runs it."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ..core.errors import BiasgridError, quote
from ..core.extras import require
from ..core.processes import SAFE_PATH
from ..core.registry import load_plugins
from ..core.resources import find_file, resource
from .arguments import Commands

if TYPE_CHECKING:
    from ..study.study import Study

TEMPLATE = Path(__file__).with_name("study.template.yaml")
# Snakemake's options that change the config, or the folder to which its paths are relative.
CONFIG = ("--config", "-C")
CHANGING = (*CONFIG, "--configfile", "--configfiles", "--directory", "-d")
PROFILE = Path("profiles/default")
DRY_RUN = {"--dry-run", "--dryrun", "-n"}
CONFIGS: dict[str, Any] = {
    "nargs": "+",
    "type": find_file,
    "metavar": "CONFIG",
    "help": "the config, and others that add to it; a config that comes with biasgrid, such as "
    "config/embedded.yaml, is found from any folder",
}
# Metrics for tables of scores, which do not contain scores of single words.
OF_PAIRS: dict[str, Any] = {"mean_pair_difference": {}, "pll_preference": {}}
MODELS = ["word2vec-google-news-300-subset", "glove-6b-50d"]


def init(args: argparse.Namespace) -> dict[str, Any]:
    """Write the config of a small study, to run at once or to edit.

    biasgrid init my-study
    biasgrid init my-study --models glove-6b-50d my-vectors.bin
    biasgrid init my-study --models smollm2-135m my-bert-folder
    """
    from ..core.validation import validate
    from ..models.shipped_sources import plugins_of, shipped_models
    from ..study.config.common import Key
    from ..study.config.load import merge_part
    from ..study.config.recognised import recognise

    name = validate(Key, args.name.name.removesuffix(".yaml"), "init")
    output = args.name.with_name(f"{name}.yaml")
    # Load the plugins of models that come with biasgrid.
    load_plugins(
        plugins := plugins_of(shipped_models()[name] for name in args.models if name in shipped_models())
    )
    recognised = [recognise(model, "init: models") for model in args.models]
    models = merge_part([model.entry for model in recognised], "models", "init", Path("."))
    pairs = {key: model.pairs for key, model in zip(models, recognised, strict=True) if model.pairs}
    first_metrics = [model.of_kind.first_metrics for key, model in models.items() if key not in pairs]
    metrics = {k: v for of_model in first_metrics for k, v in of_model.items()}
    config = TEMPLATE.read_text(encoding="utf-8").replace("@study@", name)
    config = config.replace("  @models@\n", _yaml([model.entry for model in recognised]))
    config = config.replace("  @metrics@\n", _yaml(metrics or OF_PAIRS))
    if encoders := {key: entry for model in recognised for key, entry in model.encoders.items()}:
        config = config.replace("# encoders: config/encoders.yaml\n", f"encoders:\n{_yaml(encoders)}")
    if pairs:
        before, queries, after = re.split(r"(?s)(?<=\ncriteria:\n)(.*?\n)(?=\n)", config, maxsplit=1)
        others = [key for key in models if key not in pairs]
        if others:
            queries = queries.replace("  Gender:\n", f"  Gender:\n    models: {json.dumps(others)}\n")
        config = before + (queries if others else "") + _criteria_of_pairs(pairs, bool(others)) + after
    if plugins:
        config = config.replace("# plugins: [my_metric.py]", f"plugins: [{', '.join(plugins)}]")
    output.parent.mkdir(parents=True, exist_ok=True)
    try:
        with output.open("x", encoding="utf-8") as file:
            file.write(config)
    except FileExistsError:
        raise BiasgridError(f"{output}: exists already; give a different name, or edit it") from None
    return {"config": str(output), "models": list(models), "then": f"biasgrid run {output}"}


def _yaml(value: Any) -> str:
    """Return the lines of a part of a config, indented."""
    import yaml

    text = yaml.safe_dump(value, allow_unicode=True, width=110, sort_keys=False)
    return re.sub(r"(?m)^(?=.)", "  ", text)


def _criteria_of_pairs(pairs: Mapping[str, list[tuple[str, str]]], own_metrics: bool) -> str:
    """Return a criterion for each table of scores, with its first sentences in pairs, for the user to replace."""
    text = (
        "  # Put pairs of sentences here that differ in the group alone: sentence i of both sets is a pair.\n"
    )
    for key, sentences in pairs.items():
        first, second = zip(*sentences, strict=True)
        query = {"targets": {f"First of {key}": list(first), f"Second of {key}": list(second)}}
        criterion = {"models": [key], **({"metrics": OF_PAIRS} if own_metrics else {})}
        text += _yaml({f"Sentences of {key}": criterion | {"queries": {f"{key}-pairs": query}}})
    return text


def run(args: argparse.Namespace) -> str:
    """Run a study: compute its scores, tables, figures and report. Further options are passed to Snakemake.

    biasgrid run my-study.yaml --cores 4
    biasgrid run my-study.yaml --dry-run
    biasgrid run my-study.yaml --why
    biasgrid run my-study.yaml --why "table scores"
    """
    command = _command(args)
    if args.why is not None:
        # An empty text stands for the whole study.
        return _explain(command, args)
    if not DRY_RUN.isdisjoint(args.extra_arguments):
        _check_inputs(args)
        # a table of jobs; before the user's options, of which the last counts
        command[3:3] = ["--quiet", "rules"]
    sys.stdout.flush()
    # Replace this process by Snakemake, so that signals reach it, and its exit code is the command's exit code.
    os.execve(command[0], command, os.environ | SAFE_PATH)


def _explain(command: list[str], args: argparse.Namespace) -> str:
    """Return the reasons why a run would make one step, or any step, from a dry run of Snakemake."""
    from snakemake_logger_plugin_biasgrid import JOBS

    from ..workflow import explain_rerun
    from ..workflow.setup import logs_of

    study = _study(args)
    if args.why:
        explain_rerun.check(study, args.why)
    with TemporaryDirectory() as folder:
        file = Path(folder, "jobs.json")
        done = subprocess.run([*command, "--dry-run"], env=os.environ | SAFE_PATH | {JOBS: str(file)})
        if done.returncode:
            sys.exit(done.returncode)
        # If there is nothing to do, there is no file.
        jobs = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else []
    reasons = explain_rerun.Why(
        (explain_rerun.Job(rule, reason, tuple(files)) for rule, reason, files in jobs), study, logs_of(study)
    )
    return "\n".join(reasons.lines(args.why) if args.why else reasons.study_lines())


def _check_inputs(args: argparse.Namespace) -> None:
    """Raise BiasgridError for inputs that would make a run fail, because a dry run does not read them."""
    from ..workflow.inputs import problems

    study = _study(args)
    archives = [name for name in study.sources if not study.paths.source_file(name).is_file()]
    models = [name for name in study.models if not study.paths.model_file(name).is_file()]
    if wrong := problems(study, archives, models):
        raise BiasgridError("\nbiasgrid: ".join(wrong))


def _study(args: argparse.Namespace) -> Study:
    from ..study.study import Study

    return Study.of(read_config(args.configs), ", ".join(map(str, args.configs)))


def read_config(paths: list[Path]) -> dict[str, Any]:
    """Return the config of a study, joined from several files (`overlay`)."""
    from ..study.config.load import read
    from ..study.config.overlay import check_has_key, join
    from ..study.study import Study
    from ..workflow.command_line import check_config

    records = [(str(path), read(path)) for path in paths]
    config = join(records)
    for path, record in records:
        check_config(path, record)
    check_has_key(config, Study.KEY, str(paths[0]))
    return config


def _command(args: argparse.Namespace) -> list[str]:
    """Return the command that runs the workflow.

    The study of the configs is checked, so that errors are reported at once. It is not checked if further options
    change the config or the folder of its paths.
    """
    from ..study.study import Study
    from ..workflow import command_line

    config = read_config(args.configs)
    require("snakemake", "biasgrid run")
    if config.get("figures") != []:
        require("matplotlib", f"{args.configs[0]}: drawing figures (figures: [] draws none)")
    if not any(option.partition("=")[0] in CHANGING for option in args.extra_arguments):
        with warnings.catch_warnings(action="ignore"):  # the workflow reads the configs, too, and says them
            Study.of(config, ", ".join(map(str, args.configs)))
    options = list(args.extra_arguments)
    if args.replace:
        # Add to the last --config, because Snakemake uses only the last one.
        if not (place := next((i for i, option in enumerate(options, 1) if option in CONFIG), 0)):
            options += ["--config"]
        options.insert(place or len(options), "replace=true")
    # Put these options before the user's options, because Snakemake uses the last one.
    command = [sys.executable, "-m", "snakemake", "--workflow-profile", str(resource(PROFILE))]
    command += ["--configfile", *map(str, args.configs), "--snakefile", str(resource("Snakefile"))]
    command += ["--cores", str(args.cores), *options]
    command_line.check(command[3:])
    return command


def add(commands: Commands) -> None:
    command = commands.add(
        init,
        models={
            "nargs": "+",
            "default": MODELS,
            "metavar": "MODEL",
            "help": "names of models (biasgrid list models), or files and folders with vectors, a corpus, a language "
            "model, an encoder, or a table of scores; default: two small models, an 84 MB download",
        },
    )
    command.add_argument(
        "name", type=Path, help="the study's name: writes NAME.yaml, and never replaces a file"
    )
    command = commands.add(run, takes_extra_arguments=True)
    command.add_argument("configs", **CONFIGS)
    command.add_argument(
        "--cores",
        type=_cores,
        default="all",
        metavar="N",
        help="number of steps that run at a time (default: one per core)",
    )
    command.add_argument(
        "--why",
        nargs="?",
        const="",
        metavar="STEP",
        help="run nothing, but list the steps that would run, and the changed word, parameter or module that is the "
        'reason; with STEP, explain one step, such as "table scores" or "cell MODEL/DEBIAS/METRIC/QUERY". Write it '
        "after CONFIG",
    )
    command.add_argument("--replace", action="store_true", help="replace the results of another config file")


def _cores(text: str) -> str:
    if text != "all" and not (text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"{quote(text)} is not a whole number from 1, nor 'all'")
    return text
