"""The example of the READMEs is short, and prints what they say."""

import contextlib
import io
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent


@pytest.mark.parametrize("file", ["README.md", "README.project.md"])
def test_the_example_prints_what_the_readme_says(file, tmp_path, monkeypatch):
    if not (FOLDER / file).exists():
        pytest.skip("run by tests/python.sh")
    program, rest = (FOLDER / file).read_text().split("```python", 1)[1].split("```", 1)
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(program, file, "exec"), {})
    shown = [line[4:] for line in rest.splitlines()[:4] if line.startswith("    ")]
    assert printed.getvalue().splitlines() == shown
    assert (tmp_path / "model.bsn").exists() and len(program.strip().splitlines()) <= 12

