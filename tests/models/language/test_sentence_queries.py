"""Queries of sentences, and the step that scores them once for all metrics."""

import json
import random
import warnings
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
import tiny_llama
from fake_models import measured
from in_process import make, make_inputs, make_measured
from refusals import refused
from scipy import stats

from biasgrid import BiasgridError, Query, metrics
from biasgrid.models.language import blocks
from biasgrid.models.language.model import LanguageModel
from biasgrid.models.language.scores import Scores
from biasgrid.report import cells
from biasgrid.study import steps
from biasgrid.study.config.criteria import Query as Entry
from biasgrid.study.config.sentence_files import sentences
from biasgrid.study.study import Study

PAIRS = """id,stereo,anti,bias_type
0,a man is strong,a woman is strong,gender
1,a woman cooks,a man cooks,gender
2,the poor steal,the rich steal,class
3,he codes,she codes,gender
"""
SCORES = {
    "a man is strong": -10.0,
    "a woman is strong": -11.5,
    "a woman cooks": -9.0,
    "a man cooks": -9.2,
    "the poor steal": -14.0,
    "the rich steal": -13.0,
    "he codes": -8.0,
    "she codes": -8.0,
}
SETS = {"Stereotypical": "stereo", "Other": "anti"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairs.csv").write_text(PAIRS)
    write_scores(SCORES)
    return tmp_path


def write_scores(scores):
    lines = ["text,score", *(f"{text},{score!r}" for text, score in scores.items())]
    with open("scores.csv", "w") as file:
        file.write("\n".join(lines))


def study(**changes):
    config = {
        "study": "lm",
        "models": {
            "tiny": {
                "label": "Tiny",
                "kind": "language_model",
                "format": "scores",
                "source": {"type": "file", "path": "scores.csv"},
            }
        },
        "criteria": {
            "Pairs": {
                "queries": {
                    "all": {"file": "pairs.csv", "sets": SETS, "name": "All"},
                    "gender": {
                        "file": "pairs.csv",
                        "sets": SETS,
                        "where": {"bias_type": "gender"},
                        "name": "Gender",
                    },
                }
            }
        },
        "metrics": {"pll_preference": {}},
        "inference": {"permutation": {}, "bootstrap": {"draws": 50}, "sensitivity": {}, "random_groups": {}},
        "figures": [],
    }
    return Study.of(config | changes)


def test_a_query_of_sentences_has_target_sets_alone():
    query = Query([["a b", "c"], ["d", "e"]])
    assert query.template == (2, 0)
    assert query.name == "Target set 0 and Target set 1"
    assert Query.from_dict(query.to_dict()) == query
    # they belong together: there are no sub-queries
    assert not any(map(query.fits, [(1, 0), (2, 1), ("n", "n")]))
    assert query.exactly((2, 0))
    assert not Query([["a"], ["b"]], [["c"]]).fits((2, 0))
    with pytest.raises(BiasgridError, match="needs more sets"):
        Query([["a"], ["b"], ["c"]]).subqueries((2, 0))


def test_sentences_of_a_file(folder):
    found = sentences(Entry(file="pairs.csv", sets=SETS, where={"bias_type": "gender"}), "here")
    assert list(found["Stereotypical"]) == ["a man is strong", "a woman cooks", "he codes"]
    for given, said in (
        ({"file": "none.csv", "sets": SETS}, "cannot read"),
        ({"file": "pairs.csv", "sets": {"A": "stereos"}}, "did you mean 'stereo'"),
        ({"file": "pairs.csv", "sets": SETS, "where": {"bias_type": "age"}}, "no such row has 'age'"),
    ):
        with refused(*said.split(" .* "), "here: "):
            sentences(Entry(**given), "here")


def test_a_sentence_that_a_file_repeats_is_not_warned_of(folder):
    (folder / "twice.csv").write_text("stereo,anti\nx y,z y\nx y,v y\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = sentences(Entry(file="twice.csv", sets=SETS), "here")
    assert len(found["Stereotypical"]) == 2


def test_stereosets_file(folder):
    labels = ("stereotype", "anti-stereotype", "unrelated")
    items = [
        {
            "id": str(i),
            "bias_type": kind,
            "target": "x",
            "context": "c BLANK",
            "sentences": [
                {"sentence": f"{label} {i}", "gold_label": label}
                for label in random.Random(i).sample(labels, 3)
            ],
        }
        for i, kind in enumerate(["race", "gender"])
    ]
    (folder / "dev.json").write_text(json.dumps({"data": {"intrasentence": items}}))
    sets = {"S": "stereotype", "A": "anti-stereotype", "U": "unrelated"}
    found = sentences(Entry(file="dev.json", sets=sets, where={"bias_type": "gender"}), "here")
    assert {name: list(texts) for name, texts in found.items()} == {
        "S": ["stereotype 1"],
        "A": ["anti-stereotype 1"],
        "U": ["unrelated 1"],
    }
    (folder / "dev.json").write_text(json.dumps({"data": {"intrasentence": [{"id": "0"}]}}))
    with pytest.raises(BiasgridError, match="not StereoSet's file"):
        sentences(Entry(file="dev.json", sets=sets), "here")


@pytest.mark.slow
def test_cells_say_which_torch_scored_their_sentences(folder, own_cache):
    pytest.importorskip("accelerate")
    tiny_llama.write(folder / "tiny.gguf", tiny_llama.weights())
    of_file = {"label": "Tiny", "kind": "language_model", "format": "gguf"}
    models = {"tiny": of_file | {"source": {"type": "file", "path": "tiny.gguf"}}}
    made = make_measured(study(models=models, figures=[]))
    record = json.loads(made.paths.cell_file(made.grid.cells["tiny/none/pll_preference/all"]).read_text())
    assert record["versions"]["torch"] == metadata.version("torch")
    assert record["versions"]["transformers"] == metadata.version("transformers")
    (file,) = Path("results/lm/sentence_scores/tiny").iterdir()
    computed = {"device": "cpu", "dtype": "float32", "begins_with": tiny_llama.BOS, "fast": False}
    assert json.loads(file.read_text())["computed"] == computed


@pytest.mark.slow
def test_preference_in_a_study(folder):
    made = make(study())
    record = json.loads(made.paths.cell_file(made.grid.cells["tiny/none/pll_preference/all"]).read_text())
    # what was measured elsewhere needs no torch here
    assert "torch" not in record["versions"]
    (cell,) = record["results"]
    # 2 of 4 are preferred, one is a tie
    assert cell["value"] == 0.5
    assert cell["scalars"]["ties"] == 1
    gender = json.loads(made.paths.cell_file(made.grid.cells["tiny/none/pll_preference/gender"]).read_text())[
        "results"
    ][0]
    assert gender["value"] == pytest.approx(2 / 3)
    assert gender["scalars"]["p_binomial"] == pytest.approx(stats.binomtest(2, 3).pvalue)
    scores = made.paths.table_file("scores").read_text()
    assert "Gender,pll_preference,tiny,none,0.66" in scores
    assert (made.results / "report.html").stat().st_size > 10_000


@pytest.mark.slow
def test_an_edited_query_scores_its_new_sentences_and_a_new_metric_none(folder):
    first = study()
    make_measured(first)
    step = steps.sentence_scores_step(first, "tiny", "file.pairs")
    assert step.run() == {"sentences": 8, "scored": 0}
    (folder / "pairs.csv").write_text(PAIRS + "4,she nurses,he nurses,gender\n")
    write_scores(SCORES | {"she nurses": -7.0, "he nurses": -9.0})
    # the model is another one now: nothing of the former is kept
    second = study()
    make_measured(second)
    record = json.loads(second.paths.sentence_scores_file("tiny", "file.pairs").read_text())
    assert len(record["scores"]) == 10
    (folder / "pairs.csv").write_text(PAIRS + "4,she nurses,he codes,gender\n")
    third = study(metrics={"pll_preference": {}, "again": {"metric": "pll_preference", "label": "Again"}})
    step = steps.sentence_scores_step(third, "tiny", "file.pairs")
    for key, query in third.queries.items():
        third.paths.query_file(key).write_text(query.to_json())
    assert step.run() == {"sentences": 9, "scored": 0}
    assert step.spec == steps.sentence_scores_step(second, "tiny", "file.pairs").spec


def test_scores_of_two_devices_say_both(folder, monkeypatch):
    """Where `device` is left out it may be another one the next time; the former scores are kept."""
    write_scores(SCORES | {"she nurses": -7.0, "he nurses": -9.0})

    def run(device):
        monkeypatch.setattr(Scores, "computed", {"device": device, "fast": False}, raising=False)
        made = study()
        make_inputs(made)
        step = steps.sentence_scores_step(made, "tiny", "file.pairs")
        return step.run()["scored"], json.loads(step.output.read_text())["computed"]

    assert run("cpu") == (8, {"device": "cpu", "fast": False})
    assert run("cuda") == (0, {"device": "cpu", "fast": False})
    (folder / "pairs.csv").write_text(PAIRS + "4,she nurses,he nurses,gender\n")
    assert run("cuda") == (2, {"device": "cpu, cuda", "fast": False})


def test_scores_do_not_have_the_device_of_another_model(folder, monkeypatch):
    """Beside the whole file of a former model there is what a run that was stopped had scored of this one."""
    write_scores(SCORES)
    monkeypatch.setattr(Scores, "computed", {"device": "cpu"}, raising=False)
    made = study()
    make_inputs(made)
    step = steps.sentence_scores_step(made, "tiny", "file.pairs")
    step.run()
    of_this = json.loads(step.output.read_text())
    step.output.with_name(f".{step.output.name}.unfinished").write_text(json.dumps(of_this))
    step.output.write_text(json.dumps(of_this | {"made_of": "another", "computed": {"device": "cuda"}}))
    assert step.run()["scored"] == 0
    assert json.loads(step.output.read_text())["computed"] == {"device": "cpu"}


def test_a_run_that_was_stopped_goes_on_where_it_was(folder, monkeypatch):
    first = study()
    make_inputs(first)
    step = steps.sentence_scores_step(first, "tiny", "file.pairs")
    monkeypatch.setattr(blocks, "BLOCK", 3)
    monkeypatch.setattr(blocks, "SAVING", float("inf"))
    asked = []

    def score(self, sentences):
        asked.append(list(sentences))
        if len(asked) == 3:
            raise KeyboardInterrupt
        return np.array([SCORES[sentence.text] for sentence in sentences])

    monkeypatch.setattr(LanguageModel, "score", score)
    with pytest.raises(KeyboardInterrupt):
        step.run()
    assert not step.output.exists()
    assert step.run() == {"sentences": 8, "scored": 2}
    assert sorted(sentence.text for block in asked[:2] + asked[3:] for sentence in block) == sorted(SCORES)
    assert [path.name for path in step.output.parent.iterdir()] == ["file.pairs.json"]


def test_what_was_measured_elsewhere_lacks_sentences(folder, tmp_path):
    write_scores({text: score for text, score in SCORES.items() if text != "a woman cooks"})
    made = make_measured(study())
    cell = json.loads(made.paths.cell_file(made.grid.cells["tiny/none/pll_preference/all"]).read_text())[
        "results"
    ][0]
    # and its partner is not
    assert cell["lost"] == {"Stereotypical": ["a woman cooks"], "Other": []}
    # the pair is lost, and the others are measured
    assert cell["value"] == pytest.approx(1 / 3)
    assert cell["scalars"]["pairs"] == 3


@pytest.mark.filterwarnings("ignore::biasgrid.LostWordsWarning")
@pytest.mark.slow
def test_the_missing_sentence_is_named(folder, tmp_path):
    """In Python and on the page; a long one is cut."""
    long = "a very long sentence that says the same" + " again and again" * 6
    (folder / "pairs.csv").write_text(f"stereo,anti,bias_type\n{long},he codes,gender\n")
    query = Query([[long], ["he codes"]], target_sets_names=["Stereotypical", "Other"])
    result = metrics.pll_preference(query, measured(tmp_path / "m", SCORES))
    cut = "'a very long sentence that says the same ... in again and again again and again'"
    assert result.reason == f"too many words are lost: Stereotypical lacks 1 of 1 words ({cut})"
    queries = {"all": {"file": "pairs.csv", "sets": SETS, "name": "All"}}
    made = make(study(criteria={"Pairs": {"queries": queries}}))
    (record,) = cells.read(cells.inputs(made), cells.spec(made)).records
    assert record.reason == f"there is no score of {cut}"


@pytest.mark.filterwarnings("ignore::biasgrid.LostWordsWarning")
@pytest.mark.filterwarnings("ignore::biasgrid.NoValueWarning")
def test_pieces_that_both_have_are_no_scores_of_a_table_without_them(tmp_path):
    model = measured(tmp_path / "m", SCORES)
    result = metrics.pll_preference(Query([["he codes"], ["she codes"]]), model, score="cp")
    assert np.isnan(result.value)
    assert result.status == "lost_words:Target set 0;Target set 1"
    assert result.why_lost["Target set 0"] == {"he codes": "the table has no score of it next to its partner"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("text,scores\na,1\n", "row 1: the columns"),
        ("text,score\na,-1\na,-2\n", "row 3: has a sentence that a former row has"),
        ("text,score\na,much\n", "row 2: score: 'much' is no number"),
        ("text,score\na\n", "row 2: must have"),
        ("text,score\na,-3\nb,152.2\n", "row 3: score: 152.2 is above 0.*perplexities or losses"),
        ("text,score\n", "has no scores"),
    ],
)
def test_damaged_tables_of_scores(folder, content, said):
    (folder / "scores.csv").write_text(content)
    with pytest.raises(BiasgridError, match=said):
        make_measured(study())


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"attributes": {"A": ["x"]}}, "targets"),
        ({"file": "pairs.csv"}, "sets"),
        ({"file": "pairs.csv", "sets": SETS, "targets": {"A": ["b"]}}, "leave out one of them"),
        ({"targets": {"A": ["b"]}, "attributes": {"B": ["c"]}, "where": {"a": "b"}}, "of a file"),
        # words are asked of language models by other metrics
        ({"targets": {"A": ["b"], "C": ["d"]}, "attributes": {"B": ["c"]}}, "template"),
    ],
)
def test_what_a_config_may_say(folder, query, said):
    with refused(said):
        study(criteria={"Pairs": {"queries": {"all": query}}})


