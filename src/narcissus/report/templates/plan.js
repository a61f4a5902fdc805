"use strict";
// The arithmetic: closed forms only, each named after its theorem on the page. No page is needed.

/** Give (1 - Phi(x)) / phi(x) for x >= 3, from its continued fraction. */
function mills(x) {
  let f = x;
  for (let k = 90; k > 0; k--) f = x + k / f;
  return 1 / f;
}

function density(x) { return Math.exp(-x * x / 2) / Math.sqrt(2 * Math.PI); }

/** Give Phi(x), the tails relatively accurate. */
function ndtr(x) {
  if (x < -3) return density(x) * mills(-x);
  if (x > 3) return 1 - ndtr(-x);
  let term = x, sum = x;
  for (let k = 3; Math.abs(term) > 1e-18 * Math.abs(sum); k += 2) sum += term *= x * x / k;
  return 0.5 + density(x) * sum;
}

/** Give the profile of Gaussian DP: delta at an epsilon of at least 0. */
function profile(mu, epsilon) {
  if (mu === 0) return 0;
  const x = epsilon / mu - mu / 2, y = x + mu;
  const far = y > 3 ? mills(y) : ndtr(-y) / density(y);
  if (x > 3) return density(x) * (mills(x) - far);
  return Math.max(0, ndtr(-x) - density(x) * far);
}

/** Give about where delta becomes negligible. */
function negligible(mu) {
  let low = 0, high = 1;
  while (profile(mu, high) > 1e-13) [low, high] = [high, 2 * high];
  if (profile(mu, 0) <= 1e-13) return 0;
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (profile(mu, middle) > 1e-13) low = middle; else high = middle;
  }
  return high;
}

/** Give the prior as [probability, how many values have it], likeliest first. */
function prior(p, values) {
  if (values === null) { // the worst that fits: as many values of p as there can be, and a rest
    const near = Math.round(1 / p), whole = Math.abs(near * p - 1) <= near * Number.EPSILON;
    const full = whole ? near : Math.floor(1 / p), rest = 1 - full * p;
    return whole || rest <= 0 ? [[p, full]] : [[p, full], [rest, 1]];
  }
  const other = (1 - p) / (values - 1);
  return other >= p * (1 - 1e-12) ? [[1 / values, values]] : [[p, 1], [other, values - 1]];
}

/** Give the optimum under pure DP: max over k of S_k / (1 + (k - 1) exp(-epsilon)). */
function optimum(rows, epsilon) {
  let most = 0, mass = 0, count = 0;
  for (const [d, c] of rows) { // between two ends it only rises or only falls with k
    mass += d * c;
    count += c;
    most = Math.max(most, mass / (1 + (count - 1) * Math.exp(-epsilon)));
  }
  return Math.min(1, most);
}

/** Give [o, what the profile adds to it]: their sum limits the success at every epsilon. */
function parts(rows, mu, epsilon) {
  const o = optimum(rows, epsilon), shrink = Math.exp(-epsilon);
  let cost = 0;
  rows.forEach(([d, c], i) => {
    let carried = i === 0 ? d / c : 0;
    if (epsilon > 0) carried = Math.min(d, Math.max(0, (d - shrink * o) / -Math.expm1(-epsilon)));
    cost += (d - carried) * c * profile(mu, Math.max(epsilon, Math.log(o / d)));
  });
  return [o, cost];
}

/** Give the one-target optimum under Gaussian DP: the least sum of both parts. */
function gaussianOptimum(rows, mu) {
  const at = (e) => parts(rows, mu, e).reduce((a, b) => a + b), end = negligible(mu), steps = 120;
  let best = 0;
  for (let i = 1; i <= steps; i++) if (at(end * i / steps) < at(end * best / steps)) best = i;
  let low = end * Math.max(0, best - 1) / steps, high = end * Math.min(steps, best + 1) / steps;
  let least = at(end * best / steps);
  const golden = (Math.sqrt(5) - 1) / 2;
  for (let i = 0; i < 45; i++) {
    const left = high - golden * (high - low), right = low + golden * (high - low);
    const [l, r] = [at(left), at(right)];
    least = Math.min(least, l, r);
    if (l < r) high = right; else low = left;
  }
  return Math.min(1, Math.max(rows[0][0], least));
}

function success(rows, guarantee) {
  const { kind, strength } = guarantee;
  return kind === "pure" ? optimum(rows, strength) : gaussianOptimum(rows, strength);
}

function advantage(reached, p) { return Math.max(0, (reached - p) / (1 - p)); }

/** Give the law of Bin(n, p) for 0 .. n, by its ratios from the likeliest count on; 1e-60 is 0. */
function binomial(n, p) {
  const law = new Float64Array(n + 1), odds = p / (1 - p);
  const mode = p >= 1 ? n : Math.min(n, Math.floor((n + 1) * p));
  let sum = law[mode] = 1;
  for (let k = mode; k > 0 && law[k] > 1e-60; k--) {
    sum += law[k - 1] = odds === Infinity ? 0 : law[k] * k / ((n - k + 1) * odds);
  }
  for (let k = mode; k < n && law[k] > 1e-60; k++) {
    sum += law[k + 1] = law[k] * odds * (n - k) / (k + 1);
  }
  return law.map((mass) => mass / sum);
}

