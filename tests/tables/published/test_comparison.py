"""The comparison with published numbers: verdicts, what is compared with what, and the curated files."""

import json
import math

import pandas as pd
import pytest
import yaml
from conftest import ROOT, files_in
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from biasgrid import Query, tables
from biasgrid.core.errors import BiasgridError
from biasgrid.study.study import Study
from biasgrid.tables import published as comparison
from biasgrid.tables.published.study_values import run_deviations

FOLDER = ROOT / "data" / "published"
NAN = math.nan
ROW = {
    "source": "paper",
    "table": "1",
    "criterion": "Gender",
    "query": "",
    "metric": "weat",
    "model": "a",
    "quantity": "abs_avg",
    "published": "0.830",
    "digits": "3",
}


@pytest.mark.parametrize(
    ("published", "ours", "digits", "runs", "sd", "expected"),
    [
        (0.084, 0.08414, 3, None, NAN, "reproduced"),
        # both ends of what rounds to the printed number, whichever way halves are rounded
        (0.084, 0.0845, 3, None, NAN, "reproduced"),
        (0.084, 0.0835, 3, None, NAN, "reproduced"),
        (0.084, 0.08451, 3, None, NAN, "differs"),
        (0.084, -0.084, 3, None, NAN, "differs"),
        (3, 3.0, 0, None, NAN, "reproduced"),
        (3, 4.0, 0, None, NAN, "differs"),
        # a mean of runs: two standard deviations, and what rounding hides
        (0.5, 0.5199, 6, 100, 0.01, "reproduced"),
        (0.5, 0.4801, 6, 100, 0.01, "reproduced"),
        (0.5, 0.5201, 6, 100, 0.01, "differs"),
        (0.5, 0.5204, 3, 100, 0.01, "reproduced"),
        # a single run is never reproduced, whether or not ours has its digits
        (0.5, 0.5199, 6, 1, 0.01, "compatible"),
        (0.5, 0.5, 3, 1, 0.01, "compatible"),
        (0.5, 0.5201, 6, 1, 0.01, "differs"),
        # what was not measured is no tolerance
        (0.5, 0.5, 3, 1, NAN, "differs"),
        (0.5, 0.5004, 3, 100, NAN, "reproduced"),
        (0.5, 0.501, 3, 100, NAN, "differs"),
        # nor is a standard deviation of a number without chance
        (0.5, 0.51, 3, None, 0.1, "differs"),
    ],
)
def test_verdict(published, ours, digits, runs, sd, expected):
    assert comparison.verdict(published, ours, digits, runs, sd) == expected
    # a test that recomputes what was printed explains what neither agrees nor is compatible
    explained = "explained" if expected == "differs" else expected
    assert comparison.verdict(published, ours, digits, runs, sd, has_test=True) == explained


numbers = st.floats(-100, 100)


@given(numbers, st.integers(0, 9))
def test_a_number_reproduces_its_own_rounding(ours, digits):
    assert comparison.verdict(round(ours, digits), ours, digits) == "reproduced"


@given(numbers, numbers, st.integers(0, 9), st.sampled_from([1, 2, 1000]), st.floats(0, 10))
def test_chance_is_two_standard_deviations_and_no_more(published, ours, digits, runs, sd):
    got = comparison.verdict(published, ours, digits, runs, sd)
    within = abs(published - ours) <= 2 * sd + 0.5 * 10.0**-digits + 1e-12
    assert got == (("compatible" if runs == 1 else "reproduced") if within else "differs")


def write(path, *rows):
    records = [{name: (ROW | row).get(name, "") for name in comparison.PUBLISHED} for row in rows]
    pd.DataFrame(records, columns=comparison.PUBLISHED).to_csv(path, index=False)
    return path


def aggregates(*rows):
    columns = ["criterion", "metric", "model", "debias", "aggregation", "value"]
    return pd.DataFrame(rows, columns=columns)


def rankings(ranks, debias="none"):
    rows = [("Gender", "weat", model, debias, 0.1, float(rank)) for model, rank in ranks.items()]
    return pd.DataFrame(rows, columns=["criterion", "metric", "model", "debias", "value", "rank"])


def correlations(*rows):
    return pd.DataFrame(rows, columns=["criterion", "method", "metric_a", "metric_b", "correlation"])


def put_cell(folder, name, *results):
    path = folder / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    model, debias, metric, query = name.split("/")
    cell = {"criterion": "Gender", "query": query, "metric": metric, "model": model, "debias": debias}
    cell |= {"function": metric, "params": {}, "words": {}}
    made = [{"query": query, "scalars": {}, **result} for result in results]
    path.write_text(json.dumps({**cell, "results": made}))


@pytest.fixture
def compare(tmp_path):
    def run(*rows, published_as=None, beside=None, computed=False, queries=None, **tables):
        files = [write(tmp_path / "published.csv", *rows)]
        published = comparison.read((), files) if computed else comparison.read(files)
        empty = {"aggregates": aggregates(), "rankings": rankings({}), "correlations": correlations()}
        published_as = published_as or {("a", "none"): "a"}
        return comparison.compare(
            published,
            **(empty | tables),
            cells=files_in(run.cells),
            published_as=published_as,
            beside=beside,
            queries=queries,
        )

    run.cells = tmp_path / "cells"
    return run


