"""What a study says, by rule, from tables whose numbers are counted here."""

from dataclasses import replace
from math import ceil, nan

import pandas as pd
import pytest
from tables_of_models import answered, tables

from biasgrid.tables.conclusions.missing import ONE_SCORE
from biasgrid.tables.conclusions.models_card import of_pairs
from biasgrid.tables.conclusions.summary import conclude, lines

LABELS = {
    **{"weat": "WEAT", "mac": "MAC", "rnd": "RND", "hard": "hard debias"},
    **{"a": "GloVe 840B", "b": "word2vec", "c": "spaCy"},
}
SPEC = {
    "title": "Study",
    "topics": ["Gender", "Religion"],
    "criteria": ["Gender"],
    "labels": LABELS,
    "metrics": ["weat", "rnd", "mac"],
    "queries": {"q1": "Q", "q2": "R"},
    "models": 3,
    "debias": {"hard": "Gender"},
    "recovery": True,
    "sides": [],
    "aggregation": "abs_avg",
    "margin": 0.5,
    "adjust": "benjamini-hochberg",
    "level": 0.95,
    "random_groups": False,
    "draws": [999],
}


def concluded(answers=(), spec=SPEC, **tables):
    return conclude(list(answers), {name: pd.DataFrame(rows) for name, rows in tables.items()}, spec)


def said(topic, answers=(), spec=SPEC, **tables):
    """Return all that is said of a topic; empty if it is left out."""
    conclusion = concluded(answers, spec, **tables)
    cards = {card.topic: [f"{card.figure} {card.unit}.", *card.sentences] for card in conclusion.cards}
    return " ".join((cards | dict(conclusion.notes)).get(topic, ()))


# keys of a score, but for its metric
A_SCORE = {"criterion": "Gender", "query": "Q", "model": "m", "debias": "none"}
LOW = {("b", "a"): 0.01, ("b", "c"): 0.01}
EVEN = {"b": 0.1, "a": 0.5, "c": 0.6}


@pytest.mark.parametrize(
    ("p_values", "more", "text"),
    [
        (
            {},
            {},
            "No model is clearly the least biased. According to WEAT, spaCy has the most bias and word2vec the "
            "least; they do not clearly differ.",
        ),
        (
            {"weat": LOW},
            {},
            "word2vec is clearly the least biased according to WEAT. According to WEAT, spaCy has the most bias and "
            "word2vec the least; they clearly differ.",
        ),
        ({"weat": LOW, "mac": LOW}, {}, "word2vec is clearly the least biased according to both metrics."),
        (
            {"weat": LOW, "mac": {("a", "b"): 0.01, ("a", "c"): 0.01}},
            {"values": {"weat": EVEN, "mac": {"a": 0.1, "b": 0.5, "c": 0.6}}},
            "Metrics disagree on which model is clearly the least biased.",
        ),
        (
            {"weat": LOW},
            {"why": "no baseline"},
            "No model can be called the least biased. Models are not compared, because the study has no random-word "
            "baseline. To get one, add random_groups to its inference.",
        ),
        (
            {},
            {"bootstrap": False},
            "No model can be called the least biased. Models are not compared, because the study has no bootstrap.",
        ),
        (
            {},
            {"why": "too few shared queries"},
            "No model can be called the least biased. No two models can be compared: they have too few queries in "
            "common.",
        ),
    ],
)
def test_which_model_is_the_least_biased(p_values, more, text):
    values = more.pop("values", {metric: EVEN for metric in ("weat", "mac")})
    found = said("Models", answered(values, p_values, **more))
    assert found.startswith(text)


def test_a_clear_winner_by_one_query_is_the_answer_for_that_query():
    found = answered({"weat": EVEN}, {"weat": LOW})
    sentence = "This is the answer for one query, and another query may have another answer."
    assert sentence in said("Models", found, SPEC | {"queries": {"q1": "Q"}})
    assert sentence not in said("Models", found)
    assert sentence not in said("Models", answered({"weat": EVEN}, {}), SPEC | {"queries": {"q1": "Q"}})


