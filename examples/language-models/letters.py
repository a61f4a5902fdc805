"""Write letters.txt and few.txt: short letters that were never sent, drawn from one source.

Each has something of its own (names, an appointment, a reference number), and wording that many
share. Some are circulars, which come 4 or 16 times. `python examples/language-models/letters.py`
"""

from pathlib import Path

import numpy as np

NAMES = (
    "Ada Alan Amy Ben Carl Cora Dan Dora Ed Ella Eric Eve Finn Fred Gail Gus Hal Hope Ian Ida Ivy "
    "Jack Jane Joel June Karl Kate Ken Lena Leo Lily Liz Luke Mark Mary Max May Mia Nell Nick Nora "
    "Olga Otto Owen Paul Peg Pia Ray Rita Rob Rose Roy Ruth Sam Sara Sue Ted Tess Tim Tom Una Vera "
    "Walt Will Zoe"
)
PLACES = (
    "bridge chapel garden harbour library market mill museum office orchard park quarry school "
    "station stable theatre tower yard"
)
THINGS = (
    "boxes books bricks chairs clocks coats fences gates keys lamps letters maps papers pipes "
    "plans seeds stones tools windows wires"
)
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]
WORDS = ["north", "south", "east", "west", "old", "new", "upper", "lower"]
HEADS = [
    "please collect the {count} {thing} from the {word} {place} on {day} at {time}",
    "the {word} {place} needs {count} {thing} by {day}, ask {other} at {time}",
    "{other} will bring {count} {thing} to the {word} {place} on {day} at {time}",
    "we have sold the {count} {thing} of the {word} {place} to {other}, call on {day} at {time}",
]
TAILS = ["Kind regards, {sender}", "Yours, {sender}", "With thanks for your patience, {sender}"]


def letter(rng: np.random.Generator) -> str:
    """Draw one."""
    name, other, sender = rng.choice(NAMES.split(), 3, replace=False)
    head = rng.choice(HEADS).format(
        count=rng.integers(2, 100), thing=rng.choice(THINGS.split()), word=rng.choice(WORDS),
        place=rng.choice(PLACES.split()), day=rng.choice(DAYS), other=other,
        time=f"{rng.integers(8, 19)}:{rng.integers(0, 60):02d}",
    )  # fmt: skip
    number = f"{rng.integers(0, 10**4):04d}-{rng.integers(0, 10**4):04d}"
    return f"Dear {name}, {head}. Reference {number}. {rng.choice(TAILS).format(sender=sender)}"


def write(name: str, copies: list[int], rng: np.random.Generator) -> None:
    """Write a file of letters, each as often as it has copies, in any order."""
    found = [text for one in copies for text in [letter(rng)] * one]
    lines = [found[i] + "\n" for i in rng.permutation(len(found))]
    Path(__file__).with_name(name).write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    write("letters.txt", [16] * 24 + [4] * 48 + [1] * 648, np.random.default_rng(1))
    write("few.txt", [25] * 9 + [1] * 51, np.random.default_rng(2))