def test_aggregates_are_compared_under_none(compare):
    table = compare(
        {},
        {"criterion": "Overall", "published": "0.38"},
        aggregates=aggregates(
            ("Gender", "weat", "a", "none", "abs_avg", 0.8302),
            ("Gender", "weat", "a", "none", "avg", 0.2),
            ("Gender", "weat", "a", "hard", "abs_avg", 0.1),
            ("Overall", "weat", "a", "none", "abs_avg", 0.4),
        ),
    )
    assert list(table.columns) == comparison.COMPARISON
    assert table["criterion"].tolist() == ["Gender", "Overall"]
    assert table["verdict"].tolist() == ["reproduced", "differs"]
    assert table["ours"].tolist() == [0.8302, 0.4]
    assert table["difference"].tolist() == pytest.approx([0.0002, 0.02])


def test_models_that_the_study_lacks_are_left_out_and_parts_stand_for_the_whole(compare):
    values = aggregates(*[("Gender", "weat", m, "none", "abs_avg", 0.83) for m in ("part", "other")])
    models = {("part", "none"): "a", ("other", "none"): "other"}
    table = compare({"note": "seen"}, published_as=models, aggregates=values)
    assert table[["model", "verdict", "note"]].to_numpy().tolist() == [
        ["part", "reproduced", "printed for a; seen"]
    ]
    assert compare({}, published_as={("other", "none"): "other"}, aggregates=values).empty


def test_a_model_under_a_debias_method_is_compared_with_the_published_one_it_stands_for(compare):
    values = aggregates(
        ("Gender", "weat", "a", "none", "abs_avg", 0.5), ("Gender", "weat", "a", "hard", "abs_avg", 0.83)
    )
    put_cell(compare.cells, "a/hard/weat/q", {"value": 0.83, "status": "ok"})
    put_cell(compare.cells, "a/none/weat/q", {"value": 0.5, "status": "ok"})
    of_cell = {"query": "q", "quantity": "value"}
    debiased = {"model": "a-debiased"}
    table = compare(
        debiased,
        debiased | of_cell,
        published_as={("a", "none"): "a", ("a", "hard"): "a-debiased"},
        aggregates=values,
    )
    assert table["model"].tolist() == ["a under hard"] * 2
    assert table["ours"].tolist() == [0.83, 0.83]
    assert compare(debiased, published_as={("a", "none"): "a"}, aggregates=values).empty


def test_numbers_of_other_vectors_stand_beside_ours_and_are_not_judged(compare):
    values = aggregates(
        ("Gender", "weat", "b", "none", "abs_avg", 0.83), ("Gender", "weat", "b", "hard", "abs_avg", 0.83)
    )
    models = {("b", "none"): "b", ("b", "hard"): "b-debiased"}
    table = compare(
        {"runs": "1", "run_sd": "9", "note": "of a single run"},
        {"model": "b", "published": "0.9"},
        published_as=models,
        beside={"b": "a"},
        aggregates=values,
    )
    # what was printed for b itself is judged as ever
    assert table[["model", "published", "ours", "verdict", "note"]].to_numpy().tolist() == [
        ["b", 0.83, 0.83, "other vectors", "printed for a"],
        ["b", 0.9, 0.83, "differs", ""],
    ]


def test_seat_of_five_encoders_stands_beside_ours(compare):
    config = yaml.safe_load((ROOT / "config" / "seat.yaml").read_text(encoding="utf-8"))
    rows = comparison.read([ROOT / path for path in config["published"]])
    # the means of absolute values that the papers print, too
    for model, mean in zip(config["beside"]["minilm"], [0.621, 0.623, 0.940, 0.883, 0.797], strict=True):
        numbers = rows.loc[rows["model"] == model, "published"].astype(float)
        assert len(numbers) == 6
        assert numbers.abs().mean() == pytest.approx(mean, abs=0.0005 + 1e-9)
    for query in ("seat_6", "seat_6b", "seat_7", "seat_7b", "seat_8", "seat_8b"):
        put_cell(compare.cells, f"minilm/none/seat_es/{query}", {"value": 0.5, "status": "ok"})
    table = comparison.compare(
        rows,
        aggregates(),
        rankings({}),
        correlations(),
        cells=files_in(compare.cells),
        published_as={("minilm", "none"): "minilm"},
        beside=config["beside"],
    )
    assert len(table) == len(rows) == 30
    assert set(table["verdict"]) == {"other vectors"}
    assert table["ours"].tolist() == [0.5] * 30
    notes = [f"printed for {model}" for model in config["beside"]["minilm"]]
    assert table["note"].value_counts().to_dict() == dict.fromkeys(notes, 6)


