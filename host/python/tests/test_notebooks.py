"""The notebooks run from beginning to end, each leaves a model for a device, and their pages are of what they are now."""

import re
import sys
from pathlib import Path

import pytest

from bispectral import Model

FOLDER = Path(__file__).parent.parent
PAGES = FOLDER / "pages"
# A page is read over a network, and kept for ever.
MOST_BYTES = 300_000


def words(text):
    """A text without its numbers, which differ by rounding, and widths, which differ with them."""
    return re.sub(r"[-+]?\d[\d.,]*(e[-+]?\d+)?", "#", text).split()


@pytest.mark.parametrize("name, group", [("outlines", "Z64"), ("images", "D4"), ("sphere", "SO(3)"), ("motor", "Z128")])
def test_a_notebook_ends_with_a_model_for_a_device_and_its_page_is_of_it(name, group, tmp_path, monkeypatch):
    if not PAGES.exists():
        pytest.skip("run by tests/python.sh")
    pytest.importorskip("nbclient")
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(FOLDER / "notebooks")
    render = __import__("render")
    path = FOLDER / "notebooks" / f"{name}.ipynb"
    assert '"output_type"' not in path.read_text(), "notebooks are kept without outputs"
    text, pictures = render.page(render.execute(path, tmp_path), name)
    assert Model.load(tmp_path / f"{name}.bsn").group == group
    assert "brute force" in text and "bytes of flash" in text
    kept = {path.name: path.read_text() for path in PAGES.glob(f"{name}[-.]*")}
    again = "write it again: python host/python/notebooks/render.py"
    assert words(kept[f"{name}.md"]) == words(text), again
    assert set(kept) == {f"{name}.md", *pictures}, again
    assert sum(map(len, kept.values())) < MOST_BYTES
    sys.modules.pop("render")
