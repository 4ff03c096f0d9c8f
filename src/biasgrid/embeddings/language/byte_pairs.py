"""The pieces of a text by the tokenizer that a .gguf file holds: byte pairs as GPT-2 has them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...bounded import parser_errors
from ...errors import BiasgridError, unknown_name
from .sentence import Span, check_text

MODEL, SPLIT = "tokenizer.ggml.model", "tokenizer.ggml.pre"
# what splits a text before pairs are merged, by its name in the file
LLAMA_3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)
SPLITS = GPT_2, SMOLLM, LLAMA_BPE = "gpt-2", "smollm", "llama-bpe"
BYTE_PAIRS, SENTENCE_PIECES = "gpt2", "llama"
USER_DEFINED = 4  # the type of tokens that stand for themselves wherever a text has them


@dataclass(frozen=True)
class Pieces:
    """The pieces of a text: their numbers, and the characters of each: from, up to (n, 2)."""

    ids: list[int]
    spans: NDArray[np.int64]

    def overlap(self, part: Span) -> NDArray[np.bool_]:
        """Which of them have characters of a part (n,)."""
        return np.maximum(self.spans[:, 0], part[0]) < np.minimum(self.spans[:, 1], part[1])


class BytePairs:
    """Cuts texts into pieces.

    Parameters
    ----------
    path
        The file, which errors name.
    fields
        What it says (`GgufFile.fields`).
    """

    def __init__(self, path: Path, fields: dict[str, Any]):
        from tokenizers import AddedToken, Regex, Tokenizer, decoders, models
        from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence, Split

        check(path, fields)
        split = fields[SPLIT]
        splits: dict[str, list[Any]] = {
            GPT_2: [ByteLevel(add_prefix_space=False)],
            SMOLLM: [Digits(individual_digits=True), ByteLevel(add_prefix_space=False)],
            LLAMA_BPE: [
                Split(Regex(LLAMA_3), "isolated"),
                ByteLevel(add_prefix_space=False, use_regex=False),
            ],
        }
        with parser_errors(path, "its tokenizer is not whole"):
            self.tokens: list[str] = fields["tokenizer.ggml.tokens"]
            self.bos = token_number(fields["tokenizer.ggml.bos_token_id"], self.tokens)
            unk = fields.get("tokenizer.ggml.unknown_token_id")
            merges = [tuple(merge.split(" ")) for merge in fields["tokenizer.ggml.merges"]]
            numbers = {token: number for number, token in enumerate(self.tokens)}
            if len(numbers) < len(self.tokens):
                raise ValueError("a token occurs twice")
            self._tokenizer = Tokenizer(
                models.BPE(
                    vocab=numbers,
                    merges=merges,
                    unk_token=None if unk is None else self.tokens[token_number(unk, self.tokens)],
                    ignore_merges=split == LLAMA_BPE,
                )
            )
            self._tokenizer.pre_tokenizer = Sequence(splits[split])
            self._tokenizer.decoder = decoders.ByteLevel()
            types = fields.get("tokenizer.ggml.token_type", [])
            self._tokenizer.add_tokens(
                [
                    AddedToken(token, normalized=False)
                    for token, type in zip(self.tokens, types, strict=False)
                    if type == USER_DEFINED
                ]
            )

    def __call__(self, text: str) -> Pieces:
        """The pieces of a text. Raises InputError for one that has none, as half of a surrogate pair."""
        check_text(text)
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        return Pieces(encoding.ids, np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2))

    def text(self, number: int) -> str:
        """What a token adds to a text."""
        return self._tokenizer.decode([number], skip_special_tokens=False)


def check(path: Path, fields: dict[str, Any]) -> None:
    """Raises BiasgridError for a tokenizer that is not known."""
    choices: dict[str, tuple[str, ...]] = {MODEL: (BYTE_PAIRS, SENTENCE_PIECES)}
    if fields.get(MODEL) == BYTE_PAIRS:
        choices[SPLIT] = SPLITS
    for key, values in choices.items():
        if fields.get(key) not in values:
            raise BiasgridError(f"{path}: {key}: {unknown_name('value', fields.get(key), values)}")


def token_number(number: Any, tokens: list[str]) -> int:
    """The number of a token. Raises ValueError if it has none."""
    if not isinstance(number, int) or not 0 <= number < len(tokens):
        raise ValueError(f"there is no token {number!r:.40}")
    return number
