// The page: what is asked is read from the form or the address, and the answer is said in words.

const one = (id) => document.getElementById(id);
const say = (id, text) => { one(id).textContent = text; };
const up = (x, figures) => outwards(x, 1, figures), down = (x) => outwards(x, -1);
const plain = (x) => String(Number(x.toPrecision(6)));
const people = (x) => x.toLocaleString("en");
const FIELDS = ["secret", "kind", "epsilon", "mu", "prior", "others", "values", "people", "confidence",
  "most-advantage", "most-people"];

const NEARLY = 0.999; // 0.333 of three values is a third

/** Say odds; a limit is rounded up. */
function oddsText(odds, limit) {
  if (odds === Infinity) return "certain";
  const said = (x, up) => (limit ? outwards(x, up ? 1 : -1) : plain(x));
  return odds < 1 ? `1 to ${said(1 / odds, false)}` : `${said(odds, true)} to 1`;
}

function share(x, limit) {
  const figures = (y) => (limit ? up(y, 3) : String(Number(y.toPrecision(3))));
  return x >= 0.0095 ? `${figures(100 * x)} of 100` : figures(x);
}

/** Read one number; say beside it what is wrong with it. */
function numberIn(id) {
  const field = one(id), text = field.value.trim(), value = Number(text);
  const [low, high] = [Number(field.min), Number(field.max)];
  let wrong = "";
  if (field.validity.badInput || (text === "" && field.required)) wrong = "Give a number.";
  else if (text !== "" && !(value >= low && value <= high)) {
    wrong = `Give a number from ${low} to ${high}.`;
  } else if (text !== "" && field.step === "1" && !Number.isInteger(value)) {
    wrong = "Give a whole number.";
  } else if (id === "prior" && one("secret").value === "membership" && value < 0.5) {
    wrong = "In or out: the best guess is right with probability of at least 0.5.";
  } else if (id === "values" && value * Number(one("prior").value) < NEARLY) {
    wrong = `With ${value} values the best guess is right with probability of at least ` +
      `${plain(1 / value)}: give more values or a better guess.`;
  }
  say(`${id}-wrong`, wrong);
  field.setAttribute("aria-invalid", String(wrong !== ""));
  return wrong !== "" ? undefined : text === "" ? null : value;
}

/** Read the form; null where something is wrong. */
function asked() {
  const kind = one("kind").value, secret = one("secret").value, inside = secret === "membership";
  const alike = one("others").value === "alike", known = inside || alike;
  for (const name of ["value", "membership"]) {
    for (const part of document.querySelectorAll(`.of-${name}`)) part.hidden = name !== secret;
  }
  for (const name of ["pure", "gaussian"]) {
    for (const part of document.querySelectorAll(`.of-${name}`)) part.hidden = name !== kind;
  }
  for (const part of document.querySelectorAll(".of-alike")) part.hidden = inside || !alike;
  const found = {
    secret, kind, strength: numberIn(kind === "pure" ? "epsilon" : "mu"), p: numberIn("prior"),
    values: inside ? 2 : alike ? numberIn("values") : null, n: numberIn("people"),
    confidence: numberIn("confidence"), mostAdvantage: numberIn("most-advantage"),
    mostPeople: numberIn("most-people"),
  };
  if (Object.values(found).includes(undefined)) return null;
  return known && found.p * found.values < 1 ? { ...found, p: 1 / found.values } : found;
}

/** Say whether a threshold is met: proved, out of reach, or between the two. */
function verdict(given, limit, floor, under) {
  if (given === null) return ["no-threshold", "\u2022 No threshold was set."];
  if (limit <= given) return ["met", "\u2713 Threshold met (proved)."];
  if (floor > given) {
    return ["exceeded", "\u00d7 Threshold not kept: some mechanism with this guarantee exceeds it" +
      `${under}.`];
  }
  return ["not-shown", "~ Not shown: the bound is above the threshold, but no mechanism that " +
    "exceeds it is known here."];
}

function showThreshold(id, [tone, words], name, most) {
  one(id).className = `threshold tone-${tone}`;
  say(`${id}-verdict`, words);
  const least = most === null ? `Not even ${name} 0 keeps it.` : `The largest ${name} that keeps it` +
    ` is ${down(most)}${most === 50 ? ", the largest that was tried" : ""}.`;
  say(`${id}-largest`, most === undefined ? "" : least);
}

