"""Common parts of experiments: a checked config, a grid of cells, and the steps that make their results."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Self

from biasgrid.core.errors import BiasgridError
from biasgrid.core.files import write_text
from biasgrid.core.validation import Strict
from biasgrid.core.web_addresses import public
from biasgrid.study.config import load
from biasgrid.study.paths import Folders
from biasgrid.study.step import Step
from biasgrid.workflow import setup

# The key that a config must have -> the class that checks the config.
EXPERIMENTS = {
    "simulation": "validation.calibration.study:Simulation",
    "factory": "validation.planted_bias.study:Factory",
}
# Placeholder for a step's name in the path of its output.
STEP = "{step}"
# Formats of a figure.
FORMATS = (".pdf", ".svg", ".png")


@dataclass(frozen=True)
class Cell:
    """A point of an experiment's grid.

    Parameters
    ----------
    place
        Axis -> the value of the point.
    spec
        All values on which the results depend.
    """

    place: Mapping[str, Any]
    spec: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Return the values as a path inside the results of the same kind, such as weat/8/0.5."""
        return "/".join(
            f"{value:g}" if isinstance(value, float) else str(value) for value in self.place.values()
        )


@dataclass(frozen=True)
class Rule:
    """Steps of one kind: a rule of the workflow.

    Attributes
    ----------
    name
        The name of the rule.
    steps
        The steps by name.
    files
        The paths of a step's output files, with {step} for its name.
    memory
        Megabytes of a step, or a function of the step's name that returns them; more after each failed try.
    minutes
        The time limit of a step; more after each failed try.
    group
        The name by which a profile groups the jobs.
    wanted
        Whether the run makes all of the steps. Otherwise, it makes only the steps that another step reads.
    """

    name: str
    steps: Mapping[str, Step]
    files: tuple[str, ...]
    memory: int | Callable[[str], int] = 1000
    minutes: int = 5
    group: str | None = None
    wanted: bool = True

    def files_read(self, wildcards: Any) -> list[str]:
        """Return the files that the step of a job reads."""
        return self.steps[wildcards.step].files

    def settings(self, wildcards: Any) -> str:
        """Return the settings of the step of a job."""
        return self.steps[wildcards.step].settings

    def code(self, wildcards: Any) -> str:
        """Return the digest of the code of the step of a job."""
        return self.steps[wildcards.step].code

    def step_name(self, wildcards: Any) -> str:
        """Return the own name of the step of a job."""
        return self.steps[wildcards.step].name

    def memory_of(self, wildcards: Any, attempt: int) -> int:
        """Return the megabytes that a job requests."""
        memory = self.memory if isinstance(self.memory, int) else self.memory(wildcards.step)
        return memory * attempt

    def minutes_of(self, wildcards: Any, attempt: int) -> int:
        """Return the time limit of a job."""
        return self.minutes * attempt

    @property
    def targets(self) -> list[str]:
        """Return the files of all steps, if the run makes all of them."""
        return [file.replace(STEP, name) for name in self.steps for file in self.files if self.wanted]


@dataclass(frozen=True)
class Experiment(Folders):
    """A checked config of an experiment. Build it with `of`."""

    # The model that checks the config.
    CONFIG: ClassVar[type[Strict]]
    # The modules that declare the tables.
    TABLES: ClassVar[tuple[str, ...]]
    # The module that makes the steps of an experiment, with `cell_rules` and `figure_steps`.
    STEPS: ClassVar[str]
    PIN = "python -m validation pin"
    # The config as the user wrote it, joined from several files.
    written: Mapping[str, Any] = field(default_factory=dict)

    def write_config(self, folder: str) -> None:
        """Write the config to a folder, in which the processes of the steps read it."""
        write_text(Path(folder, "config.json"), json.dumps(public(self.written), ensure_ascii=False) + "\n")

    @classmethod
    def of(cls, config: Mapping[str, Any], where: str = "config", root: Path = Path(".")) -> Self:
        """Check a config whose paths are relative to `root`, and return its experiment.

        Raises BiasgridError, which names the wrong key and the allowed values.
        """

        def resolve() -> Self:
            return cls(cls.check(load.complete(cls.CONFIG, config, where, root), where))

        return load.with_plugins(resolve, config, where, root)

    @classmethod
    def read(cls, path: Path | str) -> Self:
        """Read an experiment from its config file (YAML)."""
        return cls.of(load.read(path), str(path))

    @classmethod
    def check(cls, config: Any, where: str) -> Any:
        """Fill in values that follow from other keys. Raises BiasgridError for keys that contradict each other."""
        return config

    def check_files(self) -> None:
        """Check the files that the config names before anything is computed. Raises BiasgridError for wrong ones."""

    def cell_rules(self) -> list[Rule]:
        """Return the rules of the steps that compute."""
        rules: list[Rule] = import_module(self.STEPS).cell_rules(self)
        return rules

    def table_steps(self) -> dict[str, Step]:
        """Return the steps that make the tables, in order, by the path inside the results."""
        return {
            f"{table.name}.csv": Step(
                f"table {table.name}",
                inputs,
                self.results / f"{table.name}.csv",
                {"table": table.name, "module": module, **table.spec(self)},
                "validation.tables:write",
                (module,),
            )
            for module in self.TABLES
            for table in import_module(module).TABLES
            if (inputs := table.inputs_of(self))
        }

    def figure_steps(self) -> dict[str, Step]:
        """Return the steps that draw the figures, by the figure's name. A step's output is the stem of its files."""
        figures: dict[str, Step] = import_module(self.STEPS).figure_steps(self)
        return figures

    @cached_property
    def rules(self) -> dict[str, Rule]:
        """Return the workflow's rules, which have all steps, by name."""
        figures = f"{self.results}/figures/{STEP}"
        rules = [
            *self.cell_rules(),
            Rule("table", self.table_steps(), (f"{self.results}/{STEP}",)),
            Rule("figure", self.figure_steps(), tuple(f"{figures}{end}" for end in FORMATS)),
        ]
        return {rule.name: rule for rule in rules if rule.steps}

    @cached_property
    def steps(self) -> dict[str, Step]:
        """Return all steps by their own names, such as "cell weat/8/0.5"."""
        return {step.name: step for rule in self.rules.values() for step in rule.steps.values()}


def of(config: Mapping[str, Any], where: str = "config", root: Path = Path(".")) -> Experiment:
    """Return the experiment that a config describes. Raises BiasgridError for any other config, and for errors."""
    for key, place in EXPERIMENTS.items():
        if key in config:
            module, _, name = place.partition(":")
            return getattr(import_module(module), name).of(config, where, root)
    raise BiasgridError(
        f"{where}: is no config of an experiment: it has none of the keys {', '.join(EXPERIMENTS)}"
    )


def of_files(files: Sequence[str], options: Mapping[str, Any]) -> Experiment:
    """Return the experiment of config files and the options of Snakemake's command line (`setup.read_config`).

    End the process, with one line and exit code 2, if anything is wrong.
    """
    config, replaces = setup.read_config(files, options)
    try:
        study = of(config, where=", ".join(map(os.path.relpath, files)))
        study.check_files()
    except BiasgridError as error:
        setup.stop(error)
    setup.check_folders(study, files, replaces)
    return replace(study, written=config)
