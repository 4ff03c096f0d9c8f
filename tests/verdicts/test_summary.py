"""What a study says in short texts: each by rule, from tables whose numbers are counted here."""

from dataclasses import replace
from math import ceil, nan

import pandas as pd
import pytest
from tables_of_models import answered, tables

from biasgrid.verdicts.summary import of_pairs, summary

LABELS = {
    **{"weat": "WEAT", "mac": "MAC", "rnd": "RND", "hard": "hard debias"},
    **{"a": "GloVe 840B (filtered)", "b": "word2vec (subset)", "c": "spaCy"},
}
SPEC = {
    "criteria": ["Gender"],
    "labels": LABELS,
    "debias": {"hard": "Gender"},
    "sides": [],
    "margin": 0.5,
    "adjust": "benjamini-hochberg",
    "level": 0.95,
    "draws": [999],
}


def said(answers=(), spec=SPEC, **tables):
    texts = summary(list(answers), {name: pd.DataFrame(rows) for name, rows in tables.items()}, spec)
    return list(texts.values())


LOW = {("b", "a"): 0.01, ("b", "c"): 0.01}


@pytest.mark.parametrize(
    ("p_values", "more", "sentence"),
    [
        ({}, {}, "No model is clearly the least biased according to either metric."),
        (
            {"weat": LOW},
            {},
            "word2vec (subset) is clearly the least biased according to one of two metrics, WEAT.",
        ),
        (
            {"weat": LOW, "mac": LOW},
            {},
            "word2vec (subset) is clearly the least biased according to both metrics.",
        ),
        # a model that lost queries says so, and so does one that it was not compared with
        (
            {"weat": LOW, "mac": LOW},
            {"queries": {"a": 3, "b": 6}},
            "word2vec (subset; 6 of 7 queries) is clearly the least biased according to both metrics. It was not "
            "compared with GloVe 840B (filtered; 3 of 7 queries).",
        ),
        (
            {"weat": LOW},
            {"why": "no baseline"},
            "Models are not compared, because the study has no random-word baseline. To get one, add random_groups "
            "to its inference.",
        ),
        (
            {},
            {"bootstrap": False},
            "No model can be called least biased: without a bootstrap nothing is decided.",
        ),
        (
            {},
            {"why": "too few shared queries"},
            "No two models can be compared: they have too few queries in common.",
        ),
    ],
)
def test_which_model_is_the_least_biased(p_values, more, sentence):
    values = {metric: {"b": 0.1, "a": 0.5, "c": 0.6} for metric in ("weat", "mac")}
    assert said(answered(values, p_values, **more)) == [sentence]


def test_single_topics_are_named_with_their_metrics():
    values = {metric: {"b": 0.1, "a": 0.5, "c": 0.6} for metric in ("weat", "mac")}
    single = answered(values, {"weat": LOW, "mac": LOW})
    others = [replace(answer, criterion="Religion") for answer in answered(values)]
    of_all = [replace(answer, criterion="Overall") for answer in answered(values)]
    spec = SPEC | {"criteria": ["Gender", "Religion"]}
    assert said([*single, *others, *of_all], spec)[0] == (
        "Over all topics, no model is clearly the least biased according to either metric. On single topics, a model "
        "is clearly the least biased in 2 of 4 cases. On Gender it is word2vec (subset), according to WEAT and MAC."
    )
    assert said([*others, *of_all], spec)[0].endswith(
        "On single topics, no model is clearly the least biased according to any metric."
    )


def test_metrics_without_a_baseline_are_named_beside_those_that_compare():
    of_words = answered({"weat": {"a": 0.1, "b": 0.5}}, why="no baseline")
    of_sentences = answered({"mac": {"a": 0.1, "b": 0.5}}, {"mac": {("a", "b"): 0.01}})
    assert said([*of_words, *of_sentences]) == [
        "GloVe 840B (filtered) is clearly the least biased according to MAC, the only metric. WEAT cannot compare "
        "models without a random-word baseline (random_groups)."
    ]


