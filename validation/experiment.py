"""What experiments have in common: a checked config, a grid of cells, and the steps that make their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Self

from biasgrid.config import load
from biasgrid.errors import BiasgridError
from biasgrid.plan.paths import Folders
from biasgrid.plan.step import Step
from biasgrid.validation import Strict

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

    name       the rule's
    steps      a step's name -> the step
    files      the paths of what a step writes, with {step} for its name
    in_worker  whether it runs in one of the run's processes: what computes for long. Else it is a thread
    memory     megabytes of a step, or of a step by its name; more after each try that failed
    minutes    its time limit; more after each try
    group      what a profile groups such jobs by
    wanted     whether the run makes all of them; else only those that another step reads
    """

    name: str
    steps: Mapping[str, Step]
    files: tuple[str, ...]
    in_worker: bool = True
    memory: int | Callable[[str], int] = 1000
    minutes: int = 5
    group: str | None = None
    wanted: bool = True

    def step(self, wildcards: Any) -> Step:
        """The step of a job."""
        return self.steps[wildcards.step]

    def memory_of(self, wildcards: Any, attempt: int) -> int:
        """Megabytes for a job."""
        memory = self.memory if isinstance(self.memory, int) else self.memory(wildcards.step)
        return memory * attempt

    def minutes_of(self, wildcards: Any, attempt: int) -> int:
        """A job's time limit."""
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
    COMMAND = "python -m validation"

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
            Rule("table", self.table_steps(), (f"{self.results}/{STEP}",), in_worker=False),
            # in a worker, which draws one at a time: matplotlib's settings belong to a process
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
