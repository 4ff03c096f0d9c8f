"""BERT, held against arithmetic of its own in NumPy (tiny_bert.py): states, scores, and what is refused."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from safetensors.numpy import save_file
from tiny_bert import (
    LAYERS,
    LETTERS,
    PIECES,
    POSITIONS,
    Reference,
    ids_of,
    older,
    weights_of,
    write_bert,
)

from biasgrid import BiasgridError
from biasgrid.models import build_store
from biasgrid.models.language import batches, masked
from biasgrid.models.language.building import make_language_model
from biasgrid.models.language.encoder import Encoder
from biasgrid.models.language.masked import Masked
from biasgrid.models.language.opening import open_pretrained
from biasgrid.models.language.sentence import Sentence

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

TEXT = "ab c dab . fa"
WORDS = st.lists(st.text(LETTERS, min_size=1, max_size=3), min_size=1, max_size=7)


def opened(folder):
    return Masked(open_pretrained(folder))


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return opened(write_bert(tmp_path_factory.mktemp("bert")))


@pytest.fixture(scope="module")
def encoder(bert):
    return Encoder(bert.pretrained)


@pytest.fixture(scope="module")
def reference():
    return Reference(weights_of())


def near(value):
    return pytest.approx(value, abs=2e-4)


# states


@pytest.mark.parametrize("named", [dict, older])
@pytest.mark.parametrize("activation", ["gelu", "gelu_new", "relu"])
def test_states_are_those_of_the_published_network(tmp_path, named, activation):
    weights = weights_of(seed=5)
    encoder = Encoder(open_pretrained(write_bert(tmp_path, named(weights), hidden_act=activation)))
    expected = Reference(weights, activation).states(ids_of(TEXT))
    for layer in range(-LAYERS - 1, LAYERS + 1):
        (found,) = encoder.states([TEXT], layer)
        assert found.pieces.ids == ids_of(TEXT)
        np.testing.assert_allclose(found.states, expected[layer], atol=1e-5)


def test_offsets_are_characters_of_the_text_as_it_was_given(encoder):
    (found,) = encoder.states(["Äb c."])
    assert found.pieces.offsets.tolist() == [[0, 0], [0, 1], [1, 2], [3, 4], [4, 5], [0, 0]]
    assert found.pieces.words == [None, 0, 0, 1, 2, None]
    (empty,) = encoder.states([""])
    assert (empty.states.shape, empty.pieces.inner.tolist()) == ((2, 8), [False, False])


def test_weights_of_half_precision_are_read(tmp_path):
    half = {name: weight.astype(np.float16) for name, weight in weights_of().items()}
    encoder = Encoder(open_pretrained(write_bert(tmp_path, half)))
    np.testing.assert_allclose(
        encoder.states(["ab"])[0].states, Reference(half).states(ids_of("ab"))[-1], atol=1e-5
    )


def test_a_list_of_pieces_does_as_well_as_a_tokenizer(tmp_path, bert):
    folder = write_bert(tmp_path / "given")
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.txt").write_text("\n".join(PIECES) + "\n")
    asked = [Sentence("Äb [MASK] zz."), Sentence(TEXT)]
    np.testing.assert_array_equal(opened(folder).score(asked), bert.score(asked))
    (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": False}))
    cased = opened(folder)
    assert cased.pretrained.split("Ab").ids == ids_of("[UNK]")
    model = make_language_model(folder, tmp_path / "made", name="m", model={}, metadata={})
    assert model.network.pretrained.split("Ab").ids == ids_of("[UNK]")
    np.testing.assert_array_equal(model.score([Sentence(TEXT)]), cased.score([Sentence(TEXT)]))


# scores


@pytest.mark.parametrize("decoder", [False, True])
@pytest.mark.parametrize("named", [dict, older])
def test_the_whole_text_is_the_sum_over_pieces_each_masked_alone(tmp_path, named, decoder):
    weights = weights_of(seed=2, decoder=decoder)
    bert = opened(write_bert(tmp_path, named(weights)))
    ids = ids_of(TEXT)
    expected = Reference(weights).score(ids, [[place] for place in range(1, len(ids) - 1)])
    assert bert.score([Sentence(TEXT)]) == near([expected])


def test_a_bias_that_only_the_decoder_has_is_the_heads(tmp_path, bert):
    weights = weights_of()
    weights["cls.predictions.decoder.bias"] = weights.pop("cls.predictions.bias")
    other = opened(write_bert(tmp_path, weights))
    assert other.score([Sentence(TEXT)]) == bert.score([Sentence(TEXT)])


def test_a_part_is_masked_at_once(bert, reference):
    # "dab" is the pieces 4, 5, 6 after [CLS]; a part that begins or ends within a piece has all of it
    ids = ids_of(TEXT)
    assert bert.score([Sentence(TEXT, (5, 8)), Sentence(TEXT, (4, 9))]) == near(
        [reference.score(ids, [[4, 5, 6]])] * 2
    )
    assert bert.score([Sentence(TEXT, (6, 7))]) == near([reference.score(ids, [[5]])])


def test_what_is_hidden_is_masked_and_not_scored(bert, reference):
    ids = ids_of(TEXT)
    asked = [Sentence(TEXT, (5, 8), hidden=(0, 2)), Sentence(TEXT, hidden=(0, 2))]
    expected = [
        reference.score(ids, [[4, 5, 6]], [1, 2]),
        reference.score(ids, [[place] for place in range(3, len(ids) - 1)], [1, 2]),
    ]
    assert bert.score(asked) == near(expected)


def test_beside_another_text_the_pieces_of_both_are_scored(bert, reference):
    first, second = "a b cd e.", "a b fg h e."
    ids, others = ids_of(first), ids_of(second)
    assert bert.score([Sentence(first, beside=second), Sentence(second, beside=first)]) == near(
        [
            reference.score(ids, [[1], [2], [5], [6]]),
            reference.score(others, [[1], [2], [6], [7]]),
        ]
    )
    assert bert.score([Sentence(first, beside=first)]) == bert.score([Sentence(first)])


@settings(deadline=None, max_examples=60)
@given(WORDS, WORDS)
def test_of_a_pair_as_many_pieces_are_scored_in_each(bert, one, two):
    first, second = ids_of(" ".join(one)), ids_of(" ".join(two))
    of_first, of_second = masked.shared(first, second), masked.shared(second, first)
    assert [first[place] for place in sorted(of_first)] == [second[place] for place in sorted(of_second)]
    assert masked.shared(first, first) == set(range(len(first)))


@pytest.mark.slow
@settings(deadline=None, max_examples=25)
@given(WORDS, st.data())
def test_scores_are_log_probabilities_by_brute_force(bert, reference, words, data):
    """The whole distribution of each masked place adds up to 1, and the score is the logarithm of its own in it."""
    text = " ".join(words)
    ids = ids_of(text)
    place = data.draw(st.integers(1, len(ids) - 2))
    start, end = bert.pretrained.split(text).offsets[place].tolist()
    seen = [*ids[:place], 4, *ids[place + 1 :]]
    distribution = np.exp(reference.log_probabilities(seen)[place])
    assert distribution.sum() == pytest.approx(1)
    (found,) = bert.score([Sentence(text, (start, end))])
    assert found <= 0
    assert math.exp(found) == pytest.approx(distribution[ids[place]], rel=1e-3)


@pytest.mark.slow
@settings(deadline=None, max_examples=25)
@given(st.lists(WORDS.map(" ".join), min_size=2, max_size=6), st.randoms())
def test_neither_other_texts_nor_threads_change_a_bit(bert, encoder, texts, draw):
    asked = [
        question
        for text in texts
        for question in (Sentence(text), Sentence(text, (0, 1)), Sentence(text, beside=texts[0]))
    ]
    alone = np.array([bert.score([one])[0] for one in asked])
    states = [encoder.states([text])[0].states for text in texts]
    order = draw.sample(range(len(asked)), len(asked))
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(draw.choice([1, 2, 5]))
        np.testing.assert_array_equal(bert.score([asked[place] for place in order]), alone[order])
        for found, expected in zip(encoder.states(texts), states, strict=True):
            np.testing.assert_array_equal(found.states, expected)
    finally:
        torch.set_num_threads(threads)


@pytest.mark.slow
@settings(deadline=None, max_examples=15)
@given(st.lists(WORDS.map(" ".join), min_size=2, max_size=9))
def test_batches_of_any_shape_differ_by_little(bert, texts):
    fast = Masked(bert.pretrained, fast=True)
    assert fast.score([Sentence(text) for text in texts]) == pytest.approx(
        bert.score([Sentence(text) for text in texts]), abs=1e-4
    )


@pytest.mark.parametrize("fast", [False, True])
def test_copies_that_are_not_all_in_memory_at_once(bert, monkeypatch, fast):
    """A batch has no more pieces than it may, but where a single text has."""
    expected = bert.score([Sentence(TEXT)])
    made, batch = [], batches._batch

    def noted(*arguments):
        made.append(batch(*arguments))
        return made[-1]

    monkeypatch.setattr(batches, "_batch", noted)
    monkeypatch.setattr(Masked, "pieces", 32)
    assert Masked(bert.pretrained, fast=fast).score([Sentence(TEXT)]) == near(expected)
    assert sum(len(found.ids) for found in made) >= 9
    assert max(found.ids.numel() for found in made) <= 32
    monkeypatch.setattr(Masked, "pieces", 1)
    made.clear()
    assert Masked(bert.pretrained, fast=fast).score([Sentence(TEXT)]) == near(expected)
    assert {len(found.ids) for found in made} == {1}


# what has no score, and what is refused


def test_nothing_to_score_is_no_number(bert, encoder):
    most = " ".join("a" * (POSITIONS - 2))
    asked = [
        Sentence(""),
        Sentence("a b", (1, 2)),
        Sentence("a", beside="b"),
        Sentence(f"{most} a"),
        Sentence(most),
    ]
    assert np.isnan(bert.score(asked)).tolist() == [True, True, True, True, False]
    with pytest.raises(BiasgridError, match=f"has {POSITIONS + 1} pieces; allowed: up to {POSITIONS}"):
        encoder.states([f"{most} a"])


@pytest.mark.parametrize("layer", [LAYERS + 1, -LAYERS - 2])
def test_a_layer_that_is_not_there(encoder, layer):
    with pytest.raises(BiasgridError, match="allowed: -3 to 2"):
        encoder.states(["a"], layer)


def test_an_encoders_states_need_no_head(tmp_path, encoder):
    folder = write_bert(tmp_path, weights_of(head=False), architectures=["BertModel"])
    np.testing.assert_allclose(
        Encoder(open_pretrained(folder)).states(["ab"])[0].states, encoder.states(["ab"])[0].states, atol=1e-6
    )


def _without(name):
    return lambda folder: (folder / name).unlink()


def _written(name, content):
    return lambda folder: (folder / name).write_bytes(content)


def _config(**changes):
    return lambda folder: write_bert(folder, **changes)


def _weights(**changes):
    weights = weights_of()
    return lambda folder: write_bert(folder, weights | changes)


def _lacking(name):
    return lambda folder: save_file(
        {key: weight for key, weight in weights_of().items() if key != name}, folder / "model.safetensors"
    )


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (_without("model.safetensors"), "has no model.safetensors"),
        (_written("model.safetensors", b"\x08\0\0\0\0\0\0\0nonsense"), "its file of weights is damaged"),
        *(
            (
                _written(name, b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"),
                f"{name}: this is a Git LFS pointer, not the file: run `git lfs pull`",
            )
            for name in ("model.safetensors", "config.json", "tokenizer.json")
        ),
        (_written("config.json", b"{"), "config.json: not the config of a model: JSONDecodeError"),
        (_written("config.json", b"[]"), "config.json: not the config of a model: TypeError"),
        (_written("config.json", b"{}"), "config.json: not the config of a model: KeyError"),
        (_config(hidden_act="swishes"), "cannot open it: KeyError: 'swishes'"),
        (_config(num_attention_heads=3), "cannot open it: ValueError: The hidden size"),
        (_config(hidden_size="8"), "cannot open it: "),
        (_config(hidden_size=16), "its weights do not fit config.json"),
        (_config(intermediate_size=13), "its weights do not fit config.json"),
        (_config(vocab_size=20), "its weights do not fit config.json"),
        (_config(num_hidden_layers=0), "config.json has no layer for the weights "),
        (_config(vocab_size=10**12), "its weights do not fit config.json"),
        (_lacking("embeddings.LayerNorm.bias"), "or of a layer: bert.embeddings.LayerNorm.bias"),
        (_lacking("cls.predictions.bias"), "has no weights of its head for masked words"),
        (
            lambda folder: write_bert(folder, weights_of(head=False)),
            "has no weights of its head for masked words",
        ),
        (
            _weights(**{"cls.predictions.bias": np.zeros(3, np.float32)}),
            "its weights do not fit config.json",
        ),
    ],
)
def test_what_is_no_bert_is_refused_in_one_line(tmp_path, damage, says):
    folder = write_bert(tmp_path / "model")
    damage(folder)
    with refused(says, str(folder)):
        open_pretrained(folder)


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(BiasgridError, match="no such folder; a name on a hub has the form owner/name"):
        open_pretrained(tmp_path / "none")


def test_an_edited_config_beside_the_weights_makes_the_model_anew(tmp_path):
    folder = write_bert(tmp_path / "bert")
    source = {"type": "file", "path": str(folder / "model.safetensors")}
    entry = {"label": "B", "kind": "language_model", "format": "transformers", "source": source}
    first = build_store("mine", entry, tmp_path / "embeddings")
    assert build_store("mine", entry, tmp_path / "embeddings").metadata == first.metadata
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"hidden_act": "relu"}))
    second = build_store("mine", entry, tmp_path / "embeddings")
    assert second.metadata["archive"] != first.metadata["archive"]
    assert json.loads((tmp_path / "embeddings" / "mine" / "config.json").read_text())["hidden_act"] == "relu"


# words at [MASK]


def test_words_at_the_mask_have_the_probability_of_the_published_network(bert, reference):
    texts, words = ["ab [MASK] c", "[MASK] da", "e [MASK] fg . c", "b [MASK] h"], ["a", "d"]
    found = bert.fill(texts, [words] * 4)
    for row, text in zip(found, texts, strict=True):
        for value, word in zip(row, words, strict=True):
            ids = ids_of(text.replace("[MASK]", word))
            place = bert.pretrained.split(text).ids.index(bert.pretrained.mask)
            assert value == near(reference.score(ids, [[place]]))
    # whatever else is asked
    alone = bert.fill(texts[2:3], [words])
    np.testing.assert_allclose(found[2:3], alone, atol=1e-5)


@pytest.mark.parametrize(
    ("text", "word", "said"),
    [
        ("a b", "a", "'a b': expected one [MASK], and up to"),
        ("[MASK] a [MASK]", "a", "expected one [MASK]"),
        ("[MASK] " + "a " * POSITIONS, "a", "expected one [MASK], and up to"),
        ("[MASK]", "ab", "'ab': is no single piece"),
        ("[MASK]", "zz", "'zz': is no single piece"),
        ("[MASK]", "", "'': is no single piece"),
        ("[MASK]", "\ud800", "is no Unicode text"),
    ],
)
def test_what_cannot_be_filled_in_is_one_line(bert, text, word, said):
    with refused(said):
        bert.fill([text], [[word]])
