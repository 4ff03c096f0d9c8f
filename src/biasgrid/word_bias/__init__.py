"""Bias of single words: the words furthest along a direction, and a report on one word.

import biasgrid as bg

model = bg.load("glove-6b-50d")
female, male = ["she", "woman", "girl"], ["he", "man", "boy"]
bg.word_bias.project(model, {"female": female, "male": male}).most(10)
"""

from __future__ import annotations

from .groups import GroupTest, cluster_groups, neighbour_groups
from .indirect import indirect_words
from .projections import Comparison, Projections, compare, project
from .report import WordReport, word_report
from .specific import SpecificWords, specific_words

__all__ = [
    "Comparison",
    "GroupTest",
    "Projections",
    "SpecificWords",
    "WordReport",
    "cluster_groups",
    "compare",
    "indirect_words",
    "neighbour_groups",
    "project",
    "specific_words",
    "word_report",
]
