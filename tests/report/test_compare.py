"""What changed between two studies: matched by key, the same to 12 digits, the largest change first."""

from dataclasses import replace
from math import nan

import pandas as pd
import pytest

from biasgrid import Query
from biasgrid.report.compare import ABSENT, Side, compare, differences
from biasgrid.report.compare_page import counts, records, summary

pytestmark = pytest.mark.slow

KEYS = ["criterion", "query", "metric", "model", "debias"]
SCORE = ("First", "q", "weat", "one", "none")
OK = {"value": 0.5, "p_value": 0.01, "p_adjusted": 0.02, "ci_low": 0.3, "ci_high": 0.6, "p_groups": 0.2}
OK |= {"p_groups_adjusted": 0.4, "words_used": 20, "words_lost": 0, "status": "ok", "evidence": "permutation"}
NO_VALUE = dict.fromkeys(OK, nan)
NO_VALUE |= {"words_used": 12, "words_lost": 8, "status": "lost_words:A", "evidence": "untested"}


def scores(rows):
    return pd.DataFrame([dict(zip(KEYS, key, strict=True)) | row for key, row in rows.items()])


def rankings(ranks):
    """Model -> rank, and the same of shared queries."""
    of_all = {"criterion": "First", "metric": "weat", "debias": "none", "value": 0.5, "value_shared": 0.5}
    of_all |= {"queries": 7, "queries_of": 7}
    return pd.DataFrame(
        [
            {**of_all, "model": model, "rank": rank, "rank_shared": rank}
            | {"reason": "" if rank == rank else "too few queries"}
            for model, rank in ranks.items()
        ]
    )


def pairs(first, second, difference, p):
    row = {"criterion": "First", "metric": "weat", "family": "models", "model_a": first, "debias_a": "none"}
    row |= {"model_b": second, "debias_b": "none", "difference": difference, "p_adjusted": p, "low": -2.0}
    row |= {"high": 2.0, "queries": 7, "queries_of": 7, "reason": "", "smallest_difference": 1.0}
    return pd.DataFrame([row])


def side(rows=None, **tables):
    return Side({"scores": scores(rows or {SCORE: OK}), **tables}, {}, {}, {}, {}, ["weat"], 0.95)


def score_change(before, after):
    """The row of a score that has these values in place of those of `OK`."""
    (row,) = compare(side({SCORE: OK | before}), side({SCORE: OK | after}))["scores"].to_dict("records")
    return row


def sizes(frames):
    """How many rows of each frame differ."""
    return {name: len(frame) for name, frame in frames.items() if len(frame) and name != "in_both"}


def test_the_same_study_twice():
    tables = {"rankings": rankings({"one": 1.0, "two": 2.0}), "pairs": pairs("one", "two", -1, 0.01)}
    study = side({SCORE: OK, (*SCORE[:3], "two", "none"): NO_VALUE}, **tables)
    frames = compare(study, study)
    assert sizes(frames) == {}
    assert summary(frames) == "Nothing changed; 2 scores compared."
    assert counts(frames)["scores"]["same"] == 2
    assert not any(records(frames).values())


def test_twelve_digits_are_the_same_and_nine_are_rounding():
    assert sizes(compare(side(), side({SCORE: OK | {"value": 0.5000000000000001}}))) == {}
    assert sizes(compare(side(), side({SCORE: OK | {"p_adjusted": 0.02 * (1 + 1e-13)}}))) == {}
    assert score_change({}, {"value": 0.5 + 1e-11})["kind"] == "rounding"
    assert score_change({}, {"value": 0.5 + 1e-11})["difference"] == pytest.approx(1e-11, rel=1e-3)
    assert score_change({}, {"value": 0.50001})["kind"] == ""
    # a small value is not the same as none, and what is missing in both is the same
    assert sizes(compare(side({SCORE: NO_VALUE}), side({SCORE: NO_VALUE}))) == {}
    assert score_change({"value": 1e-9}, {"value": 2e-9})["kind"] == ""


