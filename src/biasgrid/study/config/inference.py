"""The section `inference`: tests, intervals and sensitivity of every value."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import ConfigDict, PlainValidator, create_model

from ...core.registry import is_pending
from ...core.validation import Strict, field, validate
from ...measure import significance
from ...measure.options import Bootstrap, Interval, Number, Sensitivity
from ...measure.significance import Test, tests
from ...measure.statistics.two_models import MARGIN
from .common import partial

S = TypeVar("S", bound=Strict)


class OfTests(Strict):
    """A section with keys for tests in addition to its own; its class is made from the registered tests."""

    def __reduce__(self) -> tuple[Any, ...]:
        base = Inference if isinstance(self, Inference) else OwnInference
        return _blank, (base, isinstance(self, _Pending)), self.__getstate__()


class Inference(OfTests):
    """Options of the uncertainty of every value: docs/p-values.md. A part that is left out is not computed;
    `{}` is a part with its defaults."""

    bootstrap: Bootstrap = field("bootstrap intervals of values, ranks and correlations", None)
    sensitivity: Sensitivity = field("influence of single words, and split halves", None)
    interval: Interval = field("which interval the tables have", "jackknife")
    adjust: Literal["holm", "benjamini-hochberg"] = field(
        "how p-values are adjusted for the number of tests of a criterion", "holm"
    )
    margin: Number = field(
        "two models are alike if their standardised bias surely differs by at most this much, in standard deviations "
        "of random groups (`answer` of pairs.csv)",
        MARGIN,
        "standard deviations",
        gt=0,
        allow_inf_nan=False,
    )

    @property
    def parts(self) -> dict[str, Strict]:
        """Return the options of the parts that are computed, by name."""
        return {
            part: options
            for part in significance.parts()
            if (options := getattr(self, part, None)) is not None
        }

    @property
    def level(self) -> float:
        """Return the level of intervals, with which p-values are also compared."""
        return (self.bootstrap or Bootstrap()).level

    @property
    def resamples(self) -> int:
        """Return the number of resamples of the words."""
        return self.bootstrap.draws if self.bootstrap else 0


class OwnInference(OfTests):
    """Options of this metric that differ from the study's inference."""


class _Pending(Strict):
    model_config = ConfigDict(extra="allow")


def inference_of_tests(base: type[S]) -> type[S]:
    """Return the section with a key for each test, to which plugins may add.

    With `OwnInference`, it has the options that a metric sets itself.
    """
    return _with_tests(base, tuple(tests()))


@lru_cache(maxsize=8)
def _with_tests(base: type[S], tests: tuple[Test, ...], *more: Any) -> type[S]:
    options = {
        test.name: test.options
        if base is Inference
        else partial(test.options, f"Options of this metric that differ from the study's {test.noun}.")
        for test in tests
    }
    fields: dict[str, Any] = {
        test.name: (options[test.name], field(_meaning(test.options), None)) for test in tests
    }
    return create_model(base.__name__, __base__=(base, *more), __doc__=base.__doc__, **fields)


def _meaning(model: type[Strict]) -> str:
    """Return a model's description in the form of a key's description."""
    text = (model.__doc__ or "").partition("\n")[0].removesuffix(".")
    return text[:1].lower() + text[1:]


def _blank(base: type[S], pending: bool) -> S:
    made_of: Any = _with_tests(base, tuple(tests()), *([_Pending] if pending else []))
    return made_of.__new__(made_of)


def _validate(base: type[S], values: Any) -> S:
    keys = values if isinstance(values, dict) else ()
    # An unknown key may be a test of a plugin that is loaded later, or whose results are read without it.
    is_plugins = is_pending() or any(map(significance.REGISTRY.is_noted, keys))
    return validate(_with_tests(base, tuple(tests()), *([_Pending] if is_plugins else [])), values)


def _check(values: Any) -> Inference:
    return _validate(Inference, values)


def _check_own(values: Any) -> OwnInference:
    return _validate(OwnInference, values)


OfStudy = Annotated[Inference, PlainValidator(_check)]
OfMetric = Annotated[OwnInference, PlainValidator(_check_own)]
