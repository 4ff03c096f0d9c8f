"""The pieces of a text by the tokenizer that a .gguf file holds: pairs merged by scores, as SentencePiece and Llama 2
have them."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from pathlib import Path
from typing import Any

import numpy as np

from ...bounded import parser_errors
from .byte_pairs import Pieces, check, token_number
from .sentence import check_text

SPACE = "▁"
NORMAL, USER_DEFINED, BYTE = 1, 4, 6  # types of tokens: of letters; of letters, given by hand; of a byte


class SentencePieces:
    """Cuts texts into pieces: of neighbours that make a token, those of the highest score are merged first, and of
    equal ones the first.

    Parameters
    ----------
    path
        The file, which errors name.
    fields
        What it says (`GgufFile.fields`).
    """

    def __init__(self, path: Path, fields: dict[str, Any]) -> None:
        check(path, fields)
        with parser_errors(path, "its tokenizer is not whole"):
            self.tokens: list[str] = fields["tokenizer.ggml.tokens"]
            self.bos = token_number(fields["tokenizer.ggml.bos_token_id"], self.tokens)
            self._unknown_id = token_number(fields.get("tokenizer.ggml.unknown_token_id", 0), self.tokens)
            self._prefix = SPACE if fields.get("tokenizer.ggml.add_space_prefix", True) else ""
            scores, types = fields["tokenizer.ggml.scores"], fields["tokenizer.ggml.token_type"]
            facts = list(zip(self.tokens, scores, types, strict=True))
            self._numbers = {
                token: number
                for number, (token, _, type) in enumerate(facts)
                if type in (NORMAL, USER_DEFINED)
            }
            self._scores = {token: float(score) for token, score, _ in facts}
            self._bytes = {token: number for number, (token, _, type) in enumerate(facts) if type == BYTE}

    def __call__(self, text: str) -> Pieces:
        """The pieces of a text. Raises InputError for one that has none, as half of a surrogate pair."""
        check_text(text)
        prefix = self._prefix if text else ""
        parts = self._merge(prefix + text.replace(" ", SPACE))
        ids, spans, end = [], [], -len(prefix)
        for part in parts:
            start, end = end, end + len(part)
            numbers = [self._numbers[part]] if part in self._numbers else self._byte_numbers(part)
            ids += numbers
            # what stands before the text belongs to its first character
            spans += [(max(start, 0), max(end, 1))] * len(numbers)
        return Pieces(ids, np.array(spans, dtype=np.int64).reshape(-1, 2))

    def text(self, number: int) -> str:
        """What a token adds to a text."""
        return self.tokens[number].replace(SPACE, " ")

    def _merge(self, text: str) -> list[str]:
        parts, next_places = list(text), list(range(1, len(text) + 1))
        previous_places = list(range(-1, len(text) - 1))

        def pair(i: int) -> tuple[float, int, str, str] | None:
            j = next_places[i]
            if j < len(parts) and parts[i] + parts[j] in self._numbers:
                return -self._scores[parts[i] + parts[j]], i, parts[i], parts[j]
            return None

        queue = [candidate for i in range(len(parts)) if (candidate := pair(i))]
        heapify(queue)
        while queue:
            _, i, first, second = heappop(queue)
            j = next_places[i]
            if parts[i] != first or j == len(parts) or parts[j] != second:  # one of them was merged since
                continue
            parts[i], parts[j] = first + second, ""
            next_places[i] = next_places[j]
            if next_places[i] < len(parts):
                previous_places[next_places[i]] = i
            for place in (previous_places[i], i):
                if place >= 0 and (candidate := pair(place)):
                    heappush(queue, candidate)
        return [part for part in parts if part]

    def _byte_numbers(self, character: str) -> list[int]:
        return [self._bytes.get(f"<0x{byte:02X}>", self._unknown_id) for byte in character.encode()]
