"""Run the notebooks in this folder and store what their cells give.

The cells of a notebook are its source: change them in Jupyter or here, and run this. It needs no
Jupyter: code cells run in order, as it would run them, and give what they print, the value of
their last line, and the figures that they leave open.

    python docs/notebooks/make.py            # run and store
    python docs/notebooks/make.py --check    # exit 1 if a cell gives another text than is stored
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib import pyplot

NOTEBOOKS = sorted(Path(__file__).resolve().parent.glob("*.ipynb"))
DPI = 72
WIDE = ("display.width", 120, "display.max_columns", 20)
"""So that a data frame is stored whole, whatever the terminal."""

Json = dict[str, Any]


def executed(notebook: Json) -> Json:
    """Give a notebook with the outputs that its code cells have when they run in order."""
    mpl.use("agg")
    pyplot.close("all")  # figures that somebody else left open are none of this notebook's
    namespace: Json = {"__name__": "__main__"}
    cells: list[Json] = []
    number = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            number += 1
            outputs = _outputs("".join(cell["source"]), namespace, number)
            cells.append({**cell, "execution_count": number, "outputs": outputs})
        else:
            cells.append(cell)
    return {**notebook, "cells": cells}


def _outputs(source: str, namespace: Json, number: int) -> list[Json]:
    """Run a cell; give what it prints, its last value and its figures as a notebook holds them."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"cell {number}", "exec"), namespace)
        value = None
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "last line", "eval"), namespace)
    outputs: list[Json] = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        outputs.append({"output_type": "stream", "name": "stdout", "text": text})
    figures = [pyplot.figure(n) for n in pyplot.get_fignums()]
    if value is not None and not figures:  # a figure is shown for the axes that a cell ends with
        with pd.option_context(*WIDE):
            data = {"text/plain": repr(value).splitlines(keepends=True)}
        if isinstance(value, pd.DataFrame):
            data["text/html"] = value.to_html().splitlines(keepends=True)
        outputs.append(
            {
                "output_type": "execute_result",
                "execution_count": number,
                "data": data,
                "metadata": {},
            }
        )
    for figure in figures:
        picture = io.BytesIO()
        figure.savefig(picture, dpi=DPI, metadata={"Software": None})
        drawn = {"image/png": base64.b64encode(picture.getvalue()).decode() + "\n"}
        outputs.append({"output_type": "display_data", "data": drawn, "metadata": {}})
    pyplot.close("all")
    return outputs


def texts(notebook: Json) -> list[list[Any]]:
    """Give what each code cell says, but for pictures, whose bytes differ between versions."""
    return [
        [
            output.get("text") or output["data"].get("text/plain") or "picture"
            for output in cell["outputs"]
        ]
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    ]


def main() -> int:
    """Run all notebooks, and store or compare."""
    differ = False
    for path in NOTEBOOKS:
        stored = json.loads(path.read_text(encoding="utf-8"))
        found = executed(stored)
        if "--check" not in sys.argv:
            text = json.dumps(found, indent=1, ensure_ascii=False)
            path.write_text(text + "\n", encoding="utf-8")
        elif texts(found) != texts(stored):
            differ = True
            print(f"{path.name} gives something else now: run `make notebooks`")
    return int(differ)


if __name__ == "__main__":
    sys.exit(main())