def test_a_criterion_that_no_model_fits_is_refused(folder):
    with pytest.raises(
        BiasgridError, match="Pairs: its metrics need models of kind vectors, and its models are of"
    ):
        study(metrics={"weat": {}})


def test_how_well_a_model_predicts_stands_beside_each_score(tmp_path):
    model = measured(tmp_path / "m", SCORES)
    model.metadata.update(perplexity=136.5, masked_accuracy=0.267)
    result = metrics.pll_preference(Query([["a woman cooks"], ["a man cooks"]]), model)
    assert {name: result.scalars[name] for name in ("perplexity", "masked_accuracy")} == {
        "perplexity": 136.5,
        "masked_accuracy": 0.267,
    }


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_the_permutation_test_of_preferences_is_the_exact_binomial(tmp_path, alternative):
    """Swapping the sentences of a pair turns its preference: each of the untied pairs is won with chance one half."""
    rng = np.random.default_rng(3)
    scores = {f"{side} {i}": float(rng.integers(-9, -1)) - (side == "b") for side in "ab" for i in range(60)}
    query = Query([[f"{side} {i}" for i in range(60)] for side in "ab"])
    asked = {"draws": 499, "alternative": alternative}
    result = metrics.pll_preference(query, measured(tmp_path / "m", scores), permutation=asked)
    pairs = [(scores[f"a {i}"], scores[f"b {i}"]) for i in range(60)]
    won, untied = sum(a > b for a, b in pairs), sum(a != b for a, b in pairs)
    assert untied < 60
    expected = stats.binomtest(won, untied, alternative=alternative).pvalue
    test = result.inference["permutation"]
    assert result.p_value == pytest.approx(expected, rel=1e-9) == test["p_low"] == test["p_high"]
    assert (test["method"], test["p_lowest"]) == (
        "binomial",
        (1 + (alternative == "two-sided")) * 0.5**untied,
    )