def test_metrics_without_a_common_zero_compare_no_models():
    of_words = answered({"mac": {"a": 0.1, "b": 0.5}}, why="no common zero")
    sentence = "MAC cannot compare models: models differ by it on random words, too."
    assert said(of_words) == [sentence]
    others = answered({"weat": {"a": 0.1, "b": 0.5}}, {"weat": {("a", "b"): 0.01}})
    assert said([*of_words, *others])[0].endswith(f"according to WEAT, the only metric. {sentence}")


def test_sentences_of_the_answer_are_short_and_without_nested_brackets():
    values = {metric: {"b": 0.1, "a": 0.5, "c": 0.6} for metric in ("weat", "mac", "rnd")}
    lost = {"queries": {"a": 3, "b": 6}}
    answers = answered(values, {"weat": LOW, "mac": LOW}, **lost)
    answers += [replace(answer, criterion="Overall") for answer in answers]
    answers += [replace(answer, criterion="Religion") for answer in answered(values, {"rnd": LOW}, **lost)]
    _, pairs = tables(values, {})
    pairs["answer"] = "cannot tell"
    (text, *_) = said(answers, SPEC | {"criteria": ["Gender", "Religion"]}, pairs=pairs)
    assert len(sentences := text.split(". ")) > 5
    assert max(len(sentence.split()) for sentence in sentences) <= 28
    depths = [text[:i].count("(") - text[:i].count(")") for i in range(len(text))]
    assert max(depths) == 1


def test_one_model_is_no_answer_and_nothing_is_said_of_nothing():
    assert said(answered({"weat": {"a": 0.1}})) == []
    assert said() == []


def scores(**counts):
    """Rows of scores.csv: evidence -> how often, each of two tests and of a p_lowest that no draws give."""
    row = {"criterion": "Gender", "query": "Q", "debias": "none", "value": 1.0, "tests": 2, "p_lowest": 0.3}
    names = [name for name, n in counts.items() for _ in range(n)]
    return [row | {"evidence": name, "model": f"m{i}", "metric": "weat"} for i, name in enumerate(names)]


def test_queries_with_evidence_and_in_how_many_models():
    rows = scores(all=3, none=1, untested=1)
    # by another metric in the same model, and in a debiased one: neither is one more model
    rows += [rows[0] | {"metric": "rnd"}, rows[0] | {"model": "m9", "debias": "hard"}]
    rows += [row | {"query": "R"} for row in scores(all=1, permutation=3)]
    rows += [row | {"criterion": "Religion"} for row in scores(none=2)]
    # of a metric that can have one test alone
    rows += [row | {"criterion": "Religion", "metric": "mac", "tests": 1} for row in scores(all=2)]
    assert said(scores=rows)[0] == (
        "By both tests there is evidence of bias on Gender in Q (3 of 4 models) and R (1 of 4 models); none on "
        "Religion."
    )
    many = [row | {"query": f"Q{i}"} for i in range(5) for row in scores(all=1)]
    assert said(scores=many)[0] == (
        "By both tests there is evidence of bias on Gender in Q0 (1 of 1 model), Q1 (1 of 1 model), Q2 (1 of 1 "
        "model) and 2 more queries."
    )
    assert said(scores=scores(none=3))[0] == (
        "By both tests there is evidence of bias on no query, which does not prove that there is none."
    )
    one = [row | {"tests": 1} for row in scores(all=1, none=1)]
    assert said(scores=one)[0] == (
        "By the one test that the metrics have there is evidence of bias on Gender in Q (1 of 2 models)."
    )


def test_comparisons_of_two_models_are_counted_with_what_they_could_have_found():
    answers = ["different", "alike", "cannot tell", "cannot tell", "cannot tell", ""]
    pairs = pd.DataFrame(
        {"family": "models", "answer": answers, "smallest_difference": [2, 1, 0.5, 0.94, 3, nan]}
    ).assign(scale="standardized")
    # of a debiased model and its original
    pairs.loc[6] = ["states", "different", 1, "standardized"]
    counts = "1 of 5 comparisons of two models on these queries find them different"
    assert of_pairs(pairs, 0.3) == [
        f"{counts}, and 1 alike within 0.3 standard deviations.",
        "The other 3 cannot tell; half of them would find a difference of 0.94 standard deviations with 80 % power.",
    ]
    assert len(of_pairs(pairs[:2], 0.3)) == 1
    assert of_pairs(None, 0.3) == of_pairs(pairs[5:], 0.3) == of_pairs(pairs.drop(columns="scale"), 0.3) == []
    # raw distances have other units for each metric, and are never alike
    pairs = pairs[pairs["answer"] != "alike"].assign(scale="raw")
    assert of_pairs(pairs, 0.3) == [counts.replace("5", "4") + ".", "The other 3 cannot tell."]


