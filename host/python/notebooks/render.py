"""Executes the notebooks and writes a page of each: Markdown, with its pictures as SVG files beside it.

    python host/python/notebooks/render.py [FOLDER [NAME …]]      docs/notebooks, and all of them, where nothing is named

The notebooks are kept without outputs, so that a change of one is a change of its words or its code; the pages have both. Needs
nbclient, ipykernel and matplotlib beside the wheel.
"""

import base64
import html
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parent
PAGES = NOTEBOOKS.parent.parent.parent / "docs" / "notebooks"
# Larger pictures (of a table with thousands of cells) are left out of the page, which says so.
MOST_BYTES = 60_000
# A cell takes seconds at most; the rest is for a busy machine.
SECONDS = 300


def execute(path, folder):
    """The notebook with its outputs; what it writes goes to ``folder``."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=SECONDS, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
    return notebook


def table(rows):
    """A Markdown table of an HTML one."""
    rows = [[html.unescape(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in re.findall("<tr>(.*?)</tr>", rows)]
    rows = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in [rows[0], ["---"] * len(rows[0]), *rows[1:]])


def page(notebook, name):
    """The page as Markdown, and its pictures by their file names."""
    parts, pictures = [f"<!-- Written by host/python/notebooks/render.py from {name}.ipynb. -->"], {}

    def picture(svg, title):
        file = f"{name}-{len(pictures) + 1}.svg"
        svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", svg[svg.index("<svg") :], flags=re.DOTALL)
        svg = re.sub(r"[ \t]*\n\s*", "\n", svg).strip() + "\n"
        if len(svg) > MOST_BYTES:
            return f"*({title}: in the notebook)*"
        pictures[file] = svg
        return f"![{title}]({file})"

    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        for output in cell.outputs:
            data = output.get("data", {})
            if output.output_type == "stream":
                parts.append("\n".join(f"    {line}".rstrip() for line in output.text.rstrip().splitlines()))
            elif "image/svg+xml" in data:
                parts.append(picture(data["image/svg+xml"], "picture"))
            elif "text/html" in data:
                shown = data["text/html"]
                parts.append(table(shown.split("</table>")[0]))
                for title, coded in re.findall(r"<img alt='([^']*)'[^>]*base64,([^']*)'", shown):
                    parts.append(picture(base64.b64decode(coded).decode(), title))
            elif "text/plain" in data:
                parts.append("\n".join(f"    {line}" for line in data["text/plain"].splitlines()))
    return "\n\n".join(parts) + "\n", pictures


def main(folder=PAGES, *names):
    folder = Path(folder)
    folder.mkdir(exist_ok=True)
    for name in names or sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb")):
        with tempfile.TemporaryDirectory() as temporary:
            text, pictures = page(execute(NOTEBOOKS / f"{name}.ipynb", temporary), name)
        for old in folder.glob(f"{name}-*.svg"):
            old.unlink()
        for file, svg in {f"{name}.md": text, **pictures}.items():
            (folder / file).write_text(svg)
        print(f"{folder / name}.md, {len(pictures)} pictures, {sum(len(svg) for svg in pictures.values())} bytes of them")


if __name__ == "__main__":
    main(*sys.argv[1:])
