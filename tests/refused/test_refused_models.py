"""Vectors, language models and encoders that are refused: files, words, options."""

import numpy as np
from conftest import make_store, write_text_model
from fake_models import model_of
from refusals import row, table, written

import biasgrid as bg
from biasgrid import Query, debias, metrics
from biasgrid.models import convert
from biasgrid.models.sources import fetch
from biasgrid.models.store_writer import StoreWriter

WORDS = Query([["he"], ["she"]], [["home"], ["office"]])


def store(words, vectors):
    """Return a call that writes a store of these words and vectors."""

    def write(tmp_path):
        with StoreWriter(tmp_path / "store", "test") as writer:
            writer.add(words, np.asarray(vectors))
            writer.finish({"vocab_prefix": ""})

    return write


def encoded(encoder, *words, **options):
    """Return a call that encodes words with a function of texts."""
    return lambda: bg.encode([*words] or ["he"], encoder, **options)


def letters(texts):
    return np.array([[len(text), text.count("a"), 1] for text in texts], dtype=np.float32)


def of_unlike_sizes():
    sizes = iter([2, 3])
    return bg.encode(
        [f"w{i}" for i in range(300)],
        lambda block: np.ones((len(block), next(sizes))),
        templates=["{}", "a {}"],
    )


def of_hub(name):
    """Return a call that fetches a model of transformers from a folder."""

    def get(tmp_path):
        written(tmp_path / "file", "")
        (tmp_path / "pickled").mkdir()
        written(tmp_path / "pickled" / "config.json", "{}")
        written(tmp_path / "pickled" / "pytorch_model.bin", "")
        fetch("m", {"type": "transformers", "path": str(tmp_path / name)}, tmp_path / "raw")

    return get


def damaged(tmp_path):
    """Return a folder whose model.json is not JSON."""
    make_store(tmp_path, ["a"], np.ones((1, 2)))
    written(tmp_path / "store" / "model.json", "[")
    return tmp_path / "store"


@table(
    # vectors
    row("no vectors", store([], np.empty((0, 2))), "no vectors"),
    row("no dimensions", store(["a"], np.empty((1, 0))), "no dimensions"),
    row("text as words", lambda random_model: random_model(0).rows("abc"), "'abc'", "list of words"),
    row(
        "prefix that no word has",
        lambda tmp_path: convert(
            write_text_model(tmp_path / "m.txt", ["a"]), tmp_path / "s", name="m", vocab_prefix="/c/de/"
        ),
        "vocab_prefix '/c/de/'",
    ),
    row("number as a model", lambda: bg.load(3), "3", "; allowed: "),
    row("array in place of words", lambda: bg.load(np.eye(2)), "give load(array, words=[...])"),
    row(
        "transform over another model",
        lambda tmp_path, random_model: metrics.weat(
            Query([["w0"], ["w1"]], [["w2"], ["w3"]]),
            random_model(1).under(
                debias.hard(random_model(0), definitional_pairs=[["w0", "w1"], ["w2", "w3"]])
            ),
        ),
        "fitted on other vectors (made), not on made; fit it on this model",
    ),
    row(
        "value that is not finite",
        lambda tmp_path: bg.load(written(tmp_path / "m.txt", "a 1 2\nc1 1 nan\n")),
        "'c1'",
    ),
    row(
        "damaged folder of a corpus",
        lambda tmp_path: bg.load(damaged(tmp_path), kind="corpus"),
        "not a whole corpus",
    ),
    row("damaged folder", lambda tmp_path: bg.load(damaged(tmp_path), kind="vectors"), "not a whole store"),
    # language models
    row("folder of a hub that is not there", of_hub("none"), "m: ", "is not there"),
    row("file of a hub", of_hub("file"), "m: ", "is no folder"),
    row("folder of a hub", of_hub("."), "m: ", "has no config.json"),
    row("weights of a hub", of_hub("pickled"), "has no weights as safetensors"),
    row("model of vectors", lambda: metrics.weat(WORDS, model_of(None)), "needs a model of kind vectors"),
    row("template of words", lambda: metrics.lpbs(Query([["a b"], ["c d"]]), model_of(None)), "template"),
    row(
        "words of a function of whole texts",
        lambda: metrics.completion(
            Query([["he"]], [["strong"], ["kind"]]),
            bg.language_model(lambda texts: [-1.0] * len(texts)),
            templates=["{target} is {attribute}."],
        ),
        "scores whole texts, and this metric asks for a word",
    ),
    row(
        "cut of pairs",
        lambda: metrics.metric("mean_pair_difference").under({"trim": 0.5}),
        "trim: 0.5 is not allowed",
    ),
    # encoders
    row(
        "pool of a function",
        encoded(letters, pool="word"),
        "makes one vector of a text: pool is 'sentence', and layer -1",
    ),
    row(
        "layer of a function",
        encoded(letters, layer=0),
        "makes one vector of a text: pool is 'sentence', and layer -1",
    ),
    row("vectors of unlike sizes", of_unlike_sizes, "vectors of 2 and of 3 dimensions"),
)
def test_a_model_is_refused(refusal, request):
    refusal.check(request)
