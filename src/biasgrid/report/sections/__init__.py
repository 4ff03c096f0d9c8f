"""Sections of a study's report; `REGISTRY` lists them by name.

Each is one file of this package, discovered automatically, with its template next to it.
"""

from __future__ import annotations

from ...core.registry import Registry
from .section import FOLDER, ReportData, Section

__all__ = ["FOLDER", "REGISTRY", "ReportData", "Section"]

REGISTRY: Registry[Section] = Registry(__name__, "SECTIONS", "section of the page", "sections")