function command(q) {
  const release = `--${q.kind === "pure" ? "epsilon" : "mu"} ${q.strength}`;
  const row = prior(q.p, q.values).flatMap(([d, c]) => Array(c).fill(d));
  const known = q.secret === "membership" ? `--secret membership --prior ${q.p}` : q.values === null ? `--prior ${q.p} --success exact` : `--values ${row.join(",")}`;
  return `narcissus bound ${release} ${known} --targets ${q.n} --confidence ${q.confidence}`;
}

/** Say the answer; give it in a sentence or two for who listens. */
function show(q, a) {
  const pure = q.kind === "pure", known = q.values !== null, sure = plain(100 * q.confidence);
  const under = known ? "" : " with the worst prior that fits";
  const single = `no attacker is right with probability above ${up(a.success)}`;
  const count = a.atMost === q.n
    ? `Nothing is proved about how many of ${people(q.n)} people are reconstructed: with ${sure}% confidence ` +
      "every guess may be right."
    : `With ${sure}% confidence at most ${people(a.atMost)} of ${people(q.n)} people are reconstructed (proved); ` +
      `some mechanism with this guarantee reaches ${people(a.reachedNumber)}${under}.`;
  const inside = q.secret === "membership";
  say("question", inside ? "Asked: whether a person's record is in the data."
    : "Asked: what value a person's record has.");
  say("before", `Without the release, the best guess about one person is right with probability ` +
    `${plain(q.p)} (${share(q.p, false)}).`);
  say("single", `With it, ${single} (${share(a.success, true)}). Some mechanism with this guarantee ` +
    `reaches ${down(a.reachedSuccess)}${under}.`);
  say("success", up(a.success));
  say("advantage", up(a.advantage));
  say("prior-odds", oddsText(a.oddsBefore, false));
  say("odds", oddsText(a.odds, true));
  say("growth", a.odds === Infinity ? "" : `${up(a.odds / a.oddsBefore)} times the odds`);
  say("count", count);
  say("at-most", people(a.atMost));
  say("reached-number", people(a.reachedNumber));
  say("tail", a.atMost === q.n ? "" : `That more than ${people(a.atMost)} are reconstructed has probability at ` +
    `most ${up(a.tail)}; some mechanism with this guarantee reaches ${down(a.reachedTail)}${under}.`);
  const around = inside ? "of added and removed records, or of this record and another in its place"
    : "replace-one neighbours";
  say("guarantee", pure ? `pure DP with epsilon ${plain(q.strength)} (${around})`
    : `Gaussian DP with mu ${plain(q.strength)} (${around})`);
  say("about-prior", known ? "the prior of the target's value is as given"
    : `no value is likelier a priori than ${plain(q.p)}, and a guess must name it`);
  const byOne = verdict(q.mostAdvantage, a.advantage, advantage(a.reachedSuccess, q.p), under);
  const byCount = verdict(q.mostPeople, a.atMost, a.reachedNumber, under);
  const name = pure ? "epsilon" : "mu";
  showThreshold("of-one", byOne, name, a.largestAdvantage);
  showThreshold("of-count", byCount, name, a.largestPeople);
  say("command", command(q));
  return `${single[0].toUpperCase()}${single.slice(1)}. ${count} One person: ` +
    `${byOne[1].slice(2)} All of them: ${byCount[1].slice(2)}`;
}

let waiting;

function update() {
  const q = asked();
  for (const part of document.querySelectorAll(".answer")) part.hidden = q === null;
  const said = q === null ? "No answer: a setting is missing or out of its range." : show(q, answer(q));
  clearTimeout(waiting); // who listens hears the last of many quick changes
  waiting = setTimeout(() => say("said", said), 400);
  const settings = new URLSearchParams(FIELDS.map((id) => [id, one(id).value]));
  history.replaceState(null, "", `#${settings}`);
  one("link").href = `#${settings}`;
}

function readAddress() {
  for (const [id, value] of new URLSearchParams(location.hash.slice(1))) {
    if (FIELDS.includes(id)) one(id).value = value;
  }
  for (const slider of document.querySelectorAll("[data-of]")) slider.value = one(slider.dataset.of).value;
  for (const id of ["secret", "kind", "others"]) if (one(id).selectedIndex < 0) one(id).selectedIndex = 0;
  update();
}

if (typeof document !== "undefined") {
  document.addEventListener("input", ({ target }) => {
    if (target.dataset.of) one(target.dataset.of).value = target.value;
    for (const slider of document.querySelectorAll(`[data-of="${target.id}"]`)) slider.value = target.value;
    update();
  });
  addEventListener("hashchange", readAddress);
  readAddress();
}
