"""The sections of a study's page, each a file with its template."""

from .section import FOLDER, Section, Tables

__all__ = ["FOLDER", "Section", "Tables"]
