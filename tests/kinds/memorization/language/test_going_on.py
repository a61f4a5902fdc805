"""A study of a language model that is stopped in the middle goes on there."""

import signal
import subprocess
import sys
import time

import pytest

import narcissus
from narcissus.extraction.language_models import HuggingFaceGenerator, TransformerTraining
from narcissus.study.reading import read_record

STUDY = """
kind = "language-model"
[data]
documents = "letters.txt"
[model]
name = "transformer"
layers = 1
width = 16
heads = 2
context = 60
epochs = 1
device = "cpu"
[generation]
samples = 96
length = 40
top = 30
window = 20
[completion]
prefix = 20
window = 9
[membership]
[run]
seed = 4
"""


@pytest.fixture
def study(tmp_path, load):
    load()  # writes the documents
    (tmp_path / "study.toml").write_text(STUDY)
    return narcissus.load_study(tmp_path / "study.toml")


@pytest.mark.models
@pytest.mark.parametrize("stop", [2, pytest.param(5, marks=pytest.mark.nightly)])
def test_a_study_that_was_interrupted_repeats_no_model_and_no_batch(
    study, tmp_path, monkeypatch, stop
):
    whole = narcissus.run(study, folder=tmp_path / "whole").record
    forward = HuggingFaceGenerator._in_batches
    trained, made = [], []
    train = TransformerTraining.train
    monkeypatch.setattr(
        TransformerTraining, "train", lambda *a, **k: trained.append(1) or train(*a, **k)
    )

    def watched(self, batches, make, *rest):
        def counted(number):
            if len(made) >= limit:
                raise KeyboardInterrupt
            made.append(number)
            return make(number)

        return forward(self, batches, counted, *rest)

    monkeypatch.setattr(HuggingFaceGenerator, "_in_batches", watched)
    limit = stop
    with pytest.raises(KeyboardInterrupt):
        narcissus.run(study, folder=tmp_path / "out")
    assert (len(trained), len(made)) == (2, stop)
    limit = 10**9
    found = narcissus.run(study, folder=tmp_path / "out").record
    assert (found.rows, found.result) == (whole.rows, whole.result)
    assert len(trained) == 2  # neither model again
    alone, limit = len(made), 0
    again = narcissus.run(study, folder=tmp_path / "out").record  # nothing is left to be made
    assert (again.rows, len(made)) == (whole.rows, alone)


@pytest.mark.models
@pytest.mark.nightly
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_study_that_was_killed_goes_on(study, tmp_path, how):
    whole = narcissus.run(study).record
    out = tmp_path / "out"
    command = [sys.executable, "-m", "narcissus", "audit", "study.toml", "--out", str(out)]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 120
    while time.monotonic() < until and process.poll() is None:
        store = out / "trials.store"
        if store.exists() and store.stat().st_size > 4_000:  # a batch or more
            break
        time.sleep(0.005)
    process.send_signal(how)
    _, said = process.communicate(timeout=60)
    assert process.returncode != 0, said
    size = (out / "trials.store").stat().st_size
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "train" not in done.stderr
    assert (out / "trials.store").stat().st_size > size
    found = read_record(out / "record.json")
    assert (found.rows, found.result) == (whole.rows, whole.result)
