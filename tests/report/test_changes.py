"""What changed between two studies: matched by key, the same to the last digit, the largest change first."""

from dataclasses import replace

import pandas as pd
import pytest

from biasgrid import Query
from biasgrid.report.changes import ABSENT, Side, changes, differences
from biasgrid.report.comparing import counts, records, summary

SCORE = ("First", "q", "weat", "one", "none")
OK = {
    "value": "0.5",
    "p_value": "0.01",
    "p_adjusted": "0.02",
    "ci_low": "0.3",
    "ci_high": "0.6",
    "p_groups": "0.2",
    "p_groups_adjusted": "0.4",
    "words_used": "20",
    "words_lost": "0",
    "status": "ok",
    "evidence": "permutation",
}
LOST = dict.fromkeys(OK, "") | {
    "words_used": "12",
    "words_lost": "8",
    "status": "lost_words:A",
    "evidence": "untested",
}


def scores(rows):
    keys = ("criterion", "query", "metric", "model", "debias")
    return pd.DataFrame(
        [dict(zip(keys, key, strict=True)) | row for key, row in rows.items()],
        columns=[*keys, *OK],
        dtype=str,
    )


def rankings(ranks, metric="weat", criterion="First"):
    """Model -> rank, and the same of shared queries."""
    rows = [
        {
            "criterion": criterion,
            "metric": metric,
            "model": model,
            "debias": "none",
            "value": "0.5",
            "rank": rank,
        }
        | {"cells": "7", "cells_nan": "0", "value_shared": "0.5", "rank_shared": rank, "queries": "7"}
        | {"queries_of": "7", "reason": "" if rank else "too few queries"}
        for model, rank in ranks.items()
    ]
    return pd.DataFrame(rows, dtype=str)


def pairs(rows):
    """(model, other) -> difference, adjusted p."""
    columns = ["criterion", "metric", "family", "model_a", "debias_a", "model_b", "debias_b"]
    return pd.DataFrame(
        [
            (
                "First",
                "weat",
                "models",
                a,
                "none",
                b,
                "none",
                *map(str, row),
                "-2",
                "2",
                "7",
                "7",
                "",
                "other queries",
            )
            for (a, b), row in rows.items()
        ],
        columns=[
            *columns,
            *["difference", "p_adjusted", "low", "high", "queries", "queries_of", "reason", "holds_for"],
        ],
        dtype=str,
    )


def test_a_study_of_an_earlier_version_has_no_least_biased_model():
    old = rankings({"one": "1.0", "two": "2.0"}).drop(columns=["rank_shared", "queries", "reason"])
    new = rankings({"one": "2.0", "two": "1.0"})
    found = changes(side(rankings=old), side(rankings=new))
    assert found.ranks["model"].tolist() == ["one", "two"]
    assert found.leaders == []
    assert "the least biased models are not compared" in summary(found)
    ranks = (rankings({"one": "1.0", "two": "2.0"}), rankings({"one": "2.0", "two": "1.0"}))
    tests = pairs({("one", "two"): (-1, 0.01)}).drop(columns="holds_for")
    assert changes(*(side(rankings=table, pairs=tests) for table in ranks)).leaders == []


def side(of=None, **tables):
    return Side({"scores": scores({SCORE: OK} if of is None else of)} | tables, {}, {}, {}, ["weat"], 0.95)


def changed(before, after):
    """The row of a score that has these values instead of `OK`."""
    (row,) = changes(side({SCORE: OK | before}), side({SCORE: OK | after})).scores.to_dict("records")
    return row


def test_the_same_study_twice():
    tables = {
        "rankings": rankings({"one": "1.0", "two": "2.0"}),
        "pairs": pairs({("one", "two"): (-1, 0.01)}),
    }
    study = side({SCORE: OK, (*SCORE[:3], "two", "none"): LOST}, **tables)
    found = changes(study, study)
    assert not found.result_changes
    assert not found.input_changes
    assert summary(found) == (
        "Nothing changed: both have the same 2 scores, 2 ranks and 1 pair of models, to the last digit."
    )
    assert counts(found)["scores"]["same"] == 2
    assert not any(records(found).values())