def test_scores_without_a_baseline_are_counted_by_criterion():
    few = {"no_baseline": "too few coherent topics"}
    rows = [row | {"no_baseline": ""} for row in scores(none=2)] + [row | few for row in scores(untested=1)]
    rows += [row | few | {"criterion": "Religion"} for row in scores(none=1)]
    # a debiased model has the baseline of its original
    rows += [row | few | {"debias": "hard"} for row in scores(none=1)]
    assert said(scores=rows)[0] == (
        "By both tests there is evidence of bias on no query, which does not prove that there is none; 2 scores on "
        "Gender and Religion have no baseline (too few coherent topics)."
    )


def test_what_is_said_without_the_second_test_and_without_any():
    untested = [row | {"p_groups": nan} for row in scores(permutation=3)]
    lacking = (
        "Nothing is evidence of bias without the test against random groups, which was not made "
        "(random_groups)."
    )
    assert said(scores=untested)[0] == lacking
    # beside a metric that can have one test alone
    one = [row | {"p_groups": nan, "tests": 1, "metric": "ceat"} for row in scores(all=1)]
    assert said(scores=untested + one)[0] == (
        "By the one test that the metrics have there is evidence of bias on Gender in Q (1 of 1 model). "
        + lacking
    )
    # older results
    older = pd.DataFrame(scores(all=2)).drop(columns="evidence").to_dict("records")
    assert said(scores=older) == ["All 2 scores have a value."]
    assert said(scores=scores(untested=3)) == ["All 3 scores have a value."]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("adjust", "tails", "m", "significant", "needed"),
    [
        # n >= tails m / (.05 (R + 1)) = 300 / .2
        ("benjamini-hochberg", 1, 300, 3, 1500),
        ("benjamini-hochberg", 2, 300, 3, 3000),
        # n >= tails (m - R) / .05
        ("holm", 1, 300, 3, 297 / 0.05),
        ("holm", 1, 300, 100, 200 / 0.05),
    ],
)
def test_what_is_out_of_reach_says_how_many_draws_would_do(adjust, tails, m, significant, needed):
    rows = scores(all=significant, out_of_reach=3, none=m - significant - 3)
    for row in rows:
        row["p_lowest"] = tails / 1000
    (sentence, _) = said(spec=SPEC | {"adjust": adjust}, scores=rows)
    number = ceil(needed / 100) * 100
    assert sentence.endswith(f"; 3 scores have too few draws (about {number:,} would do) to be significant.")


def test_what_is_out_of_reach_of_its_words():
    rows = scores(all=1, out_of_reach=2, none=300)
    rows[2]["p_lowest"] = 1 / 1000
    assert said(scores=rows)[0] == (
        "By both tests there is evidence of bias on Gender in Q (1 of 303 models); 1 score has too few words, 1 "
        "score too few draws (about 3,100 would do) to be significant."
    )


def test_what_is_missing_of_which_model_and_where_it_is_not_ranked():
    def rows(**counts):
        return [
            {"model": model, "value": nan if i < n else 1.0, "status": "lost_words:A" if i < n else "ok"}
            for model, n in counts.items()
            for i in range(500)
        ]

    answers = answered({"weat": {"b": 0.1, "c": 0.5, "a": 0.6}}, queries={"a": 3})
    assert said(answers, scores=rows(a=111, b=28, c=0))[1] == (
        "139 of 1,500 scores are missing (too many words lost), most of them GloVe 840B's (filtered), which is not "
        "ranked on Gender (3 of 7 queries)."
    )
    assert said(scores=rows(a=0, c=2)) == [
        "2 of 1,000 scores are missing (too many words lost), all of them spaCy's."
    ]
    assert said(scores=rows(c=1)) == ["1 of 500 scores is missing (too many words lost), spaCy's."]
    assert said(scores=rows(a=1, b=1)) == [
        "2 of 1,000 scores are missing (too many words lost), of 2 models."
    ]


