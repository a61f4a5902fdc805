"""`channel` with a guarantee: Bayes security of two neighbouring data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from narcissus.cli.bound_options import dp_sgd_settings, make_guarantee, of_guarantee, option_names

if TYPE_CHECKING:
    from narcissus.channels import SecurityBound
    from narcissus.guarantees import Guarantee, Secret
    from narcissus.results import Bound

NOTE = (
    "A guarantee limits Bayes security from below. How low it really is depends on the data and "
    "on the release."
)


def secured(
    given: dict[str, Any], *, delta: float | None, adjacency: str, secret: Secret = "value"
) -> tuple[Guarantee, SecurityBound, Bound | None]:
    """Return the guarantee, the bound it proves, and for DP-SGD what two data sets reach.

    The reached value is known for replaced records only.
    """
    from narcissus.channels import dp_sgd_reached, from_guarantee

    guarantee = make_guarantee(given, delta=delta, adjacency=adjacency, secret=secret)
    reached = None
    if given["dp_sgd"] is not None and secret == "value":
        settings = dp_sgd_settings(given["dp_sgd"], ("noise", "rate", "steps"))
        settings.pop("interval")
        with option_names():
            reached = dp_sgd_reached(**settings)
    return guarantee, from_guarantee(guarantee), reached


def as_keys(guarantee: Guarantee, found: SecurityBound, reached: Bound | None) -> dict[str, Any]:
    return {
        "grade": found.grade,
        "beta_star_at_least": found.value,
        "beta_star_at_most": None if reached is None else reached.value,
        "advantage_at_most": found.advantage.value,
        "tight": found.tight,
        "theorem": found.theorem,
        "assumptions": list(found.assumptions),
        **of_guarantee(guarantee),
    }


def as_lines(found: SecurityBound, reached: Bound | None) -> list[str]:
    from narcissus._outwards import upper

    most = upper(100 - 50 * found.value, places=1)
    lines = [
        str(found),
        f"  of 100 attempts to tell two neighbouring data sets apart, at most {most} are right "
        "(50 by guessing)",
    ]
    if reached is None:
        return [*lines, "", NOTE]
    lines += ["", f"PROVED: some two such data sets have beta* at most {upper(reached.value)}"]
    lines += [f"  by {reached.theorem}", *(f"  assuming {one}" for one in reached.assumptions)]
    return lines
