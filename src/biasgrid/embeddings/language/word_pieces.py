"""WordPiece: a text as the pieces that a BERT model knows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import BiasgridError, InputError, quote
from .sentence import Span, check_text

TOKENIZER, VOCABULARY, SETTINGS = "tokenizer.json", "vocab.txt", "tokenizer_config.json"
CLS, SEP, MASK, UNKNOWN = "[CLS]", "[SEP]", "[MASK]", "[UNK]"


@dataclass(frozen=True)
class Pieces:
    """The pieces of a model.

    cls, sep, mask  the numbers of [CLS], [SEP] and [MASK]
    size            how many pieces there are
    unk             the number of [UNK], the piece for what no other piece stands for; None if there is none
    """

    tokenizer: Any
    cls: int
    sep: int
    mask: int
    size: int
    unk: int | None = None

    def split(self, text: str) -> tuple[list[int], list[Span]]:
        """The numbers of the text's pieces, [CLS] before and [SEP] after them, and the characters of each; (0, 0) of
        these two. Raises InputError for what is no text, such as half of a surrogate pair."""
        check_text(text)
        encoding = self.tokenizer.encode(text, add_special_tokens=False)
        return [self.cls, *encoding.ids, self.sep], [(0, 0), *encoding.offsets, (0, 0)]

    def single(self, word: str) -> int:
        """The number of the piece that a word is. Raises InputError for a word of several pieces, or none."""
        ids, _ = self.split(word)
        if len(ids) != 3 or ids[1] == self.unk:
            raise InputError(f"{quote(word)}: is no single piece of the model")
        return ids[1]


def read_pieces(folder: Path) -> Pieces:
    """The pieces of a model's folder: of tokenizer.json, or of vocab.txt if that is missing.

    Raises BiasgridError where there is neither, or what is there is damaged or lacks [CLS], [SEP] or [MASK].
    """
    import tokenizers

    path = folder / TOKENIZER if (folder / TOKENIZER).is_file() else folder / VOCABULARY
    if not path.is_file():
        raise BiasgridError(f"{folder}: has no {TOKENIZER} and no {VOCABULARY}")
    try:
        if path.name == TOKENIZER:
            tokenizer = tokenizers.Tokenizer.from_file(str(path))
        else:
            tokenizer = _read_vocabulary(path, _settings(folder))
        tokenizer.no_truncation()
        tokenizer.no_padding()
    except Exception as error:  # the library's own are plain `Exception`
        raise BiasgridError(f"{path}: is damaged, or no list of pieces: {error!r:.200}") from None
    numbers = tokenizer.get_vocab()
    if missing := [name for name in (CLS, SEP, MASK) if name not in numbers]:
        raise BiasgridError(
            f"{path}: has no piece {' and no '.join(missing)}: not the pieces of a BERT model"
        )
    # numbers may be left out, so that the largest tells how many rows the weights need
    size = max(numbers.values()) + 1
    return Pieces(tokenizer, numbers[CLS], numbers[SEP], numbers[MASK], size, numbers.get(UNKNOWN))


def _settings(folder: Path) -> dict[str, Any]:
    path = folder / SETTINGS
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def _read_vocabulary(path: Path, settings: dict[str, Any]) -> Any:
    """A tokenizer with one piece per line; it changes letters to lower case unless `settings` say otherwise."""
    from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

    tokenizer = Tokenizer(models.WordPiece.from_file(str(path), unk_token=UNKNOWN))
    tokenizer.normalizer = normalizers.BertNormalizer(
        lowercase=settings.get("do_lower_case", True),
        strip_accents=settings.get("strip_accents"),
        handle_chinese_chars=settings.get("tokenize_chinese_chars", True),
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    numbers = tokenizer.get_vocab()
    tokenizer.add_special_tokens([AddedToken(name) for name in (CLS, SEP, MASK, UNKNOWN) if name in numbers])
    return tokenizer
