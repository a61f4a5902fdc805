"""The results of a record that was kept, and one change to them that is refused."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from narcissus.study.reading import read_record


@pytest.fixture
def results(request):
    """What the record of the module's `KIND` holds."""
    return read_record(Path(__file__).parent / "records" / f"{request.module.KIND}.json").results


@pytest.fixture
def refuses(results):
    """Tell whether the results are refused with another value at a path, or a value made of it."""

    def check(path, value, said=None):
        found = part = results.model_dump(mode="json")
        *places, last = path
        for key in places:
            part = part[key]
        part[last] = value(part[last]) if callable(value) else value
        with pytest.raises(ValidationError, match=said):
            type(results).model_validate_json(json.dumps(found), strict=True)

    return check
