"""The section `languages`: models and queries in several languages, written once for all of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Literal

from ...core.validation import Line, Strict, field, validate
from ...queries.query import Repetitions
from .common import INCLUDES, Language, Params, Prose
from .criteria import Criteria
from .models import Models

PARTS = ("models", "criteria")


class OfLanguage(Strict):
    """A language of a study. In its models, criteria and `beside`, also in files that they name, `{language}`
    is replaced by its tag, `{name}` by its name and `{repetitions}` by its `repetitions`."""

    language: Language = field("its tag, such as `fr`")
    name: Line = field("its name in English")
    grammatical_gender: list[Literal["masculine", "feminine", "neuter", "common", "other"]] = field(
        "the genders of its nouns; `[]`: none. The figure of languages says where they are masculine or feminine, as "
        "a query about men and women may measure grammar there",
        None,
    )
    models: Annotated[Models, INCLUDES] = field("models, as the study's own, which they join", None)
    criteria: Annotated[Criteria, INCLUDES] = field("criteria, likewise", None)
    beside: Params = field("likewise", None)
    repetitions: Repetitions = field(
        "how often a repeated word counts in criteria that say `{repetitions}`", "once"
    )
    planned: Prose = field("what it lacks, in a sentence: nothing of it is measured; left out: nothing", None)


def with_languages(
    config: Mapping[str, Any], where: str, read_file: Callable[[str], Any]
) -> Mapping[str, Any]:
    """Return a config whose models, criteria and `beside` include the entries of its `languages`.

    Of the languages themselves, only the other keys are kept.

    Parameters
    ----------
    config
        The config as it is written.
    where
        Its name in messages.
    read_file
        A function that returns the contents of a file that a language names.

    Raises
    ------
    BiasgridError
        One line that begins with `where`.
    """
    if not config.get("languages"):
        return config
    languages = validate(list[OfLanguage], config["languages"], f"{where}: languages")
    asked = [entry for entry in languages if not entry.planned]
    added = {
        part: [content for entry in asked for content in _fill_placeholders(entry, part, read_file)]
        for part in PARTS
    }
    beside = {
        key: value
        for entry in asked
        for each in _fill_placeholders(entry, "beside", read_file)
        for key, value in each.items()
    }
    own = {part: _as_list(config.get(part)) for part in PARTS}
    facts = [
        entry.model_dump(exclude={*PARTS, "beside", "repetitions"}, exclude_none=True) for entry in languages
    ]
    return {
        **config,
        **{part: own[part] + added[part] for part in PARTS},
        **({"beside": config.get("beside", {}) | beside} if beside else {}),
        "languages": facts,
    }


def _fill_placeholders(entry: OfLanguage, part: str, read_file: Callable[[str], Any]) -> Iterator[Any]:
    for content in _as_list(getattr(entry, part)):
        if isinstance(content, str) and content.endswith((".yaml", ".yml")):
            content = read_file(content)
        text = json.dumps(content, ensure_ascii=False)
        for key in ("language", "name", "repetitions"):
            text = text.replace(f"{{{key}}}", json.dumps(getattr(entry, key), ensure_ascii=False)[1:-1])
        yield json.loads(text)


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
