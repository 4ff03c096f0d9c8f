"""Words in contexts: one vector for each word in each template."""

from __future__ import annotations

from ..language.contextual import KIND, ContextualVectors
from .kind import Kind

KINDS = (
    Kind(
        KIND,
        "An encoder's vectors of each word in several contexts (`type: encoded`).",
        open=ContextualVectors.open,
        make="biasgrid.models.making:make_vectors",
        load="biasgrid.models.language.contextual_loading:load",
        formats={},
        fetched=False,
        encoded=True,
        called="model of words in contexts",
    ),
)
