// The engine of the page: the state of the mechanism and everything computed from it, on top of the kernels (`mechanism`).
// SI, radians, world axes; no DOM, runs in node. Places on bodies are given in the bodies' coordinates at the file's values and
// follow the sliders. The parts: core.js (kernels, closing), cycle.js (a whole cycle), hand.js (dragging),
// swing.js (free motion), tell.js (free bodies, hodographs, singular values, table), checks.js, channels.js (curves by name; samples.js).
(() => {
  "use strict";
  const SMALL = 12; // velocities up to which a cycle is warmed up

  // {f64: base64 of little-endian numbers, shape} -> {data: Float64Array, shape}
  LW.decode = (x) => {
    const text = atob(x.f64);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return { data: new Float64Array(bytes.buffer), shape: x.shape };
  };

  /** @type {(cycle: PageCycle | null) => Law | null} */
  const decoded = (cycle) => {
    if (!cycle) return null;
    const out = /** @type {any} */ ({ ...cycle });
    for (const k of /** @type {const} */ (["t", "q", "near", "value", "speed", "acceleration"])) out[k] = LW.decode(cycle[k]).data;
    out.n = out.t.length;
    out.x = LW.decode(cycle.over.values).data;
    out.reference = { at: cycle.reference.at, u: cycle.reference.u ? LW.decode(cycle.reference.u).data : null };
    return out;
  };

  /** @type {(run: PageRun | null) => DecodedRun | null} */
  const decodedRun = (run) => {
    if (!run) return null;
    const out = /** @type {any} */ ({ t: LW.decode(run.t).data });
    for (const k of /** @type {const} */ (["q", "v", "near"])) out[k] = LW.decode(run[k]).data;
    out.touches = run.touches ? { at: LW.decode(run.touches.at).data, force: LW.decode(run.touches.force).data, state: LW.decode(run.touches.state).data } : null;
    out.off = (run.off || []).map(({ name, open }) => ({ name, open: LW.decode(open).data }));
    return out;
  };

  LW.engine = (mechanism, DATA) => {
    const core = LW.engineCore(mechanism, DATA);
    const law = decoded(DATA.cycle), planned = /** @type {Law} */ (law);
    if (law && law.q.length < law.n * core.nq) LW.walkedPositions(core, law);
    const run = decodedRun(DATA.run);
    const { nq, nv, nd, nn } = core;
    const bodies = DATA.bodies.map((b) => b.name);
    const file = Float64Array.from(DATA.parameters, (p) => p.value);
    const names = DATA.parameters.map((p) => p.name);
    const e = /** @type {Engine} */ ({ mechanism, data: DATA, core, law, places: null, values: {} });
    names.forEach((name, i) => (e.values[name] = file[i]));
    const shown = () => /** @type {Cycle} */ (e.cycle); // where there is one

    e.index = (body) => {
      const k = typeof body === "number" ? body : bodies.indexOf(body);
      if (!(k >= 0 && k < bodies.length)) throw new RangeError(`there is no body ${body}`);
      return k;
    };

    // ------------------------------------------------------------------ the state

    e.state = { q: new Float64Array(nq), v: new Float64Array(nv), a: new Float64Array(nv), near: new Float64Array(nn), drive: new Float64Array(nd),
      u: null, loads: null, ok: true, s: null, t: 0 };

    // takes over a position; without speeds it rests
    e.put = (q, near, v, a, more) => {
      const s = e.state;
      s.q.set(q);
      s.near.set(near);
      if (v) s.v.set(v);
      else s.v.fill(0);
      if (a) s.a.set(a);
      else s.a.fill(0);
      mechanism.near = Float64Array.from(s.near);
      core.driveAt(s.q, s.near, s.drive);
      s.s = null;
      Object.assign(s, more);
      mechanism.t = s.t;
      core.dirty();
      e.load();
      return s;
    };

    // efforts and loads of the state
    e.load = () => {
      const s = e.state;
      s.loads = null;
      s.u = null;
      if (!mechanism.loads || !s.ok) return;
      mechanism.near = Float64Array.from(s.near);
      mechanism.t = s.t;
      const found = mechanism.loads(s.q, s.v, s.a);
      if (found.ok) {
        s.loads = found;
        s.u = found.u;
      }
    };

    e.poses = () => core.poses(e.state.q);
    e.place = (body, at) => core.place(e.index(body), e.moved(body, at), e.state.q);
    e.velocity = (body, at) => core.velocity(e.index(body), e.moved(body, at), e.state.q, e.state.v);

    // where a place of a body is after lengths have changed
    e.moved = (body, at) => core.moved(e.index(body), at);

    // ------------------------------------------------------------------ the cycle

    e.original = law ? LW.engineCycle(core, law, DATA, null) : null;
    e.cycle = e.original;
    e.changed = false;

    // the state at a real sample number
    e.go = (s) => {
      const c = e.cycle;
      ownValues();
      if (!c) return e.state;
      s = Math.min(c.n - 1, Math.max(0, Number.isFinite(s) ? s : 0));
      const i = Math.min(c.n - 2, Math.floor(s));
      const x = s - i;
      if (x < 1e-12 || x > 1 - 1e-12) return atSample(Math.round(s));
      if (between(i, x)) return e.state;
      const there = c.placed[i] || c.placed[i + 1];
      atSample(nearestPlaced(s));
      return there ? Object.assign(e.state, { s }) : missing(s);
    };

    // a sample that the mechanism does not reach: it stays where it got, without loads
    /** @param {number} s */
    const missing = (s) => Object.assign(e.state, { ok: false, loads: null, u: null, s });

    /** @param {number} i */
    const atSample = (i) => {
      const c = shown();
      if (!c.placed[i]) {
        const other = nearestPlaced(i);
        if (other >= 0) atSample(other);
        return missing(i);
      }
      /** @param {Float64Array} x @param {number} m */
      const row = (x, m) => x.subarray(i * m, (i + 1) * m), ok = c.ok[i] === 1;
      e.put(row(c.q, nq), row(c.near, nn), ok ? row(c.v, nv) : null, ok ? row(c.a, nv) : null, { ok, s: i, t: planned.t[i] });
      if (ok && core.kernel.loads && !e.state.loads) {
        const m = mechanism.names; // a singular sample has the limit of its neighbors
        e.state.u = Float64Array.from(c.u, (u) => u[i]);
        e.state.loads = { ok, u: e.state.u, lam: c.lam.slice(i * m.lam.length, (i + 1) * m.lam.length), wrench: c.wrench.slice(6 * i * m.joints.length, 6 * (i + 1) * m.joints.length) };
      }
      return e.state;
    };

    // the stretch of positions that can be reached from a real sample number: {from, to}, `to` beyond the last sample where a closed
    // cycle goes on at its beginning, both s where none can be reached; null where all can
    e.stretch = (s) => {
      const c = e.cycle, last = c ? c.n - 1 : 0;
      if (!c || c.placed.every((x) => x)) return null;
      if (!c.placed.some((x) => x)) return { from: s, to: s };
      const ends = [c.poses(0), c.poses(last)], apart = (/** @type {Float64Array} */ a, /** @type {Float64Array} */ b) => a.reduce((m, x, i) => Math.max(m, Math.abs(x - b[i])), 0);
      const round = planned.closed && c.placed[0] && c.placed[last] && apart(ends[0].p, ends[1].p) < 1e-6 * core.kappa && apart(ends[0].R, ends[1].R) < 1e-6;
      /** @param {number} i */
      const there = (i) => c.placed[round ? ((i % last) + last) % last : i] === 1;
      let from = nearestPlaced(s), to = from;
      while (there(from - 1)) from--;
      while (there(to + 1)) to++;
      return from < 0 ? { from: from + last, to: to + last } : { from, to };
    };

    /** @param {number} s */
    const nearestPlaced = (s) => {
      const c = shown();
      let best = -1;
      for (let i = 0; i < c.n; i++) if (c.placed[i] && (best < 0 || Math.abs(i - s) < Math.abs(best - s))) best = i;
      return best;
    };

    /** @param {number} i @param {number} x */
    const between = (i, x) => {
      const c = shown();
      if (!c.placed[i] || !c.placed[i + 1]) return null;
      const t = planned.t[i] + x * (planned.t[i + 1] - planned.t[i]);
      const motion = lawAt(i, x);
      const guess = new Float64Array(nq);
      for (let k = 0; k < nq; k++) guess[k] = (1 - x) * c.q[i * nq + k] + x * c.q[(i + 1) * nq + k];
      core.setTime(t);
      const near = c.near.slice(i * nn, (i + 1) * nn);
      const r = core.solve(guess, near, motion.value, motion.speed, motion.acceleration);
      if (!r.closed) return null;
      core.count(guess, near);
      return e.put(guess, near, r.ok ? r.v : null, r.ok ? r.a : null, { ok: r.ok, s: i + x, t });
    };

    /** @param {number} i @param {number} x */
    const lawAt = (i, x) => {
      if (!planned.still) return mechanism.lawAt(planned, i, x);
      const value = new Float64Array(nd), a = i * nd;
      for (let k = 0; k < nd; k++) value[k] = (1 - x) * planned.value[a + k] + x * planned.value[a + nd + k];
      return { value, speed: new Float64Array(nd), acceleration: new Float64Array(nd) };
    };

    // ------------------------------------------------------------------ parameters

    // new values by name: the whole cycle and the state again; {ok, why}
    e.set = (values) => {
      for (const name in values) {
        if (!names.includes(name)) throw new RangeError(`no parameter ${name}: ${names.join(", ")}`);
        if (!Number.isFinite(values[name])) throw new RangeError(`${name} must be a finite number`);
      }
      const before = Float64Array.from(mechanism.parameters), played = e.played;
      e.played = null;
      Object.assign(e.values, values);
      mechanism.set(e.values);
      e.changed = names.some((name, i) => e.values[name] !== file[i]);
      e.places = core.reshape();
      if (law) e.cycle = e.changed ? LW.engineCycle(core, law, DATA, e.original, file) : e.original;
      const ok = played === null ? follow(before) : e.play(played).ok;
      const why = e.cycle && e.cycle.why ? e.cycle.why : ok ? "" : "the mechanism cannot be assembled with these dimensions";
      return { ok: ok && !why, why };
    };

    e.reset = () => {
      return e.set(fileValues());
    };

    // runs what a slider asks for once, unseen, so that its first move is as quick as the next; large mechanisms would only stutter
    e.warm = () => {
      if (law && core.kinematics && names.length && !e.changed && nv <= SMALL) LW.engineCycle(core, law, DATA, e.original, file, true);
    };

    /** @type {{q: Float64Array, near: Float64Array, drive: Float64Array, parameters: Float64Array} | null} */
    let closed = null; // the last position by hand that could be built, and its values: what is carried to other values

    // the state after the parameters have changed from `before`, on its branch
    /** @param {Float64Array} before */
    const follow = (before) => {
      const s = e.state;
      if (s.s !== null && e.cycle) {
        e.go(s.s);
        return s.ok || e.cycle.placed.some((x) => x);
      }
      if (!core.kinematics) {
        e.put(s.q, s.near, null, null, { ok: s.ok });
        return true;
      }
      if (s.ok || !closed) closed = { q: Float64Array.from(s.q), near: Float64Array.from(s.near), drive: Float64Array.from(s.drive), parameters: before };
      const q = Float64Array.from(closed.q), near = Float64Array.from(closed.near);
      const ok = core.carried(q, near, closed.drive, closed.parameters, Float64Array.from(mechanism.parameters));
      e.put(ok ? q : closed.q, ok ? near : closed.near, null, null, { ok });
      return ok;
    };

    // ------------------------------------------------------------------ a recorded run

    e.played = null; // the sample of the run that is shown: with the file's values, which it was computed with

    // the mechanism and its shapes with given values
    /** @param {Record<string, number>} values */
    const shapedWith = (values) => {
      mechanism.set(values);
      e.places = core.reshape();
      core.dirty();
    };
    const fileValues = () => Object.fromEntries(names.map((name, i) => [name, file[i]]));

    // away from the run: the chosen values hold again
    const ownValues = () => {
      if (e.played === null) return false;
      e.played = null;
      if (e.changed) shapedWith(e.values);
      return e.changed;
    };

    // the same, with the run's position carried along: what a hand or a free motion goes on from
    e.leave = () => {
      const before = Float64Array.from(mechanism.parameters);
      if (ownValues()) follow(before);
    };

    // the state at a real sample number of the recorded run: positions and speeds as they were
    e.play = (i) => {
      if (!run) return e.state;
      if (e.changed && e.played === null) shapedWith(fileValues());
      const n = run.t.length;
      i = Math.min(n - 1, Math.max(0, i));
      e.played = i;
      const k = Math.max(0, Math.min(n - 2, Math.floor(i))), x = n > 1 ? i - k : 0;
      /** @param {Float64Array} y @param {number} m */
      const mixed = (y, m) => Float64Array.from({ length: m }, (_, j) => (n > 1 ? (1 - x) * y[k * m + j] + x * y[(k + 1) * m + j] : y[j]));
      const q = core.normalized(mixed(run.q, nq));
      e.put(q, mixed(run.near, nn), mixed(run.v, nv), null, { ok: true, t: n > 1 ? (1 - x) * run.t[k] + x * run.t[k + 1] : run.t[0] });
      e.state.loads = null;
      e.state.u = null;
      return e.state;
    };
    // rods that the run is without at the sample that is shown
    // places where surfaces touch in a run that is played, with the force on the first and whether it sticks
    e.touched = () => {
      const x = run && e.played !== null ? run.touches : null;
      if (!run || !x) return [];
      const k = Math.floor((e.played || 0) + 1e-9), n = x.state.length / run.t.length, axes = x.at.length / x.state.length, out = [];
      /** @param {any} of @param {number} at */
      const place = (of, at) => [of[at], of[at + 1], axes > 2 ? of[at + 2] : 0];
      for (let i = 0; i < n; i++) {
        const at = axes * (k * n + i), state = x.state[k * n + i];
        if (state > 0) out.push({ at: place(x.at, at), force: place(x.force, at), sticks: state === 1 });
      }
      return out;
    };
    e.absent = () => (e.played === null || !run ? [] : run.off.filter(({ open }) => open[Math.floor((e.played || 0) + 1e-9)]).map(({ name }) => name));

    LW.engineHand(e);
    LW.engineSwing(e);
    LW.engineTell(e);
    LW.engineChecks(e);
    LW.engineChannels(e);
    if (law) e.go(0);
    else e.put(mechanism.start.q, mechanism.start.near, null, null, { ok: true });
    return e;
  };
})();
