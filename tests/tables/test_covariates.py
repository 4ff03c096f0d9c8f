"""The table of covariates: against scipy, of numbers that are taken from cells' files and texts by hand."""

import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import write_text_model
from hypothesis import given, settings
from hypothesis import strategies as st
from in_process import make_cells, make_inputs, make_tables
from scipy import stats

from biasgrid import metrics, tables
from biasgrid.core.in_memory import InMemory
from biasgrid.measure.statistics.correlation import METHODS, over_units, with_interval
from biasgrid.study.study import Study
from biasgrid.tables.covariate_points import Frequencies, Points
from biasgrid.tables.covariates import COVARIATES

GROUPS = {"A": ["he", "man"], "B": ["she", "woman"], "C": ["boy", "son"], "D": ["girl", "sister"]}
WORDS = [f"w{i:02}" for i in range(28)]
SETS = {f"S{i}": WORDS[4 * i : 4 * i + 4] for i in range(7)}
OF_METHOD = {"pearson": stats.pearsonr, "spearman": stats.spearmanr}
PLAIN = ["rnd", "ect", "mac", "direct_bias", "pmi"]


def write_files():
    """Three files of vectors, and a text in which words are frequent or rare, and nearer to one group."""
    rng = np.random.default_rng(1)
    groups = [word for of in GROUPS.values() for word in of]
    for seed, name in enumerate(("one", "two", "unknown")):
        words = [*groups, *WORDS]
        rng.shuffle(words)
        write_text_model(Path(f"{name}.txt"), words, 8, seed)
    shares = rng.dirichlet(np.full(len(WORDS), 0.7))
    leaning = rng.random(len(WORDS))
    lines = []
    for i in rng.choice(len(WORDS), size=3000, p=shares * 0.8 + 0.2 / len(WORDS)):
        group = ("AC", "BD")[int(rng.random() > leaning[i])][rng.integers(2)]
        lines.append(f"{WORDS[i]} {GROUPS[group][rng.integers(2)]}")
    Path("text.txt").write_text("\n".join(lines) + "\n")


def config(**others):
    """RND and others within two pairs of groups; the sets are in a query each."""
    pairs = [{"A": GROUPS["A"], "B": GROUPS["B"]}, {"C": GROUPS["C"], "D": GROUPS["D"]}]
    queries = {
        f"{pair}{name}": {"targets": pairs[pair], "attributes": {name: words}}
        for pair in (0, 1)
        for name, words in SETS.items()
    }
    weat = {
        f"weat{i}": {"targets": {k: SETS[k] for k in (f"S{i}", f"S{i + 1}")}, "attributes": pairs[0]}
        for i in range(6)
    }
    models = {
        name: {"label": name, "source": {"type": "file", "path": f"{name}.txt"}} | said
        for name, said in {"one": {"sorted": True}, "two": {}, "unknown": {"sorted": False}}.items()
    }
    models["text"] = {"label": "Text", "kind": "corpus", "source": {"type": "file", "path": "text.txt"}}
    return {
        "study": "small",
        "seed": 5,
        "models": models,
        "criteria": {
            "Plain": {"queries": queries, "metrics": {metric: {} for metric in PLAIN}},
            "Two sets": {"queries": weat, "metrics": {"weat": {}, "weat_es": {}}},
        },
        "metrics": {"rnd": {}},
        "figures": [],
    } | others  # fmt: skip


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("covariates"))
        write_files()
        study = Study.of(config())
        make_inputs(study)
        make_cells(study)
        make_tables(study, "covariates")
        yield study


@pytest.fixture(scope="module")
def table(study):
    return tables.read(study.paths.table_file("covariates"))


def row(table, **of):
    (found,) = table[(table[list(of)] == pd.Series(of)).all(axis=1)].to_dict("records")
    return found


def ranks(name):
    """The log of 1 / rank of each word of a file."""
    lines = Path(f"{name}.txt").read_text().splitlines()[1:]
    return {line.split()[0]: -math.log(place) for place, line in enumerate(lines, 1)}


def details(study, metric, model, detail):
    """(pair of groups, word) -> what a metric's cells say of the word."""
    found = {}
    for cell in study.grid.cells.values():
        if (cell.metric, cell.model) == (metric, model):
            (result,) = json.loads(study.paths.cell_file(cell).read_text())["results"]
            for by_word in result["detail"][detail].values():
                found |= {(cell.query[0], word): value for word, value in by_word.items()}
    return found


def within(keys, *rows):
    """Rows less their means within the pairs of groups that keys begin with."""
    frame = pd.DataFrame(np.transpose(rows)).astype(float)
    pairs = pd.Series([pair for pair, _ in keys])
    return (frame - frame.groupby(pairs).transform("mean")).to_numpy().T


