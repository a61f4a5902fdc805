"""The inside of the process of a stranger's model: read it, then answer until the pipe ends.

It runs in the sandbox, with the staged folder as ``release``. Nothing that libraries print is
heard: the answers have a separate descriptor.
"""

import importlib
import os
from pathlib import Path
from typing import Any

import numpy as np


def receive(size: int) -> bytes:
    """Read exactly so many bytes of the requests; end the process where they end."""
    parts: list[bytes] = []
    while size:
        part = os.read(0, min(size, 2**20))
        if not part:
            os._exit(0)
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def send(handle: int, message: bytes) -> None:
    left = memoryview(len(message).to_bytes(8, "big") + message)
    while left:
        left = left[os.write(handle, left) :]


def open_model(asked: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Read the model; return what answers, and what is known of it."""
    torch: Any = importlib.import_module("torch")
    torch.set_num_threads(asked["threads"])  # as many as outside: sums of another order differ
    place, path = Path("release").resolve(), asked["path"]
    if asked["what"] == "images":
        engines: Any = importlib.import_module("narcissus.extraction.image_engine")
        engine = engines.ImageEngine(place, path, "cpu")
        return engine, {"parameters": engine.parameters}
    engines = importlib.import_module("narcissus.extraction.model_engine")
    engine = engines.LanguageEngine(place, path, "cpu")
    return engine, engine.facts.model_dump()


def answer(engine: Any, asked: dict[str, Any], arrays: dict[str, Any]) -> tuple[Any, Any]:
    """Return values and arrays; `narcissus.extraction.model_process` asks."""
    made: dict[str, Any] = {}
    match asked["name"]:
        case "begin":
            engine.begin(asked["number"])
        case "encode":
            made["tokens"] = np.array(engine.encode(asked["text"]), dtype=np.int64)
        case "decode":
            return {"text": engine.decode(asked["tokens"])}, made
        case "state":
            made["state"] = engine.state(asked["seed"])
        case "follow":
            made["tokens"] = engine.follow(asked["prompts"], asked["length"])
        case "score":
            made["scores"] = engine.score(asked["pieces"], asked["asked"])
        case "images":
            arguments = (asked[key] for key in ("seed", "size", "caption", "steps"))
            made["images"] = engine.draw(*arguments)
        case _:
            drawn = engine.draw(arrays["state"], asked["rows"], asked["length"])
            made["tokens"], made["state"] = drawn
    return {}, made


def main() -> None:
    answers = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}
    messages: Any = importlib.import_module("narcissus.extraction._messages")
    errors: Any = importlib.import_module("narcissus.errors")
    files: Any = importlib.import_module("narcissus._files")
    engines: Any = importlib.import_module("narcissus.extraction.model_engine")
    engine: Any = None
    while True:
        request = receive(int.from_bytes(receive(8), "big"))
        question, arrays = messages.unpack(request)
        try:
            if engine is None:
                engine, values = open_model(question)
                made = {}
            else:
                values, made = answer(engine, question, arrays)
        except BaseException as error:
            kind = type(error).__name__ if isinstance(error, errors.NarcissusError) else "other"
            text = str(error) if kind != "other" else files.reason_of(error)
            if engines.ran_out(error):
                kind = "memory"
            values, made = {"error": kind, "message": text[:2000]}, {}
        send(answers, messages.pack(values, made))


if __name__ == "__main__":
    main()
