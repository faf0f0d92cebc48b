"""Sums over samples, from which a group that acts linearly is learned: added in chunks, and on many machines."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _bispectral
from ._arrays import orbit_labels, signals
from ._model import Model


class Compact:
    """A group that acts linearly: in which basis it moves what, and the invariants."""

    def __init__(self, native: Any):
        self._native = native
        self._described: dict[str, Any] = json.loads(native.describe())

    @property
    def group(self) -> str:
        """Its name, such as ``"SO(3)"``; where it has none, what is known of it."""
        return self._described["group"]

    @property
    def blocks(self) -> list[int]:
        """The dimension of every block, in the order of the basis."""
        return self._described["blocks"]

    @property
    def described(self) -> dict[str, Any]:
        """Irreps, forms, what was left out and why, and how sure the commutant is."""
        return self._described

    @cached_property
    def basis(self) -> NDArray[np.float64]:
        """The basis in which every irrep has rows of its own, [rows, inputs]."""
        return self._native.basis()

    @cached_property
    def model(self) -> Model:
        """The model of couplings, as a device reads it."""
        return Model._of(self._native.model())

    def __repr__(self) -> str:
        return f"Compact(group={self.group!r}, blocks={self.blocks})"


class Moments:
    """Second moments of orbits and some of their members: sums, so that every machine adds its own and they are merged.

    Memory does not depend on the number of samples. They pickle as bytes with every bit, so that Spark's ``treeAggregate``
    or Ray's tasks can carry them: ``add`` is the map, ``merge`` the reduce.

    >>> import numpy as np
    >>> from bispectral import Moments
    >>> rng = np.random.default_rng(0)
    >>> def chunk(first):                   # points of a plane and of a second, which turns twice as fast
    ...     things, angles = np.random.default_rng(1).normal(size=(100, 4)), rng.uniform(0, 2 * np.pi, (100, 60))
    ...     planes = [things[:, None, :2], things[:, None, 2:]]
    ...     turned = [np.stack([p[..., 0] * np.cos(k * angles) - p[..., 1] * np.sin(k * angles),
    ...                         p[..., 0] * np.sin(k * angles) + p[..., 1] * np.cos(k * angles)], 2) for k, p in zip((1, 2), planes)]
    ...     return np.concatenate(turned, 2).reshape(-1, 4), np.repeat(np.arange(100), 60)
    >>> here, there = (Moments(4).add(*chunk(first)) for first in (0, 1))
    >>> here.merge(there).count, here.learn()
    (12000, Compact(group='SO(2)', blocks=[2, 2]))
    """

    def __init__(self, inputs: int):
        self._native = _bispectral.Moments(inputs)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Moments":
        """What :meth:`to_bytes` gave."""
        moments = cls.__new__(cls)
        moments._native = _bispectral.Moments.from_bytes(bytes(data))
        return moments

    def to_bytes(self) -> bytes:
        """All of it, behind a checksum."""
        return self._native.to_bytes()

    def __reduce__(self) -> Any:
        return Moments.from_bytes, (self.to_bytes(),)

    @property
    def inputs(self) -> int:
        """N: numbers of a sample."""
        return self._native.inputs()

    @property
    def count(self) -> int:
        """How many samples were added."""
        return self._native.count()

    def add(self, X: Any, y: Any, *, threads: int | None = None) -> "Moments":
        """Samples of one more chunk, and the orbit of each: integers that mean the same in all chunks."""
        X, _ = signals(X)
        self._native.add(X, orbit_labels(y, len(X), words=False), threads)
        return self

    def merge(self, other: "Moments") -> "Moments":
        """What another has seen, too."""
        self._native.merge(other._native)
        return self

    def learn(self, *, name: str = "", seed: int = 0, threads: int | None = None) -> Compact:
        """The group that moves the orbits, in closed form; an error where there is none."""
        return Compact(self._native.learn(name, seed, threads))

    def __repr__(self) -> str:
        return f"Moments(inputs={self.inputs}, count={self.count})"
