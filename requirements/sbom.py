"""Write the software bill of materials from the lock files, as CycloneDX JSON.

What `make audit` installs (run.lock) has the scope "required"; what only tests and checks need
(dev.lock, mutants.lock, paper.lock, site.lock, torch.lock) has the scope "excluded", for it never
runs with the product.
The file follows from the lock files and from licences.json alone, so that the same ones give the
same bytes. licences.json holds what the metadata of each locked release says of its licence: an
SPDX expression, or words of its own.

    python requirements/sbom.py            # write
    python requirements/sbom.py --check    # exit 1 if it is out of date
    python requirements/sbom.py --licences # ask pip for the metadata of each locked release; write
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tomllib
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import quote

FOLDER = Path(__file__).resolve().parent
TARGET = FOLDER / "sbom.cdx.json"
LICENCES = FOLDER / "licences.json"
LOCKS = tuple(
    f"{name}.lock" for name in ("run", "build", "dev", "mutants", "paper", "site", "torch")
)
_PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)\s*(?:;\s*([^\\]*?))?\s*\\?$")
_OURS = re.compile(r'^__version__ = "(.+)"$', re.MULTILINE)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def locked(path: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Read a lock file: name and version -> marker and hashes of its distributions."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    entry: dict[str, Any] | None = None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if pin := _PIN.match(line):
            entry = {"marker": (pin[3] or "").strip(), "hashes": []}
            found[pin[1].lower().replace("_", "-"), pin[2]] = entry
        elif line.strip() and not line.lstrip().startswith(("#", "--hash=")):
            raise ValueError(f"{path}, line {number} is no pin: {line}")
        if entry is not None:
            entry["hashes"] += _HASH.findall(line)
    return found


def licence_of(metadata: dict[str, Any]) -> dict[str, str]:
    """Take the licence from a release's metadata: an expression of SPDX, else words.

    Examples
    --------
    >>> licence_of({"license_expression": "MIT", "license": "x"}), licence_of({"license": "BSD"})
    ({'expression': 'MIT'}, {'name': 'BSD'})
    """
    if expression := metadata.get("license_expression"):
        return {"expression": expression}
    words = (metadata.get("license") or "").strip()
    classes = [
        one.rpartition(" :: ")[2]
        for one in metadata.get("classifier", ())
        if one.startswith("License :: ")
    ]
    is_name = words not in {"", "UNKNOWN"} and len(words) < 60 and "\n" not in words
    return {"name": words if is_name else " AND ".join(classes) or "not stated"}


def ask_licences() -> None:
    """Write licences.json anew; a release for other machines alone keeps what stood there."""
    found = json.loads(LICENCES.read_text(encoding="utf-8")) if LICENCES.exists() else {}
    ask = [sys.executable, "-m", "pip", "install", "-q", "--dry-run", "--ignore-installed"]
    for lock in LOCKS:
        said = subprocess.run(
            [*ask, "--no-deps", "--report", "-", "-r", str(FOLDER / lock)],
            stdout=subprocess.PIPE,
            check=True,
        )
        for one in json.loads(said.stdout)["install"]:
            metadata = one["metadata"]
            found[re.sub(r"[-_.]+", "-", metadata["name"]).lower()] = licence_of(metadata)
    pinned = {name for lock in LOCKS for name, _ in locked(FOLDER / lock)}
    kept = {name: found[name] for name in sorted(pinned & found.keys())}
    LICENCES.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def component(
    name: str, version: str, entry: dict[str, Any], scope: str, licence: dict[str, str]
) -> dict[str, Any]:
    """Describe one package; its hashes are those of all the files of the release."""
    purl = f"pkg:pypi/{name}@{quote(version)}"  # a local version has a plus
    properties = [{"name": "narcissus:marker", "value": entry["marker"]}]
    return {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "scope": scope,
        "hashes": [{"alg": "SHA-256", "content": one} for one in entry["hashes"]],
        "licenses": [licence if "expression" in licence else {"license": licence}],
        "purl": purl,
        **({"properties": properties} if entry["marker"] else {}),
    }


def bill() -> str:
    """Give the bill of materials as text."""
    project = tomllib.loads((FOLDER.parent / "pyproject.toml").read_text(encoding="utf-8"))
    about = project["project"]
    run = locked(FOLDER / "run.lock")
    every = run
    for name in LOCKS:
        every = locked(FOLDER / name) | every
    licences = json.loads(LICENCES.read_text(encoding="utf-8"))
    if unknown := sorted({name for name, _ in every} - licences.keys()):
        raise ValueError(
            f"{LICENCES.name} lacks {', '.join(unknown)}: run this program with --licences"
        )
    components = [
        component(*key, entry, "required" if key in run else "excluded", licences[key[0]])
        for key, entry in sorted(every.items())
    ]
    source = FOLDER.parent / project["tool"]["hatch"]["version"]["path"]
    [version] = _OURS.findall(source.read_text(encoding="utf-8"))
    root = f"pkg:pypi/{about['name']}@{version}"
    body: dict[str, Any] = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": root,
                "name": about["name"],
                "version": version,
                "purl": root,
                "licenses": [{"license": {"id": about["license"]}}],
            }
        },
        "components": components,
        "dependencies": [
            {
                "ref": root,
                "dependsOn": [c["bom-ref"] for c in components if c["scope"] == "required"],
            }
        ],
    }
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).digest()
    serial = {"serialNumber": f"urn:uuid:{uuid.UUID(bytes=digest[:16], version=4)}"}
    return json.dumps({**body, **serial}, indent=1) + "\n"


def main() -> int:
    """Write the file, or check it."""
    if "--licences" in sys.argv:
        ask_licences()
    text = bill()
    if "--check" in sys.argv:
        if not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text:
            print(f"requirements/{TARGET.name} is out of date: run `make sbom`")
            return 1
        return 0
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
