"""A page to plan with: a person moves a guarantee and a prior, and reads what follows.

One HTML file with a script of its own, which computes the closed forms of the theory.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files

from markupsafe import Markup

from narcissus.bounds import THEOREMS
from narcissus.guarantees import Secret
from narcissus.guarantees.base import DECLARED
from narcissus.report.html import environment

SCRIPTS = ("plan.js", "plan_page.js")
"""The arithmetic, which needs no page, and what reads the form and says the answer."""


def plan_script() -> str:
    """Return the script of the page, of files that run one after the other."""
    folder = files("narcissus.report") / "templates"
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in SCRIPTS)


def plan_html(version: str, secret: Secret = "value") -> str:
    """Draw the page.

    version: of this package, which the page names.
    secret: what the page asks first: ``"value"`` or ``"membership"``; it can be changed there.
    Returns str: a whole document without references to anything outside it. Its policy lets nothing
        run but this very script, and nothing be fetched or sent.
    """
    script = plan_script()
    cited = {
        name: f"{THEOREMS[name].source} ({THEOREMS[name].title})"
        for name in ("one-target-optimum", "domination", "interpolation")
    }
    return (
        environment()
        .get_template("plan.html")
        .render(
            script=Markup(script),  # our own files
            digest=b64encode(sha256(script.encode()).digest()).decode(),
            version=version,
            secret=secret,
            declared=DECLARED,
            optimum=cited["one-target-optimum"],
            domination=cited["domination"],
            interpolation=cited["interpolation"],
        )
    )
