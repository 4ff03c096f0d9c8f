"""Tables and figures in two jobs: those that need an evaluation, and the others.

A failed evaluation costs what is made of evaluations, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..study.step import Step


@dataclass(frozen=True)
class Split:
    """The names of steps in two lists.

    Attributes
    ----------
    plan
        The plan of the study.
    without_evaluations
        The steps that do not need an evaluation.
    with_evaluations
        The steps that read an evaluation, or what is made of one.
    """

    plan: Mapping[str, Step]
    without_evaluations: list[str]
    with_evaluations: list[str]

    @property
    def names(self) -> list[str]:
        """The names of all steps."""
        return [*self.without_evaluations, *self.with_evaluations]

    def files_made(self, names: Iterable[str]) -> list[str]:
        """Return the files that steps make."""
        return [file for name in names for file in self.plan[name].outputs]

    def files_read(self, names: Sequence[str]) -> list[str]:
        """Return the files that steps read and none of them makes."""
        made = set(self.files_made(names))
        files = dict.fromkeys(file for name in names for file in self.plan[name].files)
        return [file for file in files if file not in made]


def split(plan: Mapping[str, Step], names: Iterable[str], former: Iterable[str] = ()) -> Split:
    """Split steps by whether they need an evaluation.

    Parameters
    ----------
    plan
        The plan of the study.
    names
        The names of the steps.
    former
        Further steps from which these read and that need an evaluation.
    """
    evaluated = {
        file
        for name in plan
        if name.startswith("evaluation ") or name in set(former)
        for file in plan[name].outputs
    }
    names = list(names)
    evaluated_steps: dict[str, None] = {}
    while True:
        more = {
            name: None
            for name in names
            if name not in evaluated_steps and not evaluated.isdisjoint(plan[name].files)
        }
        if not more:
            break
        evaluated_steps |= more
        evaluated.update(file for name in more for file in plan[name].outputs)
    return Split(
        plan,
        [name for name in names if name not in evaluated_steps],
        [name for name in names if name in evaluated_steps],
    )
