// Free motion: forward dynamics and Runge-Kutta steps of order four from the state, no effort at the drives. Steps pass singular
// positions (singular_step_loops.py); there the speeds are scaled so that no energy is lost or won.
(() => {
  "use strict";
  const LONGEST_STEP = 1 / 480; // s
  const LONGEST_MOVE = 0.02; // radians, or multiples of the mechanism's size, a step
  const LONGEST_BEND = 2e-5; // the same, of a step's second-order part: accelerations have peaks near dead centers
  const MOST_STEPS = 400; // of one frame

  LW.engineSwing = (e) => {
    const { core, mechanism } = e, { nv, columns } = { nv: core.nv, columns: e.data.scale.columns };
    const tau = new Float64Array(nv);
    const swing = (e.swing = /** @type {Swing} */ ({ t: 0, running: false, energy: 0, drift: 0, passages: 0, why: "" }));
    let first = 0, turned = 0, work = 0, passing = false;
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

    // in a singular position accelerations are taken beside it: speeds, in place, with the energy before
    /** @param {Float64Array} q @param {Float64Array} v @param {number} energy */
    const keep = (q, v, energy) => {
      const now = mechanism.energy(q, v), share = now.kinetic > 0 ? (now.kinetic + energy - now.total) / now.kinetic : 1;
      if (share > 0.5 && share < 2) for (let i = 0; i < nv; i++) v[i] *= Math.sqrt(share);
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
        const before = total().total, r = mechanism.step(e.state.q, e.state.v, h, tau);
        ok = r.ok;
        if (!ok) break;
        if (r.continued && !passing) swing.passages++;
        passing = r.continued;
        if (passing && e.data.conservative) keep(r.q, r.v, before);
        take(r.q, r.v, h, t);
        left -= h;
      }
      if (!ok) swing.running = false;
      swing.why = ok ? "" : "the equations have no unique solution in this position";
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
