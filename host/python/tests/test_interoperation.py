"""Other programs: ONNX runtimes, PyTorch, the authors' weights."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from bispectral import Error, Model, pytorch

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


class Storage:
    """A storage of PyTorch, by its name there."""

    def __init__(self, key, array):
        self.key, self.array = key, array


def checkpoint(path, content, storages):
    """A file as torch.save writes it."""
    import collections
    import io
    import pickle
    import types
    import zipfile

    module, utils = types.ModuleType("torch"), types.ModuleType("torch._utils")
    module.FloatStorage = type("FloatStorage", (), {"__module__": "torch", "__qualname__": "FloatStorage"})

    def rebuild(*_):
        raise AssertionError("called")

    rebuild.__module__, rebuild.__qualname__ = "torch._utils", "_rebuild_tensor_v2"
    utils._rebuild_tensor_v2 = rebuild

    class Tensor:
        def __init__(self, storage, shape, strides):
            self.arguments = storage, 0, shape, strides, False, collections.OrderedDict()

        def __reduce__(self):
            return rebuild, self.arguments

    class Pickler(pickle.Pickler):
        def persistent_id(self, value):
            if isinstance(value, Storage):
                return "storage", module.FloatStorage, value.key, "cuda:2", value.array.size

    buffer, before = io.BytesIO(), {name: sys.modules.get(name) for name in ("torch", "torch._utils")}
    sys.modules |= {"torch": module, "torch._utils": utils}
    try:
        Pickler(buffer, 2).dump(content(Tensor))
    finally:
        for name, value in before.items():
            sys.modules.pop(name) if value is None else sys.modules.__setitem__(name, value)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("archive/data.pkl", buffer.getvalue())
        for storage in storages:
            file.writestr(f"archive/data/{storage.key}", storage.array.tobytes())


class Runs:
    """Writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


def test_weights_of_a_checkpoint_are_read_without_running_what_is_in_it(tmp_path):
    model = random_model()
    parts = pytorch.state(model)
    # Columns first, as a tensor that was transposed lies.
    storages = {name: Storage(str(k), np.asfortranarray(part).ravel(order="K")) for k, (name, part) in enumerate(parts.items())}

    def content(Tensor):
        held = {name: Tensor(storage, (7, 12), (1, 7)) for name, storage in storages.items()}
        return {"trainer": Runs(tmp_path / "ran"), "model_state_dict": held, "epoch": 3}

    checkpoint(tmp_path / "c.pt", content, storages.values())
    assert (pytorch.weights(tmp_path / "c.pt") == model.W).all()
    assert not (tmp_path / "ran").exists()
    assert Model(pytorch.weights(tmp_path / "c.pt")) == Model(model.W)
    checkpoint(tmp_path / "large.pt", lambda Tensor: {"W.real": Tensor(storages["layers.0.W.real"], (8, 12), (12, 1))}, storages.values())
    with pytest.raises(Error, match="larger than what is stored"):
        pytorch.weights(tmp_path / "large.pt")
    checkpoint(tmp_path / "none.pt", lambda Tensor: {"epoch": 3}, [])
    with pytest.raises(Error, match="it has 0 complex matrices"):
        pytorch.weights(tmp_path / "none.pt")
    data = (tmp_path / "c.pt").read_bytes()
    for end in range(0, len(data), 97):
        (tmp_path / "cut.pt").write_bytes(data[:end])
        with pytest.raises(Error):
            pytorch.weights(tmp_path / "cut.pt")


def test_the_authors_checkpoint_has_their_weights():
    path = os.environ.get("BISPECTRAL_CHECKPOINT")
    if not path:
        pytest.skip("BISPECTRAL_CHECKPOINT names no .pt file of the authors")
    W = pytorch.weights(path)
    assert W.shape == (256, 256) and W.dtype == np.complex64
    assert np.abs(np.linalg.norm(W, axis=1) - 1).max() < 1e-5
    published = os.environ.get("BISPECTRAL_PUBLISHED")
    assert published is None or (W == np.load(published)).all()
