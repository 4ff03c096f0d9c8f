"""Language models from files, names, objects and functions: `language_model`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from ..core.errors import InputError, quote
from ..core.keywords import checked_keywords
from ..core.user_warnings import stacklevel
from .language.architectures import ENCODER, MASKED
from .language.formats import TRANSFORMERS
from .language.functions import FunctionScores, Scores
from .language.model import LanguageModel
from .language.network import scoring
from .language.opening import (
    DEFAULTS,
    DEVICES,
    DTYPES,
    choice,
    in_memory,
    refuse_options,
    sees_gpu,
)
from .load import is_hub_name, load

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@checked_keywords()
def language_model(
    source: str | os.PathLike[str] | Mapping[str, float] | Callable[[list[str]], Sequence[float]] | Any,
    tokenizer: Any = None,
    *,
    name: str | None = None,
    revision: str | None = None,
    device: Literal["auto", "cpu", "cuda"] | None = None,
    dtype: Literal["float32", "bfloat16", "float16"] | None = None,
    fast: bool | None = None,
) -> LanguageModel:
    """Load a language model, which scores texts.

    It is masked or causal, with any architecture that transformers loads, or any function.

    Parameters
    ----------
    source
        - a folder in the format of transformers (config.json, model.safetensors, a tokenizer's files), or a
          .gguf file;
        - a name on Hugging Face's hub, "owner/name", which is fetched with a notice if it is missing; or a shipped
          model's name, such as "smollm2-135m";
        - a model of transformers in memory, with its `tokenizer`;
        - a function: list of texts -> the log-likelihood of each; or an object with such a method `score`, and
          perhaps `score_continuations`, of pairs (prefix, text), for metrics of words in templates;
        - a mapping text -> score, measured elsewhere;
        - a language model, which is returned unchanged.
    tokenizer
        For a model in memory: a fast tokenizer, which gives its tokens' positions in a text.
    name
        The model's name; None for the file's, the folder's or the function's name.
    revision
        For a name on the hub: a commit, a branch or a tag; None for the branch "main", whose commit is recorded.
    device
        Where a network from files computes: "cpu", "cuda", or "auto" for a GPU if torch finds one. None: the
        device in the record of a study's model, with a warning if that is a missing GPU; "auto" without a
        record. A model in memory is not moved.
    dtype
        The type of its weights. "bfloat16" changes conclusions. None: the record's; "float32" without a record.
    fast
        Whether the last digits of a network's score may depend on the other texts in its batch. None: the
        record's; False without a record. It saves the padding of batches, which is most of the cost of a single
        text and nothing for hundreds of texts. On an AMD processor, it saves about half of the total cost.

    Returns
    -------
    LanguageModel
        `metrics.pll_preference(query, model)` and similar metrics measure it; `model.score(texts)` is the
        log-likelihood of each text.

    Raises
    ------
    InputError
        The source is none of these, or an option does not fit it.
    NetworkError
        A model cannot be fetched.
    BiasgridError
        A package of the extra `language` is missing, or the files do not contain a language model.

    Examples
    --------
    >>> import biasgrid as bg
    >>> model = bg.language_model(lambda texts: [-2.0 * len(text.split()) for text in texts], name="short is good")
    >>> model.score(["She is a nurse.", "Yes."]).tolist()
    [-8.0, -2.0]
    """
    said = {"device": device, "dtype": dtype, "fast": fast}
    options, defaults = {o: v for o, v in said.items() if v is not None}, {o: DEFAULTS[o] for o in said}
    for option, allowed in (("device", DEVICES), ("dtype", DTYPES)):
        choice(option, (defaults | options)[option], allowed)
    if revision is not None and not is_hub_name(source):
        raise InputError("revision: is for a name on a hub, owner/name")
    if tokenizer is not None:
        refuse_options(options, "a model in memory", allowed={"fast"})
        pretrained = in_memory(source, tokenizer, where=name or type(source).__name__)
        if pretrained.kind == ENCODER:
            raise InputError(
                f"{pretrained.where}: predicts no words: it is an encoder, and no language model"
            )
        return LanguageModel.of(
            scoring(pretrained, fast=bool(fast)), name=pretrained.where, masked=pretrained.kind == MASKED
        )
    if is_hub_name(source) and revision is not None:
        from .hub import fetch_hub_model

        source, name = fetch_hub_model(str(source), revision), name or str(source)
    if isinstance(source, (LanguageModel, Mapping)):
        refuse_options(options, "a language model" if isinstance(source, LanguageModel) else "a mapping")
        return load(source, kind="language_model", name=name)
    if isinstance(source, (str, os.PathLike)):
        model = load(source, kind="language_model", name=name)
        if model.metadata["format"] != TRANSFORMERS:
            refuse_options(options, "scores in a file")
        elif "device" not in options and model.metadata.get("device") == "cuda" and not sees_gpu():
            warnings.warn(
                f"{model.name}: was to compute on a GPU, and torch sees none here: it computes on the CPU, and "
                "scores may differ in their last digits",
                stacklevel=stacklevel(),
            )
            options["device"] = "cpu"
        return replace(model, metadata={**defaults, **model.metadata, **options})
    if hasattr(source, "base_model") and hasattr(source, "config"):
        raise InputError(
            f"{type(source).__name__}: a model in memory needs its tokenizer: language_model(model, tokenizer)"
        )
    if callable(source) or isinstance(source, Scores):
        refuse_options(options, "a function" if callable(source) else "an object")
        label = name or str(getattr(source, "__name__", type(source).__name__))
        return LanguageModel.of(FunctionScores(source, label), name=label, masked=False)
    raise InputError(
        f"{quote(source):.80} is no language model; allowed: a folder or a file, a name, a model with its tokenizer, "
        "a function of a list of texts, an object with score(texts), a mapping text -> score"
    )