def test_lost_words_are_not_why_a_model_without_rivals_is_not_ranked():
    scores = [{"model": "a", "value": nan if i < 4 else 1.0, "status": "lost_words:A"} for i in range(50)]
    alone = answered({"weat": {"a": 0.6}}, queries={"a": 5})
    assert alone[0].not_ranked
    sentence = "4 of 50 scores are missing (too many words lost), all of them GloVe 840B's (filtered)."
    assert sentence in said(alone, scores=scores)
    # of two, the one that lost words is named, and not the one that has too few rivals for it
    two = answered({"weat": {"a": 0.6, "b": 0.1}}, queries={"a": 3})
    assert f"{sentence[:-1]}, which is not ranked on Gender (3 of 7 queries)." in said(two, scores=scores)
    other = [row | {"model": "b"} for row in scores]
    assert "4 of 50 scores are missing (too many words lost), all of them word2vec's (subset)." in said(
        two, scores=other
    )


def test_what_debiasing_did_and_which_metrics_do_not_compare():
    # two metrics of model a: less by WEAT, undecided by MAC
    states = {"weat": ("a", 0.1, 0.01), "mac": ("a", 0.1, 0.6)}
    answers = [
        answer
        for metric, state in states.items()
        for answer in answered({metric: {"a": 0.5, "b": 0.6}}, states=[state])
    ]
    assert said(answers)[1] == "Hard debias lowers Gender by 1 of 2 metrics."
    shorter = answered({"rnd": {"a": 0.5}}, states=[("a", 0.1, 0.01)], why="vector lengths differ")
    assert said(answers + shorter)[1] == (
        "Hard debias lowers Gender by 1 of 2 metrics. RND does not compare, as debiasing changes the length of "
        "vectors."
    )
    raised = answered({"weat": {"a": 0.5, "b": 0.6}}, states=[("a", 0.9, 0.01)])
    assert said(raised)[1] == "Hard debias lowers Gender by 0 of 1 metrics (and raises it by 1)."


@pytest.mark.parametrize(
    ("verdicts", "sentence"),
    [
        (["reproduced"] * 32, "All 32 published numbers are reproduced."),
        (["reproduced"], "The one published number is reproduced."),
        (
            [*["reproduced"] * 3, "differs", "explained", "no value", "other vectors"],
            "3 of 5 published numbers are reproduced (1 explained and 1 differs), and 2 could not be compared.",
        ),
        (["no value"], "No published number could be compared."),
    ],
)
def test_what_is_reproduced(verdicts, sentence):
    rows = [published("abs_avg", "weat", verdict) for verdict in verdicts]
    assert said(comparison=rows) == [sentence]


def published(quantity, metric, verdict):
    """A row of comparison.csv."""
    place = {"source": "paper", "criterion": "Gender", "metric": metric}
    return place | {"quantity": quantity, "verdict": verdict}


def test_rankings_and_matrices_are_counted_whole_and_apart_from_numbers():
    rows = [published("abs_avg", "weat", "reproduced")] * 3
    rows += [published("rank", "weat", "reproduced")] * 7 + [published("rank", "rnd", "differs")] * 7
    rows += [published("rank", "mac", "no value")] * 7
    rows += [published("correlation", pair, "differs") for pair in ("weat~rnd", "weat~mac", "rnd~mac")]
    assert said(comparison=rows) == [
        "All 3 published numbers are reproduced; 1 of 2 published rankings is reproduced (1 differs), and 1 could "
        "not be compared; 0 of 1 published correlation matrix is reproduced (1 differs)."
    ]
    assert said(comparison=rows[-10:-3]) == ["No published ranking could be compared."]
