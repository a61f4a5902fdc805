"""``narcissus schema``: print the JSON Schemas of study files and records."""

from __future__ import annotations

import json
from typing import Any

import click

HELP = """Print the JSON Schema of a study file or of a record, or list the parts of studies.

KIND is the kind of study. Without it, `study` means the kind "table", which a study file without
the key `kind` is, and `record` means what the records of all kinds have in common. `parts` lists
every part that a section can name, with its options; with ROOM those of one kind of section.

\b
Examples:
  narcissus schema study
  narcissus schema record table > table-record.schema.json
  narcissus schema parts
  narcissus schema parts table-attack
"""


def study_schema(kind: str) -> dict[str, Any]:
    from narcissus.study.kinds import study_kind

    schema = study_kind(kind).model.model_json_schema(by_alias=True)
    entry: dict[str, Any] = {"const": kind, "description": "The kind of study."}
    required = list(schema.get("required", []))
    if kind == "table":
        entry["default"] = kind
    else:
        required.append("kind")
    schema["properties"] = {"kind": entry, **schema.get("properties", {})}
    if required:
        schema["required"] = required
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": f"Narcissus study of kind {kind}",
    }


def record_schema(kind: str | None) -> dict[str, Any]:
    """Return the JSON Schema of records of a kind; None: what all kinds share."""
    from narcissus.study.kinds import rows_kind, study_kind
    from narcissus.study.record import Record

    schema = Record.model_json_schema(by_alias=True)
    # every record is sealed, though the model can hold one that is not yet
    found, rows = ["results"], ["criteria", "rows", "detail"]
    schema["required"] = [key for key in schema["properties"] if key not in {*found, *rows}]
    title = "Narcissus record"
    if kind is None:
        schema["oneOf"] = [{"required": found}, {"required": rows}]
    else:
        own: Any = study_kind(kind)
        has_rows = rows_kind(kind) is not None
        typed = own.detail.model_json_schema() if has_rows else own.results.json_schema()
        # references in it are to its own root, which moves
        schema.setdefault("$defs", {}).update(typed.pop("$defs", {}))
        schema["properties"] |= {"detail" if has_rows else "results": typed}
        schema["properties"]["kind"] = {"const": kind}
        for key in found if has_rows else rows:
            del schema["properties"][key]
        schema["required"] = list(schema["properties"])
        title += f" of kind {kind}"
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": title}


def parts_list(room: str | None) -> str:
    from narcissus._validation import one_of
    from narcissus.study.listing import as_text
    from narcissus.study.registry import ROOMS

    rooms = list(ROOMS) if room is None else [one_of("ROOM", room, ROOMS)]
    return "\n\n".join(map(as_text, rooms))


@click.command(help=HELP, short_help="Print JSON Schemas; list parts and their options.")
@click.argument(
    "what", type=click.Choice(["study", "record", "parts"]), metavar="study|record|parts"
)
@click.argument("kind", required=False, metavar="[KIND|ROOM]")
def command(what: str, kind: str | None) -> None:
    if what == "parts":
        click.echo(parts_list(kind))
        return
    schema = study_schema(kind or "table") if what == "study" else record_schema(kind)
    click.echo(json.dumps(schema, indent=2, ensure_ascii=False))
