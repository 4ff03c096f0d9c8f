"""Scores per token (`normalize: tokens`): sums of logarithms divided by how many there are."""

import csv
import json
import os

import forks
import numpy as np
import pytest
from architectures import made, saved
from conftest import ROOT
from in_process import make
from refusals import refused

import biasgrid as bg
from biasgrid import InputError, Query, metrics
from biasgrid.models.language.sentence import Sentence
from biasgrid.study.study import Study

SHORT, LONG = "he is .", "the unkindly doctors and the nurse cooks ."
PAIRS = Query([[LONG, "she is strong ."], [SHORT, "he is strong ."]], [], ["More", "Less"])


def _tokens(name, text):
    return len(made(name)[1](text, add_special_tokens=False)["input_ids"])


@pytest.mark.parametrize("name", ["BERT", "GPT-2"])
def test_a_score_per_token_is_the_sum_divided_by_the_tokenizers_tokens(name):
    lm = bg.language_model(*made(name))
    texts = [SHORT, LONG]
    counts = [_tokens(name, text) for text in texts]
    assert counts[0] < counts[1]
    assert lm.score(texts, normalize="tokens").tolist() == (lm.score(texts) / counts).tolist()
    assert np.isnan(lm.score(["", SHORT], normalize="tokens")).tolist() == [True, False]
    part = Sentence(LONG, part=(4, 12))  # "unkindly"
    assert lm.score([part], normalize="tokens")[0] == lm.score([part])[0] / _tokens(name, "unkindly")


def test_of_a_pair_the_tokens_that_both_have_are_counted():
    lm = bg.language_model(*made("BERT"))
    asked = [Sentence("he is strong .", beside="she is strong ."), Sentence("he is strong .", l2r=True)]
    assert lm.score(asked, normalize="tokens").tolist() == (lm.score(asked) / [3, 4]).tolist()


@pytest.mark.filterwarnings("ignore:.*cannot be small")
@pytest.mark.parametrize("name", ["BERT", "GPT-2"])
def test_metrics_of_sentences_compare_scores_per_token(name):
    lm = bg.language_model(*made(name))
    first, second = (lm.score(s.words) / [_tokens(name, t) for t in s.words] for s in PAIRS.target_sets)
    summed = [lm.score(s.words) for s in PAIRS.target_sets]
    difference = metrics.mean_pair_difference(PAIRS, lm, normalize="tokens")
    assert difference.value == pytest.approx((first - second).mean())
    assert metrics.mean_pair_difference(PAIRS, lm).value == pytest.approx((summed[0] - summed[1]).mean())
    assert metrics.pll_preference(PAIRS, lm, normalize="tokens").value == (first > second).mean()
    # a longer sentence is less probable, and its tokens need not be
    assert summed[0][0] < summed[1][0]
    items = Query([[LONG, "she is here ."], [SHORT, "he is here ."], ["a un is .", "un is here ."]])
    sets = [lm.score(s.words) / [_tokens(name, t) for t in s.words] for s in items.target_sets]
    expected = 50 * ((sets[0] > sets[2]).mean() + (sets[1] > sets[2]).mean())
    assert metrics.stereoset_lms(items, lm, normalize="tokens").value == pytest.approx(expected)
    assert metrics.stereoset_ss(items, lm, normalize="tokens", permutation=True).status == "ok"
    assert metrics.stereoset_icat(items, lm, normalize="tokens", bootstrap=True).status == "ok"


def test_the_look_up_of_vectors_keeps_its_normalize():
    model = bg.load({"a": [3.0, 0.0], "b": [0.0, 2.0], "c": [1.0, 1.0], "d": [2.0, 1.0]})
    query = Query([["a"], ["b"]], [["c"], ["d"]])
    assert np.isfinite(metrics.weat(query, model, normalize=True).value)
    with refused("normalize: 'tokens' is not allowed; allowed: true, false"):
        metrics.weat(query, model, normalize="tokens")


@pytest.mark.parametrize("wrong", [True, "words", 1])
def test_what_normalize_may_be(wrong):
    lm = bg.language_model(*made("BERT"))
    with refused("normalize", kind=bg.BiasgridError):
        metrics.pll_preference(PAIRS, lm, normalize=wrong)
    with refused("normalize: "):
        lm.score([SHORT], normalize=wrong)


@pytest.mark.parametrize(
    "source",
    [
        {text: -1.0 for s in PAIRS.target_sets for text in s.words},
        lambda texts: [-1.0 for _ in texts],
    ],
)
def test_a_model_that_does_not_count_tokens_has_no_such_score(source):
    lm = bg.language_model(source, name="mine")
    with refused("mine: normalize: tokens: it does not say how many tokens", LONG[:20], kind=InputError):
        metrics.pll_preference(PAIRS, lm, normalize="tokens")


def _config(model):
    return {
        "study": "lm",
        "models": {"m": {"label": "M", "kind": "language_model", **model}},
        "criteria": {
            "Pairs": {"queries": {"q": {"file": "pairs.csv", "sets": {"More": "more", "Less": "less"}}}}
        },
        "metrics": {
            "pll_preference": {},
            "per_token": {"metric": "mean_pair_difference", "params": {"normalize": "tokens"}},
        },
        "figures": [],
    }


@pytest.fixture
def pairs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with open("pairs.csv", "w", newline="") as file:
        rows = zip(*(s.words for s in PAIRS.target_sets), strict=True)
        csv.writer(file).writerows([("more", "less"), *rows])
    return tmp_path


@pytest.mark.parametrize("written", [{"format": "scores"}, {}])
def test_a_config_with_a_table_of_scores_is_refused(written, pairs):
    (pairs / "scores.csv").write_text("text,score\nhe is .,-3\n")
    with refused("Pairs: metrics: per_token: normalize: tokens: m is a table of scores"):
        Study.of(_config({**written, "source": {"type": "file", "path": "scores.csv"}}))


@pytest.mark.slow
def test_a_dry_run_refuses_a_table_of_scores_in_the_words_of_the_run(pairs):
    (pairs / "scores.csv").write_text("text,score\nhe is .,-3\n")
    (pairs / "lm.yaml").write_text(json.dumps(_config({"source": {"type": "file", "path": "scores.csv"}})))
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    dry_run, run = (
        forks.run(("run", "lm.yaml", *more), pairs, environment, "biasgrid") for more in (["--dry-run"], [])
    )
    assert (dry_run.returncode, dry_run.stderr) == (run.returncode, run.stderr)
    (line,) = run.stderr.splitlines()
    assert line.startswith("biasgrid")
    assert "lm.yaml: Pairs: metrics: per_token: normalize: tokens: m is a table of scores" in line
    assert run.returncode == 2


def test_a_file_that_is_not_there_does_not_make_a_table_of_scores(pairs):
    assert Study.of(_config({"source": {"type": "file", "path": "scores.csv"}})).grid.cells


@pytest.mark.slow
def test_a_study_has_scores_per_token_beside_sums(pairs):
    path = saved(pairs / "models", "BERT") / "model.safetensors"
    study = make(Study.of(_config({"source": {"type": "file", "path": str(path)}})))
    records = {
        cell.metric: json.loads(study.paths.cell_file(cell).read_text()) for cell in study.grid.cells.values()
    }
    lm = bg.language_model(saved(pairs / "models", "BERT"))
    expected = metrics.mean_pair_difference(PAIRS, lm, normalize="tokens").value
    assert records["per_token"]["results"][0]["value"] == pytest.approx(expected)
    assert records["per_token"]["params"]["normalize"] == "tokens"
    assert "tokens" not in json.dumps(records["pll_preference"]["params"])