def test_a_clear_winner_names_the_models_that_it_was_not_compared_with():
    lost = {"queries": {"a": 3, "b": 6}}
    values = {metric: EVEN for metric in ("weat", "mac")}
    found = answered(values, {"weat": LOW, "mac": LOW}, **lost)
    sentence = "It was not compared with GloVe 840B (3 of 7 queries)."
    assert said("Models", found).startswith(
        f"word2vec is clearly the least biased according to both metrics. {sentence}"
    )
    of_all = [replace(answer, criterion="Overall") for answer in answered(values)]
    spec = SPEC | {"criteria": ["Gender", "Religion"]}
    assert said("Models", [*found, *of_all], spec).endswith(sentence)
    assert "not compared with" not in said("Models", answered(values, {"weat": LOW}))


def test_single_topics_are_named_with_their_metrics():
    values = {metric: EVEN for metric in ("weat", "mac")}
    single = answered(values, {"weat": LOW, "mac": LOW})
    others = [replace(answer, criterion="Religion") for answer in answered(values)]
    of_all = [replace(answer, criterion="Overall") for answer in answered(values)]
    spec = SPEC | {"criteria": ["Gender", "Religion"]}
    assert said("Models", [*single, *others, *of_all], spec).endswith(
        "On Gender, word2vec is clearly lowest according to WEAT and MAC."
    )
    assert "clearly lowest" not in said("Models", [*others, *of_all], spec)
    topics = [f"T{i}" for i in range(4)]
    many = [replace(answer, criterion=topic) for topic in topics for answer in single]
    assert "On single topics, one model is clearly lowest in 8 of 8 rankings." in said(
        "Models", [*many, *of_all], SPEC | {"criteria": topics}
    )


def test_metrics_without_a_baseline_are_named_beside_those_that_compare():
    of_words = answered({"weat": {"a": 0.1, "b": 0.5}}, why="no baseline")
    of_sentences = answered({"mac": {"a": 0.1, "b": 0.5}}, {"mac": {("a", "b"): 0.01}})
    both = [*of_words, *of_sentences]
    assert said("Models", both).startswith("GloVe 840B is clearly the least biased according to MAC.")
    assert (
        said("Not compared", both)
        == "WEAT cannot compare models without a random-word baseline (random_groups)."
    )
    assert said("Not compared", of_words) == ""


def test_metrics_without_a_common_zero_compare_no_models():
    of_words = answered({"mac": {"a": 0.1, "b": 0.5}}, why="no common zero")
    sentence = "MAC cannot compare models because models also differ on random words."
    assert said("Models", of_words) == (
        "No model can be called the least biased. These metrics cannot compare models."
    )
    assert said("Not compared", of_words) == sentence
    others = answered({"weat": {"a": 0.1, "b": 0.5}}, {"weat": {("a", "b"): 0.01}})
    assert said("Not compared", [*of_words, *others]) == sentence


def everything():
    """A conclusion on all questions, with long lists."""
    values = {metric: EVEN for metric in ("weat", "mac", "rnd")}
    lost = {"queries": {"a": 3, "b": 6}, "states": [("b", 0.05, 0.01)]}
    found = answered(values, {"weat": LOW, "mac": LOW}, **lost)
    found += [replace(answer, criterion="Overall") for answer in found]
    found += [replace(answer, criterion="Religion") for answer in answered(values, {"rnd": LOW}, **lost)]
    _, pairs = tables(values, {})
    pairs["answer"], pairs["scale"] = "cannot tell", "standardized"
    rows = [
        row | {"query": f"Q{i}", "status": "ok"} for i in range(5) for row in scores(all=1, permutation=1)
    ]
    rows += [row | {"criterion": "Religion", "status": "ok"} for row in scores(out_of_reach=1, none=1)]
    rows += [rows[0] | {"value": nan, "status": "lost_words:A", "evidence": "untested"}]
    card = [
        A_SCORE | {"coefficient": "sign", "verdict": verdict, "metric": metric}
        for metric in ("weat", "rnd")
        for verdict in ("holds", "may turn")
    ]
    return concluded(
        found,
        SPEC | {"criteria": ["Gender", "Religion"]},
        **{
            "pairs": pairs,
            "scores": rows,
            "reliability": card,
            "comparison": [published("rank", "weat", "differs")],
        },
    )


