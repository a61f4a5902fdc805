"""What can be made again is found by paper, kind and number, or said not to be there."""

from __future__ import annotations

import pytest

from narcissus.errors import InputError
from narcissus_papers import ITEMS, PAPERS, Given, Item, Reproduced, chosen, reproduce

LONG = 20.0  # seconds on one core


def test_items_are_named_as_they_stand_in_their_paper():
    for name, item in ITEMS.items():
        number = item.number.lower().replace(" ", "-")
        assert name == item.name == f"{item.paper}/{item.kind}-{number}"
        assert item.paper in PAPERS
        assert item.seconds > 0


def test_a_figure_is_all_of_its_parts():
    assert [i.number for i in chosen("001", "figure", "2")] == ["2a", "2b"]
    assert [i.number for i in chosen("001", "figure", "2b")] == ["2b"]
    assert chosen(None, None, None) == list(ITEMS.values())


def test_what_is_not_there_is_named_with_what_is():
    with pytest.raises(InputError, match=r"figure 99 of paper 001.*figure 2a"):
        chosen("001", "figure", "99")
    with pytest.raises(InputError, match=r"no paper '01'.*001"):
        chosen("01", None, None)


def test_a_statement_is_found_by_its_number_alone(monkeypatch):
    made = Item("001", "statement", "Theorem 3.2", "says", 1.0, lambda _given: Reproduced())
    assert made.name == "001/statement-theorem-3.2"
    monkeypatch.setitem(ITEMS, made.name, made)
    for asked in ("3.2", "Theorem 3.2", "theorem 3.2"):
        assert chosen("001", "statement", asked) == [made]
    with pytest.raises(InputError, match=r"statement 3 of paper 001"):
        chosen("001", "statement", "3")


LONG_ITEMS = [name for name, item in ITEMS.items() if item.pieces]


def alike(piece):
    """Name the pieces that run the same code: source, attacks, whether a distance is allowed."""
    source, *rest = piece.split("/")
    return source, rest[1:], rest[:1] == ["0"]


@pytest.mark.parametrize("name", [name for name in LONG_ITEMS if name.startswith("001/figure-")])
def test_a_long_item_reads_what_its_own_pieces_answer(name):
    """One release of a piece of each sort, by its own code, stands for all that are alike."""
    item = ITEMS[name].smallest()
    known, answers = [], {}
    for piece, play in item.pieces.items():
        sort = piece if name == "001/figure-3" else alike(piece)
        if sort not in [one for one, _ in known]:
            known.append((sort, play(Given())))
        answers[piece] = next(answer for one, answer in known if one == sort)
    made = item.make(Given(answers))
    assert made.panels
    assert made.held


@pytest.mark.nightly
@pytest.mark.parametrize("name", LONG_ITEMS)
def test_a_long_item_is_made_of_its_own_pieces(name):
    """One release or trial of each piece, by its own code: what the item reads of them is there."""
    [(_, made)] = reproduce([ITEMS[name].smallest()], engine="serial")
    assert made.failed == ""
    assert made.panels


def test_every_long_item_can_be_made_small():
    long = [item for item in ITEMS.values() if item.pieces or item.seconds >= LONG]
    assert len(long) >= 7
    for item in long:
        assert item.pieces, item.name
        assert item.small, item.name
