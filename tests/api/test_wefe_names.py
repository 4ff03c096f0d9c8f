"""WEFE's names where they are called otherwise here: each is answered with what to write, and that can be written."""

import numpy as np
import pytest
from conftest import ROOT

import biasgrid as bg
from biasgrid.core import wefe_names
from biasgrid.core.errors import BiasgridError, InputError
from biasgrid.study.study import Study

PAIRS = [["he", "she"], ["man", "woman"]]
WORDS = ["he", "she", "man", "woman", "cook", "boss", "home", "work"]


@pytest.fixture(scope="module")
def model():
    vectors = np.random.default_rng(0).normal(size=(len(WORDS), 5)).astype(np.float32)
    return bg.load((WORDS, vectors), name="tiny")


@pytest.mark.parametrize(
    "name",
    [
        # torch takes seconds to import
        pytest.param(name, marks=pytest.mark.slow) if name == "RepulsionAttractionNeutralization" else name
        for name in wefe_names.LINES
    ],
)
@pytest.mark.filterwarnings("ignore::biasgrid.NoValueWarning")
def test_a_name_at_the_top_level_is_answered_with_a_line_that_runs(name, model):
    line = wefe_names.LINES[name]
    with pytest.raises(AttributeError) as error:
        getattr(bg, name)
    assert str(error.value) == (
        f"module 'biasgrid' has no attribute '{name}'; write {line}; or keep WEFE's: "
        f"from biasgrid.compat.wefe import {name}"
    )
    if name == "load_test_model":
        return  # from a package registry
    if name == "RepulsionAttractionNeutralization":
        pytest.importorskip("torch")
    template = (2, 1) if name in ("RND", "ECT", "RIPA") else (2, 2)
    query = bg.Query([["he", "man"], ["she", "woman"]], [["cook", "home"], ["boss", "work"]])
    names = {
        "biasgrid": bg,
        "model": model,
        "models": [model],
        "keyed_vectors": {word: model[word] for word in WORDS},
        "query": query.subqueries(template)[0],
        "queries": [query],
        "metrics": ["weat", "rnd"],
        "pairs": PAIRS,
        "words": WORDS[:4],
    }
    line = line.replace("double_hard(model,", "double_hard(model, n_words=2, n_components=1,")
    assert eval(line, names) is not None


@pytest.mark.parametrize(("old", "new"), wefe_names.WORD_SETS.items())
def test_a_word_set_that_wefe_renamed_is_answered_with_its_name_today(old, new):
    # words of other collections are fetched
    shipped = [name for name, text in bg.word_sets().items() if "fetched" not in text]
    collection = next(name for name in shipped if new in bg.word_sets(name))
    with pytest.raises(KeyError, match=f"unknown word set '{old}'; did you mean '{new}'"):
        bg.word_sets(collection)[old]
    # as a study's config names it
    query = {"targets": {"A": f"{collection}.{old}"}, "attributes": {"B": "weat.career"}}
    config = {
        "study": "s",
        "models": {"m": {"label": "m", "source": {"type": "file", "path": "x"}}},
        "metrics": {"mac": {}},
        "criteria": {"C": {"queries": {"q": query}}},
    }
    with pytest.raises(BiasgridError, match=f"'{old}'; did you mean '{new}'"):
        Study.of(config, root=ROOT)


def test_methods_of_wefes_classes_are_answered(model):
    transform = bg.debias.hard(model, definitional_pairs=PAIRS)
    for name, says in wefe_names.TRANSFORM.items():
        with pytest.raises(AttributeError, match=r"^a Transform has no attribute ") as error:
            getattr(transform, name)
        assert str(error.value).endswith(f"'{name}'; {says}")
    with pytest.raises(AttributeError, match=r"^a Transform has no attribute 'fits'$"):
        transform.fits  # noqa: B018
    with pytest.raises(InputError, match=r"metrics.weat.run_query: say metrics.weat\(query, model\)"):
        bg.metrics.weat.run_query(None, model)
    for name in ("fit", "transform", "fit_transform"):
        with pytest.raises(InputError, match=rf"debias.hard.{name}: say model.under\(debias.hard\("):
            getattr(bg.debias.hard, name)(model)


@pytest.mark.filterwarnings("ignore::biasgrid.NoValueWarning")
def test_a_query_that_does_not_fit_is_answered_with_advice_that_can_be_followed(model):
    query = bg.Query([["he"], ["she"]], [["cook"], ["boss"]], name="two by two")
    with pytest.raises(BiasgridError, match=r"rnd has template \(2, 1\).*query.subqueries\(\(2, 1\)\)"):
        bg.metrics.rnd(query, model)
    (small, _) = query.subqueries((2, 1))
    with pytest.raises(BiasgridError, match="weat has template") as error:
        bg.metrics.weat(small, model)
    assert "subqueries" not in str(error.value)
    advice = str(error.value).partition("metrics that take it: ")[2]
    names = advice.partition(" and ")[0].split(", ")
    assert {"rnd", "ect"} <= set(names)
    for name in names:
        assert getattr(bg.metrics, name)(small, model).metric == name
