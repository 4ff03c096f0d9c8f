"""Questions about metrics, the answers of papers, and the reasons why a "yes" holds."""

from __future__ import annotations

from typing import Any

# Question -> heading of its column.
PROPERTIES = {
    "comparable": "Values are comparable across groups",
    "trustworthy": "Neutral value means no bias, and no bias neutral",
    "skew": "Sees words closer to one group (skew)",
    "stereotype": "Sees words closer to different groups (stereotype)",
    "defined": "Always has a value",
    "length_free": "Ignores the vectors' length",
}
SHORT = {
    "comparable": "comparable",
    "trustworthy": "trustworthy",
    "skew": "sees skew",
    "stereotype": "sees stereotype",
    "defined": "always has a value",
    "length_free": "ignores length",
}
WORD, SET = "one word", "words"
OF_ONE_WORD = ("comparable", "trustworthy", "defined", "length_free")
# Condition of a second row of "stereotype" for metrics of two sets of words.
ORDERED = "no word of the second set is closer to the first group than one of the first set"
# "yes": proved. "not refuted": none of the settings that were tried is a counterexample. "undefined": the metric
# lacks a value in every setting of the question.
YES, NO, NOT_REFUTED, UNDEFINED, NOT_EXAMINED = "yes", "no", "not refuted", "undefined", "not examined"

# Parameters with which a metric is examined, if not only its defaults.
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "direct_bias": [{"direction": "pca"}, {"direction": "pair"}, {"direction": "mean"}, {"direction": "sum"}],
    "rnd": [{"distance": "norm"}, {"distance": "cos"}],
    # The groups are small, so that no part of them is left out of training, and nothing is drawn.
    "rnsb": [{"holdout": False}],
    "pmi": [{}, {"smoothing": 0.5}],
}
# A metric of two sets of words does not have a value for one word, except for this one: its detail of that name.
WORD_VALUES = {"weat": "association"}

# Reasons why a metric is not examined, by kind of model, and by metric.
OTHER_MODELS = {
    "contextual_vectors": "it is of words in several contexts; in each of them it is an effect size of WEAT",
    "language_model": "the properties are of pairs and of words beside one of two groups; it takes {}",
}
OTHER_QUESTIONS = {
    "indirect_bias": "it measures how much of the similarity of two words is due to the groups, "
    "not which group they are closer to",
}

# Answers of the paper's theorems and tables 1 and 7. The ticks are lost in the paper's conversion to text, and are
# taken from the theorems. WEAT's effect size is stereotype-sensitive if sets are ordered.
PAPER = {
    ("weat", WORD): {"comparable": NO, "trustworthy": YES},
    ("weat_es", SET): {"comparable": YES, "trustworthy": NO, "skew": NO, "stereotype": NO, ORDERED: YES},
    ("mac", WORD): {"comparable": NO, "trustworthy": NO},
    ("mac", SET): {"comparable": NO, "trustworthy": NO, "skew": NO, "stereotype": NO},
    ("direct_bias", WORD): {"comparable": YES, "trustworthy": NO},
    ("direct_bias", SET): {"comparable": YES, "trustworthy": NO, "skew": NO, "stereotype": NO},
    ("same", WORD): {"comparable": YES, "trustworthy": YES},
    ("same", SET): {"comparable": YES, "trustworthy": YES, "skew": YES, "stereotype": YES},
    ("same_stereotype", SET): {"comparable": YES, "trustworthy": NO, "skew": NO, "stereotype": YES},
    ("same_skew", SET): {"comparable": YES, "trustworthy": NO, "skew": YES, "stereotype": NO},
}

