"""Labels for people instead of keys: short names of models, and marked misspellings of published names."""

from __future__ import annotations

from collections.abc import Mapping

MISSPELLED = ("Appearence",)  # misspellings in published names of sets, which are kept


def short_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Return labels of models, shortened to the words that distinguish them.

    Parameters
    ----------
    labels
        By key of a model, such as "word2vec Google News 300d (subset, 13,013 words)".

    Returns
    -------
    dict
        By key, the fewest first words with which no other label begins, without the part in brackets:
        "word2vec". If another label begins with them, the first part in brackets is kept; if that does not
        distinguish them either, the whole label is kept. If there is only one model, all words before the
        brackets are kept. Wherever short labels appear, the full labels must appear once.
    """
    parts = {}
    for key, label in labels.items():
        head, _, rest = label.partition(" (")
        detail, bracket, end = rest.rpartition(")")
        parts[key] = (head, detail.partition(", ")[0], end) if bracket else (label, "", "")
    heads = {key: head.split() for key, (head, *_) in parts.items()}
    cut = {}
    for key, (_, detail, end) in parts.items():
        words, rivals = heads[key], [head for rival, head in heads.items() if rival != key]
        lengths = (n for n in range(1, len(words)) if all(rival[:n] != words[:n] for rival in rivals))
        n = next(lengths, len(words)) if rivals else len(words)
        name = " ".join(words[:n]).rstrip(",;:")
        cut[key] = [name + end, f"{name} ({detail}){end}" if detail else name + end, labels[key]]
    short = {}
    for key, (name, detailed, whole) in cut.items():
        others = [names for other, names in cut.items() if other != key]
        if not any(names[0].startswith(name) for names in others):
            short[key] = name
        else:
            short[key] = detailed if all(detailed != names[1] for names in others) else whole
    return short


def sic(name: str) -> str:
    """Return a name with [sic] after a misspelling of its source."""
    for word in MISSPELLED:
        name = name.replace(word, f"{word} [sic]")
    return name