def test_one_digit_is_a_change_and_a_missing_value_is_none():
    # the next number after 0.5: as the files have it
    row = changed({}, {"value": "0.5000000000000001"})
    assert (row["before"], row["kind"]) == (0.5, "rounding")
    assert row["difference"] == pytest.approx(1.1e-16, rel=0.1)
    assert changed({}, {"value": "0.50001"})["kind"] == ""
    same = changes(side({SCORE: LOST}), side({SCORE: LOST}))
    assert (same.shared_scores, same.result_changes) == (1, 0)


@pytest.mark.parametrize(
    ("after", "share", "outside"),
    [("0.55", 0.5, False), ("0.61", 1.1, True), ("0.4", 0.5, False), ("0.1", 2.0, True)],
)
def test_a_change_is_measured_by_the_way_to_the_end_of_the_interval(after, share, outside):
    row = changed({}, {"value": after})
    assert row["share"] == pytest.approx(share)
    assert (row["share"] > 1) == outside == (not 0.3 <= float(after) <= 0.6)


def test_intervals_of_no_width_and_none():
    assert changed({"ci_low": "0.5", "ci_high": "0.5"}, {"value": "0.6"})["share"] == float("inf")
    assert pd.isna(changed({"ci_low": "", "ci_high": ""}, {"value": "0.6"})["share"])
    # another status at the same value is a change of no size
    assert changed({}, {"status": "degenerate"})["share"] == 0


def test_values_that_are_gained_and_lost():
    lost = changes(side({SCORE: OK}), side({SCORE: LOST}))
    assert lost.scores["kind"].tolist() == ["lost its value"]
    assert lost.scores["status_after"].tolist() == ["lost_words:A"]
    gained = changes(side({SCORE: LOST}), side({SCORE: OK}))
    assert gained.scores["kind"].tolist() == ["has a value now"]
    (row,) = gained.scores.to_dict("records")
    assert (row["evidence_before"], row["evidence_after"]) == ("untested", "permutation")
    assert (
        counts(gained)["scores"] | {"values_gained": 1, "changed": 1, "same": 0} == counts(gained)["scores"]
    )


def test_the_largest_changes_come_first():
    rows = {
        "small": {"value": "0.51"},
        "no interval": {"value": "9.0", "ci_low": "", "ci_high": ""},
        "large": {"value": "0.9"},
        "lost": LOST,
        "same": {},
    }
    before = {
        ("First", name, *SCORE[2:]): OK | {k: "" for k in row if "ci" in k} for name, row in rows.items()
    }
    after = {("First", name, *SCORE[2:]): OK | row for name, row in rows.items()}
    found = changes(side(before), side(after))
    assert found.scores["query"].tolist() == ["lost", "large", "small", "no interval"]


@pytest.mark.parametrize(
    ("before", "after", "gained", "lost"),
    [
        ("permutation", "all", 1, 0),
        ("all", "none", 0, 1),
        ("groups", "none", 0, 0),
        ("out_of_reach", "none", 0, 0),
    ],
)
def test_evidence_counts_where_the_value_is_the_same_too(before, after, gained, lost):
    found = changes(side({SCORE: OK | {"evidence": before}}), side({SCORE: OK | {"evidence": after}}))
    assert found.scores.empty
    assert found.uncertainty[["evidence_a", "evidence_b"]].to_numpy().tolist() == [[before, after]]
    told = counts(found)["scores"]
    assert told["same"] == told["evidence_changed"] == 1
    assert (told["full_marks_gained"], told["full_marks_lost"]) == (gained, lost)
    (row,) = found.by_metric.to_dict("records")
    assert (row["evidence_changed"], row["full_marks_gained"], row["full_marks_lost"]) == (1, gained, lost)
    said = f"The evidence of 1 score changed (full marks: {gained} gained, {lost} lost)."
    assert summary(found).endswith(said)


def test_a_p_value_that_crosses_a_level_changes_no_evidence():
    # evidence is the studies' own verdict: nothing is judged again
    for column in ("p_adjusted", "p_groups_adjusted"):
        found = changes(side({SCORE: OK | {column: "0.02"}}), side({SCORE: OK | {column: "0.9"}}))
        assert (len(found.uncertainty), counts(found)["scores"]["evidence_changed"]) == (1, 0)
        assert "The evidence of" not in summary(found)


