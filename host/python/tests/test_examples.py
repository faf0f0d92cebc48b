"""The examples run from beginning to end, and each leaves a model for a device."""

import contextlib
import io
from pathlib import Path

import pytest

from bispectral import Model

FOLDER = Path(__file__).parent.parent / "examples"


@pytest.mark.parametrize("name, group", [("outlines", "Z64"), ("images", "D4"), ("motor", "Z128")])
def test_an_example_ends_with_a_model_for_a_device(name, group, tmp_path, monkeypatch):
    if not FOLDER.exists():
        pytest.skip("run by tests/python.sh")
    pytest.importorskip("sklearn")
    monkeypatch.chdir(tmp_path)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile((FOLDER / f"{name}.py").read_text(), name, "exec"), {})
    assert Model.load(tmp_path / f"{name}.bsn").group == group
    assert "brute force" in printed.getvalue() and "bytes of flash" in printed.getvalue()