def test_sentences_are_short_and_without_nested_brackets():
    conclusion = everything()
    assert len(conclusion.headline.split()) <= 10
    assert len(conclusion.cards) == 4
    texts = [conclusion.subtitle, *conclusion.topics.values()]
    sentences = [sentence for text in texts for sentence in text.replace(":", ".").split(". ")]
    assert len(sentences) > 15
    assert max(len(sentence.split()) for sentence in sentences) <= 28
    for text in texts:
        depths = [text[:i].count("(") - text[:i].count(")") for i in range(len(text))]
        assert max(depths) <= 1


def test_lines_are_a_headline_and_an_aligned_list():
    conclusion = everything()
    said = lines(conclusion, 80)
    assert max(map(len, said)) <= 80
    assert said[:2] == ["Study", f"{conclusion.headline}."]
    start = said.index("") + 1
    assert all(line.startswith("  ") for line in said[start:])
    heads = [line[2:].split("  ")[0] for line in said[start:] if line[2] != " "]
    assert heads == list(conclusion.topics)
    # all that is said begins in one column
    column = len("  ") + max(map(len, heads)) + 2
    assert {line[:column].strip() for line in said[start:]} == {"", *heads}


def test_nothing_is_said_of_nothing():
    conclusion = concluded(answered({"weat": {"a": 0.1}}))
    assert (conclusion.cards, conclusion.notes) == ((), {})
    assert conclusion.headline == "No score could be computed"
    assert lines(concluded(), 80) == ["Study", "No score could be computed."]


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
    rows += [row | {"query": "S"} for row in scores(permutation=1)]
    rows += [row | {"criterion": "Religion"} for row in scores(none=2)]
    # of a metric that can have one test alone
    rows += [row | {"criterion": "Religion", "metric": "mac", "tests": 1} for row in scores(all=2)]
    conclusion = concluded(scores=rows)
    assert conclusion.headline == "Clear evidence of Gender bias in 3 of 4 models"
    assert conclusion.topics["Bias"].endswith("this does not prove that there is none.")
    assert said("Bias", scores=rows) == (
        "2 of 4 queries show clear evidence of bias. Gender: Q (3 of 4 models); R (1 of 4 models). None on Religion; "
        "this does not prove that there is none. On 1 more query, the evidence is weak: unrelated word groups differ "
        "as much. In 3 of 4 models, at least one of these queries shows it."
    )
    many = [row | {"query": f"Q{i}"} for i in range(5) for row in scores(all=2)]
    assert said("Bias", scores=many) == (
        "5 of 5 queries show clear evidence of bias. Gender: Q0 (both models); Q1 (both models); Q2 (both "
        "models); 2 more. In both models, at least one of these queries shows it."
    )
    assert concluded(scores=many).headline == "Clear evidence of Gender bias in both models"


def test_the_metrics_are_named_if_the_first_one_does_not_find_it():
    rows = [row | {"metric": metric} for metric in ("rnd", "mac") for row in scores(all=1, none=1)]
    assert "Q (1 of 2 models by RND and MAC)" in said("Bias", scores=rows)
    assert "Q (1 of 2 models)" in said("Bias", scores=rows + scores(all=1))


