"""A run of a program on a model folder: alone, and forked from a server that keeps the model open.

Processor time, as the clock says little on a busy machine. Needs the extra `language`; the weights
are random.
"""

import importlib.util
import resource
import tempfile
from pathlib import Path

from narcissus.extraction import Limits, can_serve, run_program, run_programs
from narcissus.extraction.language_models import TransformerTraining
from narcissus.extraction.recovered import TextDocument

ASK = b"""from transformers import pipeline
write = pipeline("text-generation", "release")
print(write("The", max_new_tokens=8, do_sample=False))
"""
IMPORT = b"from transformers import pipeline\nprint(pipeline)\n"
SIZES = {"1 MB": (2, 96), "100 MB": (8, 512)}  # layers, width
LIMITS = Limits(memory=2**33)


def spent() -> float:
    """Processor time of all processes that have ended, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def served(program: bytes, model: Path, runs: int) -> float:
    """Processor time of some runs, and of their server."""
    before = spent()
    done = run_programs(program, model, LIMITS, runs)
    assert all(run.ending == "finished" for run in done), done[0].error
    return spent() - before


def main(runs: int = 10) -> None:
    if not (importlib.util.find_spec("transformers") and can_serve()):
        print("nothing is measured: it takes the extra `language`, and namespaces")
        return
    print("model    program    alone  server  a run of it (s)")
    for size, (layers, width) in SIZES.items():
        with tempfile.TemporaryDirectory() as place:
            model = Path(place)
            model.chmod(0o755)
            training = TransformerTraining(layers=layers, width=width, epochs=1)
            training.train([TextDocument("The end.", 1)], model, rng=1)
            for name, program in {"imports": IMPORT, "asks": ASK}.items():
                before = spent()
                alone = run_program(program, model, LIMITS)
                assert alone.ending == "finished", alone.error
                alone_took = spent() - before
                first = served(program, model, 1)
                each = (served(program, model, 1 + runs) - first) / runs
                print(f"{size:8} {name:8} {alone_took:7.2f} {first:7.2f} {each:8.3f}", flush=True)


if __name__ == "__main__":
    main()
