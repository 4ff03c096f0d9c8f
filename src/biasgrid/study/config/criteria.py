"""The section `criteria`: the queries, by the topic that they ask about."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from ...core.validation import Line, Strict, field
from ...measure.options import Whole
from ...queries.query import Repetitions
from .common import INCLUDES, Distinct, FilePath, Key, Language, Name, Params, Prose, Text
from .metrics import Metrics, Words


def reference(text: str) -> str:
    stem, dot, name = text.partition(".")
    if not (stem and dot and name):
        raise ValueError(
            f"{text[:80]!r} is not a word set; allowed: a list of words, or a name such as weat.career"
        )
    return text


WordSet = list[str] | Annotated[str, AfterValidator(reference)]
Sets = Annotated[dict[str, WordSet], Field(min_length=1)]
Templates = list[Text] | Text


class Query(Strict):
    """Target sets and attribute sets, by name. A set is a list of words, or the name of a word set:
    `weat.career` is `career` of weat.json in the folder of word sets (`biasgrid list word-sets`)."""

    name: Line = field(
        "the query's name; left out: made of the names of its sets, as in WEFE, with the id behind it if another "
        "query of the criterion would have the same name and has other words",
        None,
    )
    targets: Sets = field("target sets by name", None)
    attributes: Sets = field(
        "attribute sets by name; left out where the target sets are sentences for language models, of which those in "
        "one place belong together",
        None,
    )
    file: FilePath = field(
        "in place of sets: a CSV file of sentences, one row for those that belong together, or StereoSet's JSON file "
        "(docs/language_models.md)",
        None,
    )
    sets: Annotated[dict[Name, Text], Field(min_length=1)] = field(
        "of a file: target set -> the column that has its sentences", None
    )
    where: Annotated[dict[Text, Text], Field(min_length=1)] = field(
        "of a file: column -> the value that it has in the rows that are taken; left out: all rows", None
    )

    seat: Line = field(
        "in place of sets: a test of May et al. (2019), such as sent-weat3b, in the authors' own words or sentences, "
        "which are fetched (data/seat/README.md)",
        None,
    )
    templates: Templates | dict[str, Templates] = field(
        "sentences in place of the words, as in SEAT: a list of texts in which `{}` stands for the word, or the name "
        "of a file in data/templates; or each set's own by its name. Each word becomes a sentence per template",
        None,
    )

    repetitions: Repetitions = field(
        "whether a word that a set repeats counts once, as in WEFE, or as often as it stands there (`count`), as in "
        "WEATHub; left out: once, with a warning",
        None,
    )

    @model_validator(mode="after")
    def _check_sets(self):
        if self.seat is not None and (self.file or self.targets or self.attributes or self.templates):
            raise ValueError("has both a test of SEAT and sets; leave out one of them")
        if self.file is None and self.seat is None and self.targets is None:
            raise ValueError("key 'targets' is missing")
        if self.file is None and (self.sets or self.where):
            raise ValueError(f"{'sets' if self.sets else 'where'}: is for sentences of a file")
        if self.file is not None and (self.targets or self.attributes):
            raise ValueError("has both a file and sets; leave out one of them")
        if self.file is not None and self.templates is not None:
            raise ValueError("templates: are for words, and a file has sentences")
        if self.file is not None and self.sets is None:
            raise ValueError("key 'sets' is missing: which columns of the file are the query's sets")
        return self


class Ratings(Strict):
    """Ratings of the words by people, with which the words' biases are correlated."""

    file: FilePath = field("CSV file of words and ratings (data/ratings/README.md)")
    label: Line = field("what is rated, and what its ends mean")


class Phenomenon(Strict):
    """A set of neutral words, and the reason why it is one of the phenomena."""

    words: WordSet = field("the words: a list, or the name of a word set")
    part_of: WordSet = field("the word set that a list of words is taken from", None)
    without: Annotated[list[str], Field(min_length=1)] = field(
        "words of the set that are left out, such as those of another phenomenon", None
    )
    reason: Prose = field("why this set, and not another that is like it")


PhenomenonSets = Annotated[dict[Name, Phenomenon], Field(min_length=1)]


class Phenomena(Strict):
    """Phenomena: sets of neutral words, each measured between the same groups. Each becomes a query, with the
    groups as its target sets and the words as its attribute set. The tables phenomena.csv and
    phenomenon_correlations.csv summarise all of them."""

    groups: Sets = field("the groups by name")
    sets: Annotated[PhenomenonSets, INCLUDES] = field(
        "the sets by name. No word is in two of them, nor in a group, whatever the case of its letters"
    )
    overlaps: bool = field(
        "whether a word may be in two sets, or in a set and a group, as in lists that others have published. The "
        "tests of the mean still take the sets for independent",
        None,
    )


class Subsamples(Strict):
    """Random subsets of the target words, as in studies that draw some of them to make the sets equally large."""

    words: Whole = field("words that are drawn of each target set; of a smaller one, all", ge=2)
    draws: Whole = field("random subsets", 1000, ge=2, le=100_000)


class Criterion(Strict):
    """Queries about one topic, such as gender."""

    language: Language = field(
        "language of its words, such as `fr`: models of another language are not measured on it", None
    )
    ranked: bool = field("whether rankings, correlations and overall scores have it", True)
    models: Annotated[list[Key], Field(min_length=1), Distinct] = field(
        "keys of the models that are measured on it; left out: all but those of another language", None
    )
    metrics: Metrics = field("metrics of its own; left out: the study's", None)
    words: Words = field("how its words are looked up", None)
    repetitions: Repetitions = field("likewise, of its queries that say nothing of their own", None)
    word_table: bool = field("whether what metrics say of each word becomes a table (words.csv)", None)
    ratings: Ratings = field("ratings of the words by people", None)
    seed_lists: Annotated[
        dict[Name, Annotated[dict[Name, Key], Field(min_length=2)]], Field(min_length=1)
    ] = field(
        "concept -> lists of words for it by name, and the query that has each: queries that ask the same with other "
        "words, whose values are compared (seed_lists.csv)",
        None,
    )
    subsamples: Subsamples = field(
        "how WEAT's effect size varies over random subsets of the target words (subsamples.csv)", None
    )
    genders: Sets = field(
        "gender -> words of it, as its queries' target sets list them: WEAT's effect size within genders "
        "(within_gender.csv)",
        None,
    )
    plugin_options: dict[Key, Params] = field(
        "options of plugins for this criterion, by the name of the plugin, whose page lists them", None
    )
    phenomena: Phenomena = field("sets of neutral words that become queries, and are tested together", None)
    queries: Annotated[dict[Key, Query], Field(min_length=1)] = field(
        "queries by id; ids are unique in a study. Left out: those of the phenomena", dict
    )

    @model_validator(mode="after")
    def _check_queries(self):
        if not self.queries and not self.phenomena:
            raise ValueError("key 'queries' is missing")
        return self


Criteria = Annotated[dict[Name, Criterion], Field(min_length=1)]
