"""Other programs: ONNX runtimes, PyTorch, the authors' weights."""

import os
from pathlib import Path

import numpy as np
import pytest

from bispectral import Error, Model

DOCUMENT = Path(__file__).parent.parent / "python.md"


def random_model():
    rng = np.random.default_rng(2)
    return Model(rng.normal(size=(7, 12)) + 1j * rng.normal(size=(7, 12)))


@pytest.mark.parametrize("model", [random_model(), Model.of_group("Z16").export(pairs="selective", structure="fft")])
def test_an_onnx_runtime_computes_the_same_invariants(model, tmp_path):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    from bispectral.onnx import export

    export(model, tmp_path / "model.onnx")
    X = np.random.default_rng(0).normal(size=(20, model.inputs)).astype(np.float32)
    X[3] *= 1e20
    session = runtime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"signals": X})
    # Sums of at most 16 products in single precision, of terms of at most one.
    assert np.abs(found - model.features(X, output="real")).max() < 5e-6


def test_the_torch_module_of_the_documentation_computes_the_same():
    torch = pytest.importorskip("torch")
    if not DOCUMENT.exists():
        pytest.skip("run by tests/python.sh")
    scope = {}
    exec(DOCUMENT.read_text().split("```python", 1)[1].split("```", 1)[0], scope)
    model = random_model()
    X = np.random.default_rng(0).normal(size=(20, 12)).astype(np.float32)
    found = scope["Bispectrum"](model)(torch.from_numpy(X)).detach().numpy()
    assert np.abs(found - model.features(X)).max() < 5e-6


def test_the_formula_of_the_torch_module_is_that_of_the_model():
    """The same lines with NumPy in the place of torch."""
    if not DOCUMENT.exists():
        pytest.skip("run by tests/python.sh")
    lines = DOCUMENT.read_text().split("```python", 1)[1].split("```", 1)[0].splitlines()
    begin = next(k for k, line in enumerate(lines) if "def forward" in line)
    body = [line.strip() for line in lines[begin + 1 :] if line.strip()]
    model = random_model()

    class Self:
        W, i, j = model.W, *model.pairs.T

    X = np.random.default_rng(0).normal(size=(20, 12)).astype(np.float32)
    scope = {"self": Self, "x": X}
    for line in body:
        line = line.replace(".to(self.W.dtype)", ".astype(complex)").replace(".norm(dim=-1, keepdim=True)", "")
        line = line.replace("beta / beta", "beta / np.linalg.norm(beta, axis=-1, keepdims=True)")
        exec(line.replace("return", "found ="), {"np": np}, scope)
    assert np.abs(scope["found"] - model.features(X)).max() < 5e-6


def test_weights_go_to_an_array_file_and_back(tmp_path):
    model = random_model()
    np.save(tmp_path / "W.npy", model.W)
    assert (Model(np.load(tmp_path / "W.npy")).W == model.W).all()
    with pytest.raises(Error):
        Model(np.ones((0, 4)))


def test_the_authors_weights_are_a_model():
    path = os.environ.get("BISPECTRAL_PUBLISHED")
    if not path:
        pytest.skip("BISPECTRAL_PUBLISHED names no W of the authors")
    model = Model(np.load(path), "published")
    assert (model.rows, model.inputs) == (256, 256)
    X = np.random.default_rng(0).normal(size=(3, 256))
    assert np.abs(np.linalg.norm(model.features(X), axis=1) - 1).max() < 1e-5