def test_sub_queries_count_as_their_query():
    rows = [
        row | {"query": f"Q, part {i}", "query_id": "q1"} for i in range(2) for row in scores(all=1, none=1)
    ]
    assert (
        said("Bias", scores=rows) == "1 of 1 query shows clear evidence of bias. Gender: Q (1 of 2 models)."
    )


@pytest.mark.parametrize(
    ("evidence", "text"),
    [
        ({"a": "all", "b": "none"}, "GloVe has more bias on Gender than unrelated words"),
        ({"a": "all", "b": "all"}, "both models have more bias on Gender than unrelated words"),
    ],
)
def test_an_average_with_evidence_is_named_where_no_query_has_any(evidence, text):
    rows = pd.DataFrame(
        {"criterion": "Gender", "metric": "weat", "model": model, "debias": "none", "aggregation": "abs_avg"}
        | {"evidence": found, "tests": 1}
        for model, found in evidence.items()
    )
    spec = SPEC | {"labels": SPEC["labels"] | {"a": "GloVe"}}
    named = "GloVe: Gender bias on average; no query shows clear evidence"
    headline = named if evidence["b"] == "none" else named.removeprefix("GloVe: ")
    assert concluded(spec=spec, scores=scores(none=2), aggregates=rows).headline == headline
    said_of_bias = said("Bias", spec=spec, scores=scores(none=2), aggregates=rows)
    assert said_of_bias.endswith(f"On average over queries, {text}, according to WEAT.")
    of_three = pd.concat([rows.assign(metric=metric) for metric in ("weat", "mac", "ect")])
    spec = SPEC | {"metrics": ["weat", "mac", "ect"]}
    assert said("Bias", spec=spec, scores=scores(none=2), aggregates=of_three).endswith("to 3 metrics.")
    assert "On average" not in said("Bias", scores=scores(none=2), aggregates=rows.assign(evidence="none"))
    assert "On average" not in said("Bias", scores=scores(all=1), aggregates=rows)


@pytest.mark.parametrize(
    ("counts", "changes", "headline"),
    [
        ({"none": 3}, {}, "No query shows clear evidence of bias"),
        ({"permutation": 1, "none": 3}, {}, "Weak evidence of bias: unrelated word groups differ as much"),
        ({"permutation": 1}, {"p_groups": nan}, "Weak evidence of bias: there is no random-word baseline"),
        ({"out_of_reach": 2}, {}, "Too few words to tell whether there is bias"),
        ({"all": 1, "none": 1}, {"tests": 1}, "Evidence of Gender bias in 1 of 2 models"),
        ({"untested": 3}, {}, "3 scores measured, none tested"),
        ({"all": 1}, {"criterion": "what people with three or more jobs earn"}, "Clear evidence of bias"),
    ],
)
def test_the_headline_follows_from_the_evidence(counts, changes, headline):
    assert concluded(scores=[row | changes for row in scores(**counts)]).headline == headline


def test_the_headline_names_two_topics_and_counts_more():
    def on(*names):
        return [row | {"criterion": name} for name in names for row in scores(all=1)]

    assert concluded(scores=on("A", "B")).headline == "Clear evidence of bias on A and B"
    assert concluded(scores=on(*"ABCD")).headline == "Clear evidence of bias on 4 of 4 topics"


def test_evidence_in_one_test_and_in_none():
    one = [row | {"tests": 1} for row in scores(all=1, none=1)]
    assert said("Bias", scores=one) == "1 of 1 query shows evidence of bias. Gender: Q (1 of 2 models)."
    assert said("Bias", scores=scores(none=3)) == (
        "0 of 1 query shows clear evidence of bias. This does not prove that there is no bias."
    )
    without = [row | {"p_groups": nan} for row in scores(permutation=3)]
    weak = "On 1 query, the evidence is weak: there is no random-word baseline."
    assert said("Bias", scores=without).endswith(weak)
    # older results
    older = pd.DataFrame(scores(all=2)).drop(columns="evidence").to_dict("records")
    assert list(concluded(scores=older).topics) == ["Missing"]
    assert list(concluded(scores=scores(untested=3)).topics) == ["Missing"]