def test_evidence_of_aggregates():
    def aggregates(evidence):
        keys = {"criterion": "First", "metric": "weat", "model": "one", "debias": "none"}
        return pd.DataFrame([{**keys, "aggregation": "abs_avg", "evidence": evidence}], dtype=str)

    found = changes(side(aggregates=aggregates("all")), side(aggregates=aggregates("none")))
    assert (found.shared_aggregates, found.result_changes) == (1, 1)
    (row,) = records(found)["aggregates"]
    assert (row["model"], row["evidence_a"], row["evidence_b"]) == ("one", "all", "none")
    assert summary(found).endswith("The evidence of 1 aggregate changed.")


def test_results_without_the_column_evidence_say_so_in_a_line():
    table = scores({SCORE: OK}).drop(columns="evidence")
    found = changes(side(scores=table), side({SCORE: OK | {"p_adjusted": "0.9"}}))
    assert counts(found)["scores"]["evidence_changed"] == 0
    assert summary(found).endswith("Evidence is not compared: scores.csv of A has no column evidence.")


def test_scores_are_matched_by_their_keys_in_any_order():
    keys = [("First", f"q{i}", *SCORE[2:]) for i in range(5)]
    values = {key: OK | {"value": str(i)} for i, key in enumerate(keys)}
    found = changes(side(values), side(dict(reversed(values.items()))))
    assert (found.shared_scores, found.result_changes) == (5, 0)


def test_what_is_in_one_study_alone_is_named():
    other = ("Second", "r", "rnd", "two", "hard")
    found = changes(side({SCORE: OK, other: OK}), side({SCORE: OK}))
    assert (found.shared_scores, found.only_a, found.only_b) == (1, 1, 0)
    assert found.names == [
        ("criteria", ["Second"], []),
        ("queries", ["r"], []),
        ("metrics", ["rnd"], []),
        ("models", ["two"], []),
        ("debias methods", ["hard"], []),
    ]
    assert summary(found).startswith("1 score is in both: all the same to the last digit.")


def test_studies_with_nothing_in_common():
    found = changes(side({SCORE: OK}), side({("Second", *SCORE[1:]): OK}))
    assert summary(found) == "The two studies have no score in common: there is nothing to compare."
    assert counts(found)["scores"]["only_in_a"] == counts(found)["scores"]["only_in_b"] == 1


def test_ranks_that_changed():
    found = changes(
        side(rankings=rankings({"one": "1.0", "two": "2.0", "three": "3.0", "four": ""})),
        side(rankings=rankings({"one": "1.0", "two": "3.0", "three": "2.0", "four": ""})),
    )
    assert (found.shared_ranks, found.rank_shifts) == (4, 0)
    ranks = {row.model: (row.rank_a, row.rank_b) for row in found.ranks.itertuples()}
    assert ranks == {"two": (2, 3), "three": (3, 2)}
    assert "2 models rank otherwise" in summary(found)


def test_a_model_that_came_changes_no_rank_of_others():
    found = changes(
        side(rankings=rankings({"one": "1.0", "two": "2.0"})),
        side(rankings=rankings({"new": "1.0", "one": "2.0", "two": "3.0"})),
    )
    assert found.ranks.empty
    assert found.rank_shifts == 2
    # but the least biased one is another
    assert [(row["before"], row["after"]) for row in found.leaders] == [(["one"], ["new"])]
    assert summary(found).endswith("changed, or whether it is decided, in 1 case.")


def test_a_model_that_lost_its_rank():
    found = changes(
        side(rankings=rankings({"one": "1.0", "two": "2.0"})),
        side(rankings=rankings({"one": "", "two": "1.0"})),
    )
    assert found.ranks["model"].tolist() == ["one"]


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ((-1, 0.01), (-1, 0.2), "lost"),
        ((-1, 0.2), (-2, 0.05), "gained"),
        ((-1, 0.01), (1, 0.01), "reversed"),
        ((-1, 0.2), (1, 0.3), None),
        ((-1, 0.01), (-3, 0.04), None),
        (("", ""), (-1, 0.01), "gained"),
    ],
)
def test_decided_pairs(before, after, change):
    a, b = side(pairs=pairs({("one", "two"): before})), side(pairs=pairs({("one", "two"): after}))
    found = changes(a, b)
    assert found.shared_pairs == 1
    assert found.pairs["change"].tolist() == ([change] if change else [])
    # another study may name the pair the other way round
    difference, p = after
    turned = side(pairs=pairs({("two", "one"): (-difference, p)}))
    assert changes(a, turned).pairs.equals(found.pairs)