def test_what_was_published_with_an_error_is_not_judged(compare):
    """May et al.'s BERT, whose numbers' error is known, beside another encoder; and as recomputed by others."""
    rows = comparison.read([ROOT / "data" / "published" / "seat_may.csv"])
    assert len(rows) == 28
    for query in rows["query"].unique():
        put_cell(compare.cells, f"minilm/none/seat_es/{query}", {"value": 0.22, "status": "ok"})

    def verdicts(**which):
        table = comparison.compare(
            rows, aggregates(), rankings({}), correlations(), cells=files_in(compare.cells), **which
        )
        printed = table["table"] == "printed effect sizes, BERT"
        assert table.loc[printed, "note"].str.contains("error: a cased model read lower-cased text").all()
        return set(table.loc[printed, "verdict"]), set(table.loc[~printed, "verdict"])

    published_as = {("minilm", "none"): "minilm"}
    beside = verdicts(published_as=published_as, beside={"minilm": "bert-large-cased"})
    assert beside == ({"published with an error"}, {"other vectors"})
    # of the very model, and where digits agree, which is luck
    own = verdicts(published_as={("minilm", "none"): "bert-large-cased"})
    assert own == ({"published with an error"}, {"differs"})


def test_a_number_that_the_study_leaves_out_is_not_asked(compare):
    rows = [
        {},
        {"query": "q", "quantity": "value"},
        {"query": "q", "quantity": "p_value"},
        {"query": "q", "quantity": "robustness_targets"},
        {"query": "q", "quantity": "rating_pearson"},
    ]
    table = compare(*rows)
    assert set(table["verdict"]) == {"not asked"}
    assert table["ours"].isna().all()
    assert sorted(table["note"]) == [
        f"the study has no such {what}" for what in ("cell", "halves", "number", "p-value", "ratings")
    ]


def test_other_vectors_that_lack_a_value_have_none(compare):
    values = aggregates(("Gender", "weat", "b", "none", "abs_avg", NAN))
    of_b = {"published_as": {("b", "none"): "b"}, "beside": {"b": "a"}}
    assert compare({}, aggregates=values, **of_b)["verdict"].tolist() == ["no value"]
    assert compare({}, **of_b)["verdict"].tolist() == ["not asked"]


def test_a_mean_over_criteria_is_asked_of_a_study_that_has_them_all(compare):
    rows = [{}, {"criterion": "Religion"}, {"criterion": "Overall"}]
    values = [(c, "weat", "a", "none", "abs_avg", 0.83) for c in ("Gender", "Overall", "Religion")]
    assert compare(*rows, aggregates=aggregates(*values))["verdict"].tolist() == ["reproduced"] * 3
    # the mean over all criteria of a study with one of them is another mean
    table = compare(*rows, aggregates=aggregates(*values[:2])).set_index("criterion")
    assert table["verdict"].to_dict() == {
        "Gender": "reproduced",
        "Overall": "not asked",
        "Religion": "not asked",
    }
    assert table.loc["Overall", "note"] == "the study has not all criteria that this is over"


def test_a_number_of_other_code_is_compared_and_not_called_printed(compare):
    values = aggregates(("Gender", "weat", "a", "none", "abs_avg", 0.83))
    for computed, origin in ((False, "printed"), (True, "computed by other code")):
        (row,) = compare({}, computed=computed, aggregates=values).itertuples()
        assert (row.verdict, row.origin) == ("reproduced", origin)


def test_an_explanation_names_its_test_whatever_ours_is(compare):
    test = {"test": "tests/test_explained.py::test_cause", "note": "seven of eight pairs"}
    for ours, verdict in ((0.83, "reproduced"), (0.9, "explained"), (-40.0, "explained"), (NAN, "no value")):
        values = aggregates(("Gender", "weat", "a", "none", "abs_avg", ours))
        (row,) = compare(test, aggregates=values).itertuples()
        assert row.verdict == verdict
        assert row.test == (test["test"] if verdict == "explained" else "")
        assert row.note.endswith(f"recomputed by {test['test']}") == (verdict == "explained")


def test_runs_of_a_cell(compare):
    """The value is judged by the cell's own standard deviation, a word's number by the row's."""
    scalars = {"n_iterations": 100, "standard_deviation": 0.01}
    result = {"value": 0.5, "status": "ok", "scalars": scalars, "detail": {"p": {"S": {"w": 0.3}}}}
    put_cell(compare.cells, "a/none/rnsb/q", result)
    of_q = {"query": "q", "metric": "rnsb", "digits": "6"}
    value, word = of_q | {"quantity": "value"}, of_q | {"quantity": "/detail/p/S/w"}
    expected = {
        # of one run .01; of the difference of means of 25 and of 100 runs .01 x (1/25 + 1/100)^.5 = .002236
        "one": (value | {"runs": "1", "published": "0.519"}, "compatible", 0.01),
        "one far": (value | {"runs": "1", "published": "0.521"}, "differs", 0.01),
        "mean": (value | {"runs": "25", "published": "0.5044"}, "reproduced", 0.002236068),
        "mean far": (value | {"runs": "25", "published": "0.5046"}, "differs", 0.002236068),
        # a measured column comes before what the cell says
        "column": (value | {"runs": "1", "run_sd": "0.1", "published": "0.6"}, "compatible", 0.1),
        "word": (word | {"runs": "1", "run_sd": "0.1", "published": "0.4"}, "compatible", 0.1),
        "word mean": (
            word | {"runs": "100", "run_sd": "0.1", "published": "0.328"},
            "reproduced",
            0.014142136,
        ),
        "not measured": (word | {"runs": "1", "published": "0.3"}, "differs", NAN),
    }
    table = compare(*[row | {"table": name} for name, (row, *_) in expected.items()]).set_index("table")
    for name, (row, verdict, sd) in expected.items():
        found = table.loc[name]
        assert found["verdict"] == verdict, name
        assert found["sd"] == pytest.approx(sd, nan_ok=True), name
        assert found["runs"] == float(row["runs"])
    assert table.loc["one", "note"] == (
        "a single run was printed: 1.9 standard deviations (0.01) from ours, 4.6 % are expected beyond 2"
    )
    assert "was not measured" in table.loc["not measured", "note"]


