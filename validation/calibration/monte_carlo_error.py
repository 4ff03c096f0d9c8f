"""Is the Monte Carlo error of standardised bias right? Random groups drawn again, with other seeds.

    python -m validation.calibration.monte_carlo_error [--criterion Gender] [--seeds 16]

The reported error takes random groups around different words for independent, although they may share words. Here,
the baseline of each score of the embedded study is drawn with several seeds. Printed are, for each model and metric,
the standard deviation of the standardised bias over seeds, divided by the reported error. Both are root mean squares
over scores. Above 1, the reported error is too small. Models are those that `make study` downloads.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from biasgrid.measure.significance.random_groups import SCALE, effective_topics
from biasgrid.measure.statistics.scale import Scale

from .few_topics import Null, has_test, nulls

METRICS = ("weat", "rnd", "rnsb")
MODELS = (
    "glove-6b-50d",
    "glove-840b-300d-filtered",
    "spacy-en-core-web-md-3.7.1",
    "word2vec-google-news-300-subset",
)
# Enough of these draws do not have a word of the query, so that the scale is complete.
DRAWS = 2000


def read_again(found: Iterable[Sequence[Null]]) -> pd.DataFrame:
    """Return the standardised bias of each score, and its reported error, in each draw of the baselines.

    Parameters
    ----------
    found
        For each seed, the scores from `few_topics.nulls`.
    """
    rows = []
    for seed, scores in enumerate(found):
        for null in scores:
            if not has_test(null.topics, null.words):
                continue
            read = Scale.of(null.distances[:SCALE], null.topics[:SCALE, 0], 0.0).read(null.observed)
            apart = np.nan if null.words is None else effective_topics(null.words[:SCALE])
            rows.append((null.metric, null.query, seed, read.value, read.error, apart))
    return pd.DataFrame(rows, columns=["metric", "query", "seed", "value", "error", "apart"])


def ratios(table: pd.DataFrame) -> pd.DataFrame:
    """Return for each metric the number of scores, the topics apart, and the ratio of deviation to reported error."""
    # Keep one of each, because sub-queries of two queries may be the same.
    table = table.drop_duplicates(["metric", "query", "seed"])
    by_score = table.groupby(["metric", "query"])
    found = pd.DataFrame(
        {
            "variance": by_score["value"].var(ddof=1),
            "reported": by_score["error"].apply(lambda errors: (errors**2).mean()),
            "apart": by_score["apart"].mean(),
        }
    ).groupby("metric")
    means = found.mean()
    ratio = np.sqrt(means["variance"] / means["reported"])
    return pd.DataFrame({"scores": found.size(), "apart": means["apart"], "ratio": ratio})


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--criterion", default="Gender")
    parser.add_argument("--seeds", type=int, default=16)
    parser.add_argument("--models", nargs="+", default=MODELS)
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    for model in given.models:
        with threadpool_limits(1):
            found = [
                list(nulls(model, METRICS, DRAWS, given.criterion, seed=seed)) for seed in range(given.seeds)
            ]
        print(model, ratios(read_again(found)).round(2).to_string(), sep="\n", flush=True)


if __name__ == "__main__":
    main()
