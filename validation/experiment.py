"""What experiments have in common: a checked config, a grid of cells, and the steps that make their results."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Self

from biasgrid.config import load
from biasgrid.errors import BiasgridError
from biasgrid.files import write_text
from biasgrid.plan.paths import Folders
from biasgrid.plan.step import Step
from biasgrid.validation import Strict
from biasgrid.web_addresses import public
from biasgrid.workflow import setup

# what a config names first -> the class that checks it
EXPERIMENTS = {
    "simulation": "validation.calibration.study:Simulation",
    "factory": "validation.planted_bias.study:Factory",
}
STEP = "{step}"  # stands for a step's name in the path of its output
FORMATS = (".pdf", ".svg", ".png")  # of a figure


@dataclass(frozen=True)
class Cell:
    """A point of an experiment's grid.

    place  axis -> the value there
    spec   everything that its results depend on
    """

    place: Mapping[str, Any]
    spec: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The values, such as weat/8/0.5: its path below the results of its kind."""
        return "/".join(
            f"{value:g}" if isinstance(value, float) else str(value) for value in self.place.values()
        )


@dataclass(frozen=True)
class Rule:
    """Steps of a kind: a rule of the workflow.

    Attributes
    ----------
    name
        The rule's.
    steps
        The steps by name.
    files
        The paths of what a step writes, with {step} for its name.
    memory
        Megabytes of a step, or of a step by its name; more after each try that failed.
    minutes
        Its time limit; more after each try.
    group
        What a profile groups such jobs by.
    wanted
        Whether the run makes all of them; else only those that another step reads.
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
        """Return a digest of the code of the step of a job."""
        return self.steps[wildcards.step].code

    def step_name(self, wildcards: Any) -> str:
        """Return the own name of the step of a job."""
        return self.steps[wildcards.step].name

    def memory_of(self, wildcards: Any, attempt: int) -> int:
        """Return the megabytes that a job asks for."""
        memory = self.memory if isinstance(self.memory, int) else self.memory(wildcards.step)
        return memory * attempt

    def minutes_of(self, wildcards: Any, attempt: int) -> int:
        """Return the time limit of a job."""
        return self.minutes * attempt

    @property
    def targets(self) -> list[str]:
        """The files of all of its steps that are wanted."""
        return [file.replace(STEP, name) for name in self.steps for file in self.files if self.wanted]


@dataclass(frozen=True)
class Experiment(Folders):
    """A checked config of an experiment. Build it with `of`."""

    CONFIG: ClassVar[type[Strict]]  # what its config may hold
    TABLES: ClassVar[tuple[str, ...]]  # the modules that declare its tables
    STEPS: ClassVar[str]  # the module that makes its steps of an experiment: `cell_rules`, `figure_steps`
    PIN = "python -m validation pin"
    written: Mapping[str, Any] = field(
        default_factory=dict
    )  # the config as it is written, of several files joined

    def write_config(self, folder: str) -> None:
        """Write the config to a folder, where the processes of its steps read it."""
        write_text(Path(folder, "config.json"), json.dumps(public(self.written), ensure_ascii=False) + "\n")

    @classmethod
    def of(cls, config: Mapping[str, Any], where: str = "config", root: Path = Path(".")) -> Self:
        """A config whose paths are relative to `root`.

        Raises BiasgridError naming the key that is wrong and what is allowed there.
        """

        def resolve() -> Self:
            return cls(cls.check(load.complete(cls.CONFIG, config, where, root), where))

        return load.with_plugins(resolve, config, where, root)

    @classmethod
    def read(cls, path: Path | str) -> Self:
        """An experiment from its config file (YAML)."""
        return cls.of(load.read(path), str(path))

    @classmethod
    def check(cls, config: Any, where: str) -> Any:
        """A config with what follows from other keys filled in. Raises BiasgridError for what keys say together."""
        return config

    def check_files(self) -> None:
        """Read the files that the config names, before anything is computed. Raises BiasgridError."""

    def cell_rules(self) -> list[Rule]:
        """The steps that compute."""
        rules: list[Rule] = import_module(self.STEPS).cell_rules(self)
        return rules

    def table_steps(self) -> dict[str, Step]:
        """The steps that make the tables, in order, by the path below the results."""
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
        """The steps that draw the figures, by the figure's name; a step's output is its files' stem."""
        figures: dict[str, Step] = import_module(self.STEPS).figure_steps(self)
        return figures

    @cached_property
    def rules(self) -> dict[str, Rule]:
        """All its steps: the workflow's rules by name."""
        figures = f"{self.results}/figures/{STEP}"
        rules = [
            *self.cell_rules(),
            Rule("table", self.table_steps(), (f"{self.results}/{STEP}",)),
            Rule("figure", self.figure_steps(), tuple(f"{figures}{end}" for end in FORMATS)),
        ]
        return {rule.name: rule for rule in rules if rule.steps}

    @cached_property
    def steps(self) -> dict[str, Step]:
        """All its steps by their own names, such as "cell weat/8/0.5"."""
        return {step.name: step for rule in self.rules.values() for step in rule.steps.values()}


def of(config: Mapping[str, Any], where: str = "config", root: Path = Path(".")) -> Experiment:
    """The experiment that a config describes. Raises BiasgridError for one of no experiment, and a wrong one."""
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
