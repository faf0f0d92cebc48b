"""Learning: from signals that belong together to what relates them."""

from __future__ import annotations

import base64
import html
import json
import os
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _bispectral
from ._arrays import orbit_labels, signals
from ._bispectral import Error
from ._model import Model
from ._progress import Progress, steps


class Learned:
    """What was learned: W, the group behind it, and the model."""

    def __init__(self, native: Any):
        self._native = native
        self._described: dict[str, Any] = json.loads(native.describe())

    @property
    def group(self) -> str | None:
        """The group whose irreducible representations were learned; ``None`` where none was recognised."""
        group = self._described["group"]
        return None if group is None else group["name"]

    @property
    def recognised(self) -> dict[str, Any] | None:
        """The group with how near the learned rows are to its exact characters."""
        return self._described["group"]

    @property
    def why_no_group(self) -> str | None:
        """Why no group was recognised; ``None`` where one was."""
        return self._described["no_group"]

    @cached_property
    def W(self) -> NDArray[np.complex64]:
        """W as it was learned, complex64 [rows, inputs]; the model has exact characters where a group was recognised."""
        return self._native.weights()

    @cached_property
    def table(self) -> NDArray[np.uint16]:
        """The Cayley table that the learned W implies; of permutations, their own."""
        return self._native.table()

    @cached_property
    def permutations(self) -> NDArray[np.int64] | None:
        """Where each element of the group moves each input, [elements, inputs], where members were matched to find it."""
        return self._native.permutations()

    @property
    def diagnosis(self) -> dict[str, Any] | None:
        """What the data looks like and how known groups do on it, where no group was recognised."""
        return self._described["diagnosis"]

    @cached_property
    def model(self) -> Model:
        """The model, as a device reads it."""
        return Model._of(self._native.model())

    @property
    def evaluation(self) -> dict[str, Any]:
        """What the model does on orbits that were held out."""
        return self._described["evaluation"]

    @cached_property
    def distances(self) -> NDArray[np.float64]:
        """Distances of invariants between some samples that were held out."""
        return self._native.distances()

    @property
    def steps(self) -> int:
        """Steps of all phases and attempts together."""
        return self._described["steps"]

    @property
    def attempts(self) -> int:
        """How often training began."""
        return self._described["attempts"]

    def report(self, path: str | os.PathLike[str], title: str | None = None) -> None:
        """Writes one self-contained page with results and figures."""
        self._native.report(os.fspath(path), title or self._title())

    def figures(self) -> dict[str, str]:
        """The figures of the page as SVG, by name."""
        return dict(self._native.figures())

    def _title(self) -> str:
        return f"The symmetry of the data is {self.group}" if self.group else "Invariants of the data"

    def __repr__(self) -> str:
        told = self.evaluation
        return f"Learned(group={self.group!r}, within={told['within']:.1e}, between={told['between']:.2f}, steps={self.steps})"

    def _repr_html_(self) -> str:
        told = self.evaluation
        rows = {
            "group": self.group or f"none: {self.why_no_group}",
            "mean squared distance within orbits": f"{told['within']:.1e}",
            "between orbits": f"{told['between']:.2f}",
            "nearest other sample is of the same orbit": f"{100 * told['nearest']:.1f} %",
        }
        table = "".join(f"<tr><th style='text-align:left'>{name}</th><td>{html.escape(str(value))}</td></tr>" for name, value in rows.items())

        def picture(name: str, svg: str) -> str:
            data = base64.b64encode(svg.encode()).decode()
            return f"<img alt='{html.escape(name)}' style='max-width:100%;background:white' src='data:image/svg+xml;base64,{data}'>"

        shown = (picture(name, svg) for name, svg in self.figures().items() if name != "loss")
        return f"<table>{table}</table>{''.join(shown)}"


def learn(
    X: Any,
    y: Any = None,
    *,
    transform: str | None = None,
    fraction: float = 0.3,
    rows: int | None = None,
    phases: list[Any] | None = None,
    held_out: float = 0.2,
    split: str = "exemplars",
    restarts: int | None = None,
    polish: bool = True,
    name: str = "",
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = None,
) -> Learned:
    """Learns what relates signals that belong together.

    ``X`` is [samples, N] or [samples, height, width]; ``y`` says of each sample which orbit it is of: integers or
    words. Or, with ``transform``, ``X`` are exemplars that are moved by ``"translate1d"``, ``"translate2d"``,
    ``"rotate"`` (by a ``fraction`` of the 360 degrees) or a group such as ``"Z4xZ2"``.

    ``phases`` are names (``"spectral"``, ``"second-order"``, ``"orbit-separation"``) or dictionaries with a ``"loss"`` and
    the numbers to change; left open, the default recipe. ``progress`` is a function that is called with every step, or
    ``True`` for a bar where tqdm is installed. Ctrl-C ends learning. The same seed gives the same bits with any number of
    ``threads``.

    >>> from bispectral import datasets, learn
    >>> learned = learn(*datasets.group("Z4xZ2", exemplars=20))
    >>> learned.group, learned.table.shape
    ('Z4xZ2', (8, 8))
    >>> learned.evaluation["within"] < 1e-9
    True
    """
    X, shape = signals(X)
    options: dict[str, Any] = {
        "name": name, "seed": seed, "rows": rows, "held_out": held_out, "split": split, "restarts": restarts, "polish": polish,
    }  # fmt: skip
    if phases is not None:
        options["phases"] = [{"loss": phase} if isinstance(phase, str) else dict(phase) for phase in phases]
    words = json.dumps(options)
    with steps(progress, "learn") as step:
        if transform is not None:
            if y is not None:
                raise Error("y: exemplars that are transformed have no labels: leave out y or transform")
            return Learned(_bispectral.learn_transformed(X, transform, shape, fraction, words, threads, step))
        if y is None:
            raise Error("y: missing: give the orbit of each sample, or a transform of exemplars")
        return Learned(_bispectral.learn(X, orbit_labels(y, len(X)), shape, words, threads, step))