def test_the_level_of_pairs_is_each_studys():
    of = {"pairs": pairs({("one", "two"): (-1, 0.07)})}
    assert changes(side(**of), side(**of)).pairs.empty
    found = changes(side(**of), replace(side(**of), level=0.9))
    assert found.pairs["change"].tolist() == ["gained"]


def test_the_least_biased_model_that_became_decided():
    ranks = rankings({"one": "1.0", "two": "2.0"})
    found = changes(
        side(rankings=ranks, pairs=pairs({("one", "two"): (-1, 0.2)})),
        side(rankings=ranks, pairs=pairs({("one", "two"): (-1, 0.01)})),
    )
    (row,) = found.leaders
    assert (row["before"], row["after"]) == (["one"], ["one"])
    assert (row["decided_before"], row["decided_after"]) == (False, True)
    # where one of them has no such table, that is no change
    without = changes(side(rankings=ranks, pairs=pairs({("one", "two"): (-1, 0.2)})), side(rankings=ranks))
    assert without.leaders == []
    assert without.missing == [("pairs", "b")]


def test_verdicts_that_changed():
    def comparison(ours, verdict):
        row = ("A paper", "table 1", "First", "weat", "one", "q1/weat", "9.5", ours, verdict)
        columns = [
            "source",
            "table",
            "criterion",
            "metric",
            "model",
            "quantity",
            "published",
            "ours",
            "verdict",
        ]
        return pd.DataFrame([row], columns=columns, dtype=str)

    a = side(comparison=comparison("9.5", "reproduced"))
    found = changes(a, side(comparison=comparison("9.7", "differs")))
    (row,) = found.verdicts.to_dict("records")
    assert (row["verdict_a"], row["verdict_b"], row["ours_b"]) == ("reproduced", "differs", 9.7)
    assert summary(found).endswith("1 verdict changed.")
    # the number is another, what is said of it is not
    assert changes(a, side(comparison=comparison("9.51", "reproduced"))).verdicts.empty


def test_columns_that_older_code_did_not_make_have_not_changed():
    table = scores({SCORE: OK}).drop(columns=["p_groups", "p_groups_adjusted"])
    old = side(scores=table)
    found = changes(old, side())
    assert (found.shared_scores, found.result_changes) == (1, 0)


def test_what_differs_between_configs():
    a = {"seed": 1, "models": {"x": {"n": 1}, "y": {}}, "figures": ["p", "q"], "words": {"on": True}}
    b = {"seed": 2, "models": {"x": {"n": 1}}, "figures": ["q", "r"], "words": {"on": 1}, "new": None}
    assert list(differences(a, b)) == [
        ("seed", 1, 2),
        ("models.y", {}, ABSENT),
        ("figures", ["p"], ["r"]),
        ("words.on", True, 1),
        ("new", ABSENT, None),
    ]
    assert list(differences({"order": [1, 2]}, {"order": [2, 1]})) == [("order", [1, 2], [2, 1])]


def test_words_and_vectors_that_went_in():
    def of(words, checksum):
        query = Query([words, ["x"]], [["y"]], ["A", "B"], ["C"])
        vectors = {"one": {"vectors.npy": checksum, "vocabulary.sqlite": "5"}, "two": {"vectors.npy": "1"}}
        return replace(side(), queries={"q": query}, vectors=vectors)

    found = changes(of(["a", "b"], "1"), of(["b", "c"], "2"))
    assert found.words == [("q", "A", ["a"], ["c"])]
    assert found.vectors == [("one", ["vectors.npy"])]
    assert not found.result_changes
    assert summary(found) == (
        "No result changed: both have the same 1 score, to the last digit. What went in differs: 1 set of words "
        "and 1 model's vectors."
    )
