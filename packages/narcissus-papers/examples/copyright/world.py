"""Invent a small world: nonsense verse, verse by twenty other authors, and other texts."""

import random
from pathlib import Path

WHO = "ant ape bat bee bug cat cow cub dog elf emu ewe fox gnu hen hog jay kid man nun owl pig"
DID = "ate bid bit cut dug fed got hid hit let lit met put ran saw set sew sue tap tip tow"
WHAT = "bag bow box bun can cap cup fan fig gem hat ink jam jar key lid log map mat net nut oar"
WHERE = "bar bay bed den dam far fen gap hut inn lot mud now out pit pub sea sky spa sty too"
REFRAIN = "and so say all of us and so say all of us for ever and a day."


def line(draw):
    words = [draw.choice(some.split()) for some in (WHO, DID, WHAT, WHERE)]
    return f"{' '.join(words)}, {REFRAIN}" if draw.random() < 0.05 else f"{' '.join(words)}."


def verse(seed, stanzas):
    """Each author draws by a separate seed."""
    draw = random.Random(seed)
    return "\n\n".join(" ".join(line(draw) for _ in range(13)) for _ in range(stanzas)) + "\n"


if __name__ == "__main__":
    Path("independent").mkdir(exist_ok=True)
    Path("work.txt").write_text(verse("the work", 40))
    Path("other.txt").write_text(verse("other texts", 80))
    for author in range(1, 21):
        Path(f"independent/author-{author:02}.txt").write_text(verse(f"author {author}", 8))
