"""The files of a model as transformers has them."""

from __future__ import annotations

CONFIG, WEIGHTS, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
# any one of these is a tokenizer
TOKENIZERS = (
    *("tokenizer.json", "vocab.txt", "vocab.json", "tokenizer.model"),
    *("spiece.model", "spm.model", "sentencepiece.model", "sentencepiece.bpe.model"),
)
# what transformers opens besides, as far as it is there
BESIDE = (
    *("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "merges.txt", "bpe.codes"),
    *("entity_vocab.json", "generation_config.json", "chat_template.jinja"),
)
# all but the weights
FILES = (CONFIG, *TOKENIZERS, *BESIDE)
