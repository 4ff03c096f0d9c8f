"""Counting a corpus: time and memory, against plain Python and gensim, and how they grow.

    python benchmarks/counts.py [--tokens 1000000 10000000 100000000] [--words 300] [--seed 7]

The text has lines of 20 words, drawn from 200,000 words whose frequency falls as in natural language (Zipf 1935:
1 / (rank + 2.7)). Asked are so many words of it, of all ranks, for the sentences that each of them stands in. Each
side is a process of its own, whose CPU time and peak memory are printed, and ours as a ratio to the others:

ours     counts the text as a study does (all words of it, once), and looks the words up
again    looks them up in what was counted before, as every later cell of a study does
python   one loop over the lines: the set of each line's words that are asked for
gensim   gensim.corpora.Dictionary, and gensim.topic_coherence's inverted index of the words (p_boolean_document)
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

VOCABULARY, LINE, BLOCK = 200_000, 20, 1_000_000
SIDES = ("ours", "again", "python", "gensim")


def write_text(path: Path, tokens: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    ends = np.cumsum(1 / (np.arange(VOCABULARY) + 2.7))
    words = np.array([f"w{rank}" for rank in range(VOCABULARY)], dtype=object)
    with path.open("w", encoding="utf-8") as file:
        for _ in range(0, tokens, BLOCK):
            drawn = words[np.searchsorted(ends, rng.random(min(BLOCK, tokens)) * ends[-1])]
            file.write("\n".join(map(" ".join, drawn.reshape(-1, LINE))) + "\n")


def ours(text: Path, asked: list[str]) -> dict[str, int]:
    from biasgrid.models.corpus.counting import make_corpus

    make_corpus(text, text.with_name("corpus"), name="text", model={"format": "tokens"}, metadata={})
    return again(text, asked)


def again(text: Path, asked: list[str]) -> dict[str, int]:
    from biasgrid.models.corpus.corpus import Corpus

    corpus = Corpus.open(text.with_name("corpus"))
    known = [word for word in asked if word in corpus]
    together = corpus.cooccurrence(known)
    return dict(zip(known, (together.units @ together.patterns).tolist(), strict=True))


def python(text: Path, asked: list[str]) -> dict[str, int]:
    sentences: dict[str, list[int]] = {}
    wanted = set(asked)
    with text.open(encoding="utf-8") as file:
        for number, line in enumerate(file):
            for word in wanted.intersection(line.lower().split()):
                sentences.setdefault(word, []).append(number)
    return {word: len(found) for word, found in sentences.items()}


def gensim(text: Path, asked: list[str]) -> dict[str, int]:
    from gensim.corpora import Dictionary
    from gensim.topic_coherence.probability_estimation import p_boolean_document

    class Lines:
        def __iter__(self):
            with text.open(encoding="utf-8") as file:
                yield from (line.lower().split() for line in file)

    dictionary = Dictionary(Lines(), prune_at=None)
    ids = np.array([dictionary.token2id[word] for word in asked if word in dictionary.token2id])
    found = p_boolean_document(map(dictionary.doc2bow, Lines()), [[(i, i) for i in ids.tolist()]])
    return {dictionary[i]: len(found.index_to_dict()[i]) for i in ids.tolist()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tokens", type=int, nargs="+", default=[10**6, 10**7, 10**8])
    parser.add_argument("--words", type=int, default=300)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--side", nargs=2, help=argparse.SUPPRESS)  # a process that measures one side
    given = parser.parse_args()
    ranks = np.unique(np.geomspace(1, VOCABULARY, given.words).astype(int)) - 1
    asked = [f"w{rank}" for rank in ranks]
    if given.side:
        side, path = given.side
        start = time.process_time()
        counts = globals()[side](Path(path), asked)
        seconds = time.process_time() - start
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({"seconds": seconds, "memory": memory, "counts": counts}))
        return
    print("tokens       side    CPU s    peak MB  ours takes (time, memory)")
    for tokens in given.tokens:
        with tempfile.TemporaryDirectory() as folder:
            text = Path(folder) / "text.txt"
            write_text(text, tokens, given.seed)
            first: dict = {}
            for side in SIDES:
                command = [sys.executable, __file__, "--words", str(given.words), "--side", side, str(text)]
                found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
                first = first or found
                if found["counts"] != first["counts"]:
                    raise SystemExit(f"{side} counts otherwise")
                ratio = f"{first['seconds'] / found['seconds']:.2f}  {first['memory'] / found['memory']:.2f}"
                of_side = f"{side:<6}  {found['seconds']:7.1f}  {found['memory']:7.0f}"
                print(f"{tokens:>11,}  {of_side}  {'' if side == 'ours' else ratio}", flush=True)


if __name__ == "__main__":
    main()
