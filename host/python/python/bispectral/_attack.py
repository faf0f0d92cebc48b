"""The attack: from noise, signals with the features of given ones. Are they in their orbits?"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _bispectral
from ._arrays import signals
from ._bispectral import Error
from ._model import Model
from . import _progress
from ._progress import Progress


@dataclass(frozen=True)
class Attacked:
    """What came of an attack."""

    metamers: NDArray[np.float32]
    """The signal for every target whose features came nearest."""
    reached: int
    """How many have the target's features."""
    motions: str | None
    """The group by which orbits are known, or None."""
    summary: dict[str, Any] | None
    """How many of those that reached are in the target's orbit, and how far the others are."""
    endings: list[dict[str, Any]] | None
    """Where each attack led."""
    distances: list[float]
    """‖f(x̃) − f(x)‖ of each."""
    steps: int
    """Steps of all descents."""
    seconds: float
    """All told."""


def attack(
    model: Model,
    X: Any,
    *,
    features: str = "bispectrum",
    transform: str | None = None,
    steps: int = 4000,
    restarts: int = 1,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = None,
) -> Attacked:
    """From noise to the features of each row of ``X``, by gradient.

    ``features`` is bispectrum, power or pooled; ``transform="rotate"`` says that signals are images that turn.

    >>> import numpy as np
    >>> from bispectral import Model, attack
    >>> X = np.random.default_rng(0).normal(size=(5, 8))
    >>> found = attack(Model.of_group("Z8"), X, restarts=5)
    >>> found.motions, found.summary["inside"] == found.reached
    ('Z8', True)
    """
    if transform not in (None, "rotate"):
        raise Error(f'transform: "{transform}" is unknown: take rotate, or leave it out')
    data, _ = signals(X)
    with _steps(progress) as step:
        metamers, words = _bispectral.attack(model._native, data, features, transform == "rotate", (steps, restarts, seed), threads, step)
    told = json.loads(words)
    return Attacked(metamers, told["reached"], told["motions"], told["summary"], told["endings"], told["distances"], told["steps"], told["seconds"])


def _steps(progress: Progress) -> Any:
    return _progress.steps(progress, "attack")
