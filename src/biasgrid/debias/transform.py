"""Fitted debias method: a small frozen object that changes vectors when they are looked up."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import BiasgridError, join_names, quote
from ..core.files import write_bytes
from ..core.geometry import lengths, unit_or_zero
from ..core.untrusted import read_npz
from ..core.wefe_names import TRANSFORM, no_attribute

if TYPE_CHECKING:
    from ..models.model import Model
    from ..models.store import EmbeddingStore

# Rows that are transformed together: a megabyte of float32 of 300 dimensions.
ROWS = 1024
ARRAYS = ("left", "right", "matrix", "shift", "overrides", "override_rows")
WORDS = ("only", "leave", "override_words")


@dataclass(frozen=True, eq=False, repr=False)
class Transform:
    """Fitted debias method, which changes a word's vector x (1, d) in the same way for all but some words.

    Attributes
    ----------
    method
        The method's name.
    fitted_on
        Record of the fit: model, its fingerprint, parameters, words found and missing (`fitted`).
    normalize
        Whether x is first scaled to unit length, also for words that are otherwise not changed.
    left, right
        (d, k), (k, d): x + shift - (x left) right.
    matrix
        (d, d): x matrix + shift. Or (d, m), m < d: all words get vectors of m dimensions, without exceptions.
        Without left and matrix: x + shift.
    shift
        (d,); None is 0.
    renormalize
        Whether the result of the map is scaled to unit length; a zero vector stays zero.
    only
        If not None, only these vocabulary entries are mapped.
    leave
        Otherwise, all entries except these are mapped.
    override_words
        Vocabulary entries that get their own vectors, which are not changed further: word i gets row
        `override_rows[i]` of `overrides` (m, d), or row i without `override_rows`.
    """

    method: str
    fitted_on: Mapping[str, Any]
    normalize: bool = False
    left: np.ndarray | None = None
    right: np.ndarray | None = None
    matrix: np.ndarray | None = None
    shift: np.ndarray | None = None
    renormalize: bool = False
    only: tuple[str, ...] | None = None
    leave: tuple[str, ...] = ()
    override_words: tuple[str, ...] = ()
    overrides: np.ndarray | None = None
    override_rows: np.ndarray | None = None

    def __post_init__(self):
        for name in ARRAYS:
            array = getattr(self, name)
            if array is not None and not np.isfinite(array).all():
                raise BiasgridError(f"{self.method}: {name} of the fitted transform is not finite")

    # Hide the method from type checkers, so that they also report these names.
    if not TYPE_CHECKING:

        def __getattr__(self, attribute: str) -> Any:
            raise AttributeError(no_attribute("a Transform", attribute, TRANSFORM), name=attribute, obj=self)

    def __repr__(self) -> str:
        facts = (f"{name} {text}" for name, text in self._facts().items() if text)
        return f"<Transform {self.method}, {', '.join(facts)}>"

    def _repr_html_(self) -> str:
        """Return the table that a notebook shows."""
        facts = {"debias method": self.method, **self._facts()}
        lost = {f"lost of {name}": join_names(map(quote, words)) for name, words in self._lost().items()}
        rows = (
            f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>"
            for name, text in {**facts, **lost}.items()
            if text
        )
        return f"<table>{''.join(rows)}</table>"

    def _facts(self) -> dict[str, str]:
        """Return the facts that both representations show."""
        words = self.leave if self.only is None else self.only
        scope = f"only {len(words):,} words" if self.only is not None else "all words"
        if self.only is None and words:
            scope += f" but {len(words):,}"
        n_overrides, n_lost = len(self.override_words), sum(map(len, self._lost().values()))
        return {
            "fitted on": f"{self.fitted_on['model']} ({self.dimensions} dimensions)",
            "mapped": "" if self.only == () else scope,
            "own vectors": f"{n_overrides:,}" if n_overrides else "",
            "lost": f"{n_lost:,} of the given words and sets" if n_lost else "",
        }

    def _lost(self) -> dict[str, list[Any]]:
        """Return the missing words and sets, by argument."""
        lost = self.fitted_on.get("lost", {})
        return {
            name: [word for part in words.values() for word in part]
            if isinstance(words, Mapping)
            else list(words)
            for name, words in lost.items()
            if words
        }

    @property
    def dimensions(self) -> int:
        """Return the number of dimensions of its input."""
        return self.fitted_on["dimensions"]

    @property
    def output_dimensions(self) -> int:
        """Return the number of dimensions of its output."""
        return self.dimensions if self.matrix is None else self.matrix.shape[1]

    def map_direction(self, direction: np.ndarray) -> np.ndarray:
        """Return the `direction` (d,) of the given vectors in the dimensions (m,) of the transformed ones.

        It changes only if m < d. Cosines with the result equal the cosines of x matrix matrix' with the direction,
        if the columns of the matrix are orthonormal.
        """
        if self.output_dimensions == self.dimensions:
            return direction
        assert self.matrix is not None  # it alone changes the length of vectors
        return direction @ self.matrix

    def apply(self, vectors: np.ndarray, words: Sequence[str]) -> np.ndarray:
        """Apply the transform to the words' `vectors` (n, d); `words` are their vocabulary entries.

        The result is float64. Of float32 vectors, as a whole model has them, it is float32: within 1e-6 of float64
        relative to a vector's length, and several times as fast.
        """
        vectors = np.asarray(vectors)
        dtype = np.float32 if vectors.dtype == np.float32 else np.float64
        output = np.empty((len(vectors), self.output_dimensions), dtype)
        # Blocks of rows that fit into a processor's cache.
        for start in range(0, len(vectors), ROWS):
            block = slice(start, start + ROWS)
            rows = vectors[block].astype(dtype, copy=False)
            norms = lengths(rows)
            if dtype == np.float32 and not ((norms > 1e-10) & (norms < 1e10)).all():
                # Squares of such numbers are beyond float32's range.
                output[block] = self.apply(rows.astype(np.float64), words[block])
            else:
                self._apply(rows, norms, words[block], output[block])
        return output

    def _apply(
        self, vectors: np.ndarray, norms: np.ndarray, words: Sequence[str], output: np.ndarray
    ) -> None:
        """Write to `output` the transformed `vectors`, whose lengths are `norms` (n, 1), in their precision."""
        vectors = unit_or_zero(vectors, norms) if self.normalize else vectors
        is_mapped = self.maps(words)
        if is_mapped.all():
            self._map(vectors, output)
        else:
            mapped = vectors[is_mapped]
            self._map(mapped, mapped)
            output[:] = vectors
            output[is_mapped] = mapped
        if not self._override.keys().isdisjoint(words):
            rows = np.array([self._override.get(word, -1) for word in words], dtype=np.int64)
            assert self.overrides is not None  # the vectors of these words
            output[rows >= 0] = self.overrides[rows[rows >= 0]]

    def _map(self, vectors: np.ndarray, output: np.ndarray) -> None:
        """Write the map alone of `vectors` (n, d), normalised if the transform requires it, to `output`.

        They may be one array if the map keeps the number of dimensions.
        """
        left, right, matrix, shift = (
            None if array is None else array.astype(vectors.dtype, copy=False)
            for array in (self.left, self.right, self.matrix, self.shift)
        )
        if matrix is not None:
            if vectors.dtype == np.float64:
                # Compute one product per row: in a product of matrices, BLAS rounds a row differently by its
                # position.
                np.matmul(vectors[:, None], matrix, out=output[:, None])
            else:
                np.matmul(vectors, matrix, out=output)
        elif left is not None and left.size:  # a method may find no direction to remove
            assert right is not None  # it comes with `left`
            parts = [np.vecdot(vectors, d) for d in left.T]
            for part, of_direction in zip(parts, right, strict=True):
                np.subtract(vectors, part[:, None] * of_direction, out=output)
                vectors = output
        else:
            output[:] = vectors
        if shift is not None:
            output += shift
        if self.renormalize:
            norms = lengths(output)
            output /= np.where(norms > 0, norms, 1)

    def maps(self, words: Sequence[str]) -> np.ndarray:
        """Return which of the `words` are mapped: bool (n,)."""
        named_words = self._named_words
        if named_words.isdisjoint(words):
            return np.full(len(words), self.only is None)
        is_named = np.fromiter(map(named_words.__contains__, words), bool, len(words))
        return is_named if self.only is not None else ~is_named

    def check_model(self, model: Model) -> None:
        """Raise BiasgridError if the transform was fitted on other vectors than the `model` has."""
        if self.dimensions != model.dimensions:
            raise BiasgridError(
                f"{self.method}: fitted on {self.dimensions} dimensions ({self.fitted_on['model']}); "
                f"{model.name} has {model.dimensions}"
            )
        if self.fitted_on["fingerprint"] != model.fingerprint:
            raise BiasgridError(
                f"{self.method}: fitted on other vectors ({self.fitted_on['model']}), not on {model.name}; "
                "fit it on this model"
            )

    def summary(self) -> dict[str, Any]:
        """Return a record of the transform and its fit, without arrays and word lists; JSON-able."""
        words = {name: len(getattr(self, name) or ()) for name in WORDS}
        shapes = {name: list(getattr(self, name).shape) for name in ARRAYS if getattr(self, name) is not None}
        scope = "only the listed words" if self.only is not None else "all words but those left alone"
        return {
            "method": self.method,
            "mapped": scope,
            "words": words,
            "arrays": shapes,
            "normalize": self.normalize,
            "renormalize": self.renormalize,
            "fitted_on": dict(self.fitted_on),
        }

    def save(self, path: Path | str) -> None:
        """Write an .npz without pickle to `path`; the same transform gives the same bytes."""
        path = Path(path)
        header: dict[str, Any] = {"method": self.method, "fitted_on": self.fitted_on}
        header |= {"normalize": self.normalize, "renormalize": self.renormalize}
        header |= {name: getattr(self, name) for name in WORDS}
        text = json.dumps(header, ensure_ascii=False, sort_keys=True).encode()
        arrays = {name: getattr(self, name) for name in ARRAYS if getattr(self, name) is not None}
        buffer = io.BytesIO()
        np.savez(buffer, header=np.frombuffer(text, dtype=np.uint8), **arrays)
        if path.is_dir():
            raise BiasgridError(f"{path}: is a folder; a transform is a file, such as hard.npz")
        write_bytes(path, buffer.getvalue())

    @classmethod
    def load(cls, path: Path | str) -> Transform:
        """Read the transform that `save` wrote to `path`. Raises BiasgridError for any other file."""
        try:
            file = read_npz(path)
            header = json.loads(file["header"].tobytes())
            arrays: dict[str, Any] = {name: file[name] for name in ARRAYS if name in file}
            words = {name: header.pop(name) for name in WORDS}
            if not all(isinstance(w, list) or (w is None and name == "only") for name, w in words.items()):
                raise ValueError("its words are no lists")
            words = {name: None if w is None else tuple(w) for name, w in words.items()}
            transform = cls(**(header | words), **arrays)
            transform._check()
        except FileNotFoundError:
            raise BiasgridError(f"{path}: no such file") from None
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            reason = str(error).removeprefix(f"{path}: ").splitlines() or [type(error).__name__]
            raise BiasgridError(f"{path}: not a transform that biasgrid saved: {reason[0]:.200}") from None
        return transform

    def _check(self) -> None:
        """Raise ValueError for contents that `save` never writes."""
        arrays = {name: getattr(self, name) for name in ARRAYS if getattr(self, name) is not None}
        d, m, rows = self.dimensions, len(self.override_words), self.override_rows
        k = arrays["left"].shape[-1] if "left" in arrays else -1
        to = self.output_dimensions
        shapes = {"left": (d, k), "right": (k, d), "matrix": (d, to), "shift": (to,), "override_rows": (m,)}
        shapes["overrides"] = (m if rows is None else len(arrays.get("overrides", ())), d)
        checks = [
            type(self.normalize) is bool and type(self.renormalize) is bool,
            all(isinstance(text, str) for text in (self.method, self.fitted_on["model"])),
            isinstance(self.fitted_on["fingerprint"], str),
            all(isinstance(word, str) for name in WORDS for word in getattr(self, name) or ()),
            ("left" in arrays) == ("right" in arrays) and not {"left", "matrix"} <= set(arrays),
            "overrides" in arrays or not m,
            to == d or (0 < to < d and self.only is None and not self.leave and not m),
            all(array.shape == shapes[name] for name, array in arrays.items()),
            all(a.dtype.kind == ("i" if name == "override_rows" else "f") for name, a in arrays.items()),
        ]
        if not all(checks) or (
            rows is not None and m and not 0 <= rows.min() <= rows.max() < shapes["overrides"][0]
        ):
            raise ValueError("its parts do not fit together")

    @cached_property
    def _named_words(self) -> frozenset[str]:
        return frozenset(self.leave if self.only is None else self.only)

    @cached_property
    def _override(self) -> dict[str, int]:
        rows = range(len(self.override_words)) if self.override_rows is None else self.override_rows.tolist()
        return dict(zip(self.override_words, rows, strict=True))


def fitted(
    model: EmbeddingStore,
    params: Mapping[str, Any],
    found: Mapping[str, Any],
    lost: Mapping[str, Any],
    **facts: Any,
) -> dict[str, Any]:
    """Return the record of a fit. `found` and `lost` are words by argument, `facts` further results."""
    record = {
        "model": model.name,
        "fingerprint": model.fingerprint,
        "dimensions": model.dimensions,
        "params": dict(params),
        "found": dict(found),
        "lost": dict(lost),
        **facts,
    }
    # Return the record as it is read from a file: lists in place of tuples, text as keys.
    return json.loads(json.dumps(record, ensure_ascii=False))
