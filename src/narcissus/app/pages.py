"""The pages: each shows the study file and one form about it, and writes what the form changes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qsl, quote

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route

from narcissus._files import read_bytes
from narcissus._folders import opened_folder
from narcissus._visible import visible
from narcissus.app import scores, steps
from narcissus.app.folder import (
    ARRAYS,
    KINDS,
    LARGEST_STUDY,
    Folder,
    file_of,
    parsed,
    reports,
    source_of,
)
from narcissus.app.guard import OF_REPORTS
from narcissus.app.jobs import Jobs, State, worked
from narcissus.app.refill import refilled
from narcissus.app.text import changed, digest, get
from narcissus.errors import InputError, NarcissusError
from narcissus.study.load import read_settings
from narcissus.study.sections import PRESET
from narcissus.study.shipped import FOLDER as SHIPPED
from narcissus.study.toml import read_document
from narcissus.study.work import in_words

MOST_FIELDS = 20_000
LARGEST_REPORT = 2**25
MOST_UNREADABLE = 5
LOOKS = 8  # tables that are remembered
EXAMPLE = "invented_people.csv"
TICK, LONGEST_STREAM = 0.5, 60.0  # seconds; a browser opens few streams at once, and begins again


class Pages:
    """The pages of one folder."""

    def __init__(self, root: Path, above: str = "") -> None:
        self.folder, self.jobs, self._above = Folder(root), Jobs(root), above
        self._looks: dict[tuple[Any, ...], dict[str, Any]] = {}
        self._plans: dict[tuple[str, str], dict[str, Any]] = {}
        self._at_work = asyncio.Semaphore(2)  # processes that read data, however many ask
        self._naming = asyncio.Lock()
        made = Environment(
            loader=ChoiceLoader([PackageLoader(f"narcissus.{room}") for room in ("app", "report")]),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        made.filters |= {"of_100": steps.of_100, "typed": steps.as_typed, "in_words": in_words}
        made.filters["visible"] = visible
        cast("Any", made.globals).update(get=get, root=above)
        self._templates = made

    def app(self) -> Starlette:
        routes = [
            Route("/", self.home),
            Route("/new", self.begin, methods=["POST"]),
            Route("/upload/{name}", self.upload, methods=["PUT"]),
            Route("/report/{place:path}", self.report),
            Route("/record/{place:path}", self.record),
            Route("/static/{name}", self.static),
            Route("/study/{study}/file", self.download),
            Route("/study/{study}/events", self.events),
            Route("/study/{study}/stop", self.stop, methods=["POST"]),
            Route("/study/{study}/{step}", self.step, methods=["GET", "POST"]),
        ]
        handlers: Any = dict.fromkeys((NarcissusError, HTTPException, OSError), self._wrong)
        handlers |= {ClientDisconnect: _gone, Exception: self._wrong}
        return Starlette(routes=routes, exception_handlers=handlers)

    def _html(self, template: str, status: int = 200, **more: Any) -> HTMLResponse:
        page = self._templates.get_template(template).render(folder=self.folder.root.name, **more)
        return HTMLResponse(page, status)

    async def _wrong(self, request: Request, error: Exception) -> Response:
        """Answer an error of ours, or an address that leads nowhere."""
        status, why = 400 if isinstance(error, NarcissusError) else 500, said(error)
        if isinstance(error, HTTPException):
            status, why = error.status_code, error.detail
        if request.method == "PUT":
            return JSONResponse({"error": visible(why)}, status)
        return self._html("wrong.html", status, error=visible(why))

    # The folder

    async def home(self, _request: Request) -> Response:
        return self._home()

    def _home(self, error: str = "", status: int = 200) -> HTMLResponse:
        running, files = self.jobs.running(), self.folder.tables()
        return self._html(
            "home.html",
            status,
            studies=self.folder.studies(),
            files=files,
            error=visible(error),
            tables=[name for name in files if not name.endswith(ARRAYS)],
            running=running and running[0],
            unreadable=self.folder.unreadable()[:MOST_UNREADABLE],
        )

    async def upload(self, request: Request) -> Response:
        name = await self.folder.take(request.path_params["name"], request.stream())
        return JSONResponse({"path": name}, 201)

    async def begin(self, request: Request) -> Response:
        """Write a new study, as `narcissus init` or for a given file, and open its first step."""
        form = await _form(request)
        try:
            async with self._naming, self._at_work:
                name = await run_in_threadpool(self.new_study, *map(form.one, _FILES))
        except NarcissusError as error:
            page = bytes(self._home(said(error), 400).body).decode()
            return HTMLResponse(refilled(page, {k: form.getlist(k) for k in form}, "new"), 400)
        return self._go(name, "table")

    def new_study(self, *named: str) -> str:
        """Write a study of files in the folder, as `_FILES` orders them; return its name."""
        table, synthetic, control, scores, members = (*named, "", "", "", "")[: len(_FILES)]
        if not (table or scores):
            raise InputError("name a table or a file of scores, or drop a file")
        for file in filter(None, named):
            if not file.startswith("statsmodels:"):
                self.folder.inside(file)
        if scores:
            answer = worked(self.folder.root, "new-of-scores", scores, members)
        elif synthetic:
            answer = worked(self.folder.root, "new-of-files", table, synthetic, control)
        else:
            answer = worked(self.folder.root, "new", table, table)
        name = self.folder.new_name(Path((scores or synthetic or table).rpartition(":")[2]).name)
        self.folder.write(name, answer["text"], new=True)
        return name

    # A step

    async def step(self, request: Request) -> Response:
        name, step = request.path_params["study"], request.path_params["step"]
        deeds = {"text": self._type, "plan": self._plan, "start": self._start}
        deeds |= dict.fromkeys(steps.READ, self._save)
        if request.method == "POST" and step in deeds:
            return await self._done(await _form(request), name, step, deeds[step])
        if step not in steps.STEPS:
            raise HTTPException(404, "There is no such page.")
        return await self._show(name, step, mechanism=request.query_params.get("mechanism", ""))

    async def _done(self, form: steps.Form, name: str, what: str, do: _Doing) -> Response:
        """Do what a form asks for, if the study file is the one that it was about, and go on."""
        text, status, why = self.folder.read(name), 409, _CHANGED
        step, typed = what if what in steps.STEPS else "run", None
        if what == "text":
            step = form.one("step") if form.one("step") in steps.STEPS else "table"
            typed = form.get("text", "").removesuffix("\n") + "\n"
        if form.one("base") == digest(text):
            try:
                await do(name, form, text if typed is None else typed, step)
                return self._go(name, form.one("next") if form.one("next") in steps.STEPS else step)
            except (NarcissusError, OSError) as error:
                status, why = 422, said(error)
        page = await self._show(name, step, form.one("mechanism"), status, error=why, typed=typed)
        if typed is None and what in steps.READ:
            fields = {field: form.getlist(field) for field in form}
            return HTMLResponse(refilled(bytes(page.body).decode(), fields, step), status)
        return page

    async def _save(self, name: str, form: steps.Form, text: str, step: str) -> None:
        data = self._data(name, text)
        look = await self._look(data)
        read = scores.READ if data.get("kind") == "membership" else steps.READ
        values = read[step](form, data, look).items()
        unsaid = {k for k, v in values if steps.DEFAULTS.get(k) == v and get(data, *k) is None}
        after = changed(text, {k: v for k, v in values if k not in unsaid})
        self._check(name, after)
        await self._look(self._data(name, after))
        self._write(name, after)

    async def _type(self, name: str, _form: steps.Form, typed: str, _step: str) -> None:
        """Write the text of the study file as it was edited."""
        self._data(name, typed)
        self._check(name, typed)
        self._write(name, typed)

    def _write(self, name: str, text: str) -> None:
        running = self.jobs.running()
        if running is not None and running[0] == name:
            state = self.jobs.state(running[1])
            if not state.total:  # it may still have to read the file
                raise InputError("a run of this study is about to begin: save again in a moment")
        self.folder.write(name, text)

    def _data(self, name: str, text: str) -> dict[str, Any]:
        data = parsed(text, f"{name}.toml")
        if data.get("kind", "table") not in KINDS:
            raise InputError(
                f"{name}.toml is a study of another kind than this page knows: run it with "
                f"`narcissus audit {name}.toml`"
            )
        self.folder.require_inside(data)
        return data

    def _check(self, name: str, text: str) -> None:
        """Hold a text against the schema of its kind; the run checks it against the table."""
        read_settings(read_document(self.folder.root / f"{name}.toml", text))

    async def _look(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the data of a study hold; they are read once, in a separate process."""
        task = "examine" if data.get("kind", "table") == "table" else "look"
        arguments = (task, str(source_of(data) or ""))
        if data.get("kind") == "membership":
            settings = get(data, "data", "members") or "", get(data, "data", "scale") or "score"
            arguments = ("look-at-scores", arguments[1], *map(str, settings))
        stamp: tuple[Any, ...] = arguments
        for file in filter(None, arguments[1:3]):
            if not file.startswith("statsmodels:"):
                path = self.folder.inside(file)
                if not path.is_file():
                    raise InputError(f"there is no file {file} in this folder")
                stamp += (path.stat().st_mtime_ns, path.stat().st_size)
        async with self._at_work:
            if stamp not in self._looks:
                answer = await run_in_threadpool(worked, self.folder.root, *arguments)
                self._looks[stamp] = answer
                while len(self._looks) > LOOKS:
                    del self._looks[next(iter(self._looks))]
            return self._looks[stamp]

    async def _show(
        self,
        name: str,
        step: str,
        mechanism: str = "",
        status: int = 200,
        *,
        error: str = "",
        typed: str | None = None,
    ) -> Response:
        """Draw a step; a file that cannot be read is shown as it is, to be mended."""
        text = self.folder.read(name)
        of: dict[str, Any] = {
            "study": name,
            "step": step,
            "base": digest(text),
            "longest": LARGEST_STUDY,
            "text": text if typed is None else typed,
            "files": self.folder.tables(),
            "STEPS": steps.STEPS,
            "kind": "",
        }
        try:
            data = self._data(name, text)
            self._check(name, text)
            of["data"] = data
            of["kind"] = data.get("kind", "table")
            of["STEPS"] = scores.STEPS if of["kind"] == "membership" else steps.STEPS
            of["look"] = look = await self._look(data)
            is_own = of["kind"] == "membership" and step in scores.OWN
            of |= (
                scores.shown(data)
                if is_own
                else self._of_step(name, step, data, look, text, mechanism)
            )
        except NarcissusError as wrong:
            message = error or str(wrong)
            return self._html("step.html", status, form="", error=visible(message), **of)
        form = "scores.html" if is_own else f"{step}.html"
        return self._html("step.html", status, form=form, error=visible(error), **of)

    def _of_step(
        self, name: str, step: str, data: dict[str, Any], look: Any, text: str, mechanism: str
    ) -> dict[str, Any]:
        """Return what the form of a step shows."""
        if step == "table":
            of = {"ways": steps.WAYS, "readings": steps.READINGS, "missings": steps.MISSING}
            missing = get(data, "data", "missing")
            return {"columns": list(steps.columns(data, look)), "missing": missing, **of}
        if step == "attacker":
            return {**steps.attacker(data, look), "people": steps.PEOPLE}
        if step == "release":
            known = steps.mechanisms()
            file_mechanism = get(data, "mechanism", "name") or "marginals"
            chosen = mechanism if mechanism in known else file_mechanism
            shown = list(steps.options(chosen, data)) if chosen in known else []
            labels = {name: f"{name}: {text}" for name, text in known.items()}
            return {"known": known, "labels": labels, "chosen": chosen, "options": shown}
        if step == "threshold":
            limits, given = steps.threshold(data), data.get("threshold", {})
            return {"limits": limits, "given": given, "baseline": steps.baseline(data, look)}
        if step == "run":
            plan = self._plans.get((name, digest(text)))
            return {"plan": plan, "run": data.get("run", {}), **self._of_run(name, plan)}
        return {"reports": reports(self.jobs.results, name, source_of(data))}

    # The run

    def _of_run(self, name: str, plan: dict[str, Any] | None) -> dict[str, Any]:
        running, last = self.jobs.running(), self.jobs.last(name)
        other = running[0] if running is not None and running[0] != name else ""
        state = self.jobs.state(last)
        is_same = plan is not None and last == self.jobs.place(name, plan["digest"])
        return {"state": state, "other": other, "goes_on": is_same and state.name == "stopped"}

    async def _plan(self, name: str, _form: steps.Form, text: str, _step: str) -> None:
        """Estimate time and memory, and check the study against its table."""
        self._data(name, text)
        of = (f"{name}.toml", str(self.jobs.results / name))
        async with self._at_work:
            plan = await run_in_threadpool(worked, self.folder.root, "plan", *of)
        self._plans[name, digest(text)] = plan

    async def _start(self, name: str, _form: steps.Form, text: str, _step: str) -> None:
        self._data(name, text)
        if (plan := self._plans.get((name, digest(text)))) is None:
            raise InputError("estimate time and memory first")
        self.jobs.start(name, plan["digest"])

    async def stop(self, request: Request) -> Response:
        name = request.path_params["study"]
        self.folder.study(name)
        if (place := self.jobs.last(name)) is not None:
            self.jobs.stop(place)
            for _ in range(20):
                if self.jobs.state(place).name != "running":
                    break
                await asyncio.sleep(0.1)
        return self._go(name, "run")

    async def events(self, request: Request) -> Response:
        """Stream the progress of the last run of a study, until it has ended."""
        name = request.path_params["study"]
        self.folder.study(name)
        return StreamingResponse(
            self._stream(request, name), headers={"content-type": "text/event-stream"}
        )

    async def _stream(self, request: Request, name: str) -> AsyncIterator[str]:
        loop = asyncio.get_running_loop()
        end = loop.time() + LONGEST_STREAM
        while loop.time() < end and not await request.is_disconnected():
            state = self.jobs.state(self.jobs.last(name))
            yield f"retry: 1000\ndata: {json.dumps(told(state))}\n\n"
            if state.name != "running":
                return
            await asyncio.sleep(TICK)

    def _go(self, study: str, step: str) -> Response:
        return RedirectResponse(f"{self._above}/study/{quote(study)}/{step}", 303)

    # What lies in the folder

    async def download(self, request: Request) -> Response:
        name = request.path_params["study"]
        return PlainTextResponse(self.folder.read(name), headers=_as_file(f"{name}.toml"))

    async def report(self, request: Request) -> Response:
        path = file_of(self.jobs.results, request.path_params["place"], "report.html")
        headers = {"content-security-policy": OF_REPORTS}
        return HTMLResponse(read_bytes(path, largest=LARGEST_REPORT), headers=headers)

    async def record(self, request: Request) -> Response:
        path = file_of(self.jobs.results, request.path_params["place"], "record.json")
        content = read_bytes(path, largest=LARGEST_REPORT)
        return Response(content, headers=_as_file("record.json"), media_type="application/json")

    async def static(self, request: Request) -> Response:
        kinds = {"app.css": "text/css", "app.js": "text/javascript", "icon.svg": "image/svg+xml"}
        if (name := request.path_params["name"]) not in kinds:
            raise HTTPException(404, "There is no such page.")
        return Response(self._templates.get_template(name).render(), media_type=kinds[name])

    def example(self) -> str:
        """Copy the example table into the folder, write a study of it, and return its name.

        The study has a preset threshold, so that a run of it reaches a verdict.
        Whatever has the name of the table stays, a link too: what it leads to is not ours.
        """
        target = self.folder.root / EXAMPLE
        with opened_folder(self.folder.root) as place:
            if place.lstat(EXAMPLE) is None:
                place.write(EXAMPLE, (SHIPPED / EXAMPLE).read_bytes())
        there = target.with_suffix(".toml").is_file()
        if there:
            return target.stem
        answer = worked(self.folder.root, "new", EXAMPLE, EXAMPLE, PRESET)
        name = self.folder.new_name(EXAMPLE)
        self.folder.write(name, answer["text"], new=True)
        return name


