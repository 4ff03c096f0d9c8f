"""The draw of data/word_sets/frequency.json: words of all frequencies, without those that say a gender.

    python benchmarks/frequency_words.py

It prints the set, from the corpora brown and text8 (make frequency fetches and counts them).
"""

import json
import os
from collections import Counter
from pathlib import Path

import numpy as np

from biasgrid.core.resources import find_file
from biasgrid.models.corpus.corpus import Corpus
from biasgrid.study.paths import PLACE

SEED, STRATA, OF_STRATUM = 1, 10, 25
# a word is in the vocabulary of all models of config/trained/frequency.yaml
LEAST = {"brown": 5, "text8": 100}
GENDERED = {
    "debiaswe": ("gender_specific",),
    "gn_glove": ("male_terms", "female_terms"),
    "eds": ("male_terms", "female_terms"),
    "multiclass": ("male_terms", "female_terms", "male_roles", "female_roles"),
    "weat": ("male_terms", "female_terms", "male_terms_2", "female_terms_2", "male_names", "female_names"),
}


def names(folder: Path) -> set[str]:
    """Words that the Brown corpus mostly tags as proper nouns, or as of another language."""
    all_tags, of_names = Counter(), Counter()
    for file in sorted(folder.glob("c???")):
        for token in file.read_text().lower().split():
            word, _, tag = token.rpartition("/")
            all_tags[word] += 1
            of_names[word] += tag.startswith(("np", "fw"))
    return {word for word, n in of_names.items() if 2 * n > all_tags[word]}


def main() -> None:
    folder = Path(os.environ.get(PLACE) or "data/embeddings")
    counts = {}
    for key in LEAST:
        corpus = Corpus.open(folder / key)
        counts[key] = dict(zip(corpus.words(), corpus.counts.tolist(), strict=True))
    excluded = names(folder / "raw" / "brown")
    for file, sets in GENDERED.items():
        given = json.loads((find_file("data/word_sets") / f"{file}.json").read_text())["sets"]
        excluded |= {word.lower() for name in sets for word in given[name]}
    pool = sorted(
        word
        for word in counts["brown"]
        if word.isascii() and word.isalpha() and len(word) > 1 and word not in excluded
        and all(of_corpus.get(word, 0) >= LEAST[key] for key, of_corpus in counts.items())
    )  # fmt: skip
    logs = np.log([counts["brown"][word] for word in pool])
    ends = np.linspace(logs.min(), logs.max(), STRATA + 1)[1:-1]
    strata = np.digitize(logs, ends)
    draw = np.random.default_rng(SEED)
    drawn = []
    for stratum in range(STRATA):
        words = [pool[i] for i in np.flatnonzero(strata == stratum)]
        drawn += sorted(draw.permutation(words)[:OF_STRATUM].tolist())
    print(
        len(pool),
        "words;",
        np.bincount(strata, minlength=STRATA).tolist(),
        "by stratum;",
        len(drawn),
        "drawn",
    )
    print(json.dumps(drawn))


if __name__ == "__main__":
    main()
