"""More data than one machine holds, on Dask.

Features are a map over chunks: ``model.features(dask_array)`` stays lazy. Learning looks at a bounded number of orbits and of
their members, however much there is; which they are follows from counts of labels, which are sums over chunks, so that it
is a map and a reduce, twice: :class:`Counts` and :func:`take`. Both are plain functions of NumPy arrays: whoever has Spark or Ray
calls them there. What is learned has the same bits however the data is chunked, and however often a chunk is computed again
because a worker was lost.

>>> import dask.array as da
>>> from bispectral import datasets, distributed
>>> X, y = datasets.group("Z6", exemplars=40)
>>> distributed.learn(da.from_array(X, chunks=(50, 6)), da.from_array(y, chunks=50)).group
'Z6'

A group that acts linearly is learned from sums over all samples (:class:`bispectral.Moments`): :func:`moments` adds each chunk
where it lies and merges pairs, in an order that follows from the chunks alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._bispectral import Error
from ._learned import Learned
from ._learned import learn as learn_here
from ._moments import Moments
from ._optional import needed

__all__ = ["Counts", "Moments", "learn", "map_signals", "moments", "take"]


class Counts:
    """How many samples each label has: of a chunk, and of chunks together.

    >>> import numpy as np
    >>> counts = Counts().add(np.array([3, 5, 3])).merge(Counts().add(np.array([5, 5])))
    >>> counts.counts
    {3: 2, 5: 3}
    """

    def __init__(self, counts: dict[int, int] | None = None):
        self.counts: dict[int, int] = dict(counts or {})

    def add(self, y: Any) -> "Counts":
        """With the labels of one more chunk."""
        labels, counts = np.unique(np.asarray(y), return_counts=True)
        return self.merge(Counts(dict(zip(labels.tolist(), counts.tolist()))))

    def merge(self, other: "Counts") -> "Counts":
        """Of both."""
        merged = dict(self.counts)
        for label, count in other.counts.items():
            merged[label] = merged.get(label, 0) + count
        return Counts(merged)

    def chosen(self, orbits: int) -> list[int]:
        """So many labels of at least two samples, evenly spread."""
        labels = sorted(label for label, count in self.counts.items() if count > 1)
        count = min(orbits, len(labels))
        return [labels[k * len(labels) // count] for k in range(count)]


def take(X: Any, y: Any, quota: dict[int, int]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The first so many samples of each label of a chunk, in their order.

    >>> import numpy as np
    >>> take(np.arange(8).reshape(4, 2), np.array([1, 2, 1, 1]), {1: 2})[0].tolist()
    [[0, 1], [4, 5]]
    """
    X, y = np.asarray(X), np.asarray(y)
    left = dict(quota)
    rows = []
    for row in np.flatnonzero(np.isin(y, list(left))):
        label = y[row].item()
        if left[label] > 0:
            left[label] -= 1
            rows.append(row)
    return X[rows], y[rows]


def map_signals(X: Any, compute: Callable[[Any], Any], width: int, dtype: Any) -> Any:
    """What ``compute`` makes of every chunk of a Dask array of signals, lazily."""
    if X.ndim == 3:
        X = X.reshape(X.shape[0], X.shape[1] * X.shape[2])
    if X.ndim != 2:
        raise Error(f"X: a Dask array of {X.ndim} dimensions: give [samples, N] or [samples, height, width]")
    X = X.rechunk({1: -1})
    meta = np.empty((0, width), dtype)
    return X.map_blocks(compute, dtype=dtype, chunks=(X.chunks[0], (width,)), meta=meta)


def _chunks(X: Any, y: Any) -> tuple[int, Any, Any]:
    """Values of a sample; and chunks of samples with those of their labels."""
    if X.ndim == 3:
        X = X.reshape(X.shape[0], X.shape[1] * X.shape[2])
    X = X.rechunk({1: -1})
    if y.numblocks != X.numblocks[:1] or y.chunks[0] != X.chunks[0]:
        y = y.rechunk((X.chunks[0],))
    return X.shape[1], X.to_delayed().ravel(), y.to_delayed().ravel()


def moments(X: Any, y: Any) -> Moments:
    """The sums of all samples of Dask arrays, from which :meth:`bispectral.Moments.learn` learns.

    A chunk is added where it lies, and pairs of neighbours are merged until one is left: for the same chunks the same bits.

    >>> import dask.array as da, numpy as np
    >>> from bispectral.distributed import moments
    >>> moments(da.ones((100, 3), chunks=(40, 3)), da.zeros(100, dtype=int, chunks=40))
    Moments(inputs=3, count=100)
    """
    dask = needed("dask", "distributed")
    inputs, samples, labels = _chunks(X, y)
    left = [dask.delayed(_add, pure=True)(inputs, x, of) for x, of in zip(samples, labels)]
    if not left:
        raise Error("X: there are no samples: give some")
    merge = dask.delayed(_merge, pure=True)
    while len(left) > 1:
        pairs = [merge(*left[k : k + 2]) for k in range(0, len(left) - 1, 2)]
        left = pairs + left[len(left) // 2 * 2 :]
    (found,) = dask.compute(left[0])
    result: Moments = found
    return result


def _add(inputs: int, X: Any, y: Any) -> Moments:
    return Moments(inputs).add(X, y)


def _merge(a: Moments, b: Moments) -> Moments:
    # Neither is changed: a worker may be asked for them again.
    return Moments.from_bytes(a.to_bytes()).merge(b)


def learn(X: Any, y: Any, *, orbits: int = 320, members: int = 4096, **options: Any) -> Learned:
    """Learns from Dask arrays: :func:`bispectral.learn` of so many orbits and members of each, evenly spread over all.

    The default is as many as the closed form looks at. ``options`` are those of :func:`bispectral.learn`.
    """
    dask = needed("dask", "distributed")
    _, samples, labels = _chunks(X, y)
    counted = dask.compute(*(dask.delayed(_count, pure=True)(chunk) for chunk in labels))
    whole = Counts()
    for counts in counted:
        whole = whole.merge(counts)
    left = dict.fromkeys(whole.chosen(orbits), members)
    tasks = []
    for counts, x, of in zip(counted, samples, labels):
        quota = {label: min(left[label], counts.counts[label]) for label in left if counts.counts.get(label)}
        left.update({label: left[label] - count for label, count in quota.items()})
        tasks.append(dask.delayed(take, pure=True, nout=2)(x, of, quota))
    taken = dask.compute(*tasks)
    if not taken:
        raise Error("X: there are no samples: give some")
    return learn_here(np.concatenate([x for x, _ in taken]), np.concatenate([of for _, of in taken]), **options)


def _count(y: Any) -> Counts:
    return Counts().add(y)
