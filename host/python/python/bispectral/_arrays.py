"""Arrays as the native module takes them: real, two-dimensional, as they lie where they are float32 or float64."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._bispectral import Error


def aligned(X: NDArray[Any]) -> NDArray[Any]:
    """The array, copied where its numbers lie across the boundaries of the machine, as they may in a message of a network."""
    return X if X.flags.aligned else X.copy()


def signals(X: Any, what: str = "X") -> tuple[NDArray[Any], tuple[int, int] | None]:
    """Signals [samples, N] of float32 or float64, without a copy where they are that; and the shape of images."""
    X = np.asarray(X)
    if X.dtype.kind not in "fiub":
        raise Error(f"{what}: its values are {X.dtype}: give real numbers")
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    if not X.dtype.isnative:
        X = X.astype(X.dtype.newbyteorder("="))
    X = aligned(X)
    if X.ndim == 3:
        height, width = int(X.shape[1]), int(X.shape[2])
        return X.reshape(len(X), height * width), (height, width)
    if X.ndim != 2:
        raise Error(f"{what}: an array of {X.ndim} dimensions: give [samples, N] or [samples, height, width]")
    return X, None


def orbit_labels(y: Any, samples: int, words: bool = True) -> NDArray[np.int64]:
    """Numbers of orbits: integers as they are, everything else by its place among the sorted labels, where that may be."""
    y = np.asarray(y)
    if y.ndim != 1 or len(y) != samples:
        raise Error(f"y: labels of shape {y.shape} for {samples} samples: give one label a sample")
    if y.dtype.kind in "iub":
        return y.astype(np.int64)
    if not words:
        raise Error(f"y: labels of {y.dtype}: give integers, which mean the same in every chunk")
    return np.unique(y, return_inverse=True)[1].astype(np.int64)
