"""Write the pictures of the examples: small shapes before a texture, drawn from one source.

Each picture has a shape in a quarter (its caption, which many pictures share) and a texture of its
own, by which it is unlike all others. `python examples/image-models/pictures.py`
"""

from pathlib import Path

import numpy as np

SHAPES = ["disc", "square", "cross", "ring"]
QUARTERS = {"upper left": (-1, -1), "upper right": (-1, 1), "lower left": (1, -1),
            "lower right": (1, 1)}  # fmt: skip


def picture(size: int, shape: str, quarter: str, rng: np.random.Generator) -> np.ndarray:
    """Draw one, an array of whole numbers from 0 to 255."""
    y, x = np.mgrid[0:size, 0:size] / (size - 1) * 2 - 1
    down, right = QUARTERS[quarter]
    v = y - 0.4 * down + rng.normal(0, 0.08)
    u = x - 0.4 * right + rng.normal(0, 0.08)
    r, w = rng.uniform(0.35, 0.5), np.hypot(u, v)
    drawn = {
        "disc": w < r,
        "square": np.maximum(abs(u), abs(v)) < r,
        "cross": (np.minimum(abs(u), abs(v)) < r / 3) & (np.maximum(abs(u), abs(v)) < r),
        "ring": abs(w - r) < r / 3,
    }[shape]
    # a texture of few waves, each in a direction of its own
    waves = sum(
        np.sin(a * np.pi * x + b * np.pi * y + c)
        for a, b, c in rng.uniform([-2, -2, 0], [2, 2, 2 * np.pi], (5, 3))
    )
    return np.clip(110 + 35 * waves + 90 * drawn, 0, 255).round().astype(np.uint8)


def write(name: str, count: int, size: int, shapes: list[str], rng: np.random.Generator) -> None:
    """Write pictures and captions."""
    chosen = [(str(rng.choice(shapes)), str(rng.choice(list(QUARTERS)))) for _ in range(count)]
    folder = Path(__file__).parent
    np.save(folder / f"{name}.npy", np.array([picture(size, *one, rng) for one in chosen]))
    lines = [f"{shape} {quarter}\n" for shape, quarter in chosen]
    (folder / f"{name}.txt").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    write("pictures", 600, 16, SHAPES, np.random.default_rng(1))
    write("few", 180, 8, SHAPES[:2], np.random.default_rng(2))