def leftover(y, z, method):
    """What a linear regression on z leaves of y, or of its ranks."""
    if method == "spearman":
        y, z = stats.rankdata(y), stats.rankdata(z)
    return y - np.polyval(np.polyfit(z, y, 1), z)


def expected_words(study, metric, model="one"):
    """Keys and scores of words by hand, such that higher is nearer to the first group, where the metric says so."""
    detail, score = {
        "rnd": ("distance_by_word", lambda x: -x),
        "ect": ("similarity", lambda x: np.subtract(*x.values())),
        "direct_bias": ("bias", lambda x: x),
        "pmi": ("pmi_by_word", lambda x: x),
    }[metric]
    found = details(study, metric, model, detail)
    return {key: score(value) for key, value in found.items() if value is not None}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("metric", ["rnd", "ect", "direct_bias"])
def test_word_scores_are_correlated_with_log_frequency_within_the_groups(study, table, metric, method):
    scores, logs = expected_words(study, metric), ranks("one")
    x, y = within(scores, list(scores.values()), [logs[word] for _, word in scores])
    found = row(
        table, metric=metric, model="one", of="words", covariate="log_frequency", given="", method=method
    )
    assert (found["n"], found["units"], found["source"]) == (2 * len(WORDS), len(WORDS), "rank")
    assert found["higher"] == "nearer to the first group"
    assert found["correlation"] == pytest.approx(OF_METHOD[method](x, y).statistic, abs=1e-9)
    assert found["ci_low"] <= found["correlation"] <= found["ci_high"]


def test_what_has_no_correlation_has_a_reason_and_nothing_else_has(table):
    assert table["correlation"].notna().any()
    assert ((table["reason"] == "") == table["correlation"].notna()).all()


def test_macs_words_are_of_the_groups_that_its_attribute_sets_are(study, table):
    """It has no direction, and one group of words for each attribute set: distances as they are, within each."""
    found = row(table, metric="mac", model="one", of="words", covariate="log_frequency", method="pearson")
    logs, scores, of = ranks("one"), [], []
    for cell in study.grid.cells.values():
        if (cell.metric, cell.model) == ("mac", "one"):
            (result,) = json.loads(study.paths.cell_file(cell).read_text())["results"]
            for by_word in result["detail"]["targets_eval"].values():
                scores += [(np.mean(list(value.values())), logs[word]) for word, value in by_word.items()]
                of += [(cell.query[1:], word) for word in by_word]
    x, y = within(of, *np.transpose(scores))
    assert (found["higher"], found["n"], found["units"]) == ("a higher number", len(of), 8)
    assert found["correlation"] == pytest.approx(stats.pearsonr(x, y).statistic)


@pytest.mark.parametrize("method", METHODS)
def test_pmi_is_a_covariate_and_what_is_given(study, table, method):
    pmi, bias, logs = expected_words(study, "pmi", "text"), expected_words(study, "rnd"), ranks("one")
    both = [key for key in bias if key in pmi]
    x, log, of_text = within(
        both, [bias[k] for k in both], [logs[w] for _, w in both], [pmi[k] for k in both]
    )
    place = {"metric": "rnd", "model": "one", "of": "words", "corpus": "text", "method": method}
    plain = row(table, **place, covariate="pmi", given="")
    assert plain["n"] == len(both)
    assert plain["correlation"] == pytest.approx(OF_METHOD[method](x, of_text).statistic, abs=1e-9)
    for covariate, y, given_, z in (
        ("log_frequency", log, "pmi", of_text),
        ("pmi", of_text, "log_frequency", log),
    ):
        found = row(table, **place, covariate=covariate, given=given_)
        partial = stats.pearsonr(leftover(x, z, method), leftover(y, z, method)).statistic
        assert found["correlation"] == pytest.approx(partial, abs=1e-9)
        assert found["ci_low"] <= found["correlation"] <= found["ci_high"]


def test_what_has_no_frequency_is_compared_with_the_corpus_alone(table):
    for model in ("two", "unknown"):
        assert set(table.loc[table["model"] == model, "covariate"]) == {"pmi"}
        assert set(table.loc[table["model"] == model, "source"]) == {""}


def test_a_corpus_is_correlated_with_its_own_counts(study, table):
    counts = Counter(Path("text.txt").read_text().split())
    pmi = expected_words(study, "pmi", "text")
    x, y = within(pmi, list(pmi.values()), [math.log(counts[word]) for _, word in pmi])
    found = row(table, metric="pmi", model="text", of="words", method="spearman")
    assert (found["covariate"], found["source"]) == ("log_frequency", "counts")
    assert found["correlation"] == pytest.approx(stats.spearmanr(x, y).statistic)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("metric", ["rnd", "direct_bias"])
