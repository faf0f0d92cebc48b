"""Checkpoints of PyTorch as arrays, without PyTorch and without running anything that is in them.

A checkpoint is a pickle, and a pickle names functions to be called. Here only tensors are made of it; every other name stands for
an empty object, whatever it is.

>>> import io, numpy as np
>>> from bispectral import Error, Model, pytorch
>>> sorted(pytorch.state(Model.of_group("Z4")))
['layers.0.W.imag', 'layers.0.W.real']
>>> try:
...     pytorch.weights(io.BytesIO(b"no checkpoint"))
... except Error as error:
...     print(error)
checkpoint: it is no .pt file of PyTorch 1.6 or later: save it with torch.save
"""

from __future__ import annotations

import os
import pickle
import zipfile
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ._bispectral import Error
from ._model import Model

__all__ = ["state", "tensors", "weights"]

_DTYPES = {
    "FloatStorage": "<f4", "DoubleStorage": "<f8", "HalfStorage": "<f2", "ComplexFloatStorage": "<c8", "ComplexDoubleStorage": "<c16",
    "LongStorage": "<i8", "IntStorage": "<i4", "ShortStorage": "<i2", "CharStorage": "<i1", "ByteStorage": "<u1", "BoolStorage": "?",
}  # fmt: skip


class _Inert:
    """What a checkpoint has beside tensors: takes whatever it is given, and does nothing with it."""

    def __init__(self, *_: Any, **__: Any):
        pass

    def __setstate__(self, _: Any) -> None:
        pass

    def __setitem__(self, _: Any, __: Any) -> None:
        pass

    def append(self, _: Any) -> None:
        """An element of a list."""

    def extend(self, _: Any) -> None:
        """Elements of a list."""


class _Dictionary(dict[Any, Any]):
    """An ordered dictionary, whose attributes are left out."""

    def __setstate__(self, _: Any) -> None:
        pass


def _tensor(storage: Any, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], *_: Any) -> Any:
    if not isinstance(storage, np.ndarray):
        return _Inert()
    ends = offset + sum((length - 1) * stride for length, stride in zip(shape, strides))
    if len(shape) != len(strides) or min((offset, *shape, *strides), default=0) < 0 or (0 not in shape and ends >= len(storage)):
        raise Error(f"checkpoint: a tensor of shape {shape} is larger than what is stored of it: the file is damaged")
    steps = tuple(stride * storage.itemsize for stride in strides)
    return np.lib.stride_tricks.as_strided(storage[offset:], shape, steps, writeable=False).copy()


class _Reader(pickle.Unpickler):
    """Tensors, dictionaries and numbers; everything else is inert."""

    def __init__(self, file: zipfile.ZipFile, name: str):
        super().__init__(file.open(name))
        self._file, self._folder = file, name[: -len("data.pkl")]

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _tensor
        if (module, name) == ("torch._utils", "_rebuild_parameter"):
            return lambda data, *_: data
        if module == "torch" and name in _DTYPES:
            return np.dtype(_DTYPES[name])
        if (module, name) == ("collections", "OrderedDict"):
            return _Dictionary
        return type(name, (_Inert,), {})

    def persistent_load(self, pid: Any) -> Any:
        kind, dtype, key = pid[:3]
        if kind != "storage" or not isinstance(dtype, np.dtype):
            return _Inert()
        return np.frombuffer(self._file.read(f"{self._folder}data/{key}"), dtype)


def tensors(path: str | os.PathLike[str] | IO[bytes]) -> dict[str, NDArray[Any]]:
    """All tensors of a checkpoint by their names: of its ``state_dict``, where it has more than that."""
    try:
        with zipfile.ZipFile(path) as file:
            (name,) = (name for name in file.namelist() if name.split("/")[-1] == "data.pkl")
            found: Any = _Reader(file, name).load()
    except OSError:
        raise
    except Error:
        raise
    except Exception as error:
        if isinstance(error, zipfile.BadZipFile):
            raise Error("checkpoint: it is no .pt file of PyTorch 1.6 or later: save it with torch.save") from None
        raise Error(f"checkpoint: it cannot be read ({type(error).__name__}): save its state_dict with torch.save") from None
    for key in ("model_state_dict", "state_dict"):
        if isinstance(found, dict) and isinstance(found.get(key), dict):
            found = found[key]
    if not isinstance(found, dict):
        raise Error("checkpoint: it is no dictionary of tensors: save the state_dict of the model")
    return {name: tensor for name, tensor in found.items() if isinstance(tensor, np.ndarray)}


def weights(path: str | os.PathLike[str] | IO[bytes]) -> NDArray[np.complex64]:
    """W of a checkpoint, complex64 [rows, inputs]: its one complex matrix, or the real and the imaginary part of one, as the
    authors of the paper store it (``layers.0.W.real`` and ``layers.0.W.imag``)."""
    known = tensors(path)
    found = {name: tensor for name, tensor in known.items() if tensor.ndim == 2 and tensor.dtype.kind == "c"}
    for name, real in known.items():
        imaginary = known.get(f"{name[: -len('.real')]}.imag") if name.endswith(".real") else None
        if imaginary is not None and real.ndim == 2 and real.shape == imaginary.shape:
            found[name] = real + 1j * imaginary
    if len(found) != 1:
        raise Error(f"checkpoint: it has {len(found)} complex matrices among {sorted(known)}: take one of tensors(path), and Model(W)")
    return next(iter(found.values())).astype(np.complex64)


def state(model: Model) -> dict[str, NDArray[np.float32]]:
    """W as the authors' modules name its parts. ``torch.save({"model_state_dict": {k: torch.from_numpy(v) for k, v in
    state(model).items()}}, path)`` is a checkpoint of it."""
    return {f"layers.0.W.{name}": np.ascontiguousarray(part) for name, part in (("imag", model.W.imag), ("real", model.W.real))}
