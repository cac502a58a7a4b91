// Newton's method on the closing conditions, in place and without allocating: what `assemble` and the cycle of a page both call.

const CLOSED = 1e-13, NEARLY = 1e-10; // dimensionless residuals: round-off, and where round-off may stop progress earlier
const LONGEST = 0.3; // radians, or multiples of the mechanism's size, of one step: angles must not skip turns
const MOST_STEPS = 200, SHORTEST = 1e-4; // of one closing; share of a step

/**
 * @param {Mechanism} m
 * @param {MechanismData} data
 * @returns {Solver}
 */
const solverOf = (m, data) => {
  const kin = boundKernel(m, "kinematics"), drives = boundKernel(m, "drives"), turns = boundKernel(m, "turns");
  const n = m.start.q.length, weight = data.scale, trial = new Float64Array(n);
  let step = new Float64Array(n), next = new Float64Array(n);

  /** @type {Solver} */
  const solver = {
    kinematics: kin,
    scale: weight, // what a step of an entry of q is compared with
    status: 0,

    // quaternions of unit length
    normalize(q) {
      for (const i of data.quaternions) {
        const r = Math.hypot(q[i], q[i + 1], q[i + 2], q[i + 3]);
        for (let k = i; k < i + 4; k++) q[k] /= r;
      }
      return q;
    },

    // the residual at q, and the Newton step there into `out`
    newton(q, near, drive, first, out) {
      if (!kin) return NaN;
      kin.put("q", q);
      kin.put("drive", drive, first);
      solver.status = kin.run(near);
      const at = kin.to.q[0];
      for (let i = 0; i < n; i++) out[i] = kin.y[at + i] - q[i];
      return kin.y[kin.to.residual[0]];
    },

    // Newton's steps from q, in place, each to correct the one before by less than a quarter; `damped` steps are halved until they
    // do, which follows the flow dq/ds = -J^-1 phi. Returns the residual, NaN if it does not close; the kernel's results are those at q.
    close(q, near, drive, first, damped) {
      let r = solver.newton(q, near, drive, first, step);
      for (let k = 0; k < MOST_STEPS && r > CLOSED; k++) {
        let size = 0;
        for (let i = 0; i < n; i++) size = Math.max(size, Math.abs(step[i]) / weight[i]);
        for (let f = Math.min(1, LONGEST / size); ; f /= 2) {
          if ((f < 1 && !damped) || !(f > SHORTEST)) return r < NEARLY ? solver.newton(q, near, drive, first, step) : NaN;
          for (let i = 0; i < n; i++) trial[i] = q[i] + f * step[i];
          const s = solver.newton(solver.normalize(trial), near, drive, first, next);
          let off = 0;
          for (let i = 0; i < n; i++) off = Math.max(off, Math.abs(next[i] - (1 - f) * step[i]) / weight[i]);
          if (off <= size / 4 && s >= 0) {
            for (let i = 0; i < n; i++) q[i] = trial[i];
            [step, next] = [next, step];
            r = s;
            break;
          }
          if (r < NEARLY) return solver.newton(q, near, drive, first, step); // round-off stops it
        }
      }
      return r < NEARLY ? r : NaN;
    },

    // whole turns of the joints between the trees, counted on in place
    count(q, near) {
      if (!turns) return;
      turns.put("q", q);
      if (turns.run(near)) return;
      for (let i = 0; i < near.length; i++) near[i] = turns.y[turns.to.near[0] + i];
    },

    // where the drives are, into `out`
    driveAt(q, near, out) {
      if (!drives) return out;
      drives.put("q", q);
      drives.zero("v");
      drives.run(near);
      for (let i = 0; i < out.length; i++) out[i] = drives.y[drives.to.drive[0] + i];
      return out;
    },
  };
  return solver;
};

/**
 * q with the drives at these values: at once where that is near, else the loops are closed where the drives are and the drives
 * walk, by steps that are halved where Newton's method hesitates. If they cannot get there q is where they got.
 * @param {Mechanism} m
 * @param {Numbers} q
 * @param {Numbers} drive
 * @returns {Assembled}
 */
const assembled = (m, q, drive) => {
  const { solver } = m, here = solver.normalize(Float64Array.from(q)), to = new Float64Array(drive.length);
  const count = () => solver.count(here, (m.near = Float64Array.from(m.near)));
  let r = solver.close(here, m.near, drive, 0, false), there = r >= 0, steps = 1;
  if (!there) {
    here.set(q);
    solver.normalize(here);
    const from = solver.driveAt(here, m.near, new Float64Array(drive.length));
    r = solver.close(here, m.near, from, 0, true);
    for (let s = 0, f = 1; r >= 0 && f > 1e-7 && !there; steps++) {
      const trial = here.slice();
      for (let i = 0; i < to.length; i++) to[i] = s + f < 1 ? from[i] + (s + f) * (drive[i] - from[i]) : drive[i];
      const reached = solver.close(trial, m.near, to, 0, false);
      if (reached >= 0) {
        here.set(trial);
        count();
        r = reached;
        there = s + f >= 1;
        s += f;
        f = Math.min(2 * f, 1 - s);
      } else f /= 2;
    }
  }
  if (there) count();
  else r = solver.newton(here, m.near, drive, 0, new Float64Array(here.length));
  return { ok: there, q: here, residual: r, steps };
};