@pytest.mark.parametrize(("after", "share"), [(0.55, 0.5), (0.61, 1.1), (0.4, 0.5), (0.1, 2.0)])
def test_a_change_is_measured_by_the_way_to_the_end_of_the_interval(after, share):
    row = score_change({}, {"value": after})
    assert row["share"] == pytest.approx(share)
    assert (row["share"] > 1) == (not 0.3 <= after <= 0.6)


def test_intervals_of_no_width_and_none():
    row = score_change({"ci_low": 0.5, "ci_high": 0.5}, {"value": 0.6})
    assert row["share"] == float("inf")
    assert pd.isna(score_change({"ci_low": nan, "ci_high": nan}, {"value": 0.6})["share"])
    # another status at the same value is a change of no size
    assert score_change({}, {"status": "degenerate"})["share"] == 0
    frames = compare(side({SCORE: OK | {"ci_low": 0.5, "ci_high": 0.5}}), side({SCORE: OK | {"value": 0.6}}))
    assert records(frames)["scores"][0]["share"] == "Infinity"


def test_values_that_are_gained_and_lost():
    lost, gained = score_change({}, NO_VALUE), score_change(NO_VALUE, {})
    assert (lost["kind"], lost["status_b"]) == ("lost its value", "lost_words:A")
    assert (gained["kind"], gained["evidence_a"], gained["evidence_b"]) == (
        "has a value now",
        "untested",
        "permutation",
    )
    told = counts(compare(side({SCORE: NO_VALUE}), side()))["scores"]
    assert (told["values_gained"], told["values_lost"], told["changed"], told["same"]) == (1, 0, 1, 0)


def test_the_largest_changes_come_first():
    rows = {
        "small": {"value": 0.51},
        "no interval": {"value": 9.0, "ci_low": nan, "ci_high": nan},
        "large": {"value": 0.9},
        "lost": NO_VALUE,
        "same": {},
    }
    before = {
        ("First", name, *SCORE[2:]): OK | {k: nan for k in row if "ci" in k} for name, row in rows.items()
    }
    before["First", "lost", *SCORE[2:]] = OK
    after = {("First", name, *SCORE[2:]): OK | row for name, row in rows.items()}
    frames = compare(side(before), side(after))
    assert frames["scores"]["query"].tolist() == ["lost", "large", "small", "no interval"]


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
    frames = compare(side({SCORE: OK | {"evidence": before}}), side({SCORE: OK | {"evidence": after}}))
    assert frames["scores"].empty
    assert frames["evidence"][["evidence_a", "evidence_b"]].to_numpy().tolist() == [[before, after]]
    told = counts(frames)["scores"]
    assert told["same"] == told["evidence_changed"] == 1
    assert (told["full_marks_gained"], told["full_marks_lost"]) == (gained, lost)
    said = summary(frames)
    assert said.startswith("1 conclusion changed: 1 on scores.")
    assert ("1 score is newly significant in every test." in said) == bool(gained)
    assert ("1 score is no longer significant in every test." in said) == bool(lost)


def test_a_p_value_that_crosses_a_level_changes_no_evidence():
    # evidence is the studies' own verdict: nothing is judged again
    for column in ("p_adjusted", "p_groups_adjusted"):
        frames = compare(side({SCORE: OK | {column: 0.02}}), side({SCORE: OK | {column: 0.9}}))
        assert sizes(frames) == {"uncertainty": 1, "metrics": 1}
        said = summary(frames)
        assert said.startswith("No conclusion changed; no score did.")
        assert said.endswith("1 score changed only in p-values, interval or number of words.")


def test_evidence_of_aggregates():
    def aggregates(evidence):
        keys = {"criterion": "First", "metric": "weat", "model": "one", "debias": "none"}
        return pd.DataFrame([{**keys, "aggregation": "abs_avg", "evidence": evidence}])

    frames = compare(side(aggregates=aggregates("all")), side(aggregates=aggregates("none")))
    assert sizes(frames) == {"aggregates": 1}
    (row,) = records(frames)["aggregates"]
    assert (row["model"], row["evidence_a"], row["evidence_b"]) == ("one", "all", "none")
    assert summary(frames) == "1 conclusion changed: 1 on average scores."