def test_models_that_are_biased_in_opposite_directions_are_mentioned():
    rows = [row | {"query_id": "q1"} for row in scores(all=2)]
    spec = SPEC | {"sides": [["Gender", "weat", 0]]}
    finding = "On 1 of 1 query, a metric finds two models biased in opposite directions."
    assert finding not in said("Bias", spec=spec, scores=rows)
    rows[1]["value"] = -1
    assert said("Bias", spec=spec, scores=rows).endswith(finding)


def test_comparisons_of_two_models_are_counted_with_what_they_could_have_found():
    answers = ["different", "alike", "cannot tell", "cannot tell", "cannot tell", ""]
    pairs = pd.DataFrame(
        {"family": "models", "answer": answers, "smallest_difference": [2, 1, 0.5, 0.94, 3, nan]}
    ).assign(scale="standardized")
    # of a debiased model and its original
    pairs.loc[6] = ["states", "different", 1, "standardized"]
    assert of_pairs(pairs, 0.3) == [
        "Of 5 comparisons of two models, 1 finds a clear difference, 1 finds both alike within 0.3 SD and 3 cannot "
        "tell.",
        "Half of those that cannot tell would find a difference of 0.94 SD with 80 % power.",
    ]
    assert len(of_pairs(pairs[:2], 0.3)) == 1
    assert [of_pairs(pairs[i : i + 1], 0.3) for i in range(3)] == [
        ["The one comparison of two models finds a clear difference."],
        ["The one comparison of two models finds both alike within 0.3 SD."],
        [
            "The one comparison of two models cannot tell them apart.",
            "It would find a difference of 0.50 SD with 80 % power.",
        ],
    ]
    assert of_pairs(pairs[2:5], 0.3)[0] == "None of 3 comparisons of two models can tell them apart."
    assert of_pairs(None, 0.3) == of_pairs(pairs[5:], 0.3) == of_pairs(pairs.drop(columns="scale"), 0.3) == []
    other = pairs.assign(other_answer=["different", "cannot tell", "", "", "alike", "", "different"])
    assert of_pairs(other, 0.3)[2:] == ["For other queries like these, 1 of 3 finds a clear difference."]
    # raw distances have other units for each metric, and are never alike
    pairs = pairs[pairs["answer"] != "alike"].assign(scale="raw")
    assert of_pairs(pairs, 0.3) == [
        "Of 4 comparisons of two models, 1 finds a clear difference and 3 cannot tell."
    ]


def test_scores_without_a_baseline_are_counted_by_topic():
    few = {"no_baseline": "too few coherent topics"}
    rows = [row | {"no_baseline": ""} for row in scores(none=2)] + [row | few for row in scores(untested=1)]
    rows += [row | few | {"criterion": "Religion"} for row in scores(none=1)]
    # a debiased model has the baseline of its original
    rows += [row | few | {"debias": "hard"} for row in scores(none=1)]
    assert said("Cannot tell", scores=rows) == (
        "2 scores on Gender and Religion have no random-word baseline: too few comparable word groups."
    )


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
def test_scores_that_need_more_draws_say_how_many(adjust, tails, m, significant, needed):
    rows = scores(all=significant, out_of_reach=3, none=m - significant - 3)
    for row in rows:
        row["p_lowest"] = tails / 1000
    number = ceil(needed / 100) * 100
    assert said("Cannot tell", spec=SPEC | {"adjust": adjust}, scores=rows) == (
        f"3 scores need about {number:,} random draws to be significant."
    )


def test_scores_with_too_few_words_are_counted():
    rows = scores(all=1, out_of_reach=2, none=300)
    rows[2]["p_lowest"] = 1 / 1000
    assert said("Cannot tell", scores=rows) == (
        "1 score has too few words to be significant in any test. 1 score needs about 3,100 random draws to be "
        "significant."
    )


