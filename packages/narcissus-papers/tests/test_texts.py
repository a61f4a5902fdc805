"""What was made comes back from its text as it was."""

from __future__ import annotations

import json
import math

import numpy as np

from narcissus_papers import Held, Item, Line, Panel, Printed, Quote, Reproduced
from narcissus_papers.texts import as_dict, plain, read, write

QUOTE = Quote("1.0", "it is 1.0", "section 1")
HELD = Held("it is so", holds=True, shown="proved")


def test_all_of_it_comes_back():
    line = Line("ours", [1.0, 2.0], [0.1, math.inf], "points")
    made = Reproduced(
        panels=(Panel("a", "x", "y", (line,), log_x=True),),
        printed=(Printed("p", QUOTE, 1.25, "why", "chosen", 0.5), Printed("q", None, 2.0)),
        held=(
            Held("it is so", holds=True, shown="proved"),
            Held("it is not", holds=False, shown="proved", because="see", quote=QUOTE),
        ),
        notes=("one", "two"),
        table=(("name", "count"), ("a", 3), ("b", 3.0)),
    )
    found = read(write(made))
    assert found == made
    assert [type(row[1]) for row in found.table[1:]] == [int, float]
    assert read(write(found)) == found


def test_numbers_and_arrays_of_numpy_are_those_of_json():
    told = {"a": np.float64(0.1), "b": np.arange(3), "c": np.bool_(True)}
    assert json.loads(plain(told)) == {"a": 0.1, "b": [0, 1, 2], "c": True}
    line = Line("ours", np.linspace(0, 1, 3), np.zeros(3))
    [panel] = read(write(Reproduced(panels=(Panel("a", "x", "y", [line]),)))).panels
    assert panel.lines[0].x == [0.0, 0.5, 1.0]
    [panel] = read(
        write(Reproduced(panels=(Panel("a", "x", "y", [Line("l", range(2), (3, 4))]),)))
    ).panels
    assert panel.lines[0].x == [0, 1]


def test_a_dictionary_has_the_verdict_and_the_rows():
    printed = (Printed("p", QUOTE, 2.0, "why"), Printed("q", None, 2.0))
    made = Reproduced(printed=printed, held=(HELD,), table=(("a",), (1.5,)))
    found = as_dict(Item("001", "table", "1", "t", 1.0, lambda _given: made), made)
    assert (found["verdict"], found["because"], found["data"]) == ("differs", "why", [["a"], [1.5]])
    first, second = found["printed"]
    assert (first["word"], first["paper"], first["within"]) == ("differs", 1.0, 0.05)
    assert (first["quote"], first["place"]) == ("it is 1.0", "section 1")
    assert (second["word"], second["paper"], second["quote"]) == ("no number in print", None, None)
    assert (found["held"][0]["holds"], found["held"][0]["place"]) == (True, None)
