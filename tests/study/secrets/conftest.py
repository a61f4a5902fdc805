"""A small study of secrets; arguments replace its sections or keys."""

import copy

import pytest

import narcissus

STUDY = {
    "kind": "secrets",
    "prior": {"name": "zipf", "n": 4},
    "mechanism": {"name": "ngram-dp-sgd", "epsilon": [1.0, 8.0], "steps": 4},
    "attacks": {"argmax": {}, "posterior": {"shadow_models": 400}},
    "run": {"models": 600, "seed": 1},
}


@pytest.fixture
def study():
    """Give a function that gives the study as a dictionary."""

    def make(**sections):
        found = copy.deepcopy(STUDY)
        for name, value in sections.items():
            if isinstance(value, dict) and isinstance(found.get(name), dict):
                # another part has options of its own
                found[name] = value if "name" in value else found[name] | value
            else:
                found[name] = value
        return {name: value for name, value in found.items() if value is not None}

    return make


@pytest.fixture
def play(study):
    """Give a function that plays it; ``options`` go to the run."""

    def run(options=None, **sections):
        return narcissus.run(narcissus.load_study(study(**sections)), **(options or {}))

    return run
