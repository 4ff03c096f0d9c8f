"""WEFE 1.0.1's names, signatures and results with this library's functions, for existing scripts.

The modules have WEFE's names, so that in a script only `wefe` must be replaced by `biasgrid.compat.wefe`:

    from biasgrid.compat.wefe.metrics.WEAT import WEAT
    from biasgrid.compat.wefe.query import Query

All names are also here: `from biasgrid.compat.wefe import WEAT, Query`. Values equal WEFE's, except where
WEFE has a defect (docs/migration.md). p-values are from a permutation test, which is exact if there are few
permutations. An option that no function has is an error, while WEFE ignores it.
"""

from __future__ import annotations

from .datasets import (
    fetch_debias_multiclass,
    fetch_debiaswe,
    fetch_eds,
    fetch_gn_glove,
    load_bingliu,
    load_weat,
)
from .debias import (
    BaseDebias,
    DoubleHardDebias,
    HalfSiblingRegression,
    HardDebias,
    MulticlassHardDebias,
    RepulsionAttractionNeutralization,
)
from .fitted import check_is_fitted
from .metrics import ECT, MAC, RIPA, RND, RNSB, WEAT, BaseMetric
from .preprocessing import (
    get_embeddings_from_query,
    get_embeddings_from_set,
    get_embeddings_from_sets,
    get_embeddings_from_tuples,
    preprocess_word,
)
from .query import Query
from .utils import (
    calculate_ranking_correlations,
    create_ranking,
    flair_to_gensim,
    generate_subqueries_from_queries_list,
    load_test_model,
    load_weat_w2v,
    plot_queries_results,
    plot_ranking,
    plot_ranking_correlations,
    run_queries,
)
from .word_embedding_model import WordEmbeddingModel

__all__ = [
    "ECT",
    "MAC",
    "RIPA",
    "RND",
    "RNSB",
    "WEAT",
    "BaseDebias",
    "BaseMetric",
    "DoubleHardDebias",
    "HalfSiblingRegression",
    "HardDebias",
    "MulticlassHardDebias",
    "Query",
    "RepulsionAttractionNeutralization",
    "WordEmbeddingModel",
    "calculate_ranking_correlations",
    "check_is_fitted",
    "create_ranking",
    "fetch_debias_multiclass",
    "fetch_debiaswe",
    "fetch_eds",
    "fetch_gn_glove",
    "flair_to_gensim",
    "generate_subqueries_from_queries_list",
    "get_embeddings_from_query",
    "get_embeddings_from_set",
    "get_embeddings_from_sets",
    "get_embeddings_from_tuples",
    "load_bingliu",
    "load_test_model",
    "load_weat",
    "load_weat_w2v",
    "plot_queries_results",
    "plot_ranking",
    "plot_ranking_correlations",
    "preprocess_word",
    "run_queries",
]
