"""What comes back: a value, or what was raised, with where it was."""

import pytest

from narcissus.errors import InputError, NarcissusError
from narcissus.study.engines.answers import answer, opened


def raising(error):
    def play():
        raise error

    return play


def test_a_value_comes_as_it_was():
    assert opened(answer(lambda: {"a": [1, 2]}), "here") == {"a": [1, 2]}


@pytest.mark.parametrize(
    ("raised", "error", "says"),
    [
        (InputError("so"), InputError, "so"),
        (KeyError("x"), KeyError, "x"),
        (MemoryError(), NarcissusError, r"memory ran out in trial 7 \(MemoryError\)"),
        (SystemExit(3), NarcissusError, r"sys.exit\(3\) was called in trial 7"),
    ],
)
def test_what_was_raised_is_raised_here(raised, error, says):
    with pytest.raises(error, match=says) as caught:
        opened(answer(raising(raised)), "in trial 7")
    notes = " ".join(getattr(caught.value, "__notes__", []))
    assert ("in trial 7" in notes) != ("in trial 7" in str(caught.value))
    assert ("Traceback" in notes) == (error is KeyError)  # ours need none


def test_what_cannot_be_sent_is_told():
    class Odd(Exception):
        def __reduce__(self):
            return int, ("x",)

    with pytest.raises(RuntimeError, match="Odd: so"):
        opened(answer(raising(Odd("so"))), "here")
