"""The tables over phenomena: tests of a metric's mean, and how its values go with frequency and with a corpus."""

import math

import numpy as np
import pandas as pd
import pytest
from biasgrid_plugin_maddalozzo.tables.phenomena import ALWAYS, PHENOMENA
from biasgrid_plugin_maddalozzo.tables.phenomenon_correlations import PHENOMENON_CORRELATIONS
from conftest import grid_config
from in_process import make_cells, make_inputs, make_tables
from scipy import stats

import biasgrid
from biasgrid import tables
from biasgrid.core.in_memory import InMemory
from biasgrid.study.study import Study
from biasgrid.tables.aggregates import AGGREGATES
from biasgrid.tables.corpus_correlations import CORPUS_CORRELATIONS

D, N = 20, 10
KEYS = ["metric", "model"]


def written(path, words, vectors):
    rows = (
        f"{word} {' '.join(f'{x:.6f}' for x in vector)}" for word, vector in zip(words, vectors, strict=True)
    )
    path.write_text(f"{len(words)} {D}\n" + "\n".join(rows) + "\n")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Ten phenomena on two models: in `one` all lean to the first group, in `two` none does."""
    folder = tmp_path_factory.mktemp("phenomena")
    rng = np.random.default_rng(5)
    groups = {name: [f"{name.lower()}{i}" for i in range(8)] for name in "AB"}
    sets = {f"P{i}": {"words": [f"p{i}w{j}" for j in range(6)], "reason": "a test"} for i in range(N)}
    words = [*groups["A"], *groups["B"], *(word for entry in sets.values() for word in entry["words"])]
    words += [f"other{i}" for i in range(1500)]
    apart = np.zeros((len(words), D))
    apart[:8, 0], apart[8:16, 0] = 2.5, -2.5
    for name, lean in (("one", 0.8), ("two", 0.0)):
        toward = apart.copy()
        toward[16 : 16 + 6 * N, 0] = lean
        written(folder / f"{name}.txt", words, rng.normal(size=(len(words), D)) + toward)
    config = grid_config()
    config["criteria"] = {"Over": {"ranked": False, "phenomena": {"groups": groups, "sets": sets}}}
    config["metrics"] = {
        "rnd": {"params": {"distance": "cos"}, "words": {"normalize": True}},
        "direct_bias": {"params": {"direction": "sum"}},
    }
    # of words around no topic, no two groups are as far apart as these
    config |= {"inference": {"random_groups": {"draws": 499, "match": "within"}}, "seed": 3}
    for model in config["models"].values():
        model["source"]["path"] = str(folder / model["source"]["path"])
    config |= {"results": str(folder / "results"), "embeddings": str(folder / "embeddings")}
    study = Study.of(config)
    make_inputs(study)
    make_cells(study)
    make_tables(study, "phenomena")
    return study


def row(table, **keys):
    for key, value in keys.items():
        table = table[table[key] == value]
    assert len(table) == 1
    return table.iloc[0]


@pytest.mark.slow
def test_the_mean_over_phenomena_is_tested(study):
    table = tables.read(study.paths.table_file("phenomena"))
    scores = tables.read(study.paths.table_file("scores"))
    assert len(table) == 4
    for metric in ("rnd", "direct_bias"):
        for model in ("one", "two"):
            mine = scores[(scores["metric"] == metric) & (scores["model"] == model)]["value"]
            found = row(table, metric=metric, model=model)
            assert found["n"] == N
            assert (found["mean"], found["sd"]) == pytest.approx((mine.mean(), mine.std(ddof=1)))
            assert found["z"] == pytest.approx(mine.mean() / (mine.std() / math.sqrt(N)))
            assert found["p_z"] == pytest.approx(2 * stats.norm.sf(abs(found["z"])))
            if metric == "rnd":
                assert found["p_t"] == pytest.approx(stats.ttest_1samp(mine, 0).pvalue)


def test_a_lean_is_found_by_both_tests_and_its_lack_by_the_valid_one_alone(study):
    table = tables.read(study.paths.table_file("phenomena"))
    decisions = table.set_index(KEYS)[["rejects_z", "rejects_valid"]].apply(tuple, axis=1).to_dict()
    assert decisions == {
        ("rnd", "one"): ("yes", "yes"),
        ("rnd", "two"): ("no", "no"),
        ("direct_bias", "one"): ("yes", "yes"),
        ("direct_bias", "two"): ("yes", "no"),
    }
    direct = table[table["metric"] == "direct_bias"]
    assert set(direct["z_note"]) == {ALWAYS}
    assert direct[["p_t", "p_sign_flips"]].isna().all(axis=None)
    assert set(direct["valid_test"]) == {"random groups"}
    assert set(table.loc[table["metric"] == "rnd", "valid_test"]) == {"sign flips"}
    assert set(table.loc[table["metric"] == "rnd", "z_note"]) == {""}


def test_the_mean_is_tested_against_random_groups_as_aggregates_are(study):
    table = tables.read(study.paths.table_file("phenomena")).set_index(KEYS)["p_groups"]
    aggregates = tables.read(study.paths.table_file("aggregates"))
    tested = aggregates.dropna(subset="p_groups").set_index(KEYS)
    assert table.to_dict() == tested["p_groups"].to_dict()
    assert tested["scores_in_test"].tolist() == [N] * 4
    assert set(aggregates["criterion"]) == {"Over"}
    # each of the phenomena leans, or none
    assert table["direct_bias", "one"] < 0.02 < 0.1 < table["direct_bias", "two"]


ATTRIBUTES = {"C": ["c"], "D": ["d"]}


def test_phenomena_that_are_not_ranked_are_no_part_of_the_mean_over_all_topics():
    config = grid_config()
    groups, sets = (
        {"A": ["a"], "B": ["b"]},
        {f"P{i}": {"words": [f"p{i}"], "reason": "a test"} for i in range(3)},
    )
    config["criteria"]["Over"] = {"ranked": False, "phenomena": {"groups": groups, "sets": sets}}
    queries = config["criteria"]["First"]["queries"]
    config["criteria"]["Second"] = {
        "ranked": False,
        "queries": {"q3": queries.pop("q2") | {"attributes": ATTRIBUTES}},
    }
    config |= {"metrics": {"rnd": {}}, "inference": {"random_groups": {}}}
    study = Study.of(config)
    found = set(map(tuple, study.grid.aggregate_criteria.values()))
    assert found == {(*sorted([*study.ranked_criteria, "Over"]), "Overall")}
    config["criteria"] = {"Over": config["criteria"]["Over"]}
    alone = Study.of(config)
    assert set(map(tuple, alone.grid.aggregate_criteria.values())) == {("Over",)}


def test_studies_without_phenomena_have_no_such_tables():
    found = Study.of(
        grid_config()
        | {
            "criteria": {
                "A": {
                    "queries": {
                        "q": {"targets": {"A": ["a"], "B": ["b"]}, "attributes": {"C": ["c"], "D": ["d"]}}
                    }
                }
            }
        }
    ).tables
    assert not {"phenomena", "phenomenon_correlations"} & set(found)


def scores_of(values):
    """A table of scores: (metric, model) -> value of each phenomenon."""
    rows = [
        {
            "criterion": "Over",
            "query": f"A and B wrt P{i}",
            "query_id": f"over_p{i}",
            "metric": metric,
            "model": model,
            "debias": "none",
            "value": value,
            "p_groups": math.nan,
        }
        for (metric, model), numbers in values.items()
        for i, value in enumerate(numbers)
    ]
    return InMemory(("scores",), pd.DataFrame(rows))


def no_tests():
    """A table of aggregates of which none has a test."""
    return InMemory(("aggregates",), pd.DataFrame(columns=AGGREGATES.names))


def frequency_of(model, means):
    rows = [
        {
            "criterion": "Over",
            "query_id": f"over_p{i}",
            "set": name,
            "model": model,
            "mean": mean * scale,
            "variance": mean**2 * scale,
        }
        for i, mean in enumerate(means)
        for name, scale in ((f"P{i}", 1), ("A", 7))
    ]
    return pd.DataFrame(rows)


SPEC = {
    "phenomena": {"Over": {f"over_p{i}": f"P{i}" for i in range(N)}},
    "corpus_metrics": {"Over": ["pmi"]},
    "corpora": ["text"],
    "seed": 1,
}


def test_values_are_correlated_with_frequency_and_with_a_corpus():
    rng = np.random.default_rng(2)
    means, pmi, bias, other = rng.random((4, N))
    pmi[3] = math.nan
    scores = scores_of({("pmi", "text"): pmi, ("rnd", "own"): bias, ("rnd", "counted"): other})
    # `own` has counts of its own, `counted` those of no corpus but the text's
    frequency = pd.concat([frequency_of("text", means), frequency_of("own", means[::-1])])
    inputs = {"scores": scores, "frequency": InMemory(("frequency",), frequency)}
    table = PHENOMENON_CORRELATIONS.make(inputs, SPEC)
    expected = {
        ("pmi", "text", "frequency", "text"): (pmi, means),
        ("pmi", "text", "frequency_variance", "text"): (pmi, means**2),
        ("rnd", "own", "frequency", "own"): (bias, means[::-1]),
        ("rnd", "own", "frequency_variance", "own"): (bias, means[::-1] ** 2),
        ("rnd", "own", "pmi", "text"): (bias, pmi),
        ("rnd", "counted", "frequency", "text"): (other, means),
        ("rnd", "counted", "frequency_variance", "text"): (other, means**2),
        ("rnd", "counted", "pmi", "text"): (other, pmi),
    }
    assert len(table) == 2 * len(expected)
    for (metric, model, quantity, of), pair in expected.items():
        x, y = (np.array(values)[~np.isnan(sum(pair))] for values in pair)
        found = {"metric": metric, "model": model, "quantity": quantity, "of": of}
        for method, correlation in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr)):
            mine = row(table, **found, method=method)
            assert mine["n"] == len(x)
            assert mine["correlation"] == pytest.approx(correlation(x, y).statistic)
            assert mine["ci_low"] <= mine["correlation"] <= mine["ci_high"]


def test_a_study_without_frequencies_has_what_its_corpora_say():
    scores = scores_of({("pmi", "text"): np.arange(N), ("rnd", "own"): np.arange(N)})
    table = PHENOMENON_CORRELATIONS.make({"scores": scores}, SPEC)
    assert set(table["quantity"]) == {"pmi"}
    assert table["correlation"].tolist() == pytest.approx([1, 1])
    empty = PHENOMENON_CORRELATIONS.make({"scores": scores}, SPEC | {"corpus_metrics": {"Over": []}})
    assert list(empty) == PHENOMENON_CORRELATIONS.names
    assert empty.empty


def test_phenomena_without_a_value_do_not_count():
    values = np.array([math.nan, 1.0, 2.0, 3.0])
    spec = SPEC | {"neutral": [["Over", "rnd", 0.0, True]]}
    found = PHENOMENA.make(
        {"scores": scores_of({("rnd", "own"): values}), "aggregates": no_tests()}, spec
    ).iloc[0]
    assert (found["n"], found["mean"], found["sd"]) == (3, 2, 1)
    # of the eight choices of signs two have a mean of 2 or more, or -2 or less
    assert found["p_sign_flips"] == 0.25
    assert (found["rejects_z"], found["rejects_valid"]) == ("yes", "no")
    none = PHENOMENA.make(
        {"scores": scores_of({("rnd", "own"): values[:1]}), "aggregates": no_tests()}, spec
    ).iloc[0]
    assert (none["n"], none["rejects_z"], none["rejects_valid"], none["valid_test"]) == (0, "", "", "")


# vectors beside corpora, over queries


def pairs_config():
    """Five queries of two target sets and a pair of attribute sets each, on vectors and on a corpus."""
    targets = {"X": ["x0", "x1"], "Y": ["y0", "y1"]}
    queries = {
        f"pair{i}": {"targets": targets, "attributes": {f"a{i}": [f"a{i}"], f"b{i}": [f"b{i}"]}}
        for i in range(5)
    }
    corpus = {"label": "Text", "kind": "corpus", "source": {"type": "file", "path": "text.txt"}}
    config = grid_config()
    config["models"]["text"] = corpus
    config["criteria"] = {"Pairs": {"ranked": False, "queries": queries}}
    return config | {"metrics": {"weat_es": {}, "pmi": {}, "pair_frequency": {}}}


def test_the_difference_of_two_pmis_is_the_thesiss():
    """PMI(A; X, Y) - PMI(B; X, Y) is PMI(X; A, B) - PMI(Y; A, B)."""
    rng = np.random.default_rng(4)
    words = [["x0", "y0"][rng.integers(2)] + " " + ["a0", "b0"][rng.integers(2)] for _ in range(200)]
    corpus = biasgrid.load(words, name="text", kind="corpus")

    def pmi(first, second, of):
        return biasgrid.metrics.pmi(biasgrid.Query([[first], [second]], [[of]]), corpus).value

    ours = pmi("x0", "y0", "a0") - pmi("x0", "y0", "b0")
    assert ours == pytest.approx(pmi("a0", "b0", "x0") - pmi("a0", "b0", "y0"))


def test_values_of_queries_are_correlated_with_differences_in_a_corpus():
    study = Study.of(pairs_config())
    assert "corpus_correlations" in study.tables
    effects = {f"pair{i}": value for i, value in enumerate([0.1, 0.5, -0.2, 0.9, 0.3])}
    of_a = dict(zip(effects, [1.0, 2.0, 3.0, 4.0, math.nan], strict=True))
    of_b = dict(zip(effects, [0.5, 0.1, 2.0, 0.2, 0.0], strict=True))
    rows = []
    for key, query in study.queries.items():
        first, second = (part.name for part in query.subqueries((2, 1)))
        rows.append((key, query.name, "weat_es", "one", effects[key]))
        rows += [(key, first, "pmi", "text", of_a[key]), (key, second, "pmi", "text", of_b[key])]
    scores = pd.DataFrame(rows, columns=["query_id", "query", "metric", "model", "value"])
    scores = scores.assign(criterion="Pairs", debias="none")
    table = CORPUS_CORRELATIONS.make(
        {"scores": InMemory(("scores",), scores)}, CORPUS_CORRELATIONS.spec_of(study)
    )
    known = list(effects)[:4]
    x = [effects[key] for key in known]
    y = [of_a[key] - of_b[key] for key in known]
    assert table[["metric", "model", "corpus_metric", "of"]].drop_duplicates().values.tolist() == [
        ["weat_es", "one", "pmi", "text"]
    ]
    found = table.set_index("method")
    assert found["n"].tolist() == [4, 4]
    assert found.loc["pearson", "correlation"] == pytest.approx(stats.pearsonr(x, y).statistic)
    assert found.loc["spearman", "correlation"] == pytest.approx(stats.spearmanr(x, y).statistic)


def test_criteria_without_vectors_or_without_a_corpus_are_not_compared():
    config = pairs_config()
    del config["models"]["text"]
    assert "corpus_correlations" not in Study.of(config).tables
    config = pairs_config()
    for i in range(3):
        del config["criteria"]["Pairs"]["queries"][f"pair{i}"]
    assert "corpus_correlations" not in Study.of(config).tables
