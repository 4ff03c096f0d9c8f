"""Metrics of bias. Each metric is one file of this package, and an attribute of it: an object that is called with a
query and a model.

    from biasgrid import Query, load, metrics
    metrics.weat(query, model, preprocessors=[{}, {"lowercase": True}]).value
    metrics.weat.template

`metrics.Metric` has what the object declares. A metric of a plugin is an attribute, too. `REGISTRY` maps names to all
of them. A file's own function takes arrays of vectors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.registry import Registry
from .registry import Contrast, Detail, Metric, Score

if TYPE_CHECKING:  # for editors and type checkers; `REGISTRY` finds the files
    from .ceat import CEAT as ceat
    from .completion import COMPLETION as completion
    from .direct_bias import DIRECT_BIAS as direct_bias
    from .ect import ECT as ect
    from .fise import FISE as fise
    from .fise import FISE_SHARE as fise_share
    from .generalized_weat import GENERALIZED_WEAT as generalized_weat
    from .gipe import GIPE as gipe
    from .gipe import PMN as pmn
    from .gipe import PROXIMITY as proximity
    from .ibd import EIBD as eibd
    from .ibd import IBD as ibd
    from .indirect_bias import INDIRECT_BIAS as indirect_bias
    from .lpbs import LPBS as lpbs
    from .lpbs import LPBS_ES as lpbs_es
    from .mac import MAC as mac
    from .mean_pair_difference import MEAN_PAIR_DIFFERENCE as mean_pair_difference
    from .pair_frequency import PAIR_FREQUENCY as pair_frequency
    from .pll_preference import PLL_PREFERENCE as pll_preference
    from .pmi import PMI as pmi
    from .ripa import RIPA as ripa
    from .rnd import RND as rnd
    from .rnsb import RNSB as rnsb
    from .same import SAME as same
    from .same_moments import SAME_SKEW as same_skew
    from .same_moments import SAME_STEREOTYPE as same_stereotype
    from .sc_weat import NAS as nas
    from .sc_weat import SC_WEAT as sc_weat
    from .semaxis import SEMAXIS as semaxis
    from .stereoset import STEREOSET_ICAT as stereoset_icat
    from .stereoset import STEREOSET_LMS as stereoset_lms
    from .stereoset import STEREOSET_SS as stereoset_ss
    from .tuple_preference import TUPLE_PREFERENCE as tuple_preference
    from .weat import WEAT as weat
    from .weat import WEAT_ES as weat_es

__all__ = [
    "REGISTRY",
    "Contrast",
    "Detail",
    "Metric",
    "Score",
    "ceat",
    "completion",
    "direct_bias",
    "ect",
    "eibd",
    "fise",
    "fise_share",
    "generalized_weat",
    "gipe",
    "ibd",
    "indirect_bias",
    "lpbs",
    "lpbs_es",
    "mac",
    "mean_pair_difference",
    "metric",
    "nas",
    "pair_frequency",
    "pll_preference",
    "pmi",
    "pmn",
    "proximity",
    "ripa",
    "rnd",
    "rnsb",
    "same",
    "same_skew",
    "same_stereotype",
    "sc_weat",
    "semaxis",
    "stereoset_icat",
    "stereoset_lms",
    "stereoset_ss",
    "tuple_preference",
    "weat",
    "weat_es",
]


def _replacement(metric: Metric, name: str) -> str:
    """Return the replacement of `metrics.WEAT` for a message."""
    return (
        f"say metrics.{metric.name}: metrics.{metric.name}(query, model) is WEFE's "
        f"{name}().run_query(query, model)"
    )


REGISTRY: Registry[Metric] = Registry(__name__, "METRICS", "metric", replacement=_replacement)
# `metrics.weat` is the metric, although its module is also called `weat`.
globals().update(REGISTRY)


def metric(name: str | Metric) -> Metric:
    """Return a metric by its name.

    Parameters
    ----------
    name
        Name of the metric. Upper case, spaces and hyphens are accepted ("WEAT-ES" is weat_es). Or the metric itself,
        such as `metrics.weat`.

    Returns
    -------
    Metric

    Raises
    ------
    BiasgridError
        If no metric has the name; the message suggests a similar one.
    """
    return name if isinstance(name, Metric) else REGISTRY.find(name)


# Type checkers do not see this function, so that they report unknown names.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        return REGISTRY.member(name)


def __dir__() -> list[str]:
    # List the names that users look for, without this file's own imports.
    return sorted({*__all__, *REGISTRY})
