"""Language models: what is known is how probable a text is."""

from __future__ import annotations

from ..language.formats import FORMATS
from ..language.model import KIND, LanguageModel
from .kind import Kind

KINDS = (
    Kind(
        KIND,
        "How probable a text is, or a word in it: a causal or a masked language model, or scores that were measured.",
        open=LanguageModel.open,
        make="biasgrid.embeddings.making:make_language_model",
        load="biasgrid.embeddings.language.loading:load",
        formats=FORMATS,
        algorithms=("bert",),
        complete=True,
        scores=True,
        first_metrics={"lpbs": {}, "lpbs_es": {}},
        called="language model",
    ),
)
