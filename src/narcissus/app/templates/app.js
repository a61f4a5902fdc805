// Forms work without this. With it: a file can be dropped, progress moves, sentences follow numbers.
"use strict";
const one = (selector) => document.querySelector(selector);

one("#error")?.focus();

for (const form of document.querySelectorAll("form[data-busy]")) {
  form.addEventListener("submit", (event) => {
    const button = event.submitter || form.querySelector("button");
    setTimeout(() => { button.disabled = true; button.textContent = form.dataset.busy; });
  });
}
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

one("[data-submit]")?.addEventListener("change", (event) => event.target.form.submit());

for (const output of document.querySelectorAll("output[data-sentence]")) {
  const input = document.getElementById(output.htmlFor[0] ?? output.getAttribute("for"));
  input.addEventListener("input", () => {
    const text = input.value.trim();
    output.textContent = text ? output.dataset.sentence.replace("{}", text) : "No limit.";
  });
}

for (const select of document.querySelectorAll("select[name^='way:']")) {
  const show = () => {
    for (const input of select.parentElement.querySelectorAll("input")) input.hidden = !select.value;
  };
  select.addEventListener("change", show);
  show();
}

for (const drop of document.querySelectorAll("[data-drop]")) {
  const file = drop.querySelector("input"), told = drop.querySelector("[role=status]");
  const fields = drop.dataset.drop.split(" ").map((id) => document.getElementById(id));
  const send = (given) => {
    if (!given) return;
    const request = new XMLHttpRequest();
    request.open("PUT", file.dataset.to + encodeURIComponent(given.name));
    request.upload.onprogress = (at) => {
      told.textContent = `Copying ${given.name}: ${Math.floor(100 * at.loaded / at.total)}%`;
    };
    request.onload = () => {
      let said = {};
      try { said = JSON.parse(request.responseText); } catch { said = { error: request.responseText }; }
      if (!said.path) { told.textContent = said.error; return; }
      const seen = fields.filter((field) => field.checkVisibility());
      const field = seen.find((one) => !one.value) || seen[0];
      field.value = said.path;
      field.focus();
      told.textContent = `Copied to ${said.path}. It stands below: ${field.labels[0].textContent}.`;
    };
    request.onerror = () => { told.textContent = "It could not be copied: the server has ended, or the file is too large."; };
    request.send(given);
  };
  drop.hidden = false;
  file.addEventListener("change", () => send(file.files[0]));
  for (const kind of ["dragover", "dragleave", "drop"]) drop.addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", kind === "dragover");
    if (kind === "drop") send(event.dataTransfer.files[0]);
  });
}

const progress = one("#progress");
if (progress) {
  const told = one("#told"), source = new EventSource(progress.dataset.events);
  let missed = 0;
  source.onmessage = (event) => {
    missed = 0;
    const state = JSON.parse(event.data);
    if (state.state !== "running") { source.close(); location.reload(); return; }
    one("#bar").value = state.percent;
    if (told.textContent !== state.text) told.textContent = state.text;
  };
  source.onerror = () => {
    missed += 1;
    if (missed === 3 || source.readyState === EventSource.CLOSED) {
      told.textContent = "The server of this page has ended. The run goes on: start `narcissus app` again in this folder.";
    }
  };
}