def rows_without(**counts):
    """500 rows of scores.csv per model, so many of them without a value."""
    row = {"criterion": "Gender", "metric": "weat", "query": "Q", "debias": "none"}
    return [
        row | {"model": model, "value": nan if i < n else 1.0, "status": "lost_words:A" if i < n else "ok"}
        for model, n in counts.items()
        for i in range(500)
    ]


def test_what_is_missing_of_which_model_and_where_it_is_not_ranked():
    answers = answered({"weat": {"b": 0.1, "c": 0.5, "a": 0.6}}, queries={"a": 3})
    lacks = "could not be computed: models lack too many of the words."
    assert said("Missing", answers, scores=rows_without(a=111, b=28, c=0)) == (
        f"139 of 1,500 scores, 111 of them for GloVe 840B, {lacks} GloVe 840B is not ranked on Gender: too few "
        f"queries have a value. {ONE_SCORE}"
    )
    assert said("Missing", scores=rows_without(a=1, b=1)) == f"2 of 1,000 scores {lacks} {ONE_SCORE}"
    debiased = [row | {"debias": "hard"} for row in rows_without(a=1)]
    assert said("Missing", scores=rows_without(a=1) + debiased) == (
        f"2 of 1,000 scores (debiased models included) {lacks} {ONE_SCORE}"
    )
    assert said("Missing", scores=rows_without(a=0)) == "None: all 500 scores could be computed."
    several = rows_without(a=3)
    several[0]["status"], several[1]["status"] = "degenerate", "of_a_plugin:x"
    assert said("Missing", scores=several) == (
        "3 of 500 scores could not be computed: for 1, the metric is not defined for these vectors, for 1, of a "
        f"plugin and for 1, models lack too many of the words. {ONE_SCORE}"
    )


def test_a_model_without_rivals_is_not_called_unranked():
    alone = answered({"weat": {"a": 0.6}}, queries={"a": 5})
    assert alone[0].not_ranked
    assert "not ranked" not in said("Missing", alone, scores=rows_without(a=4))
    two = answered({"weat": {"a": 0.6, "b": 0.1}}, queries={"a": 3})
    assert "GloVe 840B is not ranked on Gender" in said("Missing", two, scores=rows_without(a=4))


def test_what_debiasing_did_and_which_metrics_do_not_compare():
    # two metrics of model a: less by WEAT, not clear by MAC
    states = {"weat": ("a", 0.1, 0.01), "mac": ("a", 0.1, 0.6)}
    answers = [
        answer
        for metric, state in states.items()
        for answer in answered({metric: {"a": 0.5, "b": 0.6}}, states=[state])
    ]
    sentence = "1 of 2 metrics show clearly less bias on Gender after hard debias."
    assert said("Debiasing", answers) == sentence
    (card,) = [card for card in concluded(answers).cards if card.topic == "Debiasing"]
    # a fifth of the distance is left
    assert [(name, round(left, 9)) for name, left in card.bars] == [("WEAT", 0.2), ("MAC", 0.2)]
    shorter = answered({"rnd": {"a": 0.5}}, states=[("a", 0.1, 0.01)], why="vector lengths differ")
    assert said("Debiasing", answers + shorter) == (
        f"{sentence} RND depends on the length of vectors, which debiasing changes."
    )
    raised = answered({"weat": {"a": 0.5, "b": 0.6}}, states=[("a", 0.9, 0.01)])
    assert said("Debiasing", raised) == (
        "0 of 1 metric shows clearly less bias on Gender after hard debias. 1 of 1 shows clearly more."
    )
    others = [replace(answer, criterion="Religion") for answer in answers]
    spec = SPEC | {"criteria": ["Gender", "Religion"], "recovery": False}
    assert said("Debiasing", answers + others, spec) == (
        f"{sentence} 1 of 2 show clearly less bias on other topics. This study does not measure whether the bias "
        "can be recovered."
    )


