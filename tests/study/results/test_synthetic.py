"""A record of a given file that contradicts itself is refused."""

import json

import pytest
from pydantic import ValidationError

from narcissus.study.results.synthetic import SyntheticResults


@pytest.fixture(scope="module")
def found():
    import numpy as np
    import pandas as pd

    import narcissus

    rng = np.random.default_rng(1)
    real, control = (
        pd.DataFrame({name: rng.integers(0, 8, 120) for name in "abcd"}) for _ in range(2)
    )
    audit = narcissus.audit_synthetic(
        real, real, control=control, unknown=["d"], groups=["a"], rng=1
    )
    assert audit.status == "exceeded"
    return audit.results


def refused(found, change):
    copy = json.loads(json.dumps(found))
    change(copy)
    with pytest.raises(ValidationError):
        SyntheticResults.model_validate_json(json.dumps(copy), strict=True)


def test_it_is_read_as_it_was_written(found):
    read = SyntheticResults.model_validate_json(json.dumps(found), strict=True)
    assert read.model_dump(mode="json") == found


@pytest.mark.parametrize(
    "change",
    [
        lambda r: r["risks"][2].update(verdict="not shown"),
        lambda r: r["risks"][2].update(attack="another"),
        lambda r: r["risks"][2].update(excess=None),
        lambda r: r["risks"][2].update(at_most=0.999),
        lambda r: r["risks"][2]["real"].update(successes=1),
        lambda r: r["risks"][2]["real"].update(high=0.0),
        lambda r: r["risks"][2]["excess"].update(value=0.2, low=0.1),
        lambda r: r["unlike"].update(is_shown=True),
        lambda r: r.update(unlike=None),
        lambda r: r["files"].update(control=0),
        lambda r: r.update(risks=[]),
        lambda r: r.pop("claims"),
    ],
)
def test_what_does_not_agree_is_refused(found, change):
    refused(found, change)
