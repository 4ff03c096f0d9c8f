"""The sections of a study's page. Each is one file of this package with its template beside it, discovered
automatically: `REGISTRY` has them by name."""

from __future__ import annotations

from ...registry import Registry
from .section import FOLDER, Material, Section

__all__ = ["FOLDER", "REGISTRY", "Material", "Section"]

REGISTRY: Registry[Section] = Registry(__name__, "SECTIONS", "section of the page", "sections")
