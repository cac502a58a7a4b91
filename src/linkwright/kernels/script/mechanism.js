// The object of an exported script: kernels, names and numbers of a mechanism, and what a page needs on top of them. ES2015, no
// dependencies. Comments and indentation are left out of what is exported.

/**
 * Positions, speeds and accelerations from those of the drives.
 * @param {Mechanism} m
 */
const addKinematics = (m) => {
  const kin = kernelCall(m, "kinematics", "q", "v", "drive", "speed", "acceleration"), drv = kernelCall(m, "drives", "q", "v");
  // drive values at q, and speeds where v is given
  m.drives = (q, v) => drv.all(drv.run(q, v));
  m.assemble = (q, drive) => {
    const values = typeof drive === "number" ? [drive] : drive;
    kin.fill(q, undefined, values); // refuses wrong lengths
    return m.solver.assemble(q, values);
  };
  m.velocities = (q, speed) => {
    drv.run(q);
    return { ok: !kin.run(q, undefined, drv.get("drive"), speed), v: kin.get("v") };
  };
  m.accelerations = (q, v, acceleration) => {
    drv.run(q, v);
    return { ok: !kin.run(q, v, drv.get("drive"), drv.get("speed"), acceleration), a: kin.get("a") };
  };
};

/**
 * Loads of joints, and of the pins they make up.
 * @param {Mechanism} m
 */
const addLoads = (m) => {
  const k = kernelCall(m, "loads", "q", "v", "a");
  m.loads = (q, v, a) => /** @type {any} */ (k.all(k.run(q, v, a)));
  // [moment, force] of a pin on a body's eye at the pin: the sum over the joints there
  m.on = (loads, pin, body) => {
    const eye = m.eyes[pin] && m.eyes[pin][body], r = new Float64Array(6);
    if (!eye) throw new RangeError(`body ${body} has no pin ${pin}`);
    for (const j of eye) for (let i = 0; i < 6; i++) r[i] += Math.sign(j) * loads.wrench[6 * (Math.abs(j) - 1) + i];
    return r;
  };
};

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

/**
 * Walks along the samples of a law, and from values of the parameters to others. The loops are those of driven_motion.py.
 * @param {Mechanism} m
 * @param {MechanismData} data
 */
const addWalk = (m, data) => {
  const nq = m.start.q.length, nv = m.names.v.length, nd = m.names.drives.length, { near } = m.kernels.walk.outputs, nn = near ? near[1] : 0;
  const w = newWalk({ nq, nv, na: nv, near: nn, idle: data.idle }, { close: m.kernels.walk }), width = nq + 2 * nv + nn + 1;
  let laws = new Float64Array(0), rows = laws, known = /** @type {DriveLaw | undefined} */ (undefined);
  // value, speed and acceleration of the drives; statics have the way between samples in place of speeds
  /** @param {DriveLaw} law */
  const told = (law) => {
    const n = law.t.length;
    known = law;
    laws = new Float64Array(3 * nd * n);
    rows = new Float64Array(width * n);
    for (let i = 0; i < n; i++) {
      const a = Math.max(0, i - 1), b = Math.min(n - 1, i + 1);
      for (let k = 0, o = 3 * nd * i; k < nd; k++, o++) {
        const at = i * nd + k;
        laws[o] = law.value[at];
        laws[o + nd] = law.still ? (law.value[b * nd + k] - law.value[a * nd + k]) / (law.t[b] - law.t[a]) : law.speed[at];
        laws[o + 2 * nd] = law.acceleration[at];
      }
    }
  };
  // so many samples from a position at the first of them, onwards (1) or back (-1); rows of q, v, a, counted turns and the determinant
  m.walk = (law, q, turns, first, count, onward) => {
    if (law !== known) told(law);
    const reached = walk(w, q, turns, m.parameters, laws, 3 * nd, law.t, rows, width, first, count, onward, 0, data.walk.least);
    return { reached, rows, width, turns: nn, residual: w.open };
  };
  const found = new Float64Array(nq + nv + nn), still = new Float64Array(nd);
  // q and the turns, in place, with the parameters at other values on the same branch
  m.reach = (q, turns, drive, before, after) => {
    if (!data.walk.steps.some((steps) => reach(w, q, turns, drive, drive, still, before, after, found, steps))) return false;
    for (let k = 0; k < nq; k++) q[k] = found[k];
    for (let k = 0; k < nn; k++) turns[k] = found[nq + nv + k];
    return true;
  };
};

/**
 * @param {Record<string, Kernel>} kernels
 * @param {MechanismData} data
 * @returns {Mechanism}
 */
const mechanismOf = (kernels, data) => {
  const { names, eyes, plane } = data;
  const start = { q: Float64Array.from(data.start.q), drive: Float64Array.from(data.start.drive), near: Float64Array.from(data.start.near) };
  const parameters = Float64Array.from(data.parameters), near = start.near.slice();
  const m = /** @type {Mechanism} */ ({ names, start, eyes, plane, kernels, t: 0, parameters, near });
  // values of parameters by name
  m.set = (values) => {
    for (const k in values) {
      const i = names.parameters.indexOf(k);
      if (i < 0) throw new RangeError(`no parameter ${k}: ${names.parameters.join(", ")}`);
      m.parameters[i] = values[k];
    }
  };
  m.bind = (name) => boundKernel(m, name);
  m.solver = solverOf(m, data);
  if (kernels.kinematics) addKinematics(m);
  if (kernels.walk) addWalk(m, data);
  if (kernels.loads) addLoads(m);
  if (kernels.forward) {
    const k = kernelCall(m, "forward", "q", "v", "tau");
    m.forward = (q, v, tau) => /** @type {any} */ (k.all(k.run(q, v, tau)));
    if (kernels.projection) addMotion(m, data);
  }
  if (kernels.closure || kernels.terms) {
    m.singularValues = (a, rows) => {
      const s = new Float64Array(rows);
      orthogonalized(a, rows, a.length / rows, s);
      return Array.from(s.sort());
    };
  }
  if (kernels.energy) {
    const k = kernelCall(m, "energy", "q", "v");
    m.energy = (q, v) => {
      const ok = !k.run(q, v), [kinetic, potential] = [k.get("kinetic")[0], k.get("potential")[0]];
      return { ok, kinetic, potential, total: kinetic + potential };
    };
  }
  if (kernels.points) {
    const k = kernelCall(m, "points", "q", "v");
    m.points = (q, v) => k.all(k.run(q, v));
  }
  if (kernels.poses) {
    const k = kernelCall(m, "poses", "q");
    m.poses = (q) => k.all(k.run(q));
  }
  return m;
};
