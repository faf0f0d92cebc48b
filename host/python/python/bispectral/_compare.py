"""Whether invariants help to classify: the table of ``bispectral compare``."""

from __future__ import annotations

import html
import json
from typing import Any

import numpy as np

from . import _bispectral
from ._arrays import signals
from ._bispectral import Error
from ._progress import Progress, steps


class Compared(list[dict[str, Any]]):
    """One dictionary a method: ``method``, ``accuracy``, ``error``, ``over_brute_force``, ``over_magnitudes``, ``microseconds``,
    ``bytes`` and the accuracy of each of the ``draws``. It prints, and shows in a notebook, as a table."""

    _HEAD = ("method", "accuracy", "over brute force", "over |z|", "µs a signal", "bytes")

    def _rows(self) -> list[tuple[str, ...]]:
        def pair(of: list[float]) -> str:
            return f"{of[0]:+.3f} ± {of[1]:.3f}"

        return [
            (
                line["method"], f"{line['accuracy']:.3f} ± {line['error']:.3f}", pair(line["over_brute_force"]),
                pair(line["over_magnitudes"]), f"{line['microseconds']:.0f}", str(line["bytes"]),
            )
            for line in self
        ]  # fmt: skip

    def __repr__(self) -> str:
        rows = [self._HEAD, *self._rows()]
        widths = [max(len(row[k]) for row in rows) for k in range(len(self._HEAD))]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)

    def _repr_html_(self) -> str:
        def line(cells: tuple[str, ...], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag} style='text-align:left'>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        return f"<table>{line(self._HEAD, 'th')}{''.join(line(row, 'td') for row in self._rows())}</table>"


def compare(
    X: Any,
    y: Any,
    X_test: Any = None,
    y_test: Any = None,
    *,
    held_out: float = 0.3,
    draws: int = 5,
    shift: bool = False,
    noise: float = 0.0,
    window: float = 1.0,
    speed: float = 0.0,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = None,
) -> Compared:
    """Signals ``X`` of classes ``y``, classified by what people use today and by invariants of cyclic shifts.

    The nearest neighbour of signals as they are, of power spectra, of magnitudes |z|, of signals under the best of all shifts
    (brute force), of bispectra and of features of degree one, and the chain that a device runs; with standard errors over
    ``draws`` of the split. ``shift`` lets each signal begin at a random place, ``noise`` adds that share of its deviation,
    ``window`` cuts it to that share of its period, ``speed`` stretches it by up to that share.

    >>> import numpy as np
    >>> from bispectral import compare
    >>> rng = np.random.default_rng(0)
    >>> shapes, y = rng.normal(size=(3, 32)), np.arange(60) % 3
    >>> table = compare(shapes[y] + rng.normal(scale=0.2, size=(60, 32)), y, shift=True, draws=2)
    >>> accuracy = {line["method"]: line["accuracy"] for line in table}
    >>> accuracy["signal, 1-NN"] < accuracy["degree one, 1-NN"] == 1.0
    True
    """
    known, places = np.unique(np.asarray(y), return_inverse=True)
    if not 2 <= len(known) <= 256:
        raise Error(f"y: {len(known)} different labels: give the class of each signal, of 2 to 256 classes")
    data, _ = signals(X)
    if places.shape != (len(data),):
        raise Error(f"y: labels of shape {places.shape} for {len(data)} signals: give one label a signal")
    test = None
    if X_test is not None or y_test is not None:
        if X_test is None or y_test is None:
            raise Error("X_test, y_test: one without the other: give both or none")
        other, _ = signals(X_test, "X_test")
        of_test = np.searchsorted(known, np.asarray(y_test))
        if of_test.shape != (len(other),) or (known[np.minimum(of_test, len(known) - 1)] != np.asarray(y_test)).any():
            raise Error("y_test: not one known label a signal: give the class of each, of those in y")
        test = (other, of_test.astype(np.int64))
    with steps(progress, "compare") as step:
        words = _bispectral.compare(
            (data, places.astype(np.int64)), test, (shift, float(noise), float(window), float(speed)), (draws, float(held_out), seed), threads, step
        )
    return Compared(json.loads(words))