_Doing = Callable[[str, steps.Form, str, str], Awaitable[None]]
_FILES = ("table", "synthetic", "control", "scores", "members")
_CHANGED = (
    "The study file was changed elsewhere meanwhile, in another tab or an editor. Nothing was "
    "written. Below is what it holds now."
)


def said(error: Exception) -> str:
    """Return an error in words, also what the system refused and what is a mistake of ours."""
    if not isinstance(error, NarcissusError | OSError | HTTPException):
        return f"this could not be done: an error of this program ({type(error).__name__})"
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    where = str(error.filename or ".partial")  # of a file that was to be written
    return f"cannot use {'the folder' if '.partial' in where else where}: {error.strerror}"


def told(state: State) -> dict[str, Any]:
    """Return the progress of a run as the page shows it."""
    left = "" if state.left is None else f"about {in_words(max(1, round(state.left)))} left"
    if state.total and state.done == state.total:
        left = "drawing up the report"
    done = f"{state.done:,} of {state.total:,}" if state.total else ""
    text = ", ".join(filter(None, [f"{state.what} {done}".strip(), left]))
    return {"state": state.name, "percent": state.percent, "text": visible(text)}


async def _gone(_request: Request, _error: Exception) -> Response:
    """Answer nobody: the client left in the middle of what it sent."""
    return PlainTextResponse("gone", 400)


def _as_file(name: str) -> dict[str, str]:
    return {"content-disposition": f"attachment; filename*=UTF-8''{quote(name)}"}


async def _form(request: Request) -> steps.Form:
    kind = request.headers.get("content-type", "").partition(";")[0]
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(415, "This is no form of this page.")
    try:
        text = (await request.body()).decode("ascii")
        how: Any = {"keep_blank_values": True, "errors": "strict", "max_num_fields": MOST_FIELDS}
        pairs = [[part.replace("\r\n", "\n") for part in pair] for pair in parse_qsl(text, **how)]
        form = steps.Form([(name, value) for name, value in pairs])
        form.has_comma = steps.writes_comma(request.headers.get("accept-language", ""))
        return form
    except ValueError as error:
        raise HTTPException(400, "This form cannot be read.") from error
