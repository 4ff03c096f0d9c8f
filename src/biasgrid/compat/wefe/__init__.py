"""WEFE 1.0.1's names, signatures and results over this library's calls: its scripts run with their imports changed.

In place of `from wefe.metrics import WEAT` (or wefe.query, wefe.utils, wefe.datasets, wefe.debias...):

    from biasgrid.compat.wefe import WEAT, Query, WordEmbeddingModel, load_weat

Values are WEFE's but where it has a defect (docs/differences.md); p-values are of a permutation test, exact where
there are few permutations. An option that no function has is an error: WEFE ignores it.
"""

from __future__ import annotations

from .datasets import (
    fetch_debias_multiclass,
    fetch_debiaswe,
    fetch_eds,
    fetch_gn_glove,
    get_embeddings_from_set,
    load_bingliu,
    load_test_model,
    load_weat,
    preprocess_word,
)
from .debias import (
    DoubleHardDebias,
    HalfSiblingRegression,
    HardDebias,
    MulticlassHardDebias,
    RepulsionAttractionNeutralization,
)
from .metrics import ECT, MAC, RIPA, RND, RNSB, WEAT
from .models import Query, WordEmbeddingModel
from .tables import (
    calculate_ranking_correlations,
    create_ranking,
    generate_subqueries_from_queries_list,
    plot_queries_results,
    plot_ranking,
    plot_ranking_correlations,
    run_queries,
)

__all__ = [
    "ECT",
    "MAC",
    "RIPA",
    "RND",
    "RNSB",
    "WEAT",
    "DoubleHardDebias",
    "HalfSiblingRegression",
    "HardDebias",
    "MulticlassHardDebias",
    "Query",
    "RepulsionAttractionNeutralization",
    "WordEmbeddingModel",
    "calculate_ranking_correlations",
    "create_ranking",
    "fetch_debias_multiclass",
    "fetch_debiaswe",
    "fetch_eds",
    "fetch_gn_glove",
    "generate_subqueries_from_queries_list",
    "get_embeddings_from_set",
    "load_bingliu",
    "load_test_model",
    "load_weat",
    "plot_queries_results",
    "plot_ranking",
    "plot_ranking_correlations",
    "preprocess_word",
    "run_queries",
]
