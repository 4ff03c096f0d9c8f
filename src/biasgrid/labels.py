"""What people read in place of keys: short names of models, and names with marked misspellings of their source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

MISSPELLED = ("Appearence",)  # in names of sets that were printed so, and are kept as they were printed


def short_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Labels of models, cut to as many words as tell them apart.

    Parameters
    ----------
    labels
        By key of a model, such as "word2vec Google News 300d (subset, 13,013 words)".

    Returns
    -------
    dict
        By key the fewest first words that no other label begins with, and of what stands in brackets the first part:
        "word2vec (subset)". It says what the vectors are, such as a subset of a model's words, so it is never cut,
        nor is what follows the brackets. A model alone keeps all words before them; labels that would become alike
        stay whole.
    """
    parts = {}
    for key, label in labels.items():
        head, _, rest = label.partition(" (")
        detail, bracket, end = rest.rpartition(")")
        parts[key] = (head, detail, end) if bracket else (label, "", "")
    heads = {key: head.split() for key, (head, *_) in parts.items()}
    short = {}
    for key, (_, detail, end) in parts.items():
        words, rivals = heads[key], [head for rival, head in heads.items() if rival != key]
        lengths = (n for n in range(1, len(words)) if all(rival[:n] != words[:n] for rival in rivals))
        n = next(lengths, len(words)) if rivals else len(words)
        first_detail = f" ({detail.partition(', ')[0]})" if detail else ""
        short[key] = " ".join(words[:n]).rstrip(",;:") + first_detail + end
    counts = Counter(short.values())
    return {key: label if counts[label] == 1 else labels[key] for key, label in short.items()}


def sic(name: str) -> str:
    """A name with [sic] behind a misspelling that is its source's."""
    for word in MISSPELLED:
        name = name.replace(word, f"{word} [sic]")
    return name