def test_runs_of_an_aggregate(compare):
    values = aggregates(("Gender", "weat", "a", "none", "abs_avg", 0.83))
    chance = {("Gender", "weat", "a", "abs_avg"): (0.1, 100.0)}
    (row,) = compare({"runs": "100", "published": "0.85"}, aggregates=values, run_sds=chance).itertuples()
    assert (row.verdict, row.sd) == ("reproduced", pytest.approx(0.1 * math.sqrt(0.02)))


def test_runs_of_independent_scores_add_up_by_their_squares(tmp_path):
    """Of two scores with deviations .3 and .4: .5 of their sum, .25 of their mean; one without counts for nothing."""
    for query, sd in (("q1", 0.3), ("q2", 0.4), ("q3", None)):
        scalars = {"n_iterations": 100 if query == "q1" else 50, "accuracy": 0.5}
        scalars |= {} if sd is None else {"standard_deviation": sd}
        cell = {"criterion": "Gender", "metric": "rnsb", "model": "a", "debias": "none", "query": query}
        cell |= {"function": "rnsb", "params": {}, "words": {}}
        cell["results"] = [{"query": query, "value": 0.1, "status": "ok", "scalars": scalars}]
        (tmp_path / f"{query}.json").write_text(json.dumps(cell))
    deviations = run_deviations(sorted(tmp_path.glob("*.json")), ["Gender"])
    of_sum, of_mean = pytest.approx(0.5), pytest.approx(0.25)
    expected = {"sum": of_sum, "abs_sum": of_sum, "avg": of_mean, "abs_avg": of_mean}
    for criterion in ("Gender", "Overall"):
        found = {key[3]: value for key, value in deviations.items() if key[:3] == (criterion, "rnsb", "a")}
        assert found == {name: (sd, 50) for name, sd in expected.items()}


def test_words_that_ours_lacks_are_said_where_it_differs(compare):
    put_cell(compare.cells, "a/none/weat/q", {"value": 0.5, "status": "ok", "words_lost": 3})
    of_q = {"query": "q", "quantity": "value"}
    table = compare(of_q, of_q | {"table": "2", "published": "0.5"})
    assert table["verdict"].tolist() == ["differs", "reproduced"]
    assert table["note"].tolist() == ["ours lacks 3 of the query's words", ""]


def test_values_of_cells(compare):
    result = {
        "value": 0.5,
        "status": "ok",
        "scalars": {"effect_size": 1.25, "lost": None},
        "detail": {"by_word": {"Family": {"home": -0.25, "and/or": {"mean": 2}}}},
    }
    put_cell(compare.cells, "a/none/weat/q", result)
    expected = {
        "value": ("0.5", "reproduced"),
        "/scalars/effect_size": ("1.25", "reproduced"),
        "/detail/by_word/Family/home": ("-0.250", "reproduced"),
        "/detail/by_word/Family/and~1or/mean": ("2.0", "reproduced"),
        "/scalars/lost": ("1", "no value"),
        "/detail/by_word/Family": ("1", "no value"),
        "/detail/by_word/Family/home/mean": ("-0.25", "no value"),
        "/scalars/p": ("0.5", "no value"),
    }
    table = compare(*[{"query": "q", "quantity": k, "published": p} for k, (p, _) in expected.items()])
    assert dict(zip(table["quantity"], table["verdict"], strict=True)) == {
        f"q: {quantity}": verdict for quantity, (_, verdict) in expected.items()
    }
    assert "no number at /scalars/p" in table.set_index("quantity").loc["q: /scalars/p", "note"]


def test_an_undefined_cell_is_nan_and_says_why(compare):
    put_cell(
        compare.cells, "a/none/mac/q", {"value": None, "status": "lost_words:X", "scalars": {}, "detail": {}}
    )
    row = {"query": "q", "metric": "mac", "quantity": "value"}
    table = compare(row, row | {"quantity": "/detail/x/y/z"})
    assert set(table["verdict"]) == {"no value"}
    assert all(note.startswith("ours is NaN: lost_words:X") for note in table["note"])


def test_a_cell_of_sub_queries_is_refused(compare):
    put_cell(compare.cells, "a/none/rnd/q", {"value": 1, "status": "ok"}, {"value": 2, "status": "ok"})
    with pytest.raises(BiasgridError, match="2 sub-queries"):
        compare({"query": "q", "metric": "rnd", "quantity": "value"})


def of_queries(keys, words="a"):
    """Queries as the comparison takes them: key -> a digest, which is another for other words."""
    return {key: f"{key}-{words}" for key in keys.split()}


OVER = {"Gender": of_queries("g1 g2"), "Religion": of_queries("r1")}


