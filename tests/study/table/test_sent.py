"""An experiment that is sent takes the theorems of whoever sends it along."""

import pickle

import cloudpickle

import narcissus
from narcissus.bounds import THEOREMS
from narcissus.study.table.prepare import prepare
from narcissus.study.table.sent import SentExperiment


def test_theorems_and_trials_are_those_of_who_sent_it(study, monkeypatch):
    made = narcissus.load_study(study(run={"trials": 2}))
    experiment = prepare(made.settings, made.folder, entropy=3)
    some = next(iter(THEOREMS.values()))
    monkeypatch.setitem(THEOREMS, "own", some)
    packed = cloudpickle.dumps(SentExperiment.of(experiment))
    monkeypatch.delitem(THEOREMS, "own")
    before = set(THEOREMS)
    found = pickle.loads(packed)("1/0")
    assert set(THEOREMS) - before == {"own"}
    monkeypatch.setitem(THEOREMS, "own", some)  # and leave none behind
    monkeypatch.undo()
    here = experiment.play("1/0")
    assert found.keys() == here.keys()
    assert all((found[name] == here[name]).all() for name in here)
