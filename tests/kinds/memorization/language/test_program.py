"""The program of a study: run on the folder of the model, beside the reference model's."""

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.extraction.canaries import CanaryPlan
from narcissus.extraction.language_models import ModelsUnderStudy, TrainedCharacterNgram
from narcissus.extraction.recovered import Division, TextDocument
from narcissus.extraction.sandbox import IsolationError, check_isolation
from narcissus.kinds.memorization.language.kind import program_evidence, refuse_program
from narcissus.observer import SILENT
from narcissus.study.kinds import RunOptions

PROGRAM = "import pathlib\nprint(pathlib.Path('release/text.npy').read_bytes()[128:].decode())\n"


def test_a_model_in_memory_can_be_given_to_no_program():
    with pytest.raises(InputError, match="model folder"):
        refuse_program(TrainedCharacterNgram())


def test_a_program_is_held_against_the_reference_model_and_fresh_documents(load, tmp_path):
    try:
        check_isolation()
    except IsolationError as error:
        pytest.skip(f"this machine lacks it: {error}")
    (tmp_path / "read.py").write_text(PROGRAM)
    rng = np.random.default_rng(3)
    texts = ["".join(rng.choice(list("abcdefghij"), 300)) for _ in range(3)]
    folders = []
    for name, text in zip(("model", "reference"), (texts[0], texts[2]), strict=True):
        (tmp_path / name).mkdir()
        np.save(tmp_path / name / "text.npy", np.frombuffer(text.encode(), np.uint8))
        folders.append(tmp_path / name)
    settings = load().settings
    section = {
        "path": "read.py",
        "runs": 10,
        "server": False,
        "relation": {"name": "strings", "bytes_each": 40},
    }
    model = type(settings).model_fields["program"].annotation.__args__[0]
    study = settings.model_copy(update={"program": model.model_validate(section)})
    division = Division(
        (TextDocument(texts[0]),), (TextDocument(texts[1]),), (TextDocument(texts[2]),)
    )
    models = ModelsUnderStudy(None, None, folders[0], folders[1], 1)
    planted = CanaryPlan(each=1, copies=(1,)).plant(1)
    options = RunOptions(1, SILENT)
    found = program_evidence(study, models, division, planted, tmp_path, options)
    assert found.verdict == "extraction"
    assert found.success.value == 1
    assert found.stand_ins["the release the reference model"].value == 0
    assert found.success_on_shadow.value == 0
    none = settings.model_copy(update={"program": None})
    assert program_evidence(none, models, division, (), tmp_path, options) is None
