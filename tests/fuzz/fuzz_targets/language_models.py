"""Folders of language models, damaged: opened, and asked for scores and vectors."""

from __future__ import annotations

import copy
import functools
import json
import random
import sys
import tempfile
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import biasgrid as bg

from .damage import accepted, damaged
from .stores import ODD_VALUES

sys.path.append(str(Path(__file__).parents[2] / "models" / "language"))
TEXTS = ["ab c.", "h", "zz 中", "ab " * 40]
MASKED, CAUSAL, ENCODER = "BertForMaskedLM", "LlamaForCausalLM", "BertModel"
ODD_NUMBERS, ODD_TEXTS = (
    [-2, -1, 0, 1, 3, 7, 10**6, 2**31],
    ["", "[MASK]", "[UNK]", "</s>", "z", "ab", "gelu"],
)
# files -> how often each is damaged
OFTEN = {"config.json": 4, "tokenizer_config.json": 4, "tokenizer.json": 3, "model.safetensors": 1}


@functools.cache
def valid(kind: str) -> dict[str, bytes]:
    """The files of a tiny model, with all that a tokenizer's files may say."""
    from tiny_bert import write_bert

    with tempfile.TemporaryDirectory() as folder:
        path = (
            write_causal(Path(folder)) if kind == CAUSAL else write_bert(Path(folder), architectures=[kind])
        )
        files = {file.name: file.read_bytes() for file in path.iterdir()}
    special = {"unk_token": "[UNK]", "mask_token": "[MASK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    settings = special | {"pad_token": "[PAD]", "model_max_length": 24, "do_lower_case": True}
    files.setdefault("tokenizer_config.json", json.dumps(settings).encode())
    return files


def write_causal(folder: Path) -> Path:
    words = {word: place for place, word in enumerate(["<s>", "</s>", "<unk>", *"abcdefgh", "."])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    special = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special).save_pretrained(folder)
    shape = {"hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = transformers.LlamaConfig(vocab_size=len(words), max_position_embeddings=24, **shape)
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def put_odd(record, chance: random.Random) -> None:
    """Another value somewhere in a record."""
    while True:
        key = chance.choice(list(record) if isinstance(record, dict) else range(len(record)))
        inner = record[key]
        if not isinstance(inner, (dict, list)) or not inner or chance.random() < 0.1:
            # of the same type it goes further before it is noticed
            alike = ODD_NUMBERS if isinstance(inner, int) else ODD_TEXTS
            record[key] = copy.copy(chance.choice(alike if chance.random() < 0.8 else ODD_VALUES))
            return
        record = inner


def folder_of(kind: str, chance: random.Random, path: Path) -> Path:
    files = dict(valid(kind))
    for _ in range(chance.choice([1, 1, 1, 2])):
        (name,) = chance.choices(list(OFTEN), list(OFTEN.values()))
        if name.endswith(".json") and chance.random() < 0.9:
            try:
                record = json.loads(files[name])
                put_odd(record, chance)
                files[name] = json.dumps(record).replace('"1e999"', "1e999").encode()
                continue
            except (ValueError, IndexError, TypeError, AttributeError):
                pass  # damaged before
        files[name] = damaged(files[name], chance)
    if chance.random() < 0.05:
        del files[chance.choice(list(files))]
    path.mkdir()
    for name, whole in files.items():
        (path / name).write_bytes(whole)
    return path


def scores(seed: int, folder: Path) -> None:
    chance = random.Random(seed)
    path = folder_of(chance.choice([MASKED, CAUSAL]), chance, folder / "m")

    def scored() -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = bg.language_model(path, device="cpu")
            result = model.score(TEXTS)
            model.why_unscored(list(map(bg_sentence, TEXTS)))
            bg.metrics.lpbs(bg.Query([["a"], ["b"]], [["c", "中"]]), model)
            return result

    found = accepted(scored, naming="m")
    assert found.shape == (len(TEXTS),)
    assert not (found > 0).any()


def bg_sentence(text: str):
    from biasgrid.models.language.sentence import Sentence

    return Sentence(text)


def vectors(seed: int, folder: Path) -> None:
    chance = random.Random(seed)
    path = folder_of(chance.choice([MASKED, CAUSAL, ENCODER]), chance, folder / "m")

    def encoded():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return bg.encode(["a", "b c", "中"], path, pool=chance.choice(["word", "first"]), device="cpu")

    model = accepted(encoded, naming="")
    assert np.isfinite(model.array).all()


TARGETS = {}
if find_spec("torch") and find_spec("transformers"):
    # imported before the first input, whose time this is not
    import tokenizers
    import transformers

    TARGETS = {"scores": scores, "vectors": vectors}