@pytest.mark.parametrize(
    ("queries", "note"),
    [
        (of_queries("g1 g2"), ""),
        # under other keys, in any order
        ({"y": "g2-a", "x": "g1-a"}, ""),
        (of_queries("g1 g2 mine"), "ours is also over mine"),
        (of_queries("g1"), "ours is not over g2"),
        (of_queries("g1") | of_queries("g2", "b"), "ours has other words in g2"),
        (of_queries("g1") | of_queries("more most"), "ours is also over more, most; ours is not over g2"),
        # a query twice counts twice in a mean
        (of_queries("g1 g2") | {"g1_again": "g1-a"}, "ours is also over g1_again"),
    ],
)
def test_a_mean_over_other_queries_is_not_judged(compare, tmp_path, queries, note):
    (tmp_path / "published_queries.json").write_text(json.dumps(OVER))
    values = aggregates(("Gender", "weat", "a", "none", "abs_avg", 0.83))
    measured = {("Gender", "weat"): queries, ("Gender", "rnd"): of_queries("g1")}
    # one that agrees by luck, and one that does not
    rows = [{"note": "printed so"}, {"table": "2", "published": "0.5"}]
    table = compare(*rows, aggregates=values, queries=measured)
    if note:
        assert table["verdict"].tolist() == ["other queries"] * 2
        assert table["note"].tolist() == [note] * 2
    else:
        assert table["verdict"].tolist() == ["reproduced", "differs"]
        assert table["note"].tolist() == ["printed so", ""]


def test_a_mean_over_all_criteria_is_over_all_their_queries(compare, tmp_path):
    (tmp_path / "published_queries.json").write_text(json.dumps(OVER))
    rows = [{}, {"criterion": "Religion"}, {"criterion": "Overall"}]
    criteria = ("Gender", "Overall", "Religion")
    values = aggregates(*[(c, "weat", "a", "none", "abs_avg", 0.83) for c in criteria])
    measured = {(c, "weat"): queries for c, queries in OVER.items()}

    def verdicts(of_all):
        queries = measured | {("Overall", "weat"): of_queries(of_all)}
        return compare(*rows, aggregates=values, queries=queries).set_index("criterion")["verdict"].to_dict()

    assert verdicts("g1 g2 r1") == dict.fromkeys(criteria, "reproduced")
    # a ranked criterion more
    assert verdicts("g1 g2 r1 mine") == dict.fromkeys(criteria, "reproduced") | {"Overall": "other queries"}


def test_ranks_and_correlations_over_other_queries_are_not_judged(compare, tmp_path):
    (tmp_path / "published_queries.json").write_text(json.dumps(OVER))
    ranks = rankings({"a": 1, "b": 2})
    rho = correlations(("Gender", "spearman", "rnd", "weat", 0.5))
    models = {(m, "none"): m for m in "ab"}

    def verdicts(weat, rnd):
        queries = {("Gender", "weat"): of_queries(weat), ("Gender", "rnd"): of_queries(rnd)}
        table = compare(*RANKS, RHO, published_as=models, rankings=ranks, correlations=rho, queries=queries)
        return table["verdict"].tolist()

    # the correlation's metric, rnd~weat, sorts before the ranks' weat
    assert verdicts("g1 g2", "g1 g2") == ["reproduced"] * 3
    assert verdicts("g1 g2", "g1") == ["other queries", "reproduced", "reproduced"]
    assert verdicts("g1", "g1 g2") == ["other queries"] * 3


def test_a_query_of_the_same_name_with_other_words_is_another(compare, tmp_path):
    (tmp_path / "published_queries.json").write_text(json.dumps(OVER))
    put_cell(compare.cells, "a/none/weat/g1", {"value": 0.83, "status": "ok"})
    row = {"query": "g1", "quantity": "value"}

    def verdict(words, criterion="Gender"):
        queries = {(criterion, "weat"): of_queries("g1", words)}
        (found,) = compare(row, queries=queries).itertuples()
        return found.verdict, found.note

    assert verdict("a") == ("reproduced", "")
    assert verdict("b") == ("other queries", "ours has other words in g1")
    assert verdict("b", criterion="My gender")[0] == "other queries"
    # numbers of which no file says the queries, as of the user's own, are judged as they are
    assert compare(row | {"criterion": "Age"}, queries={("Age", "weat"): of_queries("g1", "b")})[
        "verdict"
    ].tolist() == ["reproduced"]


def test_a_digest_is_of_words_and_not_of_names():
    query = Query({"Men": ["he", "man"], "Women": ["she"]}, {"Work": ["job"]})
    digest = comparison.words_digest(query)
    assert digest == comparison.words_digest(Query([["he", "man"], ["she"]], [["job"]], name="another"))
    for other in (
        Query([["he"], ["she"]], [["job"]]),
        Query([["man", "he"], ["she"]], [["job"]]),
        Query([["she"], ["he", "man"]], [["job"]]),
        Query([["he", "man"]], [["she"], ["job"]]),
    ):
        assert comparison.words_digest(other) != digest


def test_a_file_of_published_queries_that_is_none(compare, tmp_path):
    for text, message in (("[", "not a JSON file"), ("[1]", "expected an object"), ('{"a": 1}', "expected")):
        (tmp_path / "published_queries.json").write_text(text)
        with pytest.raises(BiasgridError, match=f"published_queries.json: {message}"):
            compare({})


EVALUATED = {"metric": "", "quantity": "direct/direct_bias", "published": "0.08", "digits": "2"}


