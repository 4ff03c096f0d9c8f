"""`biasgrid words`, as scripts and people use it."""

import json

import numpy as np
import pytest
from conftest import biasgrid, make_store, printed, refusal

import biasgrid as bg

WORDS = ["she", "he", "woman", "man", *(f"{a}{b}" for a in "abcdefgh" for b in "klmnopqr")]
PAIRS = ("--pairs", "she:he", "woman:man")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("words")
    make_store(made, WORDS, np.random.default_rng(5).normal(size=(len(WORDS), 6)))
    query = bg.Query({"Female": ["she", "woman"], "Male": ["he", "man"]}, {"A": ["ak", "al"], "B": ["bk"]})
    (made / "query.json").write_text(query.to_json())
    many = bg.Query({"A": WORDS[4:12], "B": WORDS[12:20], "C": WORDS[20:28]})
    (made / "groups.json").write_text(many.to_json())
    (made / "words.txt").write_text("ak\n\nal\nnot-there\n")
    (made / "seeds.txt").write_text("\n".join(WORDS[4:36]))
    model = bg.EmbeddingStore.open(made / "store")
    bg.debias.hard(model, definitional_pairs=[["she", "he"], ["woman", "man"]]).save(made / "hard.npz")
    return made


@pytest.fixture(autouse=True)
def _inside(folder, monkeypatch):
    monkeypatch.chdir(folder)


@pytest.fixture(scope="module")
def model(folder):
    return bg.EmbeddingStore.open(folder / "store")


GROUPS = {"she": ["she", "woman"], "he": ["he", "man"]}


def test_project_is_the_library(model):
    record = printed("words", "project", "--model", "store", *PAIRS, "--words", "words.txt", "--count", 1)
    result = bg.word_bias.project(model, GROUPS, ["ak", "al"])
    assert record["summary"] == json.loads(json.dumps(result.summary))
    assert record["most"] == result.most(1).to_dict("records")
    assert record["least"] == result.least(1).to_dict("records")
    assert record["missing"] == ["not-there"]


def test_words_are_of_the_query_or_of_the_vocabulary_by_command():
    def number(*arguments):
        return printed("words", "project", "--model", "store", *arguments)["summary"]["words"]

    assert number("--query", "query.json") == 3
    assert number("--query", "query.json", "--words", "ak") == 1
    assert number(*PAIRS, "--whole-vocabulary") == len(WORDS) - 4
    assert number(*PAIRS, "--whole-vocabulary", "--exclude", "ak", "al") == len(WORDS) - 6
    assert number(*PAIRS, "--whole-vocabulary", "--vocabulary", 10) == 6
    refusal("words", "project", "--model", "store", *PAIRS, parts=["no words", "--whole-vocabulary"])


@pytest.mark.slow
def test_report_is_the_library_before_and_after_debiasing(model, tmp_path):
    figure = tmp_path / "word.svg"
    record = printed(
        "words", "report", "--model", "store", *PAIRS, "--query", "query.json", "--word", "ak",
        "--neighbours", 5, "--debias", "hard.npz", "--figure", figure,
    )  # fmt: skip
    assert figure.is_file()
    report = bg.word_bias.word_report(
        model,
        "ak",
        {"Female and Male wrt A and B": [["she", "woman"], ["he", "man"]], "she and he": GROUPS},
        neighbours=5,
        transforms={"hard": bg.debias.Transform.load("hard.npz")},
    )
    assert [(row["direction"], row["debias"]) for row in record["report"]] == list(
        zip(report.frame["direction"], report.frame["debias"], strict=True)
    )
    for name in ("projection", "lean_first", "share"):
        assert [row[name] for row in record["report"]] == report.frame[name].tolist()
    assert [row["neighbour"] for row in record["neighbours"]] == report.neighbours["neighbour"].tolist()