def test_set_scores_are_correlated_with_their_words_frequency_and_with_pmi(study, table, metric, method):
    scores = tables.read(study.paths.table_file("scores")).query("criterion == 'Plain'")
    values = {m: scores[scores["metric"] == m].query("debias == 'none'") for m in (metric, "pmi")}
    mine = values[metric].query("model == 'one'").set_index("query")["value"]
    logs = ranks("one")
    of_set = {query: [logs[word] for word in SETS[query.split(" wrt ")[1]]] for query in mine.index}
    x = (
        -mine if metric == "rnd" else mine
    )  # RND: higher is nearer to the second; Direct Bias: the no-bias value is 0
    place = {"metric": metric, "model": "one", "of": "sets", "given": "", "method": method}
    assert row(table, **place, covariate="mean_log_frequency")["higher"] == (
        "nearer to the first group" if metric == "rnd" else "more biased"
    )
    for covariate, numbers in (
        ("mean_log_frequency", [np.mean(of_set[query]) for query in mine.index]),
        ("variance_log_frequency", [np.var(of_set[query]) for query in mine.index]),
    ):
        found = row(table, **place, covariate=covariate)
        assert (found["n"], found["units"]) == (14, 7)  # each set in two pairs of groups
        assert found["correlation"] == pytest.approx(OF_METHOD[method](x, numbers).statistic, abs=1e-9)
    of_text = values["pmi"].set_index("query")["value"].reindex(mine.index)
    y = of_text if metric == "rnd" else of_text.abs()
    found = row(table, **place, covariate="pmi")
    assert (found["n"], found["units"]) == (14, 14)
    assert found["correlation"] == pytest.approx(OF_METHOD[method](x, y).statistic, abs=1e-9)


def test_the_spread_over_two_sets_is_that_of_all_their_words():
    logs = {"A": [1.0, 2.0, 6.0], "B": [9.0, 11.0]}
    sets = [
        {"criterion": "G", "query": "q", "set": name, "known": len(of_set)}
        | {"mean_log": np.mean(of_set), "variance_log": np.var(of_set)}
        for name, of_set in logs.items()
    ]
    record = {"model": "m", "source": "counts", "tokens": 100, "sets": sets, "words": {}}
    frequencies = Frequencies([InMemory(("frequency", "m"), record)])
    every = logs["A"] + logs["B"]
    assert frequencies.sets("m", "G", "q", ["A", "B"]) == pytest.approx((np.mean(every), np.var(every)))
    assert frequencies.difference("m", "G", "q", ["A", "B"]) == pytest.approx(3.0 - 10.0)


def test_of_two_sets_the_difference_counts(study, table):
    """van Loon et al. (2022): WEAT and the frequency of the names of its target sets."""
    scores = tables.read(study.paths.table_file("scores")).query("metric == 'weat' and model == 'one'")
    logs = ranks("one")
    means = {name: np.mean([logs[word] for word in words]) for name, words in SETS.items()}
    differences = [means[f"S{i}"] - means[f"S{i + 1}"] for i in range(6)]
    values = [scores.set_index("query_id")["value"][f"weat{i}"] for i in range(6)]
    place = {"metric": "weat", "model": "one", "of": "sets", "method": "pearson"}
    found = row(table, **place, covariate="difference_log_frequency")
    assert found["correlation"] == pytest.approx(stats.pearsonr(values, differences).statistic)
    # the groups are the same in all queries: one pair is no sample
    groups = row(table, **place, covariate="groups_difference_log_frequency")
    assert (groups["n"], groups["units"]) == (6, 1)
    assert groups["reason"] == "fewer than 5 different words or sets"
    assert math.isnan(groups["correlation"])


@pytest.mark.slow
def test_the_same_seed_gives_the_same_intervals_and_another_does_not(study, table):
    inputs, spec = COVARIATES.inputs_of(study), COVARIATES.spec_of(study)
    again = COVARIATES.frame(inputs, spec)
    pd.testing.assert_frame_equal(again, table, check_dtype=False)
    other = COVARIATES.frame(inputs, spec | {"seed": 6})
    assert other["correlation"].equals(again["correlation"])
    assert not other["ci_low"].equals(again["ci_low"])


def test_studies_without_frequencies_or_with_few_words_have_no_such_table(study):
    models = config()["models"]
    assert "covariates" not in Study.of(config(models={"unknown": models["unknown"]})).tables
    few = {
        "Few": {"queries": {"q": {"targets": {k: GROUPS[k] for k in "AB"}, "attributes": {"S": WORDS[:4]}}}}
    }
    few["Few"]["metrics"] = {"rnd": {}}
    assert "covariates" not in Study.of(config(criteria=few)).tables
    few["Few"]["queries"]["q"]["attributes"] = {"S": WORDS[:5]}
    assert "covariates" in Study.of(config(criteria=few)).tables


