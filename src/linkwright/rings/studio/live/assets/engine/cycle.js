// One whole cycle of the drives: positions, speeds, accelerations, efforts and the load of every pin at all samples. At the file's
// values each sample starts where Python found it; with other lengths the branch is followed from sample to sample. Samples that
// cannot be solved are gaps: `placed` says that a position is there, `ok` that speeds and loads are as well.
(() => {
  "use strict";
  const HELD = 1e-9; // residual of Python's positions below which lengths have not changed
  const FINE = 33; // small steps between two samples where the branch is in doubt; odd, so that none falls on the middle
  const AHEAD = 4; // samples tried beyond one that cannot be solved
  const ANCHORS = [0, 1 / 2, 1 / 4, 3 / 4, 1 / 8, 5 / 8, 3 / 8, 7 / 8]; // where following may begin anew, as shares of the cycle
  const BESIDE = 0.02; // of a step: how far beside a singular sample its limit is taken from
  const ONE_SIDED = 0.05; // of the largest: by more than this two sides of a limit do not differ
  const TOGETHER = 1e-6; // dimensionless: two ways to a sample ended in one position

  /** @type {(core: Core, law: Law) => Cycle} */
  const newCycle = (core, law) => {
    const { nq, nv, nd, nn } = core, n = law.n;
    const joints = core.mechanism.names.joints.length;
    /** @type {Cycle} */
    const c = {
      n, x: law.x, t: law.t, ok: new Uint8Array(n), placed: new Uint8Array(n), side: new Int8Array(n), determinant: new Float64Array(n).fill(NaN),
      q: new Float64Array(n * nq), v: new Float64Array(n * nv), a: new Float64Array(n * nv), near: new Float64Array(n * nn),
      wrench: new Float64Array(core.kernel.loads ? n * 6 * joints : 0), lam: new Float64Array(core.kernel.loads ? n * core.mechanism.names.lam.length : 0),
      u: Array.from({ length: core.kernel.loads ? nd : 0 }, () => new Float64Array(n)),
      power: new Float64Array(n), stats: [], pins: {}, residual: 0, why: "", singular: [],
      doubtful: () => false, poses: (i) => core.poses(c.q, i * nq),
    };
    return c;
  };

  // a solved position and what follows from it into the arrays of the cycle
  /** @param {Core} core @param {Law} law @param {Cycle} c @param {number} i @param {Float64Array} q @param {Float64Array} near @param {Closing} r */
  const store = (core, law, c, i, q, near, r) => {
    const { nq, nv, nd, nn, kernel } = core;
    c.placed[i] = 1;
    c.residual = Math.max(c.residual, r.residual);
    for (let k = 0; k < nq; k++) c.q[i * nq + k] = q[k];
    for (let k = 0; k < nn; k++) c.near[i * nn + k] = near[k];
    c.determinant[i] = r.determinant;
    c.ok[i] = 0;
    if (!r.ok) return;
    for (let k = 0; k < nv; k++) c.v[i * nv + k] = r.v[k];
    for (let k = 0; k < nv; k++) c.a[i * nv + k] = r.a[k];
    const loads = kernel.loads;
    if (loads) {
      loads.put("q", q);
      loads.put("v", r.v);
      loads.put("a", r.a);
      if (loads.run(near)) return;
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

  // follows the branch over the samples; holds the arrays it works with
  /** @param {Core} core @param {Law} law @param {Cycle} c */
  const follower = (core, law, c) => {
    const { nq, nn, nd } = core;
    const q = new Float64Array(nq), near = new Float64Array(nn), last = /** @type {Float64Array[]} */ ([0, 1, 2].map(() => new Float64Array(nq)));
    const drive = new Float64Array(nd), fine = /** @type {Float64Array[]} */ ([0, 1, 2].map(() => new Float64Array(nq))), turns = new Float64Array(nn);

    // how far the new positions are from Python's, carried on over the samples solved last; `known` of them in a row
    /** @param {number} i @param {number} step @param {number} known */
    const guess = (i, step, known) => {
      for (let k = 0; k < nq; k++) {
        /** @param {number} j */
        const d = (j) => last[j][k];
        const off = known > 2 ? 3 * d(0) - 3 * d(1) + d(2) : known > 1 ? 2 * d(0) - d(1) : d(0);
        q[k] = law.q[i * nq + k] + off;
      }
      core.normalized(q);
    };
    /** @param {number} i */
    const remember = (i) => {
      const oldest = /** @type {Float64Array} */ (last.pop());
      for (let k = 0; k < nq; k++) oldest[k] = q[k] - law.q[i * nq + k];
      last.unshift(oldest);
    };

    // from sample j to sample i in small steps, the branch followed by its own curve; the end is left in q and near
    /** @param {number} j @param {number} i */
    const finely = (j, i) => {
      for (let k = 0; k < nq; k++) fine[0][k] = c.q[j * nq + k];
      for (let k = 0; k < nn; k++) turns[k] = c.near[j * nn + k];
      let known = 1;
      for (let m = 1; m <= FINE; m++) {
        const x = m / FINE;
        for (let k = 0; k < nd; k++) drive[k] = (1 - x) * law.value[j * nd + k] + x * law.value[i * nd + k];
        for (let k = 0; k < nq; k++) {
          /** @param {number} s */
          const d = (s) => fine[s][k];
          q[k] = known > 2 ? 3 * d(0) - 3 * d(1) + d(2) : known > 1 ? 2 * d(0) - d(1) : d(0);
        }
        if (!core.solve(core.normalized(q), turns, drive).closed) return false;
        core.count(q, turns);
        const oldest = /** @type {Float64Array} */ (fine.pop());
        oldest.set(q);
        fine.unshift(oldest);
        known = Math.min(3, known + 1);
      }
      near.set(turns);
      return true;
    };

    /** @param {number} i */
    const apart = (i) => {
      let gap = 0;
      for (let k = 0; k < nq; k++) gap = Math.max(gap, Math.abs(c.q[i * nq + k] - q[k]));
      return gap;
    };

    // sample i from the solved sample j, the guess in q; true where it is solved on the branch
    /** @param {number} j @param {number} i */
    const solved = (j, i) => {
      for (let k = 0; k < nn; k++) near[k] = c.near[j * nn + k];
      let r = core.solve(q, near, law.value, law.speed, law.acceleration, i * nd);
      if (!r.closed && !(finely(j, i) && (r = core.solve(q, near, law.value, law.speed, law.acceleration, i * nd)).closed)) return false;
      let side = Math.sign(r.determinant);
      core.count(q, near);
      if (side * c.side[j] < 0) {
        for (let k = 0; k < nq; k++) c.q[i * nq + k] = q[k]; // a passage, or a jump over a narrow gap between branches?
        if (!finely(j, i)) return false;
        r = core.solve(q, near, law.value, law.speed, law.acceleration, i * nd);
        if (!r.closed) return false;
        side = Math.sign(r.determinant);
        if (side * c.side[j] < 0 && apart(i) > TOGETHER) return false;
      }
      c.side[i] = side || c.side[j];
      store(core, law, c, i, q, near, r);
      remember(i);
      return true;
    };

    // from a solved sample onwards (step 1) or back (-1), as far as the branch goes or samples are missing
    /** @param {number} from @param {number} step */
    const walk = (from, step) => {
      for (let k = 0; k < nq; k++) last[0][k] = c.q[from * nq + k] - law.q[from * nq + k];
      let known = 1, j = from, missed = 0;
      for (let i = from + step; i >= 0 && i < c.n && !c.placed[i]; i += step) {
        core.setTime(law.t[i]);
        guess(i, step, missed ? Math.min(known, 2) : known);
        if (solved(j, i)) {
          known = missed ? 1 : Math.min(3, known + 1);
          j = i;
          missed = 0;
        } else if (++missed > AHEAD) return;
      }
    };

    // a first position: Python's, carried from the file's parameters to the new ones
    /** @param {number} i @param {Float64Array | undefined} file */
    const anchor = (i, file) => {
      for (let k = 0; k < nq; k++) q[k] = law.q[i * nq + k];
      for (let k = 0; k < nn; k++) near[k] = law.near[i * nn + k];
      for (let k = 0; k < nd; k++) drive[k] = law.value[i * nd + k];
      core.setTime(law.t[i]);
      if (!file || !core.carried(q, near, drive, file, Float64Array.from(core.mechanism.parameters))) return false;
      const r = core.solve(q, near, law.value, law.speed, law.acceleration, i * nd);
      if (!r.closed) return false;
      c.side[i] = Math.sign(r.determinant);
      if (!c.side[i]) return false;
      store(core, law, c, i, q, near, r);
      return true;
    };
    return { anchor, walk };
  };

  /** @param {Core} core @param {Law} law @param {Cycle} c @param {Cycle | null} original @param {Float64Array | undefined} file */
  const followed = (core, law, c, original, file) => {
    const f = follower(core, law, c);
    for (const share of ANCHORS) {
      let i = Math.round(share * (c.n - 1));
      if (original && !original.ok[i]) i = Math.min(c.n - 1, i + 2);
      if (c.placed[i] || !f.anchor(i, file)) continue;
      f.walk(i, 1);
      f.walk(i, -1);
    }
  };

  // ------------------------------------------------------------------ samples at which a pivot vanishes

  // everything computed at a position, in one row: v, a, u, wrench, lam
  /** @param {Core} core @param {Float64Array} q @param {Float64Array} near @param {Closing} r */
  const rowOf = (core, q, near, r) => {
    const loads = core.kernel.loads;
    if (!loads) return [...r.v, ...r.a];
    loads.put("q", q);
    loads.put("v", r.v);
    loads.put("a", r.a);
    if (loads.run(near)) return null;
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

  /** @param {Core} core @param {Law} law @param {Cycle} c */
  const fillLimits = (core, law, c) => {
    const { nv, nd } = core, joints = 6 * core.mechanism.names.joints.length, lam = core.mechanism.names.lam.length;
    for (let i = 0; i < c.n; i++) {
      if (!c.placed[i] || c.ok[i]) continue;
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
      else followed(core, law, c, original, file);
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