def test_few_pairs_have_the_same_exact_test(tmp_path):
    scores = {f"{side} {i}": -1.0 - (side == "b") for side in "ab" for i in range(8)}
    query = Query([[f"{side} {i}" for i in range(8)] for side in "ab"])
    result = metrics.pll_preference(query, measured(tmp_path / "m", scores), permutation=True)
    assert result.inference["permutation"]["method"] == "exact"
    assert result.p_value == pytest.approx(2 * 0.5**8)


def test_ties_are_left_out_of_one_exact_test(tmp_path):
    scores = {f"{side} {i}": -1.0 - (side == "b" and i < 20) for side in "ab" for i in range(40)}
    query = Query([[f"{side} {i}" for i in range(40)] for side in "ab"])
    result = metrics.pll_preference(query, measured(tmp_path / "m", scores))
    assert result.value == 0.5
    assert result.scalars["ties"] == 20
    assert result.scalars["p_binomial"] == 1
    assert result.scalars["p_untied"] == pytest.approx(2 * 0.5**20)


def test_a_sentence_of_a_pair_has_one_form(tmp_path):
    query = Query([["A man cooks"], ["a woman cooks"]])
    model = measured(tmp_path / "m", SCORES | {"A man cooks": -9.0})
    with pytest.raises(BiasgridError, match="strategy: all: a sentence of a pair has one form"):
        metrics.pll_preference(query, model, preprocessors=[{}, {"lowercase": True}], strategy="all")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a,b,a\nx,y,z\n", "two columns with the same name"),
        ("a,b\nx\n", "row 2 has different columns"),
        ("a,b\n", "has no rows"),
    ],
)
def test_damaged_files_of_sentences(folder, content, said):
    (folder / "bad.csv").write_text(content)
    with pytest.raises(BiasgridError, match=said):
        sentences(Entry(file="bad.csv", sets={"A": "a", "B": "b"}), "here")


