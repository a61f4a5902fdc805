"""A record of a given file that contradicts itself is refused."""

import pytest

KIND = "synthetic"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("risks", 2, "verdict"), "not shown"),
        (("risks", 2, "attack"), "another"),
        (("risks", 2, "excess"), None),
        (("risks", 2, "at_most"), 0.999),
        (("risks", 2, "real", "successes"), 1),
        (("risks", 2, "real", "high"), 0.0),
        (("risks", 2, "excess"), lambda excess: {**excess, "value": 0.2, "low": 0.1}),
        (("unlike", "is_shown"), True),
        (("unlike",), None),
        (("files", "control"), 0),
        (("risks",), []),
        (("risks",), lambda risks: risks[1:]),
        (("risks",), lambda risks: risks[:-1]),
    ],
)
def test_what_does_not_agree_is_refused(refuses, path, value):
    refuses(path, value)
