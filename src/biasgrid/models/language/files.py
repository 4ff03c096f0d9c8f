"""Names of the files of a transformers model."""

from __future__ import annotations

CONFIG, WEIGHTS, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
# Each of these files can be a tokenizer.
TOKENIZERS = (
    *("tokenizer.json", "vocab.txt", "vocab.json", "tokenizer.model"),
    *("spiece.model", "spm.model", "sentencepiece.model", "sentencepiece.bpe.model"),
)
# Further files that transformers opens if they exist.
BESIDE = (
    *("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "merges.txt", "bpe.codes"),
    *("entity_vocab.json", "generation_config.json", "chat_template.jinja"),
)
# All files except the weights.
FILES = (CONFIG, *TOKENIZERS, *BESIDE)
