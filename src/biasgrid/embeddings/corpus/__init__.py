"""Corpora: texts whose words are looked up with all places that they stand at."""

from __future__ import annotations

from .corpus import Corpus
from .counting import make_corpus

__all__ = ["Corpus", "make_corpus"]
