"""biasgrid: reproducible measurement of social bias in word embeddings and language models.

import biasgrid as bg

model = bg.load("vectors.bin")
sets = bg.word_sets("weat")
query = bg.Query([sets["male_terms"], sets["female_terms"]], [sets["career"], sets["family"]])
bg.metrics.weat(query, model).value
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .core.moved import IN_PLUGINS, MOVED
from .version import __version__ as __version__

if TYPE_CHECKING:
    from . import debias as debias
    from . import metrics as metrics
    from . import word_bias as word_bias
    from .core.errors import BiasgridError as BiasgridError
    from .core.errors import DiskError as DiskError
    from .core.errors import InputError as InputError
    from .core.errors import NetworkError as NetworkError
    from .core.registry import load_plugins as load_plugins
    from .measure.result import Result as Result
    from .measure.value_warnings import LostWordsWarning as LostWordsWarning
    from .measure.value_warnings import NoValueWarning as NoValueWarning
    from .models.encode import encode as encode
    from .models.language_models import language_model as language_model
    from .models.load import load as load
    from .models.store import EmbeddingStore as EmbeddingStore
    from .models.words import WordOptions as WordOptions
    from .queries.query import Query as Query
    from .queries.word_set import WordSet as WordSet
    from .study.in_memory.measure_grid import measure_grid as measure_grid
    from .study.results.open_study import open_study as open_study
    from .study.views.compare_models import compare_models as compare_models
    from .study.views.grid import Grid as Grid
    from .study.views.published import Published as Published
    from .study.views.published import published as published
    from .study.word_sets import word_sets as word_sets

# Public names and the modules that define them; "" marks a name that is a module itself. Each is imported at its
# first use, because pandas, SciPy and scikit-learn together take seconds.
_PUBLIC = {
    "BiasgridError": "core.errors",
    "DiskError": "core.errors",
    "EmbeddingStore": "models.store",
    "Grid": "study.views.grid",
    "InputError": "core.errors",
    "LostWordsWarning": "measure.value_warnings",
    "NetworkError": "core.errors",
    "NoValueWarning": "measure.value_warnings",
    "Published": "study.views.published",
    "Query": "queries.query",
    "Result": "measure.result",
    "WordOptions": "models.words",
    "WordSet": "queries.word_set",
    "compare_models": "study.views.compare_models",
    "debias": "",
    "encode": "models.encode",
    "language_model": "models.language_models",
    "load": "models.load",
    "load_plugins": "core.registry",
    "measure_grid": "study.in_memory.measure_grid",
    "metrics": "",
    "open_study": "study.results.open_study",
    "published": "study.views.published",
    "word_bias": "",
    "word_sets": "study.word_sets",
}

__all__ = [
    "BiasgridError",
    "DiskError",
    "EmbeddingStore",
    "Grid",
    "InputError",
    "LostWordsWarning",
    "NetworkError",
    "NoValueWarning",
    "Published",
    "Query",
    "Result",
    "WordOptions",
    "WordSet",
    "__version__",
    "compare_models",
    "debias",
    "encode",
    "language_model",
    "load",
    "load_plugins",
    "measure_grid",
    "metrics",
    "open_study",
    "published",
    "word_bias",
    "word_sets",
]


def __getattr__(name: str) -> Any:
    if name in MOVED:
        warnings.warn(f"biasgrid.{name} is now biasgrid.{MOVED[name]}", FutureWarning, stacklevel=2)
        return import_module(f".{MOVED[name]}", __name__)
    if name in IN_PLUGINS:
        from .core.registry import load_plugins

        plugin = IN_PLUGINS[name]
        load_plugins([plugin])
        warnings.warn(
            f"biasgrid.{name} is in the plugin {plugin!r}: call biasgrid.load_plugins([{plugin!r}]), and import "
            f"biasgrid_plugin_{plugin}",
            FutureWarning,
            stacklevel=2,
        )
        module = import_module(f"biasgrid_plugin_{plugin}")
        return getattr(module, name, module)
    if name not in _PUBLIC:
        from .core.errors import did_you_mean
        from .core.wefe_names import LINES, of_module

        nearest = "" if name in LINES else did_you_mean(name, __all__).rstrip()
        raise AttributeError(of_module(__name__, name) + (f"; {nearest}" if nearest else ""))
    module = import_module(f".{_PUBLIC[name] or name}", __name__)
    value = getattr(module, name) if _PUBLIC[name] else module
    globals()[name] = value  # later uses do not call this function
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
