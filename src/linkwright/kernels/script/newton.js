// Newton's method on the closing conditions for arrays of the caller, in place and without allocating: what `assemble` and the cycle of a
// page both call. The loops themselves are those of closing_loops.py.

/**
 * @param {Mechanism} m
 * @param {MechanismData} data
 * @returns {Solver}
 */
const solverOf = (m, data) => {
  const nq = m.start.q.length, ndrives = m.start.drive.length, nnear = m.start.near.length;
  const { kernels } = m, own = kernels.kinematics ? "kinematics" : "walk"; // the second gives v, a and the determinant at once
  const sizes = { nq, ndrives, nnear, nquaternions: data.quaternions.length };
  const w = newClosing(sizes, Object.assign({}, kernels, { kinematics: kernels[own] })), { kinematics, drives, turns } = w;
  w.scale.set(data.scale);
  w.quaternions.set(data.quaternions);

  // references of cut joints, and parameters and the time of the mechanism
  /** @param {LoopKernel} kernel @param {ArrayLike<number>} near */
  const hold = ({ x }, near) => {
    for (let i = 0; i < x.near.length; i++) x.near[i] = near[i];
    for (let i = 0; i < x.parameters.length; i++) x.parameters[i] = m.parameters[i];
    if (x.t) x.t[0] = m.t;
  };
  /** @param {ArrayLike<number>} near @param {ArrayLike<number>} drive @param {number} first */
  const at = (near, drive, first) => {
    hold(kinematics, near);
    for (let i = 0; i < ndrives; i++) kinematics.x.drive[i] = drive[first + i];
  };

  /** @type {Solver} */
  const solver = {
    kinematics: own in kernels ? kinematics : null,
    scale: data.scale, // what a step of an entry of q is compared with
    status: () => w.status,
    loop: w,
    hold,

    // quaternions of unit length
    normalize(q) {
      unit_quaternions(q, w.quaternions);
      return q;
    },

    // the residual at q, and the Newton step there into `out`
    newton(q, near, drive, first, out) {
      if (!solver.kinematics) return NaN;
      at(near, drive, first);
      return newton_step(w, q, out);
    },

    // q with the loops closed, in place. Returns the residual, negative if they do not close; the kernel's results are those at q.
    close(q, near, drive, first) {
      at(near, drive, first);
      return close_loops(w, q, 0);
    },

    // whole turns of the joints between the trees, counted on in place
    count(q, near) {
      if (!kernels.turns) return;
      hold(turns, near);
      w.near.set(near);
      counted(w, q);
      near.set(w.near);
    },

    // where the drives are, into `out`
    driveAt(q, near, out) {
      if (!kernels.drives) return out;
      hold(drives, near);
      drives_at(w, q, out);
      return out;
    },

  };
  return solver;
};
