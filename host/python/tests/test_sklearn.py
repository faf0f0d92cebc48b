"""scikit-learn's own checks, and what its users put together."""

import pickle
import sys

import joblib
import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from bispectral import Error, Model, datasets
from bispectral.sklearn import BispectralClassifier, BispectralTransformer


@parametrize_with_checks([BispectralTransformer(), BispectralTransformer(pairs="selective", structure="structured"), BispectralClassifier(epochs=5)])
def test_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


def shifted(samples=200, inputs=16, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    shapes = np.random.default_rng(7).normal(size=(classes, inputs))
    y = rng.integers(0, classes, samples)
    X = np.stack([np.roll(shapes[k], rng.integers(inputs)) for k in y])
    return X + rng.normal(scale=0.05, size=X.shape), y


def test_a_pipeline_tells_shapes_apart_wherever_they_are_and_signals_alone_do_not():
    (X, y), (X_new, y_new) = shifted(), shifted(seed=1)
    pipeline = make_pipeline(BispectralTransformer(), LogisticRegression(max_iter=1000)).fit(X, y)
    assert pipeline.score(X_new, y_new) > 0.98
    assert LogisticRegression(max_iter=1000).fit(X, y).score(X_new, y_new) < 0.8


def test_the_group_is_learned_from_the_orbit_of_each_sample():
    X, orbit = datasets.group("Z4xZ2", exemplars=20)
    transformer = BispectralTransformer(group="orbits", pairs="selective").fit(X, orbit)
    assert transformer.model_.group == "Z4xZ2"
    features = transformer.transform(X)
    assert features.shape == (160, 16) and np.abs(features[:8] - features[0]).max() < 1e-5
    with pytest.raises(Error, match="requires y to be passed"):
        BispectralTransformer(group="orbits").fit(X)


def test_a_grid_is_searched_in_other_processes():
    X, y = shifted(120)
    pipeline = make_pipeline(BispectralTransformer(), LogisticRegression(max_iter=1000))
    grid = {"bispectraltransformer__pairs": [None, "selective"], "bispectraltransformer__group": ["cyclic", "Z4xZ4"]}
    search = GridSearchCV(pipeline, grid, cv=3, n_jobs=2).fit(X, y)
    assert search.best_params_["bispectraltransformer__group"] == "cyclic" and search.best_score_ > 0.95


def test_a_model_is_a_parameter_that_clones_and_pickles(tmp_path):
    X, _ = shifted(20)
    transformer = BispectralTransformer(Model.of_group("Z16").export(structure="fft"), output="complex").fit(X)
    expected = transformer.transform(X)
    assert expected.dtype == np.complex64
    joblib.dump(transformer, tmp_path / "t.joblib")
    for other in (clone(transformer).fit(X), pickle.loads(pickle.dumps(transformer)), joblib.load(tmp_path / "t.joblib")):
        assert (other.transform(X) == expected).all()


def test_features_have_names_and_come_as_frames():
    pandas = pytest.importorskip("pandas")
    X, _ = shifted(10, 4)
    transformer = BispectralTransformer().set_output(transform="pandas").fit(X)
    frame = transformer.transform(X)
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns[:4]) == ["re_0_0", "im_0_0", "re_0_1", "im_0_1"]
    complex_ = BispectralTransformer(output="complex").fit(X)
    assert complex_.get_feature_names_out()[-1] == "b_3_3"


def test_a_signal_of_zeros_is_an_error_or_zeros_as_asked():
    X, _ = shifted(10, 4)
    X[3] = 0
    with pytest.raises(Error, match="sample 3: every value is zero"):
        BispectralTransformer(zero="error").fit(X).transform(X)
    features = BispectralTransformer().fit(X).transform(X)
    assert not features[3].any() and features[4].any()


def test_a_classifier_pickles_and_is_exported_for_a_device():
    (X, y), (X_new, y_new) = shifted(300), shifted(seed=1)
    classifier = BispectralClassifier(epochs=20).fit(X, y)
    assert classifier.score(X_new, y_new) > 0.97
    again = pickle.loads(pickle.dumps(classifier))
    assert (again.predict(X_new) == classifier.predict(X_new)).all()
    assert classifier.export()._described["classes"] == 3
    with pytest.raises(Error, match="y are classes here"):
        BispectralClassifier(group="orbits").fit(X, y)


def test_the_package_needs_no_scikit_learn():
    import subprocess

    program = "import sys; sys.modules['sklearn'] = sys.modules['dask'] = sys.modules['tqdm'] = None; import bispectral; bispectral.learn(*bispectral.datasets.group('Z4', 20), progress=True)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_what_is_not_installed_is_said_with_how_to_install_it():
    import subprocess

    for module, call, extra in (
        ("sklearn", "import bispectral.sklearn", "sklearn"),
        ("onnx", "import bispectral.onnx; bispectral.onnx.export(bispectral.Model.of_group('Z4'))", "onnx"),
        ("dask", "import bispectral.distributed as d; d.learn(d.np.ones((2, 2)), d.np.ones(2))", "distributed"),
    ):
        program = f"import sys; sys.modules['{module}'] = None\n{call}"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        last = done.stderr.splitlines()[-1]
        assert last == f"ImportError: {module} is not installed: pip install 'bispectral[{extra}]'", done.stderr
