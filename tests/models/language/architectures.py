"""Tiny random models of seven architectures, made offline, and what each says by the raw output of transformers: one
text at a time, nothing filled up, the head on every piece."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors  # noqa: E402

from biasgrid.models.language.threads import one_thread  # noqa: E402

POSITIONS, SIZE = 40, 16
WORDS = [
    "the",
    "a",
    "nurse",
    "doctor",
    "he",
    "she",
    "is",
    "was",
    "here",
    "there",
    "man",
    "woman",
    "strong",
    "cooks",
    "and",
    ".",
    "##s",
    "##r",
    "##ly",
    "un",
    "##kind",
]
MERGES = "t h,th e,Ġ the,h e,Ġ he,Ġ s,Ġs he,n u,nu r,nur s,nurs e,Ġ nurse,i s,Ġ is,e r,Ġ c,o o,Ġc oo"
SPECIAL = {
    "BERT": ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    "RoBERTa": ("<s>", "<pad>", "</s>", "<unk>", "<mask>"),
    "GPT-2": ("<|endoftext|>",),
    "Llama": ("<s>", "</s>"),
}
SHAPE = {"hidden_size": SIZE, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2}
LENGTH = {"max_position_embeddings": POSITIONS}
# name -> model_type of its config, the special pieces that its tokenizer has, and what its config says
MASKED = {
    "BERT": ("bert", "BERT", SHAPE | LENGTH),
    "RoBERTa": (
        "roberta",
        "RoBERTa",
        SHAPE | LENGTH | {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2},
    ),
    "ALBERT": ("albert", "BERT", SHAPE | LENGTH | {"embedding_size": 8, "pad_token_id": 0}),
    "DistilBERT": (
        "distilbert",
        "BERT",
        {"dim": SIZE, "hidden_dim": 24, "n_layers": 2, "n_heads": 2} | LENGTH,
    ),
}
CAUSAL = {
    "GPT-2": ("gpt2", "GPT-2", {"n_embd": SIZE, "n_layer": 2, "n_head": 2, "n_positions": POSITIONS}),
    "Llama": ("llama", "Llama", SHAPE | LENGTH | {"num_key_value_heads": 1}),
    "Qwen2": ("qwen2", "GPT-2", SHAPE | LENGTH | {"num_key_value_heads": 1}),
}
ALL = MASKED | CAUSAL


def _word_pieces(special: tuple[str, ...]) -> Any:
    letters = "abcdefghijklmnopqrstuvwxyz"
    pieces = dict.fromkeys([*special, *WORDS, *letters, *(f"##{letter}" for letter in letters)])
    unknown = next(name for name in special if "unk" in name.lower())
    tokenizer = Tokenizer(
        models.WordPiece({piece: place for place, piece in enumerate(pieces)}, unk_token=unknown)
    )
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def _byte_pairs(special: tuple[str, ...]) -> Any:
    merges = [tuple(merge.split()) for merge in MERGES.split(",")]
    pieces = [*special, *sorted(pre_tokenizers.ByteLevel.alphabet()), *map("".join, merges)]
    tokenizer = Tokenizer(models.BPE({piece: place for place, piece in enumerate(pieces)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


@cache
def made(name: str, end: str = "") -> tuple[Any, Any]:
    """The model and the tokenizer of an architecture. `end`: of its class, such as "Model" for an encoder."""
    model_type, pieces, shape = ALL[name]
    special = SPECIAL[pieces]
    pad, begin, close, mask = None, special[0], special[-1], None
    if name in MASKED:
        tokenizer = _word_pieces(special)
        pad, begin, close, mask = (
            next(piece for piece in special if piece.strip("[]<>") in names)
            for names in (("PAD", "pad"), ("CLS", "s"), ("SEP", "/s"), ("MASK", "mask"))
        )
        ends = [(piece, special.index(piece)) for piece in (begin, close)]
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{begin} $A {close}", pair=f"{begin} $A {close} $B {close}", special_tokens=ends
        )
        names = {"cls_token": begin, "sep_token": close, "unk_token": special[3 if begin == "<s>" else 1]}
        names |= {"pad_token": pad, "mask_token": mask}
    else:
        tokenizer = _byte_pairs(special)
        # Qwen has no BOS, and GPT-2's is its EOS
        names = {"eos_token": close} | ({} if name == "Qwen2" else {"bos_token": begin})
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)
    said = {key: getattr(fast, f"{key}_token_id") for key in ("pad", "bos", "eos")}
    config = transformers.AutoConfig.for_model(
        model_type,
        vocab_size=len(fast),
        **{f"{key}_token_id": number for key, number in said.items()} | shape,
        # weights that are as small as usual make all words alike
        initializer_range=0.5,
    )
    classes = {
        "Model": transformers.AutoModel,
        "": transformers.AutoModelForMaskedLM if name in MASKED else transformers.AutoModelForCausalLM,
    }
    torch.manual_seed(0)
    return classes[end].from_config(config).eval(), fast


@cache
def saved(folder: Any, name: str, end: str = "") -> Any:
    """The folder of an architecture's model, with its tokenizer."""
    path = folder / f"{name}{end}"
    for part in made(name, end):
        part.save_pretrained(path)
    return path


def split(name: str, text: str) -> tuple[list[int], list[tuple[int, int]]]:
    """A text's pieces and their characters, with the special ones at its ends; those of a causal model begin with its
    first piece."""
    _, tokenizer = made(name)
    found = tokenizer(text, return_offsets_mapping=True, add_special_tokens=name in MASKED)
    ids, spans = found["input_ids"], found["offset_mapping"]
    if name in MASKED:
        return ids, spans
    first = tokenizer.eos_token_id if tokenizer.bos_token_id is None else tokenizer.bos_token_id
    return [first, *ids], [(0, 0), *spans]


@cache
def _output(name: str, end: str, ids: tuple[int, ...]) -> Any:
    # two threads would wait for each other where tests of others run
    with one_thread(), torch.inference_mode():
        return made(name, end)[0](input_ids=torch.tensor([ids]), output_hidden_states=True)


def log_probabilities(name: str, ids: list[int]) -> np.ndarray:
    """What the raw logits say of each place (pieces, words): float64 logarithms."""
    return _output(name, "", tuple(ids)).logits[0].double().log_softmax(-1).numpy()


def states(name: str, ids: list[int], layer: int = -1, end: str = "") -> np.ndarray:
    """The states after a layer (pieces, dimensions), float64."""
    return _output(name, end, tuple(ids)).hidden_states[layer][0].double().numpy()


def masked_score(name: str, ids: list[int], groups: list[list[int]], hidden: list[int] = ()) -> float:
    """The sum over groups of places that are masked together, and scored; `hidden` ones are masked and not scored."""
    mask, total = made(name)[1].mask_token_id, 0.0
    for group in groups:
        seen = [mask if place in (*group, *hidden) else piece for place, piece in enumerate(ids)]
        found = log_probabilities(name, seen)
        total += sum(found[place, ids[place]] for place in group)
    return total


def causal_scores(name: str, ids: list[int]) -> np.ndarray:
    """The log-probability of each piece but the first, given those before it."""
    found = log_probabilities(name, ids)
    return np.array([found[place - 1, ids[place]] for place in range(1, len(ids))])
