"""A model as an ONNX graph: signals [samples, N] in, real invariants [samples, 2·pairs] out.

β_ij = z_i z_j conj(z_ij) with z = W x and z_ij = (W_i ⊙ W_j) x, divided by ‖β‖: products of matrices, gathers, sums and a root,
which every runtime has. Products of rows are constants, 8·pairs·N bytes of the file: take few pairs where N is large. Scaled by
its largest value first, a signal may be of any size that float32 holds.

>>> from bispectral import Model
>>> from bispectral.onnx import export
>>> export(Model.of_group("Z16").export(pairs="selective")).graph.output[0].name
'invariants'
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ._bispectral import Error
from ._model import Model
from ._optional import needed

__all__ = ["export"]

_OPSET = 13


def export(model: Model, path: str | os.PathLike[str] | None = None) -> Any:
    """The graph, written to ``path`` where one is given; needs the package ``onnx``."""
    onnx = needed("onnx", "onnx")
    from onnx import TensorProto, helper, numpy_helper

    pairs, W = model.pairs, model.W
    if not len(pairs):
        raise Error("model: it has no pairs of rows: export a bispectrum")
    i, j = pairs.T
    products = W[i] * W[j]
    constants = {
        "w_re": W.real.T, "w_im": W.imag.T, "p_re": products.real.T, "p_im": products.imag.T,
        "i": i, "j": j, "axis": np.array([1]), "last": np.array([2]), "shape": np.array([0, -1]),
    }  # fmt: skip

    def of(operator: str, inputs: str, output: str, **attributes: Any) -> Any:
        return helper.make_node(operator, inputs.split(), [output], **attributes)

    nodes = [
        of("Abs", "signals", "abs"),
        of("ReduceMax", "abs", "largest", axes=[1], keepdims=1),
        of("Div", "signals largest", "x"),
        *(of("MatMul", f"x {c}", to) for c, to in (("w_re", "z_re"), ("w_im", "z_im"), ("p_re", "q_re"), ("p_im", "q_im"))),
        *(of("Gather", f"z_{part} {k}", f"{k}_{part}", axis=1) for k in "ij" for part in ("re", "im")),
        # (a + ib)(c + id)
        of("Mul", "i_re j_re", "ac"), of("Mul", "i_im j_im", "bd"), of("Sub", "ac bd", "t_re"),
        of("Mul", "i_re j_im", "ad"), of("Mul", "i_im j_re", "bc"), of("Add", "ad bc", "t_im"),
        # (t)(conj q)
        of("Mul", "t_re q_re", "e"), of("Mul", "t_im q_im", "f"), of("Add", "e f", "b_re"),
        of("Mul", "t_im q_re", "g"), of("Mul", "t_re q_im", "h"), of("Sub", "g h", "b_im"),
        of("Unsqueeze", "b_re last", "c_re"), of("Unsqueeze", "b_im last", "c_im"),
        of("Concat", "c_re c_im", "beside", axis=2),
        of("Reshape", "beside shape", "beta"),
        of("Mul", "beta beta", "squares"), of("ReduceSum", "squares axis", "sum", keepdims=1), of("Sqrt", "sum", "norm"),
        of("Div", "beta norm", "invariants"),
    ]  # fmt: skip
    initial = [
        numpy_helper.from_array(np.ascontiguousarray(value, np.float32 if value.dtype.kind == "f" else np.int64), name)
        for name, value in constants.items()
    ]
    given = helper.make_tensor_value_info("signals", TensorProto.FLOAT, ["samples", model.inputs])
    result = helper.make_tensor_value_info("invariants", TensorProto.FLOAT, ["samples", 2 * len(pairs)])
    graph = helper.make_graph(nodes, model.name or "bispectral", [given], [result], initial)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=8)
    onnx.checker.check_model(made)
    if path is not None:
        onnx.save(made, os.fspath(path))
    return made
