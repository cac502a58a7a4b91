// Exported with kernels `forward` and `projection`.

/**
 * Free motion: the nearest state on the loops, and Runge-Kutta steps of order four. The loops are those of motion_loops.py.
 * @param {Mechanism} m
 * @param {MechanismData} data
 */
const addMotion = (m, data) => {
  const { forward, projection, qdot, turns, terms } = m.kernels, through = "terms" in m.kernels, nc = through ? terms.outputs.phi[1] : 0;
  const sizes = { nq: m.start.q.length, nv: m.names.v.length, nc, nnear: m.start.near.length, nlaw: 0, nquaternions: data.quaternions.length };
  const own = { "motion.forward": forward, "motion.projection": projection, "motion.qdot": qdot, "motion.turns": turns, "singular.terms": terms };
  const passing = through ? newPassing(sizes, own) : null, w = passing ? passing.motion : newMotion(sizes, m.kernels);
  w.quaternions.set(data.quaternions);
  const kernels = [w.forward, w.projection, w.qdot, w.turns];
  if (passing) {
    passing.singular.rows.set(data.rows);
    passing.singular.columns.set(data.columns);
    kernels.push(passing.singular.terms);
  }
  /** @type {(q: Numbers, v: Numbers, t: number, go: () => number) => Projected} */
  const moved = (q, v, t, go) => {
    for (const { x } of kernels) {
      for (let i = 0; i < x.parameters.length; i++) x.parameters[i] = m.parameters[i];
      if (x.t) x.t.fill(t);
    }
    w.near.set(m.near);
    motion_referred(w);
    w.q.set(q);
    w.v.set(v);
    begun(w);
    const status = go(), ok = !(status & 7);
    if (ok) m.near = w.near.slice();
    return { ok, continued: status === 8, q: w.new_q.slice(), v: w.new_v.slice(), residual: w.residual };
  };
  // nearest state on the loops in the mass metric, positions and velocities
  m.project = (q, v) => moved(q, v, m.t, () => projected(w));
  // one step of the motion under efforts tau, then back onto the loops; m.t advances. With kernel `terms` it passes singular positions.
  m.step = (q, v, dt, tau) => {
    const r = moved(q, v, m.t, () => {
      if (tau) w.forward.x.tau.set(tau);
      else w.forward.x.tau.fill(0);
      return passing ? stepped_through(passing, m.t, dt) : stepped(w, m.t, dt);
    });
    if (r.ok) m.t += dt;
    return r;
  };
};
