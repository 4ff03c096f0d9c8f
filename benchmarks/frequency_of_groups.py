"""Do words' scores go with frequency between the query's groups more than between any groups as frequent?

    snakemake --cores 2 stores --configfile config/embedded.yaml
    python benchmarks/frequency_of_groups.py

Of each of the two GloVe models of the embedded study: Spearman's rank correlation of RND's word scores (the distance
to the second group less that to the first) with the words' rank in the model, turned round, for all attribute words
of the study; then the same for 400 random pairs of groups that are as frequent, word by word within a factor of
two in rank, and for 400 of any frequency. docs/p-values.md has what it prints.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import spearmanr

from biasgrid.models.store import EmbeddingStore
from biasgrid.study.study import Study

MODELS = {"glove-6b-50d": 50_000, "glove-840b-300d-filtered": 33_000}  # rows that random words are drawn from
QUERIES = {"Gender": "gender_1", "Ethnicity": "eth_1", "Religion": "rel_1"}
PAIRS = 400


def rows_of(store: EmbeddingStore, words: list[str]) -> np.ndarray:
    """The rows of those of the words, as written or in lower case, that the model has."""
    rows, lower = store.rows(words), store.rows([word.lower() for word in words])
    rows = np.where(rows >= 0, rows, lower)
    return np.unique(rows[rows >= 0])


def correlation(
    store: EmbeddingStore, rows: np.ndarray, vectors: np.ndarray, first: np.ndarray, second: np.ndarray
) -> float:
    """Spearman's, of how much nearer words (`rows`, `vectors`) are to the first group's mean, and how frequent."""
    means = (np.asarray(store.array[group], dtype=float).mean(axis=0) for group in (first, second))
    near, far = (np.linalg.norm(vectors - mean, axis=1) for mean in means)
    return float(spearmanr(far - near, -rows).statistic)


def main() -> None:
    study = Study.read("config/embedded.yaml")
    for model, last in MODELS.items():
        store = EmbeddingStore.open(f"data/embeddings/{model}")
        for criterion, query in QUERIES.items():
            of_criterion = study.config.criteria[criterion].queries
            lists = {
                word for key in of_criterion for s in study.queries[key].attribute_sets for word in s.words
            }
            rows = rows_of(store, sorted(lists))
            words = store, rows, np.asarray(store.array[rows], dtype=float)

            groups = [rows_of(store, list(s.words)) for s in study.queries[query].target_sets]
            rng = np.random.default_rng(0)
            alike, any_frequency, differences = [], [], []
            for _ in range(PAIRS):
                alike.append(
                    correlation(
                        *words, *(rng.integers((g + 1) // 2, np.minimum(2 * g + 2, last)) for g in groups)
                    )
                )
                drawn = [np.exp(rng.uniform(np.log(200), np.log(last), len(g))).astype(int) for g in groups]
                any_frequency.append(correlation(*words, *drawn))
                differences.append(np.log(drawn[1]).mean() - np.log(drawn[0]).mean())
            low, high = np.quantile(alike, [0.025, 0.975])
            of_differences = np.corrcoef(any_frequency, differences)[0, 1]
            print(
                f"{model}, {criterion}, {len(rows)} words: the query's groups {correlation(*words, *groups):.2f}; as "
                f"frequent: mean {np.mean(alike):.2f}, central 95 % {low:.2f} to {high:.2f}; of any frequency: r "
                f"{of_differences:.2f} with the groups' difference in log frequency",
                flush=True,
            )


if __name__ == "__main__":
    main()
