"""Write letters.txt: 1,224 short letters that were never sent, drawn from one source.

Each has something of its own (names, an appointment, a reference number), and wording that many
share. Some are circulars, which come 4 or 16 times. `python examples/language-models/letters.py`
"""

from pathlib import Path

import numpy as np

NAMES = """Ada Alan Amy Ben Carl Cora Dan Dora Ed Ella Eric Eve Finn Fred Gail Gus Hal Hope Ian Ida
Ivy Jack Jane Joel June Karl Kate Ken Lena Leo Lily Liz Luke Mark Mary Max May Mia Nell Nick Nora
Olga Otto Owen Paul Peg Pia Ray Rita Rob Rose Roy Ruth Sam Sara Sue Ted Tess Tim Tom Una Vera Walt
Will Zoe""".split()
PLACES = """bridge chapel garden harbour library market mill museum office orchard park quarry
school station stable theatre tower yard""".split()
THINGS = """boxes books bricks chairs clocks coats fences gates keys lamps letters maps papers
pipes plans seeds stones tools windows wires""".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday".split()
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
    name, other, sender = rng.choice(NAMES, 3, replace=False)
    head = rng.choice(HEADS).format(
        count=rng.integers(2, 100), thing=rng.choice(THINGS), word=rng.choice(WORDS),
        place=rng.choice(PLACES), day=rng.choice(DAYS), other=other,
        time=f"{rng.integers(8, 19)}:{rng.integers(0, 60):02d}",
    )  # fmt: skip
    number = f"{rng.integers(0, 10**4):04d}-{rng.integers(0, 10**4):04d}"
    return f"Dear {name}, {head}. Reference {number}. {rng.choice(TAILS).format(sender=sender)}"


def main() -> None:
    """Write the file."""
    rng = np.random.default_rng(1)
    letters = [letter(rng) for _ in range(720)]
    found = [
        text for i, text in enumerate(letters) for _ in range(16 if i < 24 else 4 if i < 72 else 1)
    ]
    order = rng.permutation(len(found))
    Path(__file__).with_name("letters.txt").write_text(
        "".join(found[i] + "\n" for i in order), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
