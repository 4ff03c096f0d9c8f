"""Settings in which metrics are examined: groups and words, from papers, and drawn at random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations

import numpy as np

from biasgrid.core.geometry import cosines

EXACT, CLEAR = 1e-9, 1e-3
SEED, DRAWN = 6, 1200

Sets = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Setting:
    """Groups, and words in one set or two. Metrics of one set of words take them together."""

    name: str
    groups: Sets
    words: Sets

    @cached_property
    def truth(self) -> Truth:
        together = np.concatenate(self.words)
        leanings = np.stack([cosines(together, group).mean(axis=1) for group in self.groups], axis=1)
        differences = [leanings[:, i] - leanings[:, j] for i, j in combinations(range(len(self.groups)), 2)]
        means = [cosines(np.eye(group.shape[1]), group).mean(axis=1) for group in self.groups]
        return Truth(
            leanings,
            bias=float(np.max(np.abs(differences))),
            skew=float(max(abs(d.mean()) for d in differences)),
            stereotype=float(max(np.ptp(d) for d in differences)),
            is_ordered=len(self.words) == 2
            and bool(
                differences[0][: len(self.words[0])].min() >= differences[0][len(self.words[0]) :].max()
            ),
            groups_differ=bool(min(np.abs(a - b).max() for a, b in combinations(means, 2)) > EXACT),
        )


@dataclass(frozen=True)
class Truth:
    """Facts about a setting: s(w, A) (words, groups), and the largest difference between two groups.

    The difference is the bias of a word, the skew of the words' mean, or the stereotype between two words.
    """

    leanings: np.ndarray
    bias: float
    skew: float
    stereotype: float
    is_ordered: bool
    groups_differ: bool


def vectors(*rows: Sequence[float] | np.ndarray) -> np.ndarray:
    return np.array(rows, dtype=float)


EAST, WEST, NORTH = vectors((1, 0)), vectors((-1, 0)), vectors((0, 1))


def unit_vectors(*degrees: float) -> np.ndarray:
    return np.stack([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))], axis=1).round(15)


def _crossed_pairs(r: float) -> Sets:
    """Return P31's pairs, which differ along (-1, r) and along (-1, -r), with the groups' means along (1, 0)."""
    return vectors((-1, r), (-1, -r)), vectors((1, -r), (1, r))


SCATTERED = vectors((0.6, 0.8), (0.6, -0.8)), vectors((1, 0), (1, 0))
FANNED = vectors((0.6, 0.8), (0.6, -0.8)), vectors((0, 1), (0, 1))
UNEQUAL = vectors((1, 0)), vectors((0, 2))

# P04 to P47 are from the paper and the specification. The others examine a common feature of metrics: unit length.
CATALOGUE = (
    Setting("a word in the middle (P04)", (EAST, NORTH), (vectors((1, 1)),)),
    Setting("a word beside the middle (P04)", (EAST, NORTH), (vectors((1, 0.9)),)),
    Setting("a biased word between opposite groups (P20)", (EAST, WEST), (vectors((0.6, 0.8)),)),
    Setting(
        "words in the middle of near groups (P21)",
        (unit_vectors(0), unit_vectors(60)),
        (unit_vectors(30), unit_vectors(30)),
    ),
    Setting(
        "words closer to different groups (P24)", (EAST, WEST), (vectors((0.6, 0.8)), vectors((-0.6, 0.8)))
    ),
    Setting("words closer to one group (P24)", (EAST, WEST), (vectors((0.6, 0.8)), vectors((0.6, -0.8)))),
    Setting(
        "sets closer to the same group (P12)",
        (EAST, WEST),
        (vectors((0.6, 0.8), (0.8, 0.6)), vectors((0.6, -0.8), (0.8, -0.6))),
    ),
    Setting(
        "sets with words closer to either group (P06)",
        (EAST, WEST),
        (vectors((0.6, 0.8), (-0.6, 0.8)), vectors((0.6, -0.8), (-0.6, -0.8))),
    ),
    Setting(
        "sets with words closer to either group, in space (P06)",
        (vectors((1, 0, 0)), vectors((0, 1, 0))),
        (vectors((0.8, 0, 0.6), (0, 0.8, 0.6)), vectors((0.8, 0, -0.6), (0, 0.8, -0.6))),
    ),
    Setting(
        "four times the same word (P05)",
        (EAST, NORTH),
        (vectors((0.8, 0.6), (0.8, 0.6)), vectors((0.8, 0.6), (0.8, 0.6))),
    ),
    Setting("crossed pairs, word across (P31)", _crossed_pairs(2), (vectors((0, 1)),)),
    Setting("crossed pairs, words on one side (P31b)", _crossed_pairs(2), (vectors((1, 0)), vectors((1, 0)))),
    Setting(
        "crossed pairs, words on both sides (P31b)", _crossed_pairs(2), (vectors((1, 0)), vectors((-1, 0)))
    ),
    Setting("flat crossed pairs (P32)", _crossed_pairs(0.5), (vectors((1, 0)), vectors((0, 1)))),
    Setting(
        "words closer to one group (P47)",
        (EAST, WEST),
        (vectors((0.5, 0.75**0.5)), vectors((0.5, 0.75**0.5))),
    ),
    Setting("words in one order", (EAST, NORTH), (vectors((-0.6, -0.8)), vectors((1, 0)))),
    Setting("a group more scattered than the other", SCATTERED, (vectors((1, 0)), vectors((0.6, 0.8)))),
    Setting(
        "a group that cancels out",
        (vectors((1, 0), (-1, 0)), vectors((0, 1), (0, 1))),
        (vectors((0.6, 0.8)), vectors((0.8, 0.6))),
    ),
    Setting(
        "unlike pairs, words on one side",
        (vectors((1, 0), (0, 1)), vectors((-1, 0), (0, -1))),
        (vectors((0, 1)), vectors((0, 1))),
    ),
    Setting(
        "a word that is in both groups",
        (vectors((1, 0), (0, 1)), vectors((1, 0), (0, -1))),
        (vectors((1, 0), (0.6, 0.8)), vectors((0, 1), (-0.6, 0.8))),
    ),
    Setting(
        "unequal words on both sides",
        (EAST, WEST),
        (vectors((1, 0)), vectors((-0.6, 0.8))),
    ),
    Setting(
        "two words against a nearer one",
        (EAST, WEST),
        (vectors((7**0.5 / 4, 0.75), (7**0.5 / 4, -0.75)), vectors((-1, 0))),
    ),
    Setting(
        "unlike pairs, words on both sides",
        (vectors((1, 0), (0, 1)), vectors((-1, 0), (0, -1))),
        (vectors((0, 1)), vectors((0, -1))),
    ),
    Setting("a scattered group, words on one side", FANNED, (vectors((1, 1)), vectors((1, 1)))),
    Setting("a scattered group, words on both sides", FANNED, (vectors((1, 1)), vectors((-1, -1)))),
    Setting(
        "sets of unequal size",
        (EAST, WEST),
        (vectors((1, 0)), vectors((0.5, 0.75**0.5), (0.5, -(0.75**0.5)))),
    ),
    Setting(
        "a group more scattered than the other, words on both sides",
        SCATTERED,
        (vectors((0, 1)), vectors((0, -1))),
    ),
    Setting("groups of unequal length, words in the middle", UNEQUAL, (vectors((1, 1)), vectors((2, 2)))),
    Setting("groups of unequal length, words on one side", UNEQUAL, (vectors((2, 1)), vectors((2, 1)))),
    Setting("groups of unequal length, biased words", UNEQUAL, (vectors((0.5, 1)), vectors((-1.5, 0)))),
    Setting("words of unequal length", (EAST, WEST), (vectors((1, 0), (1, 0)), vectors((-2, 0)))),
    Setting("as far along, at unequal length", (EAST, WEST), (vectors((0.6, 0.8)), vectors((0.6, 0)))),
    Setting("a pair of unequal length (P33)", (vectors((2, 0)), vectors((0, 1))), (vectors((1, 2)),)),
    Setting(
        "groups with one mean, of unequal length",
        (vectors((2, 0), (0, 2)), vectors((1, 1), (1, 1))),
        (vectors((1, 0)), vectors((1, 1))),
    ),
    Setting(
        "three groups around the middle (P46)",
        (unit_vectors(0), unit_vectors(120), unit_vectors(240)),
        (unit_vectors(45),),
    ),
    Setting(
        "three groups, words off their plane (P45)",
        tuple(vectors(row) for row in np.eye(3)),
        (vectors((1, 1, 1)), vectors((-2, -2, -2))),
    ),
)

# Groups whose largest and smallest values are compared, all with two words: single words are listed twice.
COMPARED = {
    "opposite groups": (np.repeat(EAST, 2, axis=0), np.repeat(WEST, 2, axis=0)),
    "groups at 90°": (np.repeat(EAST, 2, axis=0), np.repeat(NORTH, 2, axis=0)),
    "groups at 60°": (unit_vectors(0, 0), unit_vectors(60, 60)),
    "crossed pairs": _crossed_pairs(2),
    "flat crossed pairs": _crossed_pairs(0.5),
    "groups of unequal length": tuple(np.repeat(group, 2, axis=0) for group in UNEQUAL),
    "a group more scattered than the other": SCATTERED,
    "a group that cancels out": (vectors((1, 0), (-1, 0)), vectors((0, 1), (0, 1))),
    "a word that is in both groups": (vectors((1, 0), (0, 1)), vectors((1, 0), (0, -1))),
}


@cache
def draw_settings() -> tuple[Setting, ...]:
    """Draw groups and words of small whole numbers, and words that are equally near to both groups."""
    rng = np.random.default_rng(SEED)

    def rows(n: int, dimensions: int) -> np.ndarray:
        while True:
            candidate = rng.integers(-2, 3, size=(n, dimensions)).astype(float)
            if candidate.any(axis=1).all():
                return candidate

    settings = []
    for i in range(DRAWN):
        dimensions = 2 + i % 2
        sizes = ((1, 1), (2, 2), (1, 2), (1, 1, 1))[i // 2 % 4]
        groups = tuple(rows(n, dimensions) for n in sizes)
        words = rows(4, dimensions)
        if i % 3 == 0:
            # Move the words off the span of differences between the groups' means, at any length.
            means = np.stack([(g / np.linalg.norm(g, axis=1, keepdims=True)).mean(axis=0) for g in groups])
            _, lengths, axes = np.linalg.svd(means[1:] - means[0], full_matrices=False)
            axes = axes[lengths > EXACT]
            words = words - words @ axes.T @ axes
            if (np.linalg.norm(words, axis=1) < CLEAR).any():
                continue
        settings.append(Setting("found by search", groups, (words[:2], words[2:])))
    return tuple(settings)


@cache
def make_one_word_settings() -> tuple[Setting, ...]:
    """Return the catalogue's settings with each of their words alone, and the drawn ones with their first word."""
    return tuple(
        Setting(setting.name, setting.groups, (word[None],))
        for settings, words in ((CATALOGUE, None), (draw_settings(), 1))
        for setting in settings
        for row in dict.fromkeys(map(tuple, np.concatenate(setting.words)[:words]))
        for word in [np.array(row)]
    )