def test_measures_of_evaluations_are_compared(compare, tmp_path):
    def put(name, debias, value, status="ok"):
        measure = {"group": "direct", "measure": "direct_bias", "value": value, "n": 3, "status": status}
        record = {"criterion": "Gender", "model": "a", "debias": debias, "measures": [measure]}
        (tmp_path / name).write_text(json.dumps(record))
        return tmp_path / name

    files = [put("none.json", "none", 0.081), put("hard.json", "hard", None, "too_few_words")]
    models = {("a", "none"): "a", ("a", "hard"): "a-debiased"}
    rows = [
        EVALUATED,
        EVALUATED | {"table": "2", "published": "0.09"},
        EVALUATED | {"table": "3", "quantity": "direct/other"},
        EVALUATED | {"table": "4", "criterion": "Religion"},
        EVALUATED | {"table": "5", "model": "a-debiased"},
        EVALUATED | {"table": "6", "model": "b"},
    ]
    table = compare(*rows, published_as=models, evaluations=files).set_index("table")
    assert table["verdict"].to_dict() == {
        "1": "reproduced",
        "2": "differs",
        "3": "not asked",
        "4": "not asked",
        "5": "no value",
    }
    assert table.loc["5", "model"] == "a under hard"
    assert table.loc["5", "note"].startswith("ours is NaN: too_few_words; printed for a-debiased")
    assert table.loc["3", "note"] == "the study evaluates no such measure"
    (tmp_path / "none.json").write_text("{")
    with pytest.raises(BiasgridError, match=r"none\.json: not an evaluation file"):
        compare(EVALUATED, evaluations=files)


RANKS = [
    {"model": m, "quantity": "rank", "published": str(r), "digits": "1"} for m, r in {"a": 1, "b": 2}.items()
]
RHO = {"metric": "rnd~weat", "model": "", "quantity": "correlation", "published": "0.5"}


def test_a_rank_that_is_half_off_differs(compare):
    (row,) = comparison.read([FOLDER / "case_study_ranks.csv"]).query("published == 5").head(1).itertuples()
    assert comparison.verdict(5, 5.0, row.digits) == "reproduced"
    assert comparison.verdict(5, 5.5, row.digits) == "differs"
    assert {row.digits for row in curated("case_study_ranks").itertuples()} == {1}
    table = compare(
        *RANKS, published_as={(m, "none"): m for m in "ab"}, rankings=rankings({"a": 1.5, "b": 1.5})
    )
    assert table["verdict"].tolist() == ["differs", "differs"]


@pytest.mark.parametrize(
    ("ranked", "expected"),
    [
        (rankings({"a": 1, "b": 2}), ["reproduced", "reproduced", "reproduced"]),
        (rankings({"a": 2, "b": 1}), ["reproduced", "differs", "differs"]),
        (rankings({"a": 1}), []),
        (pd.concat([rankings({"a": 1}), rankings({"b": 2}, debias="hard")]), []),
    ],
)
def test_ranks_and_their_correlations_need_the_published_models(compare, ranked, expected):
    rho = correlations(("Gender", "spearman", "rnd", "weat", 0.5), ("Gender", "kendall", "rnd", "weat", 0.1))
    models = {(m, "none"): m for m in "abc"}
    table = compare(*RANKS, RHO, published_as=models, rankings=ranked, correlations=rho)
    assert table["verdict"].tolist() == expected


def test_two_models_that_stand_for_one_printed_model_are_not_ranked_and_a_warning_says_so(compare):
    ranked = pd.concat([rankings({"a": 1, "b": 2}), rankings({"a": 3}, debias="hard")])
    models = {(m, "none"): m for m in "abc"} | {("a", "hard"): "b"}
    with pytest.warns(
        UserWarning, match="paper: its ranks .* because several models of the study correspond to b$"
    ):
        table = compare(*RANKS, RHO, published_as=models, rankings=ranked)
    assert table.empty


