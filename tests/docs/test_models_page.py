"""docs/models.md: its numbers are those of the tables that its pictures are drawn from."""

import pandas as pd
from conftest import ROOT

IMAGES = ROOT / "docs" / "images"
PAGE = " ".join((ROOT / "docs" / "models.md").read_text(encoding="utf-8").split())


def read(name):
    return pd.read_csv(IMAGES / f"{name}.csv")


def interval(row, over):
    low, high = (f"{row[f'{over}_{end}']:.2f}".removeprefix("0") for end in ("low", "high"))
    return f"[{low}, {high}] over {over}"


def test_agreement_of_types():
    (gender,) = read("query-ranks.query_agreement").to_dict("records")
    intervals = f"{interval(gender, 'words')} and {interval(gender, 'queries')}"
    assert f"Kendall's W of the seven orders is {gender['kendalls_w']:.2f}".replace("0.", ".") in PAGE
    assert f"The 95 % interval is {intervals} (p = .0001)" in PAGE
    assert gender["p_value"] == 0.0001
    (weat,) = read("query-ranks-weat.query_agreement").to_dict("records")
    intervals = f"{interval(weat, 'words')} and {interval(weat, 'queries')}"
    assert f"W of six models is {weat['kendalls_w']:.2f}, {intervals} (p = .0002)".replace("0.", ".") in PAGE
    assert weat["p_value"] == 0.0002


def test_correlations_of_pairs():
    gender = read("query-ranks.query_correlations")
    above = (gender[["words_low", "queries_low"]] > 0).all(axis=1).sum()
    low, high = (f"{value:.2f}".removeprefix("0") for value in gender["correlation"].agg(["min", "max"]))
    assert f"all {len(gender)} rank correlations are positive, from {low} to {high}" in PAGE
    assert f"For {above} of them, both intervals are above 0" in PAGE
    weat = read("query-ranks-weat.query_correlations")
    significant = weat[weat["p_value"] < 0.05].sort_values("correlation", ascending=False)
    assert list(zip(significant["model_a"], significant["model_b"], strict=True)) == [
        ("glove-6b-50d", "word2vec-google-news-300-subset"),
        ("bert-tiny-brown", "word2vec-google-news-300-subset"),
    ]
    first, second = (f"{value:.2f}".removeprefix("0") for value in significant["correlation"])
    assert f"GloVe and word2vec agree ({first}), and BERT-tiny and word2vec ({second})" in PAGE
    assert f"None of the other {len(weat) - 2} pairs" in PAGE


def test_orders_of_the_queries():
    ranks = read("query-ranks").pivot(index="query_id", columns="model", values="rank")
    columns = read("query-ranks").groupby(["model", "metric"]).ngroups
    assert columns == 7
    science = ranks.loc["gender_science"]
    assert f"the rank of science varies from {science.min():.0f} to {science.max():.0f}" in PAGE


def test_untrained_encoders():
    ranks = read("encoder-atlas.rankings").query("criterion == 'Overall'")
    ranks = ranks.pivot(index="model", columns="metric", values="rank")
    assert set(ranks["weat_es"].nsmallest(2).index) == {"random-minilm-word", "random-minilm-sentence"}
    assert ranks["mac"].idxmax() == "random-minilm-sentence"
    minilm = ranks.filter(regex="^minilm-", axis=0)
    assert sorted(minilm["mac"]) == [1, 2, 6]
    assert sorted(minilm["ect"]) == [2, 8, 10]
    assert "MiniLM is first, second or sixth for MAC, and second, eighth or tenth for ECT" in PAGE