_COSINE = "of one word it is cos(w, a - b), which words along a - b and across it bring to its ends and to 0"
_SAME_VALUE = "it has a value wherever the groups' means of unit vectors differ"
_UNIT = "all vectors are taken at unit length"
# (metric, parameters, level) -> property -> the reason why it holds. Level None: both levels.
ARGUMENTS: dict[tuple[str, str, str | None], dict[str, str]] = {
    ("weat", "", WORD): {"trustworthy": "the value is s(w, A) - s(w, B) itself"},
    ("weat", "", None): {"defined": "a sum of cosines", "length_free": _UNIT},
    ("weat_es", "", SET): {
        "comparable": "of sets of one size, it is 2 where all of X have one association and all of Y a smaller one, "
        "whatever the groups; so it is -2",
        ORDERED: "the mean of X is above that of Y unless all words have the same association",
        "length_free": _UNIT,
    },
    ("generalized_weat", "", SET): {
        ORDERED: "the mean of X is above that of Y unless all words have the same association",
        "defined": "a sum of cosines",
        "length_free": _UNIT,
    },
    ("mac", "", None): {"defined": "a mean of cosines", "length_free": _UNIT},
    ("rnd", "distance: norm", None): {"defined": "a mean of distances"},
    ("direct_bias", "direction: pca", None): {
        "comparable": "|cos(w, g)| is 1 along the direction and 0 across it, wherever it points",
        "length_free": _UNIT,
    },
    ("direct_bias", "direction: pair", None): {
        "comparable": "|cos(w, g)| is 1 along the direction and 0 across it, wherever it points",
        "length_free": _UNIT,
    },
    ("direct_bias", "direction: sum", None): {
        "comparable": "|cos(w, g)| is 1 along the direction and 0 across it, wherever it points",
        "length_free": _UNIT,
    },
    ("direct_bias", "direction: mean", None): {
        "comparable": _COSINE,
        "trustworthy": "it is SAME",
        "skew": "it is SAME",
        "stereotype": "it is SAME",
        "defined": _SAME_VALUE,
        "length_free": _UNIT,
    },
    ("same", "", None): {
        "comparable": f"{_COSINE}; of more groups, where there are as many dimensions as groups",
        "trustworthy": "a mean of sizes, each 0 for a word that is as near to every group and for no other",
        "skew": "follows from trustworthy (theorem 1)",
        "stereotype": "follows from trustworthy (theorem 1)",
        "defined": _SAME_VALUE,
        "length_free": _UNIT,
    },
    ("same_skew", "", WORD): {"trustworthy": "of one word it is s(w, A) - s(w, B) over |a - b|"},
    ("same_skew", "", None): {
        "comparable": _COSINE,
        "skew": "it is the difference of the words' mean nearness to either group, over |a - b|",
        "defined": _SAME_VALUE,
        "length_free": _UNIT,
    },
    ("same_stereotype", "", None): {
        "comparable": "half the words along a - b and half against it give 1, words with the same association 0; "
        "of one word it is 0 whatever the groups",
        "stereotype": "a standard deviation is 0 only where all words have the same association",
        "defined": _SAME_VALUE,
        "length_free": _UNIT,
    },
    ("sc_weat", "", None): {"length_free": _UNIT},
    ("nas", "", None): {"length_free": _UNIT},
    ("semaxis", "", None): {
        "comparable": "cos(w, V) is 1 along the axis and -1 against it, wherever it points"
    },
    ("ripa", "", None): {
        "comparable": "of words of length 1 the inner product with a relation vector, of length 1, too, is 1 along "
        "it and -1 against it, wherever it points"
    },
    ("pmi", "", WORD): {"trustworthy": "it is 0 where both shares are equal, and only there"},
    ("pmi", "smoothing: 0.5", WORD): {"defined": "no share is 0"},
    ("pmi", "smoothing: 0.5", SET): {"defined": "no share is 0"},
    ("pll_preference", "", None): {
        "comparable": "0 and 1 are reached where all pairs prefer the same side, however many they are",
        "defined": "a share of the pairs",
    },
    ("mean_pair_difference", "", WORD): {"trustworthy": "of one pair it is the difference itself"},
    ("mean_pair_difference", "", None): {
        "comparable": "of pairs with the same difference it is the difference of each, however many they are",
        "defined": "a mean of differences",
        "skew": "it is the mean difference",
    },
    ("score_distributions", "", WORD): {"trustworthy": "of one pair it is 1 unless both scores are equal"},
    ("score_distributions", "", SET): {"skew": "sets of one distribution have one mean"},
    ("score_distributions", "", None): {
        "comparable": "0 and 1 are reached where sets are the same and where they do not overlap, however many pairs "
        "there are",
        "defined": "a difference of shares",
    },
    ("lpbs", "", WORD): {"trustworthy": "of one word it is the difference itself"},
    ("lpbs", "", None): {
        "comparable": "of words with the same difference it is the difference of each, however many they are",
        "defined": "a mean of logarithms of probabilities, none of which is 0",
        "skew": "it is the mean difference",
    },
    ("completion", "", None): {
        "comparable": "0 and 1 are reached where all words prefer the same group, however many they are",
        "defined": "a share of the words",
    },
    ("pair_frequency", "", WORD): {"comparable": "0 and 1 are reached whatever the groups"},
    ("pair_frequency", "", SET): {"comparable": "0 and 1 are reached whatever the groups"},
    ("rnsb", "holdout: false", SET): {
        "defined": "the classifier's probabilities are above 0, of vectors that are not so long that they round to it"
    },
}