def test_lost_words_and_what_they_leave_are_no_points(study):
    """A set of which all words but few are lost has no correlation, and a reason."""
    queries = {
        "q": {"targets": {k: GROUPS[k] for k in "AB"}, "attributes": {"S": [*WORDS[:4], "lost", "gone"]}}
    }
    lacking = Study.of(
        config(study="lacking", words={"lost_vocabulary_threshold": 0.9})
        | {"criteria": {"Lost": {"queries": queries, "metrics": {"rnd": {}}}}}
    )
    make_inputs(lacking)
    make_cells(lacking)
    make_tables(lacking, "covariates")
    found = row(
        tables.read(lacking.paths.table_file("covariates")), model="one", of="words", method="pearson"
    )
    assert (found["n"], found["units"], found["reason"]) == (4, 4, "fewer than 5 different words or sets")


@pytest.mark.parametrize("name", sorted(metrics.REGISTRY))
def test_a_metrics_words_are_scored_by_a_detail_that_it_declares(name):
    metric = metrics.metric(name)
    detail, _ = metric.scored_by
    assert detail in (*metric.details, metric.word_bias)
    assert not metric.word_bias or metric.nearer == "first"
    # what a higher value of a set means is what its sentence says
    if metric.nearer and metric.bias == "two-sided":
        ends = {"first": ("{T1}", "{G1}", "first of {G}"), "second": ("{T2}", "{G2}")}
        assert any(end in metric.above for end in ends[metric.nearer])


# the correlations themselves

numbers = st.lists(st.integers(-4, 4), min_size=8, max_size=20)


@pytest.mark.slow
@settings(deadline=None, max_examples=50)
@given(numbers, st.data())
def test_ties_and_constants_are_as_in_scipy(x, data):
    y, z = (data.draw(st.lists(st.integers(-4, 4), min_size=len(x), max_size=len(x))) for _ in range(2))
    units = np.arange(len(x))
    for method in METHODS:
        value, *_ = over_units([x, y], units, method, draws=10)
        if len(set(x)) == 1 or len(set(y)) == 1:
            assert math.isnan(value)
        else:
            assert value == pytest.approx(OF_METHOD[method](x, y).statistic, abs=1e-9)
        partial, *_ = over_units([x, y, z], units, method, draws=10)
        if len(set(z)) == 1:
            assert math.isnan(partial)
            continue
        rest = [leftover(np.array(of, float), np.array(z, float), method) for of in (x, y)]
        if min(map(np.ptp, rest)) < 1e-6:
            assert math.isnan(partial)
        else:
            assert partial == pytest.approx(stats.pearsonr(*rest).statistic, abs=1e-6)


def test_with_one_number_per_unit_the_interval_is_that_of_the_plain_bootstrap():
    x, y = np.random.default_rng(3).integers(6, size=(2, 30)).astype(float)
    for method in METHODS:
        assert over_units([x, y], np.arange(30), method, 1) == pytest.approx(
            with_interval(x, y, method, 1), abs=0.02
        )


def test_numbers_of_one_unit_are_drawn_together():
    """The same numbers three times are no more evidence than once."""
    x, y = np.random.default_rng(3).normal(size=(2, 20))
    units = np.arange(20)
    for method in METHODS:
        once = over_units([x, y], units, method, 1)
        thrice = over_units([np.tile(x, 3), np.tile(y, 3)], np.tile(units, 3), method, 1)
        assert thrice == pytest.approx(once)
        apart = over_units([np.tile(x, 3), np.tile(y, 3)], np.arange(60), method, 1)
        assert apart[2] - apart[1] < 0.7 * (once[2] - once[1])


@pytest.mark.slow
def test_an_interval_covers():
    """In 95 of 100 samples or so; percentile intervals of 40 units cover a little less."""
    rng, held = np.random.default_rng(8), 0
    for i in range(200):
        x, noise = rng.normal(size=(2, 40))
        _, low, high = over_units([x, 0.5 * x + math.sqrt(0.75) * noise], np.arange(40), "pearson", i, 400)
        held += low <= 0.5 <= high
    assert 0.88 <= held / 200 <= 0.99


def test_points_without_a_number_are_left_out_and_the_rest_is_centred():
    points = Points.of(
        [((1.0, 2.0), "a", 0), ((3.0, math.nan), "b", 0), ((5.0, 4.0), "a", 0), ((9.0, 9.0), "c", 1)]
    )
    assert points.units.tolist() == [0, 0, 1]
    assert points.centred.tolist() == [[-2, 2, 0], [-1, 1, 0]]
    assert points.constant_rows == [False, False]
    assert Points.of([((1.0, 2.0), "a", 0), ((1.0, 3.0), "b", 0)]).constant_rows == [True, False]
