"""Does PMI recover a bias that was planted in real text, as often as its interval says, and better than vectors do?

    python benchmarks/planted.py [--worlds 20] [--trained 3] [--seed 7]

60 words that English does not have are put at random places into the sentences of the Brown corpus (fetched when
it is missing). Each has a rate, so that it is expected in 20 to 2,000 sentences, and a bias b from -2 to 2:
sentences with WEAT's male terms have it exp(b / 2) times as often as others, those with female terms exp(-b / 2)
times. What was planted is then known: the logarithm of the ratio of expected shares. In each world the words are
planted anew, with other biases.

intervals  of each word, and of sets of five: how often the 95 % interval holds the planted value; words that no
           sentence has beside one of the groups have no value, and are counted apart
recovery   on the first worlds, word2vec (gensim, skip-gram, 100 dimensions, 5 epochs) is trained on the text:
           Pearson's r of each measure's value of a word with the planted one, and Spearman's with the word's
           frequency, which has nothing to do with it
"""

from __future__ import annotations

import argparse
import logging
import warnings

import numpy as np
from scipy import stats

import biasgrid as bg
from biasgrid.models.corpus.text import Sentences
from biasgrid.models.shipped import cache_folder

WORDS, MOST, FREQUENT = 60, 2.0, (20, 2000)
OPTIONS = {"risk ratio": {}, "odds ratio": {"estimator": "odds_ratio"}, "smoothed by 1/2": {"smoothing": 0.5}}
# what says of each word which group it is nearer to, larger for the first
OF_VECTORS = {
    "RND (cos)": ("rnd", {"distance": "cos"}, "distance_by_word"),
    "SemAxis": ("semaxis", {}, "score"),
    "SC-WEAT": ("sc_weat", {}, "effect_size"),
}


def planted(sentences: list[list[str]], groups: list[set[str]], rng: np.random.Generator):
    """A text with planted words: its sentences, the words, and the planted value of each and of the sets of five."""
    words = [f"planted{i}" for i in range(WORDS)]
    has = np.array([[not group.isdisjoint(sentence) for group in groups] for sentence in sentences])
    rates = np.geomspace(*FREQUENT, WORDS) / len(sentences)
    biases = rng.permutation(np.linspace(-MOST, MOST, WORDS))
    # (sentences, words): sentences with both groups have a word as often as others
    lean = has[:, :1].astype(float) - has[:, 1:]
    probabilities = np.minimum(rates * np.exp(lean * biases / 2), 1.0)
    hits = rng.random(probabilities.shape) < probabilities
    text = []
    for sentence, row in zip(sentences, hits, strict=True):
        sentence = list(sentence)
        for word in np.flatnonzero(row):
            sentence.insert(rng.integers(len(sentence) + 1), words[word])
        text.append(sentence)
    shares = [probabilities[has[:, side]].mean(axis=0) for side in (0, 1)]
    sets = rng.permutation(WORDS).reshape(-1, 5)
    # a set is in a sentence where any of its words is
    none = [
        [np.prod(1 - probabilities[has[:, side]][:, of_set], axis=1).mean() for of_set in sets]
        for side in (0, 1)
    ]
    return text, words, rates, shares, sets, [1 - np.array(side) for side in none]


def truth(first: np.ndarray, second: np.ndarray, options: dict) -> np.ndarray:
    if options.get("estimator") == "odds_ratio":
        first, second = first / (1 - first), second / (1 - second)
    return np.log(first) - np.log(second)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--worlds", type=int, default=20)
    parser.add_argument("--trained", type=int, default=3)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    bg.load("brown")
    sentences = list(Sentences(cache_folder() / "raw" / "brown", "tagged"))
    terms = [list(bg.word_sets("weat")[name]) for name in ("male_terms", "female_terms")]
    rng = np.random.default_rng(given.seed)
    inside = {name: {"one word": [], "five words": []} for name in OPTIONS}
    without = {name: {"one word": 0, "five words": 0} for name in OPTIONS}
    recovered: dict[str, list[tuple[float, float]]] = {}
    for world in range(given.worlds):
        text, words, rates, shares, sets, set_shares = planted(sentences, [set(t) for t in terms], rng)
        corpus = bg.load(
            [" ".join(sentence) for sentence in text], kind="corpus", format="tokens", name="planted"
        )
        of_sets = [[words[place] for place in of_set] for of_set in sets]
        for name, options in OPTIONS.items():
            for level, attributes, of_level in (
                ("one word", [[word] for word in words], shares),
                ("five words", of_sets, set_shares),
            ):
                for words_of, expected in zip(attributes, truth(*of_level, options), strict=True):
                    result = bg.metrics.pmi(bg.Query(terms, [words_of]), corpus, **options)
                    if result.status != "ok":
                        without[name][level] += 1
                        continue
                    inside[name][level].append(
                        result.scalars["ci_low"] <= expected <= result.scalars["ci_high"]
                    )
        if world >= given.trained:
            continue
        from gensim.models import Word2Vec

        model = bg.load(
            Word2Vec(text, vector_size=100, sg=1, min_count=5, epochs=5, seed=1, workers=1), name="trained"
        )
        known = [place for place, word in enumerate(words) if word in model]
        expected, rank = truth(*shares, {}), rates
        query = bg.Query(terms, [[words[place] for place in known]])
        measured = {"PMI": (bg.metrics.pmi(query, corpus, smoothing=0.5), "pmi_by_word")}
        for label, (metric, options, detail) in OF_VECTORS.items():
            measured[label] = getattr(bg.metrics, metric)(query, model, **options), detail
        for label, (result, detail) in measured.items():
            of_words = result.detail[detail]["Attribute set 0"]
            values = [of_words[words[place]] for place in known]
            values = np.array([v if np.isscalar(v) else np.mean(list(v.values())) for v in values])
            r = stats.pearsonr(values, expected[known]).statistic
            recovered.setdefault(label, []).append((r, stats.spearmanr(values, rank[known]).statistic))
    print(f"intervals over {given.worlds} worlds  one word  without value  five words  without value")
    for name in OPTIONS:
        numbers = [
            (np.mean(inside[name][level]), without[name][level]) for level in ("one word", "five words")
        ]
        print(f"{name:<25}", *(f"{share:9.3f}  {none:13}" for share, none in numbers))
    print(f"\nrecovery in {given.trained} worlds  r with what was planted  rank correlation with frequency")
    for label, found in recovered.items():
        r, frequency = np.mean(found, axis=0)
        print(f"{label:<20}  {r:23.2f}  {frequency:31.2f}")


if __name__ == "__main__":
    main()
