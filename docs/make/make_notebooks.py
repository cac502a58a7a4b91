"""Runs the notebooks and stores what their cells print and draw: `make notebooks`, then look at them.

python docs/make/make_notebooks.py [NAME ...]     NAME such as four-bar-lecture; all notebooks if there is none

    executed(book)      the outputs of every code cell, in the format of notebooks
    page(book, name)    a notebook as Markdown for the site, and its pictures by file name

A mechanism is stored as its picture: its live page, which a notebook shows, has a megabyte. Pictures have a palette and less than 60 KB.
"""

from __future__ import annotations

import ast
import base64
import io
import json
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
MOST = 60_000  # bytes of a picture
INCHES = (6.4, 3.6)  # of the picture of a mechanism


def executed(book: dict[str, Any], name: str) -> list[list[dict[str, Any]]]:
    """Run the code cells one after another and return the outputs of each."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    codes = [c for c in book["cells"] if c["cell_type"] == "code"]
    return [outputs("".join(c["source"]), namespace, f"{name}, code cell {k}", k) for k, c in enumerate(codes, 1)]


def outputs(source: str, namespace: dict[str, Any], place: str, count: int) -> list[dict[str, Any]]:
    """Run a cell: what it prints, and the value of its last expression."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with redirect_stdout(printed):
        exec(compile(ast.Module(body, []), place, "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), place, "eval"), namespace)
    out: list[dict[str, Any]] = []
    if printed.getvalue():
        out.append({"output_type": "stream", "name": "stdout", "text": lines(printed.getvalue())})
    if value is not None:
        out.append({"output_type": "execute_result", "execution_count": count, "data": shown(value), "metadata": {}})
    return out


def shown(value: Any) -> dict[str, Any]:
    """A value as text, and as a picture where it has one."""
    figure = value.plot("mechanism", size=INCHES) if hasattr(value, "cycle") else value if hasattr(value, "savefig") else None
    if figure is None:
        return {"text/plain": lines(repr(value))}
    kind = "mechanism" if figure is not value else "figure"
    return {"image/png": base64.b64encode(small(figure)).decode(), "text/plain": [f"<{kind}>"]}


def small(figure: Any) -> bytes:
    """A figure as PNG with as many colors as the size allows."""
    from PIL import Image

    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=100)
    picture = Image.open(drawn).convert("RGB")
    out = io.BytesIO()
    for colors in (96, 48, 24, 12):
        out = io.BytesIO()
        picture.quantize(colors, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
        if out.tell() < MOST:
            break
    return out.getvalue()


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def page(book: dict[str, Any], name: str) -> tuple[str, dict[str, bytes]]:
    """A notebook as Markdown, with links to its pictures, and the pictures."""
    title, *rest = book["cells"]
    parts = ["".join(title["source"]), f'<a class="md-button" href="{name}.ipynb" download>Download the notebook</a>']
    pictures: dict[str, bytes] = {}
    for cell in rest:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(text)
            continue
        parts.append(f"```python\n{text}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {"text/plain": output.get("text", [])})
            if "image/png" in data:
                file = f"{name}-{len(pictures) + 1}.png"
                pictures[file] = base64.b64decode(data["image/png"])
                parts.append(f"![Output of the cell above]({file})")
            else:
                parts.append("``` { .text .output }\n" + "".join(data["text/plain"]).rstrip("\n") + "\n```")
    return "\n\n".join(parts) + "\n", pictures


def main(names: Sequence[str]) -> None:
    for path in NOTEBOOKS:
        if names and path.stem not in names:
            continue
        book = json.loads(path.read_text(encoding="utf-8"))
        codes = [c for c in book["cells"] if c["cell_type"] == "code"]
        for count, (cell, found) in enumerate(zip(codes, executed(book, path.name), strict=True), 1):
            cell["outputs"], cell["execution_count"] = found, count
        path.write_text(json.dumps(book, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} KB")


if __name__ == "__main__":
    main(sys.argv[1:])
