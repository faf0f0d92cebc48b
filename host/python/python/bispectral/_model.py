"""A model: its bytes are what a device reads, and everything is computed from them."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _bispectral
from ._arrays import aligned, orbit_labels, signals
from ._bispectral import Error
from ._progress import Progress, steps


@dataclass(frozen=True)
class Inverted:
    """Signals that were rebuilt from invariants."""

    signals: NDArray[np.float32]
    """One a row, of unit length."""
    residuals: NDArray[np.float64]
    """‖β̄(x) − y‖ of each."""
    undetermined: dict[int, str]
    """What the invariants of a sample leave open, for those of which there are many signals."""


class Model:
    """A bispectral model: a matrix W and what it computes of signals.

    >>> import numpy as np
    >>> from bispectral import Model
    >>> model = Model.of_group("Z8")
    >>> model
    Model(group='Z8', inputs=8, rows=8, pairs=36, structure='dense', encoding='f32')
    >>> x = np.arange(8.0)
    >>> np.allclose(model.features(x), model.features(np.roll(x, 3)), atol=1e-6)
    True
    """

    def __init__(self, W: Any, name: str = "", group: str | None = None):
        """A model of W, complex [rows, inputs]: learned elsewhere, or read from a checkpoint."""
        W = aligned(np.ascontiguousarray(W, dtype=np.complex64))
        if W.ndim != 2:
            raise Error(f"W: an array of {W.ndim} dimensions: give [rows, inputs]")
        self._native = _bispectral.Model.from_weights(W, name, group)

    @classmethod
    def _of(cls, native: Any) -> "Model":
        model = cls.__new__(cls)
        model._native = native
        return model

    @classmethod
    def of_group(cls, group: str, name: str = "", inputs: int | None = None) -> "Model":
        """The exact characters of a commutative group, such as ``"Z64"`` or ``"Z16xZ16"`` (shifts of images).

        Of another, such as ``"D4"`` or ``"S4"``, or where a group moves another number of ``inputs`` than it has elements,
        the couplings of how it usually does: ``"D4"`` with 64 inputs turns and mirrors images of 8×8.

        >>> from bispectral import Model
        >>> Model.of_group("D4", inputs=16)
        Model(group='D4', inputs=16, rows=16, pairs=29, structure='couplings', encoding='f32')
        """
        try:
            found = cls(_bispectral.characters(group), name or group, group)
        except Error:
            found = None
        if found is not None and inputs in (None, found.inputs):
            return found
        return cls._of(_bispectral.known(group, inputs, name or group, 0, None))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Model":
        """Reads a ``.bsn`` file, and checks every byte."""
        return cls._of(_bispectral.Model.read(os.fspath(path)))

    @classmethod
    def from_bytes(cls, data: bytes) -> "Model":
        """A model of the bytes of a ``.bsn`` file."""
        return cls._of(_bispectral.Model.from_bytes(bytes(data)))

    def to_bytes(self) -> bytes:
        """The bytes of its ``.bsn`` file: what a device keeps in flash."""
        return self._native.to_bytes()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a ``.bsn`` file, whole or not at all."""
        self._native.write(os.fspath(path))

    def __reduce__(self) -> Any:
        return Model.from_bytes, (self.to_bytes(),)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    @cached_property
    def _described(self) -> dict[str, Any]:
        return json.loads(self._native.describe())

    @property
    def name(self) -> str:
        """What people call it."""
        return self._described["name"]

    @property
    def group(self) -> str | None:
        """The group whose irreducible representations the rows are, where the exporter knew it."""
        return self._described["group"]

    @property
    def inputs(self) -> int:
        """N: numbers of a signal."""
        return self._described["inputs"]

    @property
    def rows(self) -> int:
        """R: rows of W."""
        return self._described["rows"]

    @property
    def structure(self) -> str:
        """How products of rows are had: dense, conjugates, combined:K, cyclic, fft or couplings."""
        return self._described["structure"]

    @property
    def encoding(self) -> str:
        """How a weight is stored: f32, f16 or i8."""
        return self._described["encoding"]

    @cached_property
    def W(self) -> NDArray[np.complex64]:
        """W as the model holds it, complex64 [rows, inputs]."""
        return self._native.weights()

    @cached_property
    def pairs(self) -> NDArray[np.int64]:
        """(i, j) of every invariant, [invariants, 2]; none for couplings."""
        return self._native.pair_list()

    @cached_property
    def table(self) -> NDArray[np.uint16]:
        """The Cayley table that W implies: row i times row j is most like row ``table[i, j]``; of couplings, the group's own."""
        return self._native.table(None)[0]

    def identify(self, threads: int | None = None) -> dict[str, Any] | None:
        """The group whose characters the rows are, with the place of every row and input in it; ``None`` without one.

        >>> from bispectral import Model
        >>> found = Model.of_group("Z2xZ3").identify()
        >>> found["group"], found["order"]
        ('Z6', 6)
        """
        found = self._native.identify(threads)
        return None if found is None else json.loads(found)

    def features(self, X: Any, *, output: str = "complex", raw: bool = False, exact: bool = False, threads: int | None = None) -> Any:
        """The invariants of signals: the normalised bispectrum β̄, or with ``raw`` β itself.

        ``X`` is [samples, N], [samples, height, width] or one signal [N]; float32 and float64 are read where they lie.
        ``output="real"`` gives float32: real and imaginary parts beside each other, or what the model's kind has instead. ``exact`` has every signal computed
        as the device does, with its bits; otherwise many signals of a dense model go through products of matrices,
        some 1e-7 off. A Dask array stays one, computed lazily.

        >>> import numpy as np
        >>> from bispectral import Model
        >>> model = Model.of_group("Z4")
        >>> model.features(np.eye(4)).shape, model.features(np.eye(4), output="real").dtype
        ((4, 10), dtype('float32'))
        """
        if output not in ("complex", "real"):
            raise Error(f'output: "{output}" is unknown: take complex or real')
        quantity = "bispectrum" if raw else "invariants"

        terms, numbers = self._described["pairs"], self._described["features"]

        def compute(X: Any) -> Any:
            # Couplings and features of degree one have real numbers of their own.
            if output == "real" and numbers != 2 * terms:
                return self._native.real(X, "features", threads)
            found = self._native.complex(X, quantity, exact, threads)
            return found if output == "complex" else found.view(np.float32)

        if output == "complex":
            return self._each(X, compute, terms, np.complex64)
        return self._each(X, compute, numbers, np.float32)

    def coefficients(self, X: Any, *, threads: int | None = None) -> Any:
        """z = W x of signals, complex64 [samples, rows], by the device's arithmetic.

        >>> import numpy as np
        >>> from bispectral import Model
        >>> bool(np.allclose(Model.of_group("Z4").coefficients(np.ones(4)), [2, 0, 0, 0]))
        True
        """
        return self._each(X, lambda X: self._native.complex(X, "coefficients", True, threads), self.rows, np.complex64)

    def power(self, X: Any, *, threads: int | None = None) -> Any:
        """|z|² of signals, float32 [samples, rows]: invariant, too, but different things share it."""
        return self._each(X, lambda X: self._native.real(X, "power", threads), self.rows, np.float32)

    def classify(self, X: Any, *, threads: int | None = None) -> Any:
        """The class of each signal as the device says it, int64 [samples]: of a model with a classifier, such as
        :func:`bispectral.fit_chain` gives."""
        X = np.asarray(X)
        if X.ndim == 1:
            return self._native.classify(signals(X[None])[0], threads)[0]
        return self._native.classify(signals(X)[0], threads)

    def _each(self, X: Any, compute: Any, width: int, dtype: Any) -> Any:
        if hasattr(X, "map_blocks") and hasattr(X, "dask"):
            from .distributed import map_signals

            return map_signals(X, lambda block: compute(signals(block)[0]), width, dtype)
        X = np.asarray(X)
        if X.ndim == 1:
            return compute(signals(X[None])[0])[0]
        return compute(signals(X)[0])

    def invert(self, Y: Any, *, restarts: int = 5, seed: int = 0, threads: int | None = None, progress: Progress = None) -> Inverted:
        """Signals from their invariants, up to the group and a positive factor.

        By the model's group where its rows are characters, otherwise from noise by gradient.

        >>> import numpy as np
        >>> from bispectral import Model
        >>> model, x = Model.of_group("Z8"), np.array([1.0, 5, 2, 0, 0, 3, 1, 1])
        >>> rebuilt = model.invert(model.features(x)[None]).signals[0]
        >>> bool(min(np.abs(np.roll(rebuilt, k) - x / np.linalg.norm(x)).max() for k in range(8)) < 1e-5)
        True
        """
        Y = np.asarray(Y)
        if Y.dtype.kind != "c":
            raise Error(f"invariants: their values are {Y.dtype}: give complex features of this model")
        Y = aligned(np.atleast_2d(Y).astype(np.complex128, copy=False))
        with steps(progress, "invert") as step:
            found, residuals, open_ = self._native.invert(Y, restarts, seed, threads, step)
        return Inverted(found, residuals, {k: words for k, words in enumerate(open_) if words is not None})

    def export(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        structure: str | None = None,
        encoding: str | None = None,
        pairs: str | None = None,
        fit: str | None = None,
        X: Any = None,
        y: Any = None,
        emit: str | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> "Model":
        """The model in the form that a device wants; written to ``path`` where one is given.

        ``structure`` is dense, conjugates, combined:K, cyclic, fft or structured; ``encoding`` f32, f16 or i8; ``pairs``
        full, selective, selective:K or best:K (of signals ``X`` with labels ``y``). ``fit="flash=64K,ram=16K"`` weighs
        every form that is left open and takes the best that fits. ``emit`` is bsn, rust or c; left open, what the name
        of the file says.

        >>> from bispectral import Model
        >>> small = Model.of_group("Z64").export(structure="fft", pairs="selective")
        >>> small.structure, len(small.pairs), small.cost()["flash_bytes"] < 1200
        ('fft', 64, True)
        """
        data = labels = None
        if X is not None or y is not None:
            data, _ = signals(X)
            labels = orbit_labels(y, len(data))
        native, _ = self._native.export(structure, encoding, pairs, fit, data, labels, seed, threads)
        exported = Model._of(native)
        if path is not None:
            path = Path(path)
            kind = emit or {".rs": "rust", ".h": "c"}.get(path.suffix, "bsn")
            if kind in ("bsn", "postcard"):
                exported.save(path)
            else:
                path.write_bytes(native.emit(kind, path.stem))
        return exported

    def cost(self) -> dict[str, Any]:
        """What it asks of a device: flash, RAM, multiply-adds, and an estimate of instructions on a Cortex-M4F.

        >>> from bispectral import Model
        >>> cost = Model.of_group("Z8").cost()
        >>> cost["ram"]["streaming_bytes"], cost["flash_bytes"]
        (160, 548)
        """
        return json.loads(self._native.cost())

    def __repr__(self) -> str:
        return (
            f"Model(group={self.group!r}, inputs={self.inputs}, rows={self.rows}, pairs={self._described['pairs']}, "
            f"structure={self.structure!r}, encoding={self.encoding!r})"
        )
