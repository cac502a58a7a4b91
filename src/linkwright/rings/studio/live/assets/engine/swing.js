// Free motion: forward dynamics and Runge-Kutta steps of order four from the state, no effort at the drives. In a singular passage the
// kernels cannot tell the accelerations; there the last ones carry it across, and the speeds are scaled so that no energy is lost or won.
(() => {
  "use strict";
  const LONGEST_STEP = 1 / 480; // s
  const LONGEST_MOVE = 0.02; // radians, or multiples of the mechanism's size, a step
  const LONGEST_BEND = 2e-5; // the same, of a step's second-order part: accelerations have peaks near dead centers
  const MOST_STEPS = 400; // of one frame
  const LEAPS = [1, 2, 4, 8, 16, 32, 64]; // lengths of a leap over a passage, in steps

  LW.engineSwing = (e) => {
    const { core, mechanism } = e, { nv, columns } = { nv: core.nv, columns: e.data.scale.columns };
    const tau = new Float64Array(nv);
    const swing = (e.swing = /** @type {Swing} */ ({ t: 0, running: false, energy: 0, drift: 0, passages: 0, why: "" }));
    let first = 0, turned = 0, work = 0;
    /** @type {Float64Array | null} */
    let acceleration = null;
    const flow = core.kernel.flow, energyKnown = e.data.conservative || (flow && core.nq === nv);

    const total = () => mechanism.energy(e.state.q, e.state.v);
    const measure = () => {
      const now = total();
      swing.energy = now.total;
      turned = Math.max(turned, now.kinetic, Math.abs(now.total - first), Math.abs(work));
      swing.drift = !energyKnown ? null : turned > 0 ? (now.total - first - work) / turned : 0;
    };

    // power of loads less what dampers and friction take
    /** @param {Float64Array} q @param {Float64Array} v @param {number} t */
    const power = (q, v, t) => {
      const now = mechanism.t;
      mechanism.t = t;
      flow.put("q", q);
      flow.put("v", v);
      flow.run(e.state.near);
      mechanism.t = now;
      const o = flow.to.power[0];
      return flow.y[o] - flow.y[o + 1];
    };

    // work of loads, dampers and friction over a step that ends at q and v, by Simpson's rule; its middle from the cubic through both ends
    /** @param {Float64Array} q @param {Float64Array} v @param {number} h @param {number} t */
    const worked = (q, v, h, t) => {
      if (e.data.conservative || !energyKnown) return 0;
      const s = e.state, Q = new Float64Array(nv), V = new Float64Array(nv);
      for (let i = 0; i < nv; i++) {
        Q[i] = 0.5 * (s.q[i] + q[i]) + (h / 8) * (s.v[i] - v[i]);
        V[i] = (1.5 * (q[i] - s.q[i])) / h - 0.25 * (s.v[i] + v[i]);
      }
      return (h / 6) * (power(s.q, s.v, t) + 4 * power(Q, V, t + h / 2) + power(q, v, t + h));
    };

    // from the state as it is; `v` gives speeds, which are put onto the loops
    swing.start = (v) => {
      e.leave();
      swing.running = e.data.swing;
      swing.t = 0;
      swing.passages = 0;
      turned = work = 0;
      acceleration = null;
      if (!swing.running) return false;
      mechanism.near = Float64Array.from(e.state.near);
      const given = v ? Float64Array.from(v) : Float64Array.from(e.state.v);
      const put = mechanism.project(e.state.q, given);
      if (!put.ok && !e.state.ok) {
        swing.why = "the mechanism cannot be assembled with these dimensions";
        return (swing.running = false);
      }
      e.put(put.ok ? put.q : e.state.q, mechanism.near, put.ok ? put.v : v ? given : e.state.v, null, { ok: true });
      first = total().total;
      measure();
      return true;
    };
    swing.stop = () => (swing.running = false);

    /** @param {number} left */
    const stepOf = (left) => {
      let fast = 1e-9, bent = 1e-9;
      for (let i = 0; i < nv; i++) {
        fast = Math.max(fast, Math.abs(e.state.v[i]) / columns[i]);
        if (acceleration) bent = Math.max(bent, Math.abs(acceleration[i]) / columns[i]);
      }
      return Math.min(left, LONGEST_STEP, LONGEST_MOVE / fast, Math.sqrt((2 * LONGEST_BEND) / bent));
    };

    /** @param {Float64Array} q @param {Float64Array} v @param {number} h @param {number} t */
    const take = (q, v, h, t) => {
      work += worked(q, v, h, t);
      e.state.q.set(q);
      e.state.v.set(v);
      e.state.near.set(mechanism.near);
      swing.t += h;
    };

    // over a singular position with the accelerations before it; true where it came out on the other side
    /** @param {number} h */
    const leap = (h) => {
      const { q, v, near } = e.state, before = total().total;
      if (!acceleration || core.nq !== nv) return 0;
      for (const n of LEAPS) {
        const d = n * h, Q = new Float64Array(core.nq), V = new Float64Array(nv);
        for (let i = 0; i < nv; i++) {
          Q[i] = q[i] + d * (v[i] + 0.5 * d * acceleration[i]);
          V[i] = v[i] + d * acceleration[i];
        }
        mechanism.near = Float64Array.from(near);
        const put = mechanism.project(Q, V);
        if (!put.ok || !mechanism.forward(put.q, put.v, tau).ok) continue;
        const now = mechanism.energy(put.q, put.v), share = e.data.conservative && now.kinetic > 0 ? (now.kinetic + before - now.total) / now.kinetic : 1;
        if (!(share > 0.5 && share < 2)) continue;
        take(put.q, put.v.map((x) => x * Math.sqrt(share)), d, mechanism.t);
        mechanism.t += d;
        swing.passages++;
        return d;
      }
      return 0;
    };

    // moves on by dt; {ok, energy, drift, t, done}: `drift` is null where the work of loads and dampers is not known, `done` the time that
    // was really gone through, less than dt where the steps had to be too short
    swing.step = (dt) => {
      if (!swing.running) return { ok: false, energy: swing.energy, drift: swing.drift, t: swing.t, done: 0 };
      const from = swing.t;
      let left = dt, ok = true;
      mechanism.t = e.state.t;
      for (let n = 0; left > 1e-12 && ok && n < MOST_STEPS; n++) {
        mechanism.near = Float64Array.from(e.state.near);
        const now = mechanism.forward(e.state.q, e.state.v, tau);
        if (now.ok) acceleration = now.a;
        const h = stepOf(left), t = mechanism.t;
        const r = now.ok ? mechanism.step(e.state.q, e.state.v, h, tau) : null;
        if (r && r.ok) {
          take(r.q, r.v, h, t);
          left -= h;
        } else {
          const d = leap(h);
          ok = d > 0;
          left -= d;
        }
      }
      if (!ok) swing.running = false;
      swing.why = ok ? "" : "the equations have no unique answer in this position";
      finish(ok);
      return { ok, energy: swing.energy, drift: swing.drift, t: swing.t, done: swing.t - from };
    };

    /** @param {boolean} ok */
    const finish = (ok) => {
      const s = e.state, now = mechanism.forward(s.q, s.v, tau);
      s.a.set(now.ok ? now.a : s.a.fill(0));
      s.t = mechanism.t;
      s.s = null;
      s.ok = ok;
      core.driveAt(s.q, s.near, s.drive);
      measure();
      e.load();
    };
  };
})();
