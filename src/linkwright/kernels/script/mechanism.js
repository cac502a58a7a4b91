// The object of an exported script: kernels, names and numbers of a mechanism, and what a page needs on top of them. ES2015, no
// dependencies. Comments and indentation are left out of what is exported; kinematics.js, walk.js and motion.js are where their kernels are.

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
