"""The orbits of the paper: functions on groups, patches of photographs that are shifted or turned.

>>> from bispectral import datasets
>>> X, y = datasets.group("Z4xZ2", exemplars=3)
>>> X.shape, y[:9].tolist()
((24, 8), [0, 0, 0, 0, 0, 0, 0, 0, 1])
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _bispectral
from ._arrays import signals

Labelled = tuple[NDArray[np.float32], NDArray[np.int64]]


def group(name: str, exemplars: int = 100, seed: int = 0) -> Labelled:
    """All translates of random functions on a commutative group: samples, and the orbit of each."""
    return _bispectral.group_orbits(name, exemplars, seed)


def orbits(X: Any, transform: str, fraction: float = 0.3, seed: int = 0) -> Labelled:
    """The orbits of exemplars under translate1d, translate2d, rotate or a group: samples, and the orbit of each.

    >>> import numpy as np
    >>> from bispectral import datasets
    >>> X, y = datasets.orbits(np.eye(3)[:2], "translate1d")
    >>> X.tolist()[:3]
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    X, shape = signals(X)
    return _bispectral.transformed_orbits(X, transform, shape, fraction, seed)


def patches(count: int = 100, size: int = 16, seed: int = 0) -> NDArray[np.float32]:
    """Patches of the photographs that ship with the program, [count, size, size], normalised.

    >>> from bispectral import datasets
    >>> datasets.patches(5, 8).shape
    (5, 8, 8)
    """
    return _bispectral.patches(count, size, seed).reshape(count, size, size)
