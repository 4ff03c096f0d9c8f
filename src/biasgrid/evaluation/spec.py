"""What to evaluate, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

from ..errors import BiasgridError
from ..words import Preprocessor, WordOptions


@dataclass(frozen=True)
class Hidden:
    """The tests of Gonen & Goldberg 2019. The numbers are the paper's.

    pairs          pairs such as [she, he]: the mean of their differences, from the first word to the second, is
                   the direction that the most biased words are furthest along
    sides          what the two ends are called, in the order of a pair: [female, male]
    exclude        words that are on a side by definition, and are not looked at
    professions    words whose bias is compared with that of their neighbours; without them, no such measure
    cluster_words  so many of the most biased words of a side are clustered, and their neighbours looked at
    svm_words      so many of a side are classified ...
    svm_share      ... after training on this share of them
    svm_gamma      of the RBF kernel: "auto", 1 / dimensions, with which the paper's accuracies come out (it names no
                   gamma; this was scikit-learn's default then); or "scale", 1 / (dimensions x variance), today's
                   default, which on unit vectors is the stronger classifier
    neighbours     so many nearest neighbours
    map_words      so many of a side are in the map
    """

    pairs: Sequence[Sequence[str]]
    sides: Sequence[str]
    exclude: Sequence[str] = ()
    professions: Sequence[str] = ()
    cluster_words: int = 500
    svm_words: int = 2500
    svm_share: float = 0.2
    svm_gamma: str = "auto"
    neighbours: int = 100
    map_words: int = 200

    def __post_init__(self):
        _check_sets(self.pairs, "pairs")
        if any(len(pair) != 2 for pair in self.pairs):
            raise BiasgridError("pairs: each is two words, such as [she, he]")
        _check_words(self.sides, "sides")
        if len(set(self.sides)) != 2 or len(self.sides) != 2:
            raise BiasgridError(f"sides: {list(self.sides)} are not two different names")
        _check_words(self.exclude, "exclude", empty=True)
        _take_words(self, "professions")
        for name in ("cluster_words", "svm_words", "neighbours", "map_words"):
            _check_count(getattr(self, name), name)
        share = self.svm_share
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share < 1:
            raise BiasgridError(f"svm_share: {share!r} is not a number between 0 and 1")
        if self.svm_gamma not in ("auto", "scale"):
            raise BiasgridError(f"svm_gamma: {self.svm_gamma!r} is not known; allowed are 'auto' and 'scale'")


@dataclass(frozen=True)
class Direct:
    """Direct bias, Bolukbasi et al. 2016.

    definitional_pairs  pairs such as [she, he], two or more that the model has
    words               what the bias of is measured, in the paper professions, without those of `exclude`: the
                        paper's set N is of neutral words
    c                   the strictness, from 0 (every word that is not exactly neutral counts fully) on
    extremes            two words, such as she and he, on whose difference the words are projected, each with the
                        words that are said to lie furthest towards it, most extreme first
    """

    definitional_pairs: Sequence[Sequence[str]]
    words: Sequence[str]
    exclude: Sequence[str] = ()
    c: float = 1.0
    extremes: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self):
        _check_sets(self.definitional_pairs, "definitional_pairs")
        _take_words(self, "words")
        _check_words(self.words, "words")
        _check_words(self.exclude, "exclude", empty=True)
        if isinstance(self.c, bool) or not isinstance(self.c, (int, float)) or not 0 <= self.c < float("inf"):
            raise BiasgridError(f"c: {self.c!r} is not a number from 0 on")
        if not isinstance(self.extremes, Mapping) or len(self.extremes) not in (0, 2):
            raise BiasgridError(
                "extremes: expected a mapping of two words, such as she and he, to lists of words"
            )
        for end, words in self.extremes.items():
            _check_words(words, f"extremes: {end}")


@dataclass(frozen=True)
class Questions:
    """Analogy questions whose answers show a bias: `biasgrid.evaluation.answers`.

    pairs  pairs such as [he, she], the words a and b of "a is to b as c is to ?"
    words  the words c, such as professions; without them every a is asked, and its b is the right answer
    best   so many answers of each question are kept
    """

    pairs: Sequence[Sequence[str]]
    words: Sequence[str] = ()
    best: int = 3

    def __post_init__(self):
        _check_sets(self.pairs, "pairs")
        if any(len(pair) != 2 or pair[0] == pair[1] for pair in self.pairs):
            raise BiasgridError("pairs: each is two different words, such as [he, she]")
        _take_words(self, "words")
        _check_count(self.best, "best")


@dataclass(frozen=True)
class WordMap:
    """A map of sets of words (`biasgrid.evaluation.maps`).

    sets   set's name -> words; a word in several sets is on the map as one of the first
    ranks  [first, last]: also the words of these ranks in the model, counted from 1, in the order of its vectors,
           which is that of frequency in most models
    """

    sets: Mapping[str, Sequence[str]] = field(default_factory=dict)
    ranks: Sequence[int] | None = None

    def __post_init__(self):
        if not isinstance(self.sets, Mapping):
            raise BiasgridError("sets: expected a mapping of names to lists of words")
        for name, words in self.sets.items():
            _check_words(words, f"sets: {name}")
        if self.ranks is not None:
            ranks = list(self.ranks) if isinstance(self.ranks, (list, tuple)) else []
            if len(ranks) != 2 or any(type(r) is not int for r in ranks) or not 1 <= ranks[0] <= ranks[1]:
                raise BiasgridError(
                    f"ranks: {self.ranks!r} is not a first and a last rank, such as [200, 600]"
                )
        elif not self.sets:
            raise BiasgridError("map: names no sets and no ranks: there is nothing to place")


@dataclass(frozen=True)
class Spec:
    """What to evaluate; `of` makes and documents it."""

    hidden: Hidden | None = None
    direct: Direct | None = None
    questions: Mapping[str, Questions] = field(default_factory=dict)
    map: WordMap | None = None
    similarity: Mapping[str, str] = field(default_factory=dict)
    analogies: Mapping[str, str] = field(default_factory=dict)
    sembias: str | None = None
    look_up: str = "preprocessors"
    vocabulary: int = 50_000
    preprocessors: Sequence[Preprocessor] = ({},)
    items: bool = False
    sorted: bool = True

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> Spec:
        """A spec from a mapping, such as a criterion has it under `evaluation` in a config. All keys may be left out.

        hidden         mapping, see `Hidden`
        direct         mapping, see `Direct`
        questions      name -> mapping, see `Questions`
        map            mapping, see `WordMap`
        similarity     benchmark's name -> file of word pairs: lines of word, word and rating with tabs between
        analogies      benchmark's name -> file of questions: lines of four words, under lines ": section"
        sembias        file of SemBias: lines of four pairs a:b with tabs between, whose first is one by definition
                       and whose last is a stereotype
        vocabulary     hidden bias, questions and displacement look at so many rows of the model, the first ones
        preprocessors  forms in which words are looked up, as for metrics
        look_up        of the words of similarity and analogies: "preprocessors", or "gensim": in any case, whichever
                       word comes first in the model, for numbers that compare with gensim's
        items          whether the record keeps the outcome of every pair and question, too
        sorted         whether the model's words are sorted by falling frequency: if not, analogies and questions
                       are answered with any of them (`analogies`). A study says so of its model

        A list of words may be one of lists that begin with the word (debiaswe.professions is). A file "gensim:NAME"
        is one that gensim ships: wordsim353.tsv, simlex999.txt, questions-words.txt. Raises BiasgridError naming
        the key that is wrong.
        """
        values = _checked_keys(cls, spec, "")
        questions = values.get("questions", {})
        if not isinstance(questions, Mapping):
            raise BiasgridError("questions: expected a mapping of names to pairs and words")
        for name, entry in questions.items():
            try:
                questions = {**questions, name: Questions(**_checked_keys(Questions, entry, ""))}
            except BiasgridError as error:
                raise BiasgridError(f"questions: {name}: {error}") from None
        values["questions"] = questions
        for name, part in (("hidden", Hidden), ("direct", Direct), ("map", WordMap)):
            if values.get(name) is not None:
                try:
                    values[name] = part(**_checked_keys(part, values[name], ""))
                except BiasgridError as error:
                    raise BiasgridError(f"{name}: {error}") from None
        return cls(**values)

    def __post_init__(self):
        for name in ("similarity", "analogies"):
            entries = getattr(self, name)
            if not isinstance(entries, Mapping):
                raise BiasgridError(f"{name}: {entries!r} is not a mapping of names to files")
            for key, path in entries.items():
                if not isinstance(path, str) or not path:
                    raise BiasgridError(f"{name}: {key}: {path!r} is not the path of a file")
        for name in self.similarity.keys() & self.analogies.keys():
            raise BiasgridError(
                f"analogies: {name}: a benchmark of similarity has this name; name one otherwise"
            )
        if self.sembias is not None and (not isinstance(self.sembias, str) or not self.sembias):
            raise BiasgridError(f"sembias: {self.sembias!r} is not the path of a file")
        if self.look_up not in ("preprocessors", "gensim"):
            raise BiasgridError(
                f"look_up: {self.look_up!r} is not known; allowed are 'preprocessors' and 'gensim'"
            )
        if self.map and self.map.ranks and not self.sorted:
            raise BiasgridError(
                "map: ranks: the model's words are not sorted by frequency, they have no ranks"
            )
        _check_count(self.vocabulary, "vocabulary")
        for name in ("items", "sorted"):
            if not isinstance(getattr(self, name), bool):
                raise BiasgridError(f"{name}: {getattr(self, name)!r} is not true or false")
        WordOptions(preprocessors=self.preprocessors)

    @property
    def files(self) -> list[str]:
        """The files that an evaluation reads, less those that gensim ships."""
        named = [*self.similarity.values(), *self.analogies.values(), *filter(None, [self.sembias])]
        return [path for path in dict.fromkeys(named) if not path.startswith("gensim:")]


def _checked_keys(cls: type, values: Any, where: str) -> dict[str, Any]:
    if not isinstance(values, Mapping):
        raise BiasgridError(f"{where}{values!r} is not a mapping")
    known = {f.name: f for f in fields(cls)}
    for key in values:
        if key not in known:
            raise BiasgridError(f"{where}unknown key {key!r}; allowed are {', '.join(known)}")
    for name, entry in known.items():
        if entry.default is MISSING and entry.default_factory is MISSING and name not in values:
            raise BiasgridError(f"{where}key {name!r} is missing")
    return dict(values)


def _check_count(value: Any, name: str) -> None:
    if type(value) is not int or value < 1:
        raise BiasgridError(f"{name}: {value!r} is not a whole number from 1 on")


def _check_words(words: Any, name: str, empty: bool = False) -> None:
    if not isinstance(words, (list, tuple)) or not all(isinstance(word, str) for word in words):
        raise BiasgridError(f"{name}: expected a list of words")
    if not words and not empty:
        raise BiasgridError(f"{name}: the list is empty")


def _check_sets(sets: Any, name: str) -> None:
    if not isinstance(sets, (list, tuple)) or not sets:
        raise BiasgridError(f"{name}: expected a list of pairs such as [she, he]")
    for words in sets:
        _check_words(words, name)


def _take_words(part: Hidden | Direct | Questions, name: str) -> None:
    """Of lists that begin with a word, the word."""
    words = getattr(part, name)
    if isinstance(words, (list, tuple)):
        words = [w[0] if isinstance(w, (list, tuple)) and w else w for w in words]
        object.__setattr__(part, name, words)
    _check_words(words, name, empty=True)