/** Give Pr[at least v] for v = 0 .. n + 1, from the law of a count. */
function tails(law) {
  const found = new Float64Array(law.length + 1);
  for (let k = law.length - 1; k >= 0; k--) found[k] = found[k + 1] + law[k];
  return found.map((tail, v) => (v === 0 ? 1 : Math.min(1, tail)));
}

/** Give v -> a limit of Pr[at least v of n are reconstructed], v = 0 .. n + 1. */
function limitOfTails(rows, { kind, strength }, n) {
  if (kind === "pure") {
    const found = tails(binomial(n, optimum(rows, strength)));
    return (v) => found[v];
  }
  const end = negligible(strength), points = [];
  for (let i = 0; i < 40; i++) { // the points that the library takes
    const [o, cost] = parts(rows, strength, end * i / 39), others = binomial(n - 1, o);
    const seen = (mass) => mass > 1e-20, first = others.findIndex(seen);
    const last = others.findLastIndex(seen); // all the rest is lost in rounding
    points.push({ o, cost: n * Math.min(1, cost), others, first, last, tail: tails(others) });
  }
  const at = ({ o, cost, others, first, last, tail }, v) => {
    let near = 0;
    for (let k = first; k <= last; k++) near += others[k] / (1 + Math.abs(k - (v - 1)));
    return tail[v] + o * others[v - 1] + cost * near;
  };
  return (v) => {
    if (v <= 0 || v > n) return v <= 0 ? 1 : 0;
    return Math.min(1, ...points.map((point) => at(point, v)));
  };
}

/** Give v -> Pr[at least v of n are reconstructed] that some mechanism with the guarantee reaches. */
function reachedTails(rows, { kind, strength }, n) {
  if (kind === "pure" || strength === 0) {
    const found = tails(binomial(n, optimum(rows, kind === "pure" ? strength : 0)));
    return (v) => found[v];
  }
  const shares = [];
  for (let i = 0; i < 200; i++) shares.push(i / 200, 1 / (1 + Math.exp(-(2 + 7 * i / 199))));
  shares.sort((a, b) => a - b);
  const mixture = new Float64Array(n + 1);
  shares.forEach((share, i) => {
    const weight = (i + 1 < shares.length ? shares[i + 1] : 1) - share;
    if (weight === 0) return;
    binomial(n, optimum(rows, quantile(strength, share))).forEach((mass, k) => {
      mixture[k] += weight * mass;
    });
  });
  const found = tails(mixture);
  return (v) => found[v];
}

/** Give a quantile of |N(mu^2 / 2, mu^2)|, rounded down. */
function quantile(mu, share) {
  let low = 0, high = mu * mu / 2 + 40 * mu;
  for (let i = 0; i < 80; i++) {
    const middle = (low + high) / 2;
    const below = ndtr(middle / mu - mu / 2) - ndtr(-middle / mu - mu / 2);
    if (below <= share) low = middle; else high = middle;
  }
  return low;
}

/** Give the least number that is exceeded with a chance of at most 1 - confidence. */
function numberOf(tail, n, confidence) {
  let low = -1, high = n;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (tail(middle + 1) <= 1 - confidence) high = middle; else low = middle;
  }
  return high;
}

/** Give the largest strength that is kept, up to 50; null if not even 0 is. */
function largest(kept) {
  if (!kept(0)) return null;
  let low = 0, high = 50;
  if (kept(high)) return high;
  for (let i = 0; i < 45; i++) {
    const middle = (low + high) / 2;
    if (kept(middle)) low = middle; else high = middle;
  }
  return low;
}

/** Answer one setting: every number of the page. */
function answer({ kind, strength, p, values, n, confidence, mostAdvantage, mostPeople }) {
  const rows = prior(p, values), guarantee = { kind, strength };
  const reached = success(rows, guarantee);
  const limit = limitOfTails(rows, guarantee, n), floor = reachedTails(rows, guarantee, n);
  const atMost = numberOf(limit, n, confidence);
  const found = {
    success: reached, advantage: advantage(reached, p), reachedSuccess: reachedTails(rows, guarantee, 1)(1),
    oddsBefore: p / (1 - p), odds: reached / (1 - reached),
    atMost, tail: limit(atMost + 1), reachedNumber: numberOf(floor, n, confidence),
    reachedTail: floor(atMost + 1), largestAdvantage: undefined, largestPeople: undefined,
  };
  if (mostAdvantage !== null) {
    found.largestAdvantage = largest(
      (s) => advantage(success(rows, { kind, strength: s }), p) <= mostAdvantage + 1e-15);
  }
  if (mostPeople !== null && kind === "pure") { // exact: no theorem says more
    found.largestPeople = largest(
      (s) => limitOfTails(rows, { kind, strength: s }, n)(Math.min(mostPeople, n) + 1) <= 1 - confidence);
  }
  return found;
}

/** Give a number as text that is never below (direction 1) or above (-1) it, six figures. */
function outwards(value, direction, figures = 6) {
  if (!Number.isFinite(value) || value === 0) return String(value);
  const [digits, exponent] = value.toExponential(11).split("e");
  const whole = Number(digits.replace(".", "")), unit = 10 ** (12 - figures);
  const kept = direction > 0 ? Math.ceil(whole / unit) : Math.floor(whole / unit);
  return String(Number(`${kept}e${Number(exponent) - figures + 1}`));
}
