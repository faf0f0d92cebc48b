"""Transformer and classifier for scikit-learn: invariant features in a Pipeline.

>>> import numpy as np
>>> from sklearn.linear_model import LogisticRegression
>>> from sklearn.pipeline import make_pipeline
>>> from bispectral.sklearn import BispectralTransformer
>>> rng = np.random.default_rng(0)
>>> shapes = rng.normal(size=(2, 16))
>>> y = rng.integers(0, 2, 200)
>>> X = np.stack([np.roll(shapes[k], rng.integers(16)) for k in y]) + rng.normal(scale=0.05, size=(200, 16))
>>> pipeline = make_pipeline(BispectralTransformer(group="cyclic"), LogisticRegression()).fit(X[:100], y[:100])
>>> pipeline.score(X[100:], y[100:])
1.0
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ._optional import needed

needed("sklearn", "sklearn")
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _bispectral
from ._arrays import orbit_labels
from ._bispectral import Error
from ._learned import learn
from ._model import Model
from ._progress import Progress, steps

__all__ = ["BispectralClassifier", "BispectralTransformer"]


def _model(group: Any, X: Any, y: Any, seed: int, threads: int | None) -> Model:
    """The model that ``group`` means for these signals."""
    if isinstance(group, Model):
        return group
    if group == "orbits":
        if y is None:
            raise Error(
                "y: requires y to be passed, but the target y is None: give the orbit of each sample, or a group such as cyclic"
            )
        return learn(X, orbit_labels(y, len(X)), seed=seed, threads=threads).model
    if group == "cyclic":
        group = f"Z{X.shape[1]}"
    model = Model.of_group(group)
    if model.inputs != X.shape[1]:
        raise Error(f"group: {group} has {model.inputs} elements, signals have {X.shape[1]} values: take the group that moves them")
    return model


def _formed(model: Model, pairs: str | None, structure: str | None, X: Any, y: Any) -> Model:
    if pairs is None and structure is None:
        return model
    given = {"X": X, "y": y} if pairs is not None and pairs.startswith("best") else {}
    return model.export(pairs=pairs, structure=structure, **given)


class BispectralTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Signals to invariants.

    Parameters
    ----------
    group : "cyclic" for all shifts of a signal; a group such as "Z64" or "Z8xZ8"; "orbits", to learn it from ``y``, which then
        says which orbit each sample is of (not its class); or a :class:`bispectral.Model`.
    output : "real" (parts beside each other) or "complex".
    pairs : which invariants: None for all of the model's, "selective" for as few as determine a signal, "best:K".
    structure : how they are computed, as in :meth:`bispectral.Model.export`.
    exact : whether every signal is computed with the device's bits.
    zero : what a signal of zeros, which has no direction, becomes: "zeros", or an "error".
    """

    def __init__(
        self,
        group: Any = "cyclic",
        *,
        output: str = "real",
        pairs: str | None = None,
        structure: str | None = None,
        exact: bool = False,
        zero: str = "zeros",
        seed: int = 0,
        threads: int | None = None,
    ):
        self.group = group
        self.output = output
        self.pairs = pairs
        self.structure = structure
        self.exact = exact
        self.zero = zero
        self.seed = seed
        self.threads = threads

    def fit(self, X: Any, y: Any = None) -> "BispectralTransformer":
        """Learns or takes the model."""
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        if self.output not in ("real", "complex"):
            raise Error(f'output: "{self.output}" is unknown: take real or complex')
        if self.zero not in ("error", "zeros"):
            raise Error(f'zero: "{self.zero}" is unknown: take error or zeros')
        model = _model(self.group, X, y, self.seed, self.threads)
        if model.inputs != X.shape[1]:
            raise Error(f"X: signals of {X.shape[1]} values, the model has {model.inputs} inputs: give signals of the model")
        self.model_ = _formed(model, self.pairs, self.structure, X, y)
        return self

    def transform(self, X: Any) -> Any:
        """The invariants of signals, [samples, features]."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        dtype = np.float32 if self.output == "real" else np.complex64
        if self.zero == "error" or X.any(axis=1).all():
            return self.model_.features(X, output=self.output, exact=self.exact, threads=self.threads)
        features = np.zeros((len(X), self._n_features_out), dtype)
        moved = X.any(axis=1)
        if moved.any():
            features[moved] = self.model_.features(X[moved], output=self.output, exact=self.exact, threads=self.threads)
        return features

    @property
    def _n_features_out(self) -> int:
        described = self.model_._described
        return int(described["features"] if self.output == "real" else described["pairs"])

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """``re_i_j`` and ``im_i_j`` of rows i and j; ``b_i_j`` where they are complex."""
        check_is_fitted(self)
        pairs = self.model_.pairs
        if not len(pairs):
            names = [f"invariant_{k}" for k in range(self._n_features_out)]
        elif self.output == "real":
            names = [f"{part}_{i}_{j}" for i, j in pairs for part in ("re", "im")]
        else:
            names = [f"b_{i}_{j}" for i, j in pairs]
        return np.asarray(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = isinstance(self.group, str) and self.group == "orbits"
        tags.transformer_tags.preserves_dtype = ["float32"] if self.output == "real" else []
        return tags


class BispectralClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Signals to classes: invariants, their complex principal components, a perceptron, as in the paper.

    ``group`` is as in :class:`BispectralTransformer` but for "orbits": ``y`` are classes here. ``hidden``, ``epochs`` and the
    others are the perceptron's; ``progress`` is a function that is called with what is done (features, then epochs), or ``True`` for a
    bar where tqdm is installed. Ctrl-C ends training. A signal of zeros has no invariants: it is left out of training, and taken for what is most
    frequent.

    >>> import numpy as np
    >>> from bispectral.sklearn import BispectralClassifier
    >>> rng = np.random.default_rng(0)
    >>> shapes = rng.normal(size=(3, 16))
    >>> y = rng.integers(0, 3, 300)
    >>> X = np.stack([np.roll(shapes[k], rng.integers(16)) for k in y]) + rng.normal(scale=0.05, size=(300, 16))
    >>> classifier = BispectralClassifier(epochs=20).fit(X[:200], np.array(["ant", "bee", "cat"])[y[:200]])
    >>> classifier.score(X[200:], np.array(["ant", "bee", "cat"])[y[200:]]) > 0.97
    True
    """

    def __init__(
        self,
        group: Any = "cyclic",
        *,
        pairs: str | None = None,
        structure: str | None = None,
        components: int = 100,
        hidden: tuple[int, ...] = (64, 32),
        epochs: int = 30,
        batch: int = 32,
        rate: float = 0.005,
        seed: int = 0,
        threads: int | None = None,
        progress: Progress = None,
    ):
        self.group = group
        self.pairs = pairs
        self.structure = structure
        self.components = components
        self.hidden = hidden
        self.epochs = epochs
        self.batch = batch
        self.rate = rate
        self.seed = seed
        self.threads = threads
        self.progress = progress

    def fit(self, X: Any, y: Any) -> "BispectralClassifier":
        """Trains the perceptron on the invariants of signals."""
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32])
        check_classification_targets(y)
        if X.shape[1] == 1:
            raise Error("X: n_features = 1: one value has no shape: give signals of 2 values or more")
        self.classes_, places = np.unique(y, return_inverse=True)
        if isinstance(self.group, str) and self.group == "orbits":
            raise Error("group: y are classes here, not orbits: learn a model first and give that")
        model = _model(self.group, X, None, self.seed, self.threads)
        if model.inputs != X.shape[1]:
            raise Error(f"X: signals of {X.shape[1]} values, the model has {model.inputs} inputs: give signals of the model")
        self.model_ = _formed(model, self.pairs, self.structure, X, y)
        moved = X.any(axis=1)
        self._most_frequent = int(np.bincount(places).argmax())
        recipe = {
            "components": self.components, "hidden": list(self.hidden), "epochs": self.epochs, "batch": self.batch, "rate": self.rate,
            "course": "cosine",
        }  # fmt: skip
        with steps(self.progress, "fit") as step:
            self._classifier = _bispectral.train_classifier(
                self.model_._native, X[moved], places[moved].astype(np.int64), json.dumps(recipe), self.seed, self.threads, step
            )
        return self

    def predict(self, X: Any) -> Any:
        """The class of each signal."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        places = np.full(len(X), self._most_frequent)
        moved = X.any(axis=1)
        places[moved] = self._classifier.predict(self.model_._native, X[moved], self.threads)
        return self.classes_[places]

    def export(self, encoding: str = "f32") -> Model:
        """Model and classifier in one, for a device; classes are numbered as in ``classes_``."""
        check_is_fitted(self)
        return Model._of(self._classifier.behind(self.model_._native, encoding))

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        if "_classifier" in state:
            state = {**state, "_classifier": state["_classifier"].to_bytes()}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        stored: Any = self.__dict__.get("_classifier")
        if isinstance(stored, bytes):
            self._classifier = _bispectral.Classifier.from_bytes(stored)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Signals that are moved copies of each other are one class here, whatever they are called.
        tags.classifier_tags.poor_score = True
        return tags
