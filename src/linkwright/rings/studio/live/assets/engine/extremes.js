// Extremes of a sampled curve between its samples, as results/measures/extremes.py locates them (its text says how): a polynomial through
// up to nine samples around every local extreme near the outermost one; where samples do not resolve the curve the extreme is the sample,
// and an error says how far the curve may go beyond it, without bound at a pole.
(() => {
  "use strict";
  const NODES = 9, FEWEST = 5, RIVAL = 0.05, RETURNED = 1e-6, NEWTON = 5;
  const ASYMMETRIC = 1 / 6, BENT = 1 / 24, JUMP = 2, THROUGH = 2, FOLDED = 1.3, SHARP = 0.02, EQUAL = 1e-10;

  /** @typedef {{sign: number, sample: number, step: number, share: number, value: number, error: number, good: boolean}} Local */

  // local extremes near the outermost samples: [sign, sample], highest ones first
  /** @type {(x: ArrayLike<number>, closed: boolean) => [number, number][]} */
  const candidates = (x, closed) => {
    const n = x.length, tops = [], bottoms = [];
    let low = Infinity, high = -Infinity;
    for (let i = 0; i < n; i++) if (Number.isFinite(x[i])) [low, high] = [Math.min(low, x[i]), Math.max(high, x[i])];
    const near = RIVAL * (high - low);
    for (let i = 0; i < n; i++) {
      if (!Number.isFinite(x[i])) continue;
      const left = i > 0 ? x[i - 1] : closed ? x[n - 2] : NaN, right = i < n - 1 ? x[i + 1] : closed ? x[1] : NaN;
      const top = !(left > x[i] || right > x[i]) && x[i] >= high - near, bottom = !(left < x[i] || right < x[i]) && x[i] <= low + near;
      if (top && !bottom) tops.push(/** @type {[number, number]} */ ([1, i]));
      if (bottom && !top) bottoms.push(/** @type {[number, number]} */ ([-1, i]));
    }
    return [...tops, ...bottoms];
  };

  // samples around one, from it outwards, as [node, place]; of a cycle through its end
  /** @type {(s: ArrayLike<number>, sample: number, closed: boolean) => [number, number][]} */
  const around = (s, sample, closed) => {
    const n = s.length, count = Math.min(NODES, n), half = Math.floor(count / 2);
    const first = closed ? sample - half : Math.min(Math.max(sample - half, 0), n - count), period = s[n - 1] - s[0];
    const far = (/** @type {number} */ k) => Math.abs(k - sample) - (k > sample ? 0.25 : 0);
    const numbers = Array.from({ length: count }, (_, k) => first + k).sort((a, b) => far(a) - far(b));
    return numbers.map((k) => {
      const lap = closed ? Math.floor(k / (n - 1)) : 0, node = k - lap * (n - 1);
      return /** @type {[number, number]} */ ([node, s[node] + lap * period]);
    });
  };

  // value, slope and bend of a polynomial in Newton's form
  /** @type {(c: number[], w: number[], u: number) => [number, number, number]} */
  const newtonForm = (c, w, u) => {
    let value = c[c.length - 1], slope = 0, bend = 0;
    for (let j = c.length - 2; j >= 0; j--) {
      const d = u - w[j];
      bend = bend * d + 2 * slope;
      slope = slope * d + value;
      value = value * d + c[j];
    }
    return [value, slope, bend];
  };

  // the degree that samples resolve, 2 if they do not
  /** @type {(c: number[], w: number[]) => number} */
  const degreeOf = (c, w) => {
    let reach = 1;
    const size = w.slice(0, -1).map((x, k) => Math.abs(c[k + 1]) * (reach *= Math.abs(x) + 0.5));
    let degree = Math.abs(c[3]) <= ASYMMETRIC * Math.abs(c[2]) && Math.abs(c[4]) <= BENT * Math.abs(c[2]) ? 4 : 2, last = Math.max(size[2], size[3]);
    for (const top of [6, 8]) {
      const pair = Math.max(size[top - 2], size[top - 1]);
      if (c.length > top && degree === top - 2 && pair <= 0.5 * last) [degree, last] = [top, pair];
    }
    return degree;
  };

  // 1/y goes through zero next to the middle of seven samples: straight, straight in its size, or like a square
  /** @type {(y: number[]) => boolean} */
  const isPole = (y) => {
    const z = y.map((v) => 1 / v), root = z.map((v) => Math.sign(v) * Math.sqrt(Math.abs(v)));
    for (const a of [2, 3]) {
      for (const [flip, inverse, most] of /** @type {[number, number[], number][]} */ ([[1, z, THROUGH], [-1, z, FOLDED], [-1, root, FOLDED]])) {
        const own = [flip * inverse[a - 1], flip * inverse[a], inverse[a + 1], inverse[a + 2]], d = [own[1] - own[0], own[2] - own[1], own[3] - own[2]];
        if (own[1] * own[2] < 0 && d[0] * d[1] > 0 && d[1] * d[2] > 0 && Math.abs(d[1]) <= most * Math.min(Math.abs(d[0]), Math.abs(d[2]))) return true;
      }
    }
    const beside = [z[2], z[4]].map(Math.abs).filter((v) => !Number.isNaN(v));
    return beside.length > 0 && Math.abs(z[3]) <= SHARP * Math.min(...beside);
  };

  /** @param {number} v */
  const known = (v) => (Number.isNaN(v) ? 0 : v);

  // how far a curve that samples do not resolve may go beyond its sample
  /** @type {(s: ArrayLike<number>, x: ArrayLike<number>, sign: number, sample: number, closed: boolean) => number} */
  const beyond = (s, x, sign, sample, closed) => {
    const n = x.length, y = /** @type {number[]} */ ([]), place = /** @type {number[]} */ ([]);
    for (let k = sample - 3; k <= sample + 3; k++) {
      const i = closed ? ((k % (n - 1)) + n - 1) % (n - 1) : k, inside = i >= 0 && i < n;
      y.push(inside ? sign * x[i] : NaN);
      place.push(inside ? s[i] : NaN);
    }
    for (const outwards of [[2, 1, 0], [4, 5, 6]]) { // two samples at one place are the sides of an event
      let crossed = false;
      for (const k of outwards) {
        crossed = crossed || place[k] === place[k < 3 ? k + 1 : k - 1];
        if (crossed) y[k] = NaN;
      }
    }
    let out = 0, jumps = false;
    for (const a of [2, 3]) {
      const step = y[a + 1] - y[a], left = y[a] - y[a - 1], right = y[a + 1] - y[a + 2], ends = [y[a] + left, y[a + 1] + right];
      const jump = Math.abs(step) > JUMP * (known(Math.abs(left)) + known(Math.abs(right))), some = ends.filter((v) => !Number.isNaN(v));
      const reach = jump ? (some.length ? Math.max(...some) : NaN) : Math.min(...ends);
      if (Number.isFinite(step)) out = Math.max(out, known(reach - y[3]));
      jumps = jumps || jump;
    }
    const rests = (y[3] === y[4] && y[4] === y[5]) || (y[3] === y[2] && y[2] === y[1]);
    if (!jumps && !rests) out = Math.max(out, known(Math.abs(y[2] - 2 * y[3] + y[4]) / 8));
    return isPole(y) ? Infinity : Math.max(out, 0);
  };

  /** @type {(s: ArrayLike<number>, x: ArrayLike<number>, sign: number, sample: number, closed: boolean) => Local} */
  const located = (s, x, sign, sample, closed) => {
    const n = x.length, nodes = around(s, sample, closed), s0 = nodes[0][1];
    const h = ((Math.abs(nodes[1][1] - s0) + Math.abs(nodes[2][1] - s0)) / 2 || NaN) * (s[n - 1] < s[0] ? -1 : 1);
    const w = nodes.map(([, place]) => (place - s0) / h), c = nodes.map(([node]) => x[node]);
    for (let j = 1; j < c.length; j++) for (let k = c.length - 1; k >= j; k--) c[k] = (c[k] - c[k - 1]) / (w[k] - w[k - j]);
    const degree = degreeOf(c, w), clip = (/** @type {number} */ v) => Math.max(-1, Math.min(1, v));
    for (let k = degree + 1; k < c.length; k++) c[k] = 0;
    let u = clip(0.5 * (w[1] - c[1] / c[2]));
    for (let k = 0; k < NEWTON; k++) {
      const [, slope, bend] = newtonForm(c, w, u);
      u = clip(u - slope / (bend || 1));
    }
    const value = newtonForm(c, w, u)[0], more = sign * (value - c[0]), there = u < 0 ? closed || sample > 0 : closed || sample < n - 1;
    const good = degree >= 4 && sign * c[2] < 0 && Math.abs(u) < 1 && more >= 0 && more <= 0.5 * Math.abs(c[2]) && there;
    const i = closed && sample === n - 1 && u >= 0 ? 0 : closed && sample === 0 && u < 0 ? n - 1 : sample; // before the first sample lies before the last
    const step = Math.min(Math.max(u < 0 ? i - 1 : i, 0), n - 2), share = (s[i] + u * h - s[step]) / (s[step + 1] - s[step]);
    return { sign, sample, step, share, value, good, error: good ? 0 : beyond(s, x, sign, sample, closed) };
  };

  // {low, high, sLow, sHigh, errorLow, errorHigh}: the values, their places as real sample numbers, how far the curve may go beyond; null
  // without a number. s: abscissa, such as times; default the samples' numbers, which equal steps may have
  LW.extremes = (x, s) => {
    const n = x.length, places = s || Float64Array.from({ length: n }, (_, i) => i), y = Float64Array.from(x), at = Float64Array.from({ length: n }, (_, i) => i);
    const error = new Float64Array(n);
    let least = Infinity, most = -Infinity, gaps = false, size = 0;
    for (const v of y) {
      if (Number.isNaN(v)) gaps = true;
      else [least, most] = [Math.min(least, v), Math.max(most, v)];
    }
    if (least > most) return null;
    if (n >= FEWEST) {
      const closed = !gaps && Math.abs(y[n - 1] - y[0]) <= RETURNED * (most - least);
      const found = candidates(x, closed).map(([sign, sample]) => located(places, x, sign, sample, closed));
      for (const shift of [0, 1]) {
        for (const f of found) {
          if (!f.good || !Number.isFinite(x[f.step]) || !Number.isFinite(x[f.step + 1])) continue;
          y[f.step + shift] = f.value;
          at[f.step + shift] = f.step + f.share;
        }
      }
      for (const f of found) if (!f.good) error[f.sample] = f.error;
    }
    least = Infinity;
    most = -Infinity;
    y.forEach((v, i) => {
      if (Number.isNaN(v)) return;
      if (!Number.isFinite(v)) error[i] = Infinity;
      else size = Math.max(size, Math.abs(v));
      [least, most] = [Math.min(least, v), Math.max(most, v)];
    });
    const i = y.findIndex((v) => v <= least + EQUAL * size), j = y.findIndex((v) => v >= most - EQUAL * size); // of equal ones the first
    return { low: y[i], high: y[j], sLow: at[i], sHigh: at[j], errorLow: error[i], errorHigh: error[j] };
  };

  // magnitudes of vectors in one array, and the largest between samples: {values, max, s, error}, NaN and -1 without a number
  LW.magnitudes = (vectors, t) => {
    const values = new Float64Array(vectors.length / 3);
    for (let i = 0; i < values.length; i++) values[i] = Math.hypot(vectors[3 * i], vectors[3 * i + 1], vectors[3 * i + 2]);
    const found = LW.extremes(values, t);
    return found ? { values, max: found.high, s: found.sHigh, error: found.errorHigh } : { values, max: NaN, s: -1, error: 0 };
  };

  const STATED = 1e-3; // share of a number from which its sampling error is stated, as numbers.py
  // what is to be said of an extreme that samples do not locate: how far the curve may go beyond, with a text of amounts; "" if they do
  LW.samplingText = (value, error, text) => (error === Infinity ? "grows without bound: depends on the sample distance" : error > STATED * Math.abs(value) ? `up to ${text(error)} more between samples` : "");
})();
