// The way back to the cycle, from where a hand or a free swing has left the mechanism: the drives walk to the nearest position of the
// cycle; where that way is blocked, or ends on another branch, the picture of the bodies is carried over.
(() => {
  "use strict";
  const SECONDS = 0.45, TURN = 2 * Math.PI;
  const CLOSE = 1e-3; // of a drive's range, or of the mechanism's size: no way to go

  const smooth = (x) => (x >= 1 ? 1 : x * x * (3 - 2 * x));
  const wrapped = (angle) => angle - TURN * Math.round(angle / TURN);

  // drive values of the cycle, and the range of each
  const drivesOf = (DATA) => {
    const { data, shape } = LW.decode(DATA.cycle.value), [n, count] = [shape[0], shape[1] || 1];
    const range = Array.from({ length: count }, (_, k) => {
      let low = Infinity, high = -Infinity;
      for (let i = 0; i < n; i++) { low = Math.min(low, data[i * count + k]); high = Math.max(high, data[i * count + k]); }
      return high > low ? high - low : 1;
    });
    const gap = (value, i, k) => {
      const d = data[i * count + k] - value;
      return DATA.cycle.kinds[k] === "angle" ? wrapped(d) : d;
    };
    return { n, count, range, gap };
  };
  const cached = new WeakMap();
  const drives = (DATA) => {
    if (!cached.has(DATA)) cached.set(DATA, drivesOf(DATA));
    return cached.get(DATA);
  };

  // The real sample number of the cycle whose drive values are nearest to those now; of equals the one nearest to `last`.
  LW.nearest = (e, DATA, last) => {
    const { n, count, range, gap } = drives(DATA), value = e.state.drive;
    const distance = (i) => {
      let sum = 0;
      for (let k = 0; k < count; k++) sum += (gap(value[k], i, k) / range[k]) ** 2;
      return Math.sqrt(sum);
    };
    let best = 0, least = Infinity;
    for (let i = 0; i < n; i++) {
      const d = distance(i) + 1e-6 * Math.abs(i - last) / n;
      if (d < least) { least = d; best = i; }
    }
    if (count > 1) return best;
    const here = gap(value[0], best, 0);
    for (const i of [best - 1, best + 1]) {
      if (i < 0 || i >= n) continue;
      const there = gap(value[0], i, 0);
      if (here * there < 0) return best + (i - best) * Math.abs(here) / (Math.abs(here) + Math.abs(there));
    }
    return best;
  };

  const copy = (poses) => ({ R: Float64Array.from(poses.R), p: Float64Array.from(poses.p) });
  const size = (DATA) => Math.hypot(...[0, 1, 2].map((k) => DATA.scene.extent.high[k] - DATA.scene.extent.low[k])) || 1;
  const apart = (a, b) => a.p.reduce((most, x, i) => Math.max(most, Math.abs(x - b.p[i])), a.R.reduce((m, x, i) => Math.max(m, Math.abs(x - b.R[i])), 0));

  // columns of a mixed rotation made orthogonal again
  const straightened = (R) => {
    const x = [R[0], R[3], R[6]], y = [R[1], R[4], R[7]], dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    const unit = (a) => { const l = Math.hypot(...a); return l > 1e-9 ? a.map((c) => c / l) : null; };
    const i = unit(x), along = i && dot(i, y), j = i && unit(y.map((c, k) => c - along * i[k]));
    if (!j) return null;
    const k = [i[1] * j[2] - i[2] * j[1], i[2] * j[0] - i[0] * j[2], i[0] * j[1] - i[1] * j[0]];
    return [i[0], j[0], k[0], i[1], j[1], k[1], i[2], j[2], k[2]];
  };
  LW.blendPoses = (from, to, f) => {
    const R = new Float64Array(to.R.length), p = to.p.map((x, i) => from.p[i] + f * (x - from.p[i]));
    for (let b = 0; b < R.length; b += 9) {
      const mixed = Array.from({ length: 9 }, (_, i) => from.R[b + i] + f * (to.R[b + i] - from.R[b + i]));
      R.set(straightened(mixed) || to.R.subarray(b, b + 9), b);
    }
    return { R, p };
  };

  // A function to call each frame with the seconds passed. It moves the engine and returns the poses to draw instead of the
  // engine's (or null); it calls done() on arrival at sample s. Null instead of a function: the engine is there already.
  LW.glide = (e, DATA, s, done) => {
    const { count, range, gap } = drives(DATA), names = DATA.cycle.drives, i = Math.round(s);
    const start = Array.from(e.state.drive).slice(0, count), way = start.map((value, k) => gap(value, i, k));
    const far = way.some((d, k) => Math.abs(d) > Math.max(CLOSE, 1.5 / drives(DATA).n) * range[k]);
    let passed = 0;
    /** @type {Poses | null} */
    let from = null;
    /** @type {Poses | null} */
    let to = null;

    const carry = () => {
      from = copy(e.poses());
      e.go(s);
      to = copy(e.poses());
      passed = 0;
      return apart(from, to) < CLOSE * Math.max(1, size(DATA)) ? null : from;
    };
    const walk = (f) => names.every((name, k) => {
      const result = e.nudge(name, start[k] + f * way[k] - e.state.drive[k]);
      return !result || result.stopped === undefined || !result.stopped;
    });
    if (!far && !carry()) return null;
    return (seconds) => {
      passed += seconds;
      const f = smooth(passed / SECONDS);
      if (from) {
        if (f >= 1) { done(); return null; }
        return LW.blendPoses(from, to, f);
      }
      if (walk(f) && f < 1) return null;
      const first = carry();
      if (!first) done();
      return first;
    };
  };
})();