@pytest.mark.slow
def test_specific_indirect_compare_and_groups_are_the_library(model):
    learned = printed("words", "specific", "--model", "store", "--seeds", "seeds.txt", "--folds", 3)
    expected = bg.word_bias.specific_words(model, WORDS[4:36], folds=3)
    assert [row["word"] for row in learned["words"]] == expected.words
    assert learned["f1"] == expected.f1
    ends = ("--ends", "ak", "bk", "--whole-vocabulary", "--count", 2)
    indirect = printed("words", "indirect", "--model", "store", *PAIRS, *ends)
    assert indirect == bg.word_bias.indirect_words(model, GROUPS, ["ak", "bk"], count=2).to_dict("records")
    assert len(indirect) == 4
    both = printed("words", "groups", "--model", "store", "--query", "groups.json", "--permutations", 50)
    groups = {"A": WORDS[4:12], "B": WORDS[12:20], "C": WORDS[20:28]}
    for name, test in (
        ("clusters", bg.word_bias.cluster_groups),
        ("neighbours", bg.word_bias.neighbour_groups),
    ):
        result = test(model, groups, permutations=50)
        assert (both[name]["value"], both[name]["p"]) == (result.value, result.p)
    without = printed("words", "groups", "--model", "store", "--query", "groups.json", "--random-draws", 0)
    assert without["clusters"]["standardized"] is None
    debiased = printed(
        "words", "project", "--model", "store", *PAIRS, "--words", "ak", "--debias", "hard.npz"
    )
    assert debiased["summary"]["mean"] == 0
    compared = printed(
        "words", "compare", "--models", "store", "store/../model.txt", *PAIRS, "--words", "ak", "al"
    )
    assert [row["words"] for row in compared["correlations"]] == [2]
    assert compared["correlations"][0]["pearson"] is None  # of two words


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (
            ["project", *PAIRS, "--words", "ak"],
            ["Furthest towards each group", "Nearest to 0", "random words"],
        ),
        (["report", *PAIRS, "--word", "ak"], ["before debiasing", "neighbours", "closer to she"]),
        (["specific", "--seeds", "seeds.txt"], ["words learned in made", "F1"]),
        (["indirect", *PAIRS, "--ends", "ak", "bk", "--whole-vocabulary"], ["beta", "similarity"]),
        (
            ["groups", "--query", "groups.json", "--permutations", "20"],
            ["by chance", "groups of random words"],
        ),
    ],
)
def test_tables_are_lines_to_read(arguments, parts):
    done = biasgrid("words", *arguments, "--model", "store", "--table")
    assert done.returncode == 0, done.stderr
    assert [part for part in parts if part not in " ".join(done.stdout.split())] == []
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["reprt"], ["unknown command 'reprt'", "did you mean 'report'?"]),
        (["project", "--modl", "x"], ["did you mean '--model'?"]),
        (["report", "--model", "store", *PAIRS, "--word", "wooman"], ["did you mean 'woman'?"]),
        (
            ["project", "--model", "store", "--pairs", "she-he", "--words", "ak"],
            ["expected two different words"],
        ),
        (["project", "--model", "store", "--words", "ak"], ["no direction"]),
        (["project", "--model", "store", *PAIRS, "--words", "weat.carer"], ["did you mean 'career'?"]),
        (
            ["project", "--model", "store", *PAIRS, "--words", "debiaswe.definitional_pairs"],
            ["is not a list of words"],
        ),
        (
            ["project", "--model", "store", *PAIRS, "--words", "ak", "--figure", "a.gif"],
            [".png, .svg or .pdf"],
        ),
        (
            ["project", "--model", "store", *PAIRS, "--query", "query.json"],
            ["one direction is needed, not 2"],
        ),
        (["indirect", "--model", "store", *PAIRS, "--ends", "ak", "al"], ["one of --words and"]),
        (["specific", "--model", "store", "--seeds", "ak"], ["folds need 10 words"]),
        (["compare", "--models", "store", *PAIRS, "--words", "ak"], ["two models or more"]),
        (["groups", "--model", "store", "--query", "absent.json"], ["absent.json"]),
    ],
)
def test_what_is_wrong_is_one_line(arguments, parts):
    refusal("words", *arguments, parts=parts)