def test_a_byte_order_mark_is_no_part_of_a_column(folder):
    (folder / "marked.csv").write_text("a,b\nx,y\n", encoding="utf-8-sig")
    assert list(sentences(Entry(file="marked.csv", sets={"A": "a", "B": "b"}), "here")["A"]) == ["x"]


@pytest.mark.parametrize(
    "wrong", [{"sentence": None}, {"gold_label": "bias_type"}, {"gold_label": "unrelated"}]
)
def test_damaged_items_of_stereoset(folder, wrong):
    items = [
        {"sentence": f"s {label}", "gold_label": label}
        for label in ("stereotype", "anti-stereotype", "unrelated")
    ]
    items[0] |= wrong
    item = {"id": "0", "bias_type": "g", "target": "t", "context": "c", "sentences": items}
    (folder / "dev.json").write_text(json.dumps({"data": {"intrasentence": [item]}}))
    with pytest.raises(BiasgridError, match="not StereoSet's file"):
        sentences(Entry(file="dev.json", sets={"S": "stereotype", "U": "unrelated"}), "here")


@pytest.mark.parametrize("wrong", [None, "one text", [1], ["half a pair \ud800"], [b"bytes"]])
def test_what_is_no_list_of_texts_is_not_scored(tmp_path, wrong):
    with refused("sentences: "):
        measured(tmp_path / "m", SCORES).score(wrong)


def test_scores_in_another_models_place_are_not_taken(folder):
    made = make_measured(study())
    step = steps.cell_step(made, made.grid.cells["tiny/none/pll_preference/all"])
    path = made.paths.sentence_scores_file("tiny", "file.pairs")
    path.write_text(path.read_text().replace('"model":"tiny"', '"model":"other"'))
    with pytest.raises(BiasgridError, match="made from a different source"):
        step.run()
