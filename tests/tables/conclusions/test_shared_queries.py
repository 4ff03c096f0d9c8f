"""Models are ranked on shared queries: by the definition, through `measure_grid`."""

import warnings
from itertools import combinations

import numpy as np
import pytest

from biasgrid import Query, debias, load, measure_grid

WORDS = 5  # of a set
DRAWS = 60


def words(name):
    return [f"{name}{i}" for i in range(WORDS)]


def query(i, attributes=1, set_of=None):
    """A query whose words no other one has, so that a model can lose it alone; or with another's attribute sets."""
    names = [f"attr{'xy'[k]}{i if set_of is None else set_of}_" for k in range(attributes)]
    return Query(
        [words(f"ta{i}_"), words(f"tb{i}_")],
        [words(n) for n in names],
        [f"A{i}", f"B{i}"],
        names,
        name=f"q{i}",
    )


def model(seed, lost=(), bias=1.0, queries=range(30), attributes=1):
    """Vectors of the queries' words, the first targets nearer to the attributes by `bias`; lost attributes are
    absent: pairs of query and attribute set."""
    rng = np.random.default_rng(seed)
    vectors = {}
    for i in queries:
        for side, shift in (("ta", bias), ("tb", 0.0)):
            for word in words(f"{side}{i}_"):
                vectors[word] = rng.normal(size=6) * 0.3 + np.eye(6)[0] * shift + np.eye(6)[1]
        for k in range(attributes):
            if (i, k) not in lost:
                for word in words(f"attr{'xy'[k]}{i}_"):
                    vectors[word] = rng.normal(size=6) * 0.3 + np.eye(6)[0]
    return vectors


