"""WEFE's word sets."""

from __future__ import annotations

from .datasets import (
    fetch_debias_multiclass,
    fetch_debiaswe,
    fetch_eds,
    fetch_gn_glove,
    load_bingliu,
    load_weat,
)

__all__ = [
    "fetch_debias_multiclass",
    "fetch_debiaswe",
    "fetch_eds",
    "fetch_gn_glove",
    "load_bingliu",
    "load_weat",
]
