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
    return assembled(m, q, values);
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
 * Free motion: the nearest state on the loops, and Runge-Kutta steps of order four.
 * @param {Mechanism} m
 * @param {KernelCall} forward
 */
const addMotion = (m, forward) => {
  const p = kernelCall(m, "projection", "q", "v"), N = m.kernels.qdot ? kernelCall(m, "qdot", "q", "v") : null;
  const { y, to } = p.kernel;
  /** @type {(x: Numbers, f: number, d: Numbers) => Float64Array} */
  const add = (x, f, d) => {
    const r = Float64Array.from(x);
    for (let i = 0; i < r.length; i++) r[i] += f * d[i];
    return r;
  };
  // nearest state on the loops in the mass metric, positions and velocities
  m.project = (q, v) => {
    let ok = true, r = 1, Q = q, V = v;
    for (let i = 0; ok && i < 6 && r > CLOSED; i++) {
      ok = !p.run(Q, V);
      const position = p.get("q"), speeds = p.get("v"), fast = speeds.reduce((s, x) => Math.max(s, Math.abs(x)), 1);
      [Q, V] = [position, speeds];
      r = Math.max(y[to.residual[0]], y[to.rate_residual[0]] / fast);
    }
    const closed = ok && r < NEARLY;
    if (closed) m.solver.count(Q, (m.near = Float64Array.from(m.near)));
    return { ok: closed, q: Float64Array.from(Q), v: Float64Array.from(V), residual: r };
  };
  // one step of the motion under efforts tau, then back onto the loops; m.t advances
  m.step = (q, v, dt, tau) => {
    const t = m.t;
    /** @type {(f: number, x?: {q: Numbers, a: Numbers}) => {q: Numbers, a: Numbers, bad: number}} */
    const rate = (f, x) => {
      m.t = t + f * dt;
      const Q = x ? add(q, f * dt, x.q) : q, V = x ? add(v, f * dt, x.a) : v, bad = forward.run(Q, V, tau);
      if (N) N.run(Q, V);
      return { q: N ? N.get("qdot") : V, a: forward.get("a"), bad };
    };
    const A = rate(0), B = rate(0.5, A), C = rate(0.5, B), D = rate(1, C);
    /** @type {(x: Numbers, k: "q" | "a") => Float64Array} */
    const next = (x, k) => add(add(add(add(x, dt / 6, A[k]), dt / 3, B[k]), dt / 3, C[k]), dt / 6, D[k]);
    const r = m.project(m.solver.normalize(next(q, "q")), next(v, "a"));
    r.ok = r.ok && !(A.bad || B.bad || C.bad || D.bad);
    if (!r.ok) m.t = t;
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
  if (kernels.loads) addLoads(m);
  if (kernels.forward) {
    const k = kernelCall(m, "forward", "q", "v", "tau");
    m.forward = (q, v, tau) => /** @type {any} */ (k.all(k.run(q, v, tau)));
    if (kernels.projection) addMotion(m, k);
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
