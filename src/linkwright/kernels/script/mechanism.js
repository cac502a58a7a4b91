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
  const sizes = { nq: m.start.q.length, nv: m.names.v.length, nnear: m.start.near.length, nlaw: 0, nquaternions: data.quaternions.length };
  const w = newMotion(sizes, m.kernels);
  w.quaternions.set(data.quaternions);
  /** @type {(q: Numbers, v: Numbers, t: number, go: () => number) => Projected} */
  const moved = (q, v, t, go) => {
    for (const { x } of [w.forward, w.projection, w.qdot, w.turns]) {
      for (let i = 0; i < x.free.length; i++) x.free[i] = m.free[i];
      if (x.t) x.t.fill(t);
    }
    w.near.set(m.near);
    motion_referred(w);
    w.q.set(q);
    w.v.set(v);
    begun(w);
    const ok = !go();
    if (ok) m.near = w.near.slice();
    return { ok, q: w.new_q.slice(), v: w.new_v.slice(), residual: w.residual };
  };
  // nearest state on the loops in the mass metric, positions and velocities
  m.project = (q, v) => moved(q, v, m.t, () => projected(w));
  // one step of the motion under efforts tau, then back onto the loops; m.t advances
  m.step = (q, v, dt, tau) => {
    const r = moved(q, v, m.t, () => {
      if (tau) w.forward.x.tau.set(tau);
      else w.forward.x.tau.fill(0);
      return stepped(w, m.t, dt);
    });
    if (r.ok) m.t += dt;
    return r;
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
  const m = /** @type {Mechanism} */ ({ names, start, eyes, plane, kernels, t: 0, free: Float64Array.from(data.free), near: start.near.slice() });
  // values of free parameters by name
  m.set = (values) => {
    for (const k in values) {
      const i = names.free.indexOf(k);
      if (i < 0) throw new RangeError(`no free parameter ${k}: ${names.free.join(", ")}`);
      m.free[i] = values[k];
    }
  };
  m.bind = (name) => boundKernel(m, name);
  m.solver = solverOf(m, data);
  if (kernels.kinematics) addKinematics(m);
  if (kernels.loads) addLoads(m);
  if (kernels.forward) {
    const k = kernelCall(m, "forward", "q", "v", "tau");
    m.forward = (q, v, tau) => /** @type {any} */ (k.all(k.run(q, v, tau)));
    if (kernels.projection) addMotion(m, data);
  }
  if (kernels.closure) {
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