def grid_of(models, count, attributes=1, criterion="C", sets=None, **options):
    queries = [query(i, attributes, sets and sets[i]) for i in range(count)]
    options = {"bootstrap": {"draws": DRAWS}} | options
    loaded = {name: load(vectors) for name, vectors in models.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of lost words
        return measure_grid(
            {"rnd": {"distance": "cos"}}, {criterion: queries}, loaded, progress=False, **options
        )


def lost(*queries):
    return [(i, k) for i in queries for k in range(2)]


def rankings(grid, criterion="C"):
    table = grid.frame("rankings")
    table = table[(table["criterion"] == criterion) & (table["debias"] == "none")]
    return table.set_index("model")


def mean_distance(grid, name, queries):
    """The mean of a model's absolute scores on some (sub-)queries."""
    scores = grid.scores
    rows = scores[(scores["model"] == name) & (scores["debias"] == "none") & scores["query"].isin(queries)]
    assert len(rows) == len(queries)
    return rows["value"].abs().mean()


@pytest.mark.slow
def test_models_are_ranked_on_the_queries_that_all_of_them_have():
    """9 queries: a has all, b lost one, c lost two others, d has 5 and is out: its losses cost the others none."""
    models = {
        "a": model(0),
        "b": model(1, lost(0)),
        "c": model(2, lost(1, 2)),
        "d": model(3, lost(5, 6, 7, 8)),
    }
    grid = grid_of(models, 9)
    table = rankings(grid)
    shared = [f"q{i}" for i in range(3, 9)]
    values = {name: mean_distance(grid, name, shared) for name in "abc"}
    for name in "abc":
        assert table.loc[name, "value_shared"] == pytest.approx(values[name], rel=1e-12)
        assert table.loc[name, "rank_shared"] == 1 + sum(value < values[name] for value in values.values())
    assert table["queries"].to_dict() == {"a": 9, "b": 8, "c": 7, "d": 5}
    assert set(table["queries_of"]) == {9}
    assert table["reason"].to_dict() == {"a": "", "b": "", "c": "", "d": "too few queries"}
    assert table.loc["d", ["value_shared", "rank_shared"]].isna().all()
    # the case study's ranks stay: of what each model has
    assert table.loc["d", "value"] == pytest.approx(mean_distance(grid, "d", [f"q{i}" for i in range(5)]))
    assert table["rank"].notna().all()
    intervals = (
        grid.frame("rank_intervals").query("criterion == 'C'").set_index(["resampled", "model"])["rank"]
    )
    assert intervals.loc["both"].to_dict() == pytest.approx(table["rank_shared"].to_dict(), nan_ok=True)


@pytest.mark.slow
@pytest.mark.parametrize(("have", "is_ranked"), [(6, True), (5, False)])
def test_six_of_nine_is_two_thirds(have, is_ranked):
    models = {"a": model(0), "b": model(1), "c": model(2, lost(*range(have, 9)))}
    table = rankings(grid_of(models, 9))
    assert (table.loc["c", "reason"] == "") == is_ranked
    assert table.loc["a", "rank_shared"] in (1, 2, 3)


@pytest.mark.slow
def test_ranks_on_shared_queries_do_not_go_in_a_circle():
    """Means over what only two share would: each of three models lost another query, on which the other two say the
    opposite of what they say elsewhere. On shared queries there is one order."""
    models = {name: model(seed, lost(seed)) for seed, name in enumerate("abc")}
    grid = grid_of(models, 8)
    values = {name: mean_distance(grid, name, [f"q{i}" for i in range(3, 8)]) for name in models}
    ranks = rankings(grid)["rank_shared"]
    for a, b in combinations(models, 2):
        assert (values[a] < values[b]) == (ranks[a] < ranks[b])


@pytest.mark.slow
def test_of_few_queries_words_alone_are_resampled():
    grid = grid_of({"a": model(0), "b": model(1)}, 4)
    assert set(grid.frame("rank_intervals").query("criterion == 'C'")["resampled"]) == {"words"}
    five = grid_of({"a": model(0), "b": model(1)}, 5)
    assert set(five.frame("rank_intervals").query("criterion == 'C'")["resampled"]) == {
        "words",
        "queries",
        "both",
    }


@pytest.mark.slow
@pytest.mark.parametrize("attributes", [1, 2])
def test_queries_that_share_attribute_sets_count_as_one(attributes):
    """Nine queries of three attribute sets ask about three things, and resamples of them say too little about other
    queries; of five sets they do."""
    models = {"a": model(0, attributes=attributes), "b": model(1, attributes=attributes)}

    def resampled(sets):
        grid = grid_of(models, 9, attributes, sets=sets)
        return set(grid.frame("rank_intervals").query("criterion == 'C'")["resampled"])

    assert resampled([0, 0, 0, 1, 1, 1, 2, 2, 2]) == {"words"}
    assert resampled([0, 0, 0, 1, 1, 1, 2, 7, 8]) == {"words", "queries", "both"}


@pytest.mark.slow
def test_attribute_sets_are_shared_through_others_and_by_criteria():
    """q0 and q1 share x, q1 and q2 share y: one cluster. Sets count by their words, not by their names."""
    x, y, z = ([f"attrx{i}_{k}" for k in range(WORDS)] for i in range(3))
    sets = [(x, z), (x[::-1], y), (y, ["attrx3_0", "attrx3_1"])]
    queries = [
        Query(
            [words(f"ta{i}_"), words(f"tb{i}_")],
            attributes,
            [f"A{i}", f"B{i}"],
            [f"{i}", f"{i}'"],
            name=f"q{i}",
        )
        for i, attributes in enumerate(sets)
    ] + [query(i, 2) for i in range(4, 8)]
    loaded = {name: load(model(seed, attributes=2)) for seed, name in enumerate("ab")}
    options = {"progress": False, "bootstrap": {"draws": DRAWS}}

    def with_resampled_queries(**criteria):
        grid = measure_grid({"weat": {}}, criteria, loaded, **options)
        return set(grid.frame("rank_intervals").query("resampled == 'queries'")["criterion"])

    # five clusters of seven queries; four of six; both together have the first's five
    assert with_resampled_queries(C=queries, D=queries[:6]) == {"C", "Overall"}
    # four and three, which are four together
    assert with_resampled_queries(C=queries[:6], D=queries[:5]) == set()


@pytest.mark.slow
def test_nobody_is_ranked_where_there_is_too_little_to_compare():
    one = rankings(grid_of({"a": model(0), "b": model(1, lost(*range(4, 9)))}, 9))
    assert one["reason"].to_dict() == {"a": "too few models", "b": "too few models"}
    assert one["rank_shared"].isna().all()
    # each has two thirds, and they share a third
    models = {"a": model(0, lost(0, 1, 2)), "b": model(1, lost(3, 4, 5))}
    grid = grid_of(models, 9)
    few = rankings(grid)
    assert few["reason"].to_dict() == {"a": "too few shared queries", "b": "too few shared queries"}
    found = grid.least_biased("C").iloc[0]
    assert (found["model"], found["decided"]) == ("", False)


@pytest.mark.slow
def test_a_query_counts_where_all_of_its_sub_queries_have_values():
    """Two attribute sets, of which RND takes one: two rows each. A model that lost one set of four of nine queries
    has 14 of 18 rows, which is enough, and 5 of 9 queries."""
    half = model(1, [(i, 1) for i in range(4)], attributes=2)
    grid = grid_of({"a": model(0, attributes=2), "b": half}, 9, attributes=2)
    table = rankings(grid)
    assert table["reason"].tolist() == ["", ""]
    assert table["queries"].tolist() == [9, 5]
    assert table["queries_of"].tolist() == [9, 9]
    shared = set(grid.scores.dropna(subset="value").query("model == 'b'")["query"])
    assert len(shared) == 14
    assert table.loc["a", "value_shared"] == pytest.approx(mean_distance(grid, "a", shared))


@pytest.mark.slow
def test_debiased_states_use_the_rows_of_their_model_and_have_no_shared_rank():
    def fit(model):
        return debias.hard(model, definitional_pairs=[["ta2_0", "tb2_0"], ["ta3_1", "tb3_1"]])

    models = {"a": model(0), "b": model(1, lost(0, 1))}
    grid = grid_of(models, 7, debias={"less": fit})
    table = grid.frame("rankings").query("criterion == 'C'").set_index(["model", "debias"])
    shared = [f"q{i}" for i in range(2, 7)]
    scores = grid.scores.query("debias == 'less'")
    for name in "ab":
        row = table.loc[(name, "less")]
        rows = scores[(scores["model"] == name) & scores["query"].isin(shared)]
        assert row["value_shared"] == pytest.approx(rows["value"].abs().mean())
        assert np.isnan(row["rank_shared"])
        assert row["reason"] == "debiased"
    assert sorted(table.loc[(slice(None), "none"), "rank_shared"]) == [1, 2]
    both = grid.least_biased("C", debiased=True)
    assert list(both["model"])[1:] == ["a under less", "b under less"]
    assert len(grid.least_biased("C")) == 1