def test_a_value_that_is_printed_as_missing_is_reproduced_where_ours_is_missing(compare):
    put_cell(compare.cells, "a/none/weat/lost", {"status": "lost words", "value": None})
    put_cell(compare.cells, "a/none/weat/kept", {"status": "ok", "value": 0.3})
    missing = {"quantity": "value", "published": "nan", "digits": "0"}
    table = compare({**missing, "query": "lost"}, {**missing, "query": "kept"}).set_index("quantity")
    assert table["verdict"].to_dict() == {"lost: value": "reproduced", "kept: value": "differs"}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"published": "many"}, "line 3: could not convert"),
        ({"digits": ""}, "line 3: invalid literal"),
        ({"published": "nan"}, "line 3: a number is finite"),
        (
            {"published": "nan", "quantity": "value", "query": "q", "digits": "3"},
            "line 3: .* printed as missing, published is nan, digits 0 and runs empty",
        ),
        ({"quantity": "p_z", "published": "1.2"}, "line 3: p_z 1.2 .* from 0 to 1"),
        (
            {"quantity": "frequency_attributes", "published": "2"},
            "line 3: 'frequency_attributes' needs a query",
        ),
        ({"published": "inf"}, "line 3: a number is finite"),
        ({"quantity": "p_value", "query": "q", "published": "1.2"}, "line 3: p_value 1.2 .* from 0 to 1"),
        ({"quantity": "correlation", "published": "-1.5"}, "line 3: correlation -1.5 .* from -1 to 1"),
        ({"quantity": "rank", "published": "0"}, "line 3: rank 0 is not allowed; allowed: from 1 on"),
        ({"runs": "2.5"}, "line 3: invalid literal"),
        ({"runs": "0"}, "line 3: 0 runs; allowed are whole numbers from 1"),
        ({"run_sd": "0.1"}, "line 3: run_sd needs runs"),
        ({"runs": "1", "run_sd": "-1"}, "line 3: run_sd needs runs, and is 0 or more"),
        ({"runs": "1", "run_sd": "inf"}, "line 3: run_sd needs runs, and is 0 or more"),
        ({"test": "tests/test_explained.py::test_cause"}, "line 3: test .*a note that gives the cause"),
        ({"test": "our own value", "note": "why"}, "line 3: test 'our own value': needed are tests/test_"),
        ({"digits": "-1"}, "line 3: a number is finite"),
        ({"quantity": "mean"}, "line 3: quantity 'mean'; allowed are avg"),
        ({"quantity": "value"}, "line 3: 'value' needs a query"),
        ({"quantity": "direct/"}, "line 3: quantity 'direct/'; allowed are avg"),
        ({"quantity": "direct/direct_bias"}, "line 3: 'direct/direct_bias' is a measure .* has no metric"),
        (
            EVALUATED | {"criterion": "", "quantity": "similarity/MEN"},
            "line 3: 'similarity/MEN' needs a criterion",
        ),
        (EVALUATED | {"query": "q"}, "line 3: 'direct/direct_bias' is of no query"),
        ({"query": "q"}, "line 3: 'abs_avg' is of no query"),
    ],
)
def test_files_that_are_wrong_are_named_with_the_line(tmp_path, row, message):
    with pytest.raises(BiasgridError, match=f"numbers.csv: {message}"):
        comparison.read([write(tmp_path / "numbers.csv", {}, row)])


@pytest.mark.parametrize(
    "row",
    [
        {"quantity": "x" * 5000},
        {"quantity": "/" + "x" * 5000},
        {"published": "x" * 5000},
        {"digits": "9" * 5000},
        {"test": "x" * 5000},
        EVALUATED | {"criterion": "", "quantity": "direct/" + "x" * 5000},
    ],
)
def test_a_message_of_a_long_entry_is_short(tmp_path, row):
    with refused("line 3"):
        comparison.read([write(tmp_path / "numbers.csv", {}, row)])


# --- the curated files

# every study that is compared with print, with the overlay that it needs
COMPARED = ("config", "embedded", "atlas", "caliskan", "multilingual", "same", "seat", "sweeney", "thesis4")
COMPARED += ("wefe_documentation", "wefe_documentation+wefe_documentation_open", "multilingual+with_wiki")
COMPARED += ("user_guide", "user_guide+with_loading_chapter", "rnsb_notebook")


@pytest.mark.filterwarnings("ignore:.*repeats")
@pytest.mark.parametrize("name", COMPARED)
def test_the_studies_that_come_with_biasgrid_ask_the_published_queries(name):
    config = {}
    for part in name.split("+"):
        config |= yaml.safe_load((ROOT / f"config/{part}.yaml").read_text(encoding="utf-8"))
    study = Study.of(config, root=ROOT)
    digests = {key: comparison.words_digest(query) for key, query in study.queries.items()}
    compared = 0
    for row in comparison.read(study.config.published, study.config.computed).itertuples():
        criterion = study.config.criteria.get(row.criterion)
        if criterion is None or not row.metric:
            continue
        keys = [row.query] if row.query else criterion.queries
        assert row.queries == {key: digests[key] for key in keys}
        compared += 1
    assert compared >= 6
    # effect sizes of one word per set are defined, as they are in print
    of_one_word = [c for c in study.grid.cells.values() if study.metric(c.criterion, c.metric).one_word]
    assert {cell.spec["params"].get("one_word") for cell in of_one_word} <= {"keep"}


@pytest.mark.slow
def test_planned_languages_would_ask_what_was_published():
    config = yaml.safe_load((ROOT / "config/languages.yaml").read_text(encoding="utf-8"))
    languages = [entry for entry in config["languages"] if entry["language"] in ("mr", "vi")]
    for entry in languages:
        del entry["planned"]

    def study(**options):
        return Study.of(config | {"languages": [entry | options for entry in languages]}, root=ROOT)

    rows = comparison.read(study().config.published)
    rows = rows[rows["model"].isin(study().models) & rows["query"].isin(study().queries)]
    asked = {key: comparison.words_digest(query) for key, query in study().queries.items()}
    assert [{row.query: asked[row.query]} for row in rows.itertuples()] == rows["queries"].tolist()
    assert len(rows) == 26
    assert rows["note"].str.startswith("with n-grams: ").all()
    assert tables.REGISTRY["comparison"].spec_of(study())["with_ngrams"] == list(study().models)
    once = study(repetitions="once").queries
    assert sum(comparison.words_digest(query) != asked[key] for key, query in once.items()) > 13