def test_many_debias_methods_are_counted_together():
    answers = [
        replace(answer, debiased=tuple(replace(state, debias=name) for state in answer.debiased))
        for name in "xyz"
        for answer in answered({"weat": {"a": 0.5, "b": 0.6}}, states=[("a", 0.1, 0.01)])
    ]
    spec = SPEC | {"debias": dict.fromkeys("xyz", "Gender")}
    assert said("Debiasing", answers, spec) == (
        "3 of 3 comparisons show clearly less bias on Gender after three debias methods."
    )


def test_scores_that_could_change_sign_are_counted_by_metric():
    rows = [("weat", "holds"), ("weat", "may turn"), ("weat", "may turn"), ("mac", "holds"), ("rnd", "")]
    card = [
        {"metric": metric, "verdict": verdict, "coefficient": "sign"} | A_SCORE for metric, verdict in rows
    ]
    assert said("Other words", reliability=card) == (
        "50 % of scores could change direction with other words. These 2 of 4 change direction in more than 5 % "
        "of word lists of the same size. Most stable is MAC (0 % could change), least WEAT (67 % could change)."
    )
    assert said("Other words", reliability=[row | {"coefficient": "order"} for row in card]) == ""


def test_scores_with_clear_evidence_are_counted_first():
    """Of original models; a score without clear evidence counts only among all scores."""
    rows = [
        ("q1", "none", "holds"),
        ("q2", "none", "may turn"),
        ("q3", "none", "may turn"),
        ("q1", "x", "may turn"),
    ]
    signs, scored = [], []
    for (query, debias, verdict), evidence in zip(rows, ["all", "all", "none", "all"], strict=True):
        (row,) = scores(**{evidence: 1})
        row |= A_SCORE | {"query": query, "debias": debias}
        scored.append(row)
        signs.append(
            {name: row[name] for name in (*A_SCORE, "metric")} | {"verdict": verdict, "coefficient": "sign"}
        )
    assert said("Other words", scores=scored, reliability=signs) == (
        "1 of 2 scores with clear evidence keep their direction with other words. Of 2 other scores, 100 % change "
        "direction in more than 5 % of word lists of the same size."
    )


@pytest.mark.parametrize(
    ("verdicts", "sentence"),
    [
        (["reproduced"] * 32, "All 32 published numbers of these models are reproduced."),
        (["reproduced"], "The one published number of these models is reproduced."),
        (
            [*["reproduced"] * 3, "differs", "explained", "no value", "other vectors"],
            "3 of 5 published numbers of these models are reproduced (1 explained and 1 differs), and 2 could not "
            "be compared.",
        ),
        (["no value"], "No published number of these models could be compared."),
    ],
)
def test_what_is_reproduced(verdicts, sentence):
    rows = [published("abs_avg", "weat", verdict) for verdict in verdicts]
    assert said("Published", comparison=rows) == sentence


def published(quantity, metric, verdict):
    """A row of comparison.csv."""
    place = {"source": "paper", "criterion": "Gender", "metric": metric}
    return place | {"quantity": quantity, "verdict": verdict}


def test_rankings_and_matrices_are_counted_whole_and_apart_from_numbers():
    rows = [published("abs_avg", "weat", "reproduced")] * 3
    rows += [published("rank", "weat", "reproduced")] * 7 + [published("rank", "rnd", "differs")] * 7
    rows += [published("rank", "mac", "no value")] * 7
    rows += [published("correlation", pair, "differs") for pair in ("weat~rnd", "weat~mac", "rnd~mac")]
    assert said("Published", comparison=rows) == (
        "All 3 published numbers of these models are reproduced; 1 of 2 published rankings is reproduced (1 "
        "differs), and 1 could not be compared; 0 of 1 published correlation matrix is reproduced (1 differs)."
    )
    assert said("Published", comparison=rows[-10:-3]) == "No published ranking could be compared."