def test_columns_that_older_code_did_not_make_are_not_compared():
    later = ["p_groups", "p_groups_adjusted", "evidence"]
    frames = compare(side(scores=scores({SCORE: OK}).drop(columns=later)), side())
    assert sizes(frames) == {"lacking": 1}
    assert summary(frames).endswith("Significance is not compared: scores.csv of A has no column evidence.")
    old = rankings({"one": 1.0, "two": 2.0}).drop(columns=["rank_shared", "queries", "reason"])
    frames = compare(side(rankings=old), side(rankings=rankings({"one": 2.0, "two": 1.0})))
    assert sizes(frames) == {"ranks": 2}
    assert "the least biased models are not compared" in summary(frames).lower()
    ranks = (rankings({"one": 1.0, "two": 2.0}), rankings({"one": 2.0, "two": 1.0}))
    tests = pairs("one", "two", -1, 0.5)
    frames = compare(*(side(rankings=table, pairs=tests) for table in ranks))
    # ranks of raw values do not change which model is below the other
    assert sizes(frames) == {"ranks": 2}


def test_scores_are_matched_by_their_keys_in_any_order():
    values = {("First", f"q{i}", *SCORE[2:]): OK | {"value": float(i)} for i in range(5)}
    frames = compare(side(values), side(dict(reversed(values.items()))))
    assert (frames["in_both"]["scores"].item(), sizes(frames)) == (5, {})
    # thousands of rows of one key, which only a stranger's table has, are no millions
    rows = pd.concat([scores({SCORE: OK})] * 3000)
    assert compare(side(scores=rows), side(scores=rows))["in_both"]["scores"].item() == 3000


def test_what_is_in_one_study_alone_is_named():
    other = ("Second", "r", "rnd", "two", "hard")
    frames = compare(side({SCORE: OK, other: OK}), side())
    told = counts(frames)["scores"]
    assert (told["in_both"], told["only_in_a"], told["only_in_b"]) == (1, 1, 0)
    assert frames["only_in_one"].to_numpy().tolist() == [
        ["criteria", ["Second"], []],
        ["queries", ["r"], []],
        ["metrics", ["rnd"], []],
        ["models", ["two"], []],
        ["debias methods", ["hard"], []],
    ]
    # what no study has alone is not counted
    assert summary(frames).endswith("Only in one study: 1 score in A.")
    frames = compare(side(), side({other: OK}))
    assert summary(frames) == "The two studies have no score in common: there is nothing to compare."
    assert counts(frames)["scores"]["only_in_a"] == counts(frames)["scores"]["only_in_b"] == 1


def test_ranks_that_changed():
    frames = compare(
        side(rankings=rankings({"one": 1.0, "two": 2.0, "three": 3.0, "four": nan})),
        side(rankings=rankings({"one": 1.0, "two": 3.0, "three": 2.0, "four": nan})),
    )
    assert sizes(frames) == {"ranks": 2}
    ranks = {row.model: (row.rank_a, row.rank_b) for row in frames["ranks"].itertuples()}
    assert ranks == {"two": (2, 3), "three": (3, 2)}
    assert "2 of 4 ranks" in summary(frames)
    # a model that lost its rank; the other is still the first of those that have one
    both = rankings({"one": 1.0, "two": 2.0}), rankings({"one": nan, "two": 1.0})
    assert compare(*(side(rankings=table) for table in both))["ranks"]["model"].tolist() == ["one"]