def test_a_query_more_is_another_criterion():
    config = yaml.safe_load((ROOT / "config/embedded.yaml").read_text(encoding="utf-8"))
    query = {"targets": {"Men": ["he"], "Women": ["she"]}, "attributes": {"A": ["job"], "B": ["home"]}}
    gender = yaml.safe_load((ROOT / "config/queries/case_study.yaml").read_text(encoding="utf-8"))
    gender["Gender"]["queries"]["mine"] = query
    spec = tables.REGISTRY["comparison"].spec_of(Study.of(config | {"criteria": gender}, root=ROOT))
    measured = {(criterion, metric): keys for criterion, metric, keys in spec["measured"]}
    assert measured["Gender", "weat"][-1] == "mine"
    assert "mine" not in measured["Religion", "weat"]
    assert {"mine", "gender_1", "rel_1"} <= spec["queries"].keys()


def curated(name):
    return comparison.read([FOLDER / f"{name}.csv"])


def test_one_printed_number_is_one_row():
    rows = comparison.read(sorted(FOLDER.glob("*.csv")), sorted((FOLDER.parent / "computed").glob("*.csv")))
    place = ["source", "table", "query", "metric", "model"]
    assert not rows.duplicated([*place, "criterion", "quantity"]).any()
    # a p-value, by permutation or of a normal curve, is compared with one of the two
    of_tests = rows[rows["quantity"].isin(comparison.TESTED)]
    assert len(of_tests) > 0
    assert not of_tests.duplicated(place).any()


def test_case_study_tables_are_whole():
    scores, ranks, rho = (
        curated(name) for name in ("case_study", "case_study_ranks", "case_study_correlations")
    )
    metrics, criteria = {"weat", "weat_es", "rnd", "rnsb"}, {"Gender", "Ethnicity", "Religion", "Overall"}
    for table in (scores, ranks):
        assert len(table) == len(table.drop_duplicates(["criterion", "metric", "model"])) == 7 * 4 * 4
        assert (set(table["metric"]), set(table["criterion"])) == (metrics, criteria)
    assert len(rho) == len(rho.drop_duplicates(["criterion", "metric"])) == 6 * 4
    # a rank is the place of the score in its column; scores that print alike may stand in either order
    both = scores.merge(ranks, on=["criterion", "metric", "model"], suffixes=("", "_rank"))
    for _, column in both.sort_values("published_rank").groupby(["criterion", "metric"]):
        assert column["published_rank"].tolist() == [1, 2, 3, 4, 5, 6, 7]
        assert column["published"].is_monotonic_increasing
    # and a correlation is Spearman's of two columns of ranks: 1 - 6 sum d^2 / (n^3 - n)
    table = ranks.pivot(index=["criterion", "model"], columns="metric", values="published").astype(float)
    for row in rho.itertuples():
        a, b = row.metric.split("~")
        d = table.loc[row.criterion, a] - table.loc[row.criterion, b]
        assert row.published == pytest.approx(1 - 6 * (d**2).sum() / (7**3 - 7), abs=1e-12)


def test_case_study_prints_word2vec_as_the_paper_has_it():
    table = curated("case_study").set_index(["model", "criterion", "metric"])["published"]
    assert table["word2vec-google-news-300"]["Gender"].to_dict() == {
        "weat": 0.83,
        "weat_es": 0.941,
        "rnd": 0.084,
        "rnsb": 0.023,
    }
    assert table["lexvec-commoncrawl-300"]["Overall"]["rnd"] == 0.686


@pytest.mark.parametrize(
    "numbers", ["wefe_documentation", "wefe_documentation_glove", "sweeney", "rnsb_notebook"]
)
def test_published_cells_are_declared(numbers):
    criteria = yaml.safe_load((ROOT / f"config/queries/{numbers}.yaml").read_text(encoding="utf-8"))
    used = curated(numbers)[["criterion", "query", "metric"]].drop_duplicates()
    declared = {(c, q, m) for c, part in criteria.items() for q in part["queries"] for m in part["metrics"]}
    # each declared cell answers a printed number, each printed number has its cell
    assert set(used.itertuples(index=False, name=None)) == declared
    sets = {
        q: e["targets"] | e["attributes"] for part in criteria.values() for q, e in part["queries"].items()
    }
    for row in curated(numbers).itertuples():
        if row.quantity.startswith("/detail/"):
            assert row.quantity.split("/")[3] in sets[row.query]


def test_documentation_distributions_sum_to_one():
    table = curated("wefe_documentation")
    table = table[table["quantity"].str.startswith("/detail/negative_sentiment_distribution/")]
    sums = table.groupby(["table", "metric"])["published"].sum()
    assert len(sums) == 5
    assert sums.tolist() == pytest.approx([1] * 5)


def test_documentation_means_are_means_of_their_words():
    table = curated("wefe_documentation")
    for metric, query, column in (
        ("rnd", "wefe_family", ""),
        ("rnd_normalized", "wefe_family", ""),
        ("rnd_cos_normalized", "wefe_family", ""),
        ("mac", "wefe_mac_ethnicity", ""),
        ("ripa", "wefe_family", "/mean"),
    ):
        part = table[(table["metric"] == metric) & (table["query"] == query)]
        words = part[part["quantity"].str.startswith("/detail/") & part["quantity"].str.endswith(column)]
        (value,) = part.loc[part["quantity"] == "value", "published"]
        assert value == pytest.approx(words["published"].mean(), abs=2e-7)
