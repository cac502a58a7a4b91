// One whole cycle of the drives: positions, speeds, accelerations, efforts and the load of every pin at all samples. At the file's
// values each sample starts where Python found it; with other lengths the branch is walked along from positions of Python that are carried
// to them (driven_motion.py). Samples that cannot be solved are gaps: `placed` says that a position is there, `ok` that speeds and loads
// are as well.
(() => {
  "use strict";
  const HELD = 1e-9; // residual of Python's positions below which lengths have not changed
  const AHEAD = 4; // samples tried beyond one that cannot be solved
  const ANCHORS = [0, 1 / 2, 1 / 4, 3 / 4, 1 / 8, 5 / 8, 3 / 8, 7 / 8]; // where a walk may begin, as shares of the cycle
  const BESIDE = 0.02; // of a step: how far beside a singular sample its limit is taken from
  const CLOSE = 1e-6, NEAR = 0.25; // radians or meters, and of the way there: so far may a sample be from where a branch leads to
  const SMOOTH = 1e-2; // of its neighbors: below, such a limit of the determinant is none
  const ONE_SIDED = 0.05; // of the largest: by more than this two sides of a limit do not differ

  /** @type {(core: Core, law: Law) => Cycle} */
  const newCycle = (core, law) => {
    const { nq, nv, nd, nn } = core, n = law.n;
    const joints = core.mechanism.names.joints.length;
    /** @type {Cycle} */
    const c = {
      n, x: law.x, t: law.t, ok: new Uint8Array(n), placed: new Uint8Array(n), determinant: new Float64Array(n).fill(NaN),
      q: new Float64Array(n * nq), v: new Float64Array(n * nv), a: new Float64Array(n * nv), near: new Float64Array(n * nn),
      wrench: new Float64Array(core.kernel.loads ? n * 6 * joints : 0), lam: new Float64Array(core.kernel.loads ? n * core.mechanism.names.lam.length : 0),
      u: Array.from({ length: core.kernel.loads ? nd : 0 }, () => new Float64Array(n)),
      power: new Float64Array(n), stats: [], pins: {}, residual: 0, why: "", singular: [],
      doubtful: () => false, poses: (i) => core.poses(c.q, i * nq),
    };
    return c;
  };

  // a solved position, with speeds and accelerations where there are some
  /** @param {Core} core @param {Law} law @param {Cycle} c @param {number} i @param {Float64Array} q @param {Float64Array} near @param {Closing} r */
  const store = (core, law, c, i, q, near, r) => {
    const { nq, nv, nn } = core;
    c.placed[i] = 1;
    c.residual = Math.max(c.residual, r.residual);
    c.q.set(q, i * nq);
    c.near.set(near, i * nn);
    c.determinant[i] = r.determinant;
    c.ok[i] = 0;
    if (!r.ok) return;
    c.v.set(r.v, i * nv);
    c.a.set(r.a, i * nv);
    load(core, law, c, i);
  };

  // the kernel of the loads at sample i of these arrays; false where it has no answer
  /** @param {Core} core @param {{q: Float64Array, v: Float64Array, a: Float64Array, near: Float64Array}} x @param {number} i */
  const loaded = ({ nq, nv, nn, kernel }, x, i) => {
    const { loads } = kernel;
    loads.put("q", x.q, i * nq);
    loads.put("v", x.v, i * nv);
    loads.put("a", x.a, i * nv);
    return !loads.run(x.near, i * nn);
  };

  // the loads of a sample whose motion is known
  /** @param {Core} core @param {Law} law @param {Cycle} c @param {number} i */
  const load = (core, law, c, i) => {
    const { nd, kernel } = core, loads = kernel.loads;
    if (loads) {
      if (!loaded(core, c, i)) return;
      const { y, to } = loads, w = to.wrench, l = to.lam;
      let power = 0;
      for (let k = 0; k < nd; k++) {
        const u = y[to.u[0] + k];
        c.u[k][i] = u;
        power += u * law.speed[i * nd + k];
      }
      c.power[i] = power;
      for (let k = 0; k < w[1]; k++) c.wrench[i * w[1] + k] = y[w[0] + k];
      for (let k = 0; k < l[1]; k++) c.lam[i * l[1] + k] = y[l[0] + k];
    }
    c.ok[i] = 1;
  };

  // ------------------------------------------------------------------ the file's own lengths

  // whether Python's positions still close the loops
  /** @param {Core} core @param {Law} law */
  const sameLengths = (core, law) => {
    for (const share of [0, 0.37, 0.71]) {
      const i = Math.round(share * (law.n - 1));
      const q = law.q.subarray(i * core.nq, (i + 1) * core.nq), near = law.near.subarray(i * core.nn, (i + 1) * core.nn);
      if (!(core.residual(q, near, law.value, i * core.nd) < HELD)) return false;
    }
    return true;
  };

  // positions and references of all samples in place of those of the first
  LW.walkedPositions = (core, law) => {
    const { nq, nn } = core, { reached, rows, width, turns } = core.mechanism.walk(law, law.q, law.near, 0, law.n, 1);
    const q = new Float64Array(law.n * nq), near = new Float64Array(law.n * nn), o = width - 1 - turns;
    for (let i = 0; i < law.n; i++) {
      const at = width * Math.min(i, reached - 1);
      q.set(rows.subarray(at, at + nq), i * nq);
      near.set(turns ? rows.subarray(at + o, at + o + turns) : law.near, i * nn);
    }
    Object.assign(law, { q, near });
  };

  /** @param {Core} core @param {Law} law @param {Cycle} c */
  const asFound = (core, law, c) => {
    const q = new Float64Array(core.nq), near = new Float64Array(core.nn);
    for (let i = 0; i < c.n; i++) {
      for (let k = 0; k < core.nq; k++) q[k] = law.q[i * core.nq + k];
      for (let k = 0; k < core.nn; k++) near[k] = law.near[i * core.nn + k];
      core.setTime(law.t[i]);
      const r = core.solve(q, near, law.value, law.speed, law.acceleration, i * core.nd);
      if (r.closed) store(core, law, c, i, q, near, r);
    }
  };

  // ------------------------------------------------------------------ other lengths

  // from a first position along all samples that are not known, onwards (1) or back (-1): as far as its branch goes, and over narrow gaps
  /** @param {Core} core @param {Law} law @param {Cycle} c @param {Float64Array} q @param {Float64Array} near @param {number} from @param {number} onward */
  const walked = (core, law, c, q, near, from, onward) => {
    const { nq, nv, nn } = core;
    for (let first = from; first >= 0; ) {
      let count = 1;
      for (let i = first + onward; i >= 0 && i < c.n && !c.placed[i]; i += onward) count++;
      const { reached, rows, width, turns, residual } = core.mechanism.walk(law, q, near, first, count, onward);
      c.residual = Math.max(c.residual, residual);
      for (let m = 0, i = first; m < reached; m++, i += onward) {
        if (c.placed[i]) continue;
        const o = i * width, still = law.still ? 0 : 1;
        c.placed[i] = 1;
        for (let k = 0; k < nq; k++) c.q[i * nq + k] = rows[o + k];
        for (let k = 0; k < nv; k++) c.v[i * nv + k] = still * rows[o + nq + k];
        for (let k = 0; k < nv; k++) c.a[i * nv + k] = still * rows[o + nq + nv + k];
        for (let k = 0; k < nn; k++) c.near[i * nn + k] = turns ? rows[o + nq + 2 * nv + k] : near[k];
        c.determinant[i] = rows[o + width - 1];
        core.setTime(law.t[i]);
        load(core, law, c, i);
      }
      if (!reached || reached === count) return;
      const last = first + onward * (reached - 1), o = (last + onward) * width;
      first = beyond(core, law, c, rows.subarray(o, o + nq), last, onward);
      if (first < 0) return;
      q.set(c.q.subarray(first * nq, (first + 1) * nq));
      near.set(c.near.subarray(first * nn, (first + 1) * nn));
    }
  };

  // beyond the sample at which a branch ends: samples in a singular position, and the first one behind it or behind a narrow gap, from which
  // the branch can be walked again; -1 if there is none. `q` is where the branch leads to.
  /** @param {Core} core @param {Law} law @param {Cycle} c @param {Float64Array} q @param {number} last @param {number} onward */
  const beyond = (core, law, c, q, last, onward) => {
    const { nq, nn, nd } = core, known = [0, 1, 2].map((k) => last - k * onward).filter((i) => c.placed[i]), side = c.determinant[last];
    const here = new Float64Array(nq), near = c.near.slice(last * nn, (last + 1) * nn);
    let missed = false;
    for (let i = last + onward; i >= 0 && i < c.n && !c.placed[i] && Math.abs(i - last) <= AHEAD + 1; i += onward) {
      here.set(q);
      if (i !== last + onward) carriedOn(core, law, c, i, known.slice(0, missed ? 2 : 3), here);
      const guess = core.normalized(here).slice();
      core.setTime(law.t[i]);
      const r = core.solve(here, near, law.value, law.speed, law.acceleration, i * nd), from = known[0] * nq;
      let way = 0, off = 0;
      for (let k = 0; k < nq; k++) {
        way = Math.max(way, Math.abs(guess[k] - c.q[from + k]));
        off = Math.max(off, Math.abs(here[k] - guess[k]));
      }
      // a branch does not change its side in a gap
      if (r.closed && off <= CLOSE + NEAR * way && !(missed && r.determinant * side < 0)) {
        core.count(here, near);
        store(core, law, c, i, here, near, r);
        if (r.ok) return i;
        known.unshift(i);
      } else missed = true;
    }
    return -1;
  };

  // Python's position at a sample, moved as the known ones were, by the polynomial through them
  /** @param {Core} core @param {Law} law @param {Cycle} c @param {number} i @param {number[]} known @param {Float64Array} q */
  const carriedOn = (core, law, c, i, known, q) => {
    const { nq } = core;
    q.set(law.q.subarray(i * nq, (i + 1) * nq));
    for (const a of known) {
      const share = known.reduce((s, b) => (a === b ? s : (s * (i - b)) / (a - b)), 1);
      for (let k = 0; k < nq; k++) q[k] += share * (c.q[a * nq + k] - law.q[a * nq + k]);
    }
  };

  // the branch walked from Python's positions at some samples, carried from the file's parameters to the new ones
  /** @param {Core} core @param {Law} law @param {Cycle} c @param {Cycle | null} original @param {Float64Array} file */
  const followed = (core, law, c, original, file) => {
    const { nq, nn, nd, mechanism } = core, here = Float64Array.from(mechanism.parameters), last = c.n - 1;
    for (const share of ANCHORS) {
      let i = Math.round(share * last);
      if (original && !original.ok[i]) i = Math.min(last, i + 2);
      const q = law.q.slice(i * nq, (i + 1) * nq), near = law.near.slice(i * nn, (i + 1) * nn);
      if (c.placed[i] || !mechanism.reach(q, near, law.value.subarray(i * nd, (i + 1) * nd), file, here)) continue;
      walked(core, law, c, q.slice(), near.slice(), i, 1);
      walked(core, law, c, q, near, i, -1);
    }
  };

  // ------------------------------------------------------------------ samples at which a pivot vanishes

  // everything computed at a position, in one row: v, a, u, wrench, lam
  /** @param {Core} core @param {Float64Array} q @param {Float64Array} near @param {Closing} r */
  const rowOf = (core, q, near, r) => {
    const loads = core.kernel.loads;
    if (!loads) return [...r.v, ...r.a];
    if (!loaded(core, { q, v: r.v, a: r.a, near }, 0)) return null;
    return [...r.v, ...r.a, ...loads.get("u"), ...loads.get("wrench"), ...loads.get("lam")];
  };

  // the row a share x of a step beside sample i; null where that cannot be solved either
  /** @param {Core} core @param {Law} law @param {Cycle} c @param {number} i @param {number} x */
  const beside = (core, law, c, i, x) => {
    const { nq, nn, nd } = core, before = Math.max(0, i - 1), after = Math.min(c.n - 1, i + 1), h = (law.t[after] - law.t[before]) / (after - before);
    if (!c.placed[before] || !c.placed[after]) return null;
    const q = new Float64Array(nq), near = c.near.slice(i * nn, (i + 1) * nn), d = x * h;
    const drive = new Float64Array(nd), speed = new Float64Array(nd), acceleration = law.acceleration.slice(i * nd, (i + 1) * nd);
    for (let k = 0; k < nq; k++) q[k] = c.q[i * nq + k] + (x * (c.q[after * nq + k] - c.q[before * nq + k])) / (after - before);
    for (let k = 0; k < nd; k++) {
      const still = (x * (law.value[after * nd + k] - law.value[before * nd + k])) / (after - before);
      drive[k] = law.value[i * nd + k] + (law.still ? still : d * (law.speed[i * nd + k] + 0.5 * d * acceleration[k]));
      speed[k] = law.speed[i * nd + k] + d * acceleration[k];
    }
    core.setTime(law.t[i] + d);
    const r = core.solve(core.normalized(q), near, drive, speed, acceleration);
    return r.ok ? rowOf(core, q, near, r) : null;
  };

  // the limit from both sides, where both come to one: means over two distances, carried on to none. A pole has two sides.
  /** @param {Core} core @param {Law} law @param {Cycle} c @param {number} i */
  const limit = (core, law, c, i) => {
    const rows = [-BESIDE, BESIDE, -2 * BESIDE, 2 * BESIDE].map((x) => beside(core, law, c, i, x));
    if (rows.some((r) => !r)) return null;
    const [a, b, A, B] = /** @type {number[][]} */ (rows), { nv, nd } = core, ends = [nv, 2 * nv, 2 * nv + nd, a.length];
    for (let k = 0, part = 0; part < ends.length; k = ends[part++]) {
      let apart = 0, largest = 1e-300;
      for (let j = k; j < ends[part]; j++) {
        apart = Math.max(apart, Math.abs(b[j] - a[j]));
        largest = Math.max(largest, Math.abs(b[j]), Math.abs(a[j]));
      }
      if (apart > ONE_SIDED * largest) return null;
    }
    return a.map((_, j) => (4 * (a[j] + b[j]) - (A[j] + B[j])) / 6);
  };

  // the determinant where a pivot vanishes is round-off: the limit from both sides, like that of the loads
  /** @param {Float64Array} det @param {number} i */
  const smoothed = (det, i) => {
    const [a, b, A, B] = [det[i - 1], det[i + 1], det[i - 2], det[i + 2]], d = (4 * (a + b) - (A + B)) / 6;
    if (d - d === 0) det[i] = a * b > 0 && d * a > SMOOTH * a * a ? d : 0;
  };

  /** @param {Core} core @param {Law} law @param {Cycle} c */
  const fillLimits = (core, law, c) => {
    const { nv, nd } = core, joints = 6 * core.mechanism.names.joints.length, lam = core.mechanism.names.lam.length;
    for (let i = 0; i < c.n; i++) {
      if (!c.placed[i] || c.ok[i]) continue;
      smoothed(c.determinant, i);
      const row = limit(core, law, c, i);
      if (!row) continue;
      c.v.set(row.slice(0, nv), i * nv);
      c.a.set(row.slice(nv, 2 * nv), i * nv);
      c.ok[i] = 1;
      if (!core.kernel.loads) continue;
      let power = 0;
      for (let k = 0; k < nd; k++) {
        c.u[k][i] = row[2 * nv + k];
        power += c.u[k][i] * law.speed[i * nd + k];
      }
      c.power[i] = power;
      c.wrench.set(row.slice(2 * nv + nd, 2 * nv + nd + joints), i * joints);
      c.lam.set(row.slice(2 * nv + nd + joints), i * lam);
    }
  };

  // ------------------------------------------------------------------ readings of the cycle

  // largest effort, between samples, and its root mean square over time; samples without loads are not numbers
  /** @param {Cycle} c */
  const statistics = (c) => {
    for (let i = 0; i < c.n; i++) {
      if (c.ok[i]) continue;
      for (const u of c.u) u[i] = NaN;
      c.power[i] = NaN;
    }
    c.stats = c.u.map((u) => {
      let sum = 0, time = 0;
      for (let i = 0; i < c.n; i++) {
        if (!c.ok[i]) continue;
        if (!i || !c.ok[i - 1]) continue;
        const h = c.t[i] - c.t[i - 1];
        sum += 0.5 * h * (u[i] * u[i] + u[i - 1] * u[i - 1]);
        time += h;
      }
      const rms = time > 0 ? Math.sqrt(sum / time) : 0, e = LW.extremes(u, c.t);
      if (!e) return { max: 0, value: 0, s: -1, at: 0, error: 0, doubtful: false, rms };
      const [value, s, error] = Math.abs(e.low) > Math.abs(e.high) ? [e.low, e.sLow, e.errorLow] : [e.high, e.sHigh, e.errorHigh];
      const i = Math.min(Math.floor(s), c.n - 2), at = c.x[i] + (s - i) * (c.x[i + 1] - c.x[i]);
      return { max: Math.abs(value), value, s, at, error, doubtful: c.doubtful(Math.round(s), true), rms };
    });
  };

  // force and moment of every pin on each of its bodies
  /** @param {Core} core @param {Cycle} c @param {PageData} DATA */
  const pinLoads = (core, c, DATA) => {
    const { eyes, names } = core.mechanism, width = 6 * names.joints.length;
    for (const pin of DATA.pins) {
      for (const body of pin.bodies) {
        const force = new Float64Array(3 * c.n), moment = new Float64Array(3 * c.n);
        for (const j of eyes[pin.name][body]) {
          const s = Math.sign(j), from = 6 * (Math.abs(j) - 1);
          for (let i = 0, o = from; i < c.n; i++, o += width) {
            for (let k = 0; k < 3; k++) {
              moment[3 * i + k] += s * c.wrench[o + k];
              force[3 * i + k] += s * c.wrench[o + 3 + k];
            }
          }
        }
        for (let i = 0; i < c.n; i++) {
          if (c.ok[i]) continue;
          force.fill(NaN, 3 * i, 3 * i + 3);
          moment.fill(NaN, 3 * i, 3 * i + 3);
        }
        const { max, s, error } = LW.magnitudes(force, c.t), index = Math.round(s);
        c.pins[`${pin.name}|${body}`] = { force, moment, max: max || 0, s, error, index, doubtful: c.doubtful(index) };
      }
    }
  };

  // "" or which drive stops where
  /** @param {Cycle} c @param {Law} law @param {PageData} DATA */
  const reason = (c, law, DATA) => {
    if (!c.placed.some((x) => x)) return "the mechanism cannot be assembled with these dimensions";
    const stop = c.singular.find((x) => x.ends && x.inside), missing = c.placed.indexOf(0);
    if (!stop && missing >= 0) return `no position found at ${LW.singularPlace(law, DATA, { value: law.value[missing * law.drives.length + Math.max(0, law.drives.indexOf(law.drive))] })}`;
    if (!stop) return "";
    const why = stop.geometry ? `dead center, ${stop.geometry}` : "dead center, or the links do not reach further";
    return `${law.drive} stops at ${LW.singularPlace(law, DATA, stop)}: ${why}`;
  };

  // the cycle for the mechanism's present parameters; `original` and `file` (its values) where they are changed; `follow` in any case
  LW.engineCycle = (core, law, DATA, original, file, follow) => {
    const c = newCycle(core, law);
    const time = core.mechanism.t;
    if (core.kinematics) {
      if (!original || (!follow && sameLengths(core, law))) asFound(core, law, c);
      else followed(core, law, c, original, file || Float64Array.from(core.mechanism.parameters));
      fillLimits(core, law, c);
    }
    core.setTime(time);
    if (core.kinematics) LW.engineSingular(core, law, c, DATA, original ? [] : law.singular);
    if (core.kernel.loads) {
      statistics(c);
      pinLoads(core, c, DATA);
      LW.eyeLoads(core, law, c, DATA);
    }
    c.why = core.kinematics ? reason(c, law, DATA) : "the drives do not determine the motion";
    return c;
  };
})();