def test_a_model_that_came_changes_no_rank_of_others():
    frames = compare(
        side(rankings=rankings({"one": 1.0, "two": 2.0})),
        side(rankings=rankings({"new": 1.0, "one": 2.0, "two": 3.0})),
    )
    # but the least biased one is another
    assert sizes(frames) == {"rank_shifts": 2, "least_biased": 1}
    (row,) = records(frames)["least_biased"]
    assert (row["first_a"], row["first_b"]) == (["one"], ["new"])
    assert summary(frames) == "1 conclusion changed: 1 on the least biased model."


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ((-1, 0.01), (-1, 0.2), "lost"),
        ((-1, 0.2), (-2, 0.05), "gained"),
        ((-1, 0.01), (1, 0.01), "reversed"),
        ((-1, 0.2), (1, 0.3), None),
        ((-1, 0.01), (-3, 0.04), None),
        ((nan, nan), (-1, 0.01), "gained"),
    ],
)
def test_decided_pairs(before, after, change):
    a = side(pairs=pairs("one", "two", *before))
    frames = compare(a, side(pairs=pairs("one", "two", *after)))
    assert frames["in_both"]["pairs"].item() == 1
    assert frames["pairs"]["change"].tolist() == ([change] if change else [])
    # another study may name the pair the other way round
    difference, p = after
    turned = compare(a, side(pairs=pairs("two", "one", -difference, p)))
    assert turned["pairs"].equals(frames["pairs"])


def test_the_level_of_pairs_is_each_studys():
    study = side(pairs=pairs("one", "two", -1, 0.07))
    assert compare(study, study)["pairs"].empty
    assert compare(study, replace(study, level=0.9))["pairs"]["change"].tolist() == ["gained"]


def test_the_least_biased_model_that_became_decided():
    ranks = rankings({"one": 1.0, "two": 2.0})
    a = side(rankings=ranks, pairs=pairs("one", "two", -1, 0.2))
    (row,) = records(compare(a, side(rankings=ranks, pairs=pairs("one", "two", -1, 0.01))))["least_biased"]
    assert (row["first_a"], row["first_b"]) == (["one"], ["one"])
    assert (row["decided_a"], row["decided_b"]) == (False, True)
    # where one of them has no such table, that is no change
    without = compare(a, side(rankings=ranks))
    assert without["least_biased"].empty
    assert without["lacking"].to_numpy().tolist() == [["pairs", "b", "table"]]


def test_verdicts_that_changed():
    def comparison(ours, verdict):
        row = {
            "source": "A paper",
            "table": "table 1",
            "criterion": "First",
            "metric": "weat",
            "model": "one",
        }
        row |= {"quantity": "q1/weat", "published": 9.5, "ours": ours, "verdict": verdict}
        return pd.DataFrame([row])

    a = side(comparison=comparison(9.5, "reproduced"))
    frames = compare(a, side(comparison=comparison(9.7, "differs")))
    (row,) = records(frames)["verdicts"]
    assert (row["verdict_a"], row["verdict_b"], row["ours_b"]) == ("reproduced", "differs", 9.7)
    assert summary(frames) == "1 conclusion changed: 1 on published numbers."
    # the number is another, what is said of it is not
    assert compare(a, side(comparison=comparison(9.51, "reproduced")))["verdicts"].empty


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
    frames = compare(replace(side(), config=a), replace(side(), config=b))
    assert records(frames)["config"][1] == {"key": "models.y", "a": {}}


def test_words_vectors_and_versions_that_went_in():
    def of(words, checksum, version):
        query = Query([words, ["x"]], [["y"]], ["A", "B"], ["C"])
        vectors = {"one": {"vectors.npy": checksum, "vocabulary.sqlite": "5"}, "two": {"vectors.npy": "1"}}
        return replace(side(), queries={"q": query}, vectors=vectors, versions={"numpy": version})

    frames = compare(of(["a", "b"], "1", "2.0"), of(["b", "c"], "2", "2.1"))
    assert sizes(frames) == {"words": 1, "vectors": 1, "versions": 1}
    assert frames["words"].to_numpy().tolist() == [["q", "A", ["a"], ["c"]]]
    assert frames["vectors"].to_numpy().tolist() == [["one", "vectors.npy"]]
    assert summary(frames) == (
        "No result changed; 1 score compared. Different inputs: word sets A of q; vectors one; versions of numpy."
    )
