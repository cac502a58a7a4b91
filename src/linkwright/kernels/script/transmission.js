// A transmission on top of two scripts of one mechanism: `ahead` is driven by the motors, `back` by the joints.

/**
 * @param {Mechanism} ahead
 * @param {Mechanism} back
 * @param {{motors: string[], joints: string[]}} data
 * @returns {TransmissionMap}
 */
const transmissionOf = (ahead, back, data) => {
  const n = data.joints.length, start = Float64Array.from(back.start.q);
  const kernel = /** @type {BoundKernel} */ (back.bind("transmission"));
  /** @type {(m: Mechanism, x: Numbers, names: string[]) => Float64Array} */
  const driven = (m, x, names) => {
    if (!x || x.length !== n) throw new RangeError(`${n} numbers are needed: ${names.join(", ")}`);
    const drive = Float64Array.from(m.start.drive); // other joints stay as at the start
    for (let i = 0; i < n; i++) drive[i] = x[i];
    return drive;
  };
  /** @type {(m: Mechanism, q: Numbers) => Float64Array} */
  const read = (m, q) => m.drives(q).drive.slice(0, n);
  const w = newMap({ n });
  /** @type {(a: Float64Array) => number[][]} */
  const matrix = (a) => data.joints.map((_, i) => Array.from(a.slice(i * n, i * n + n)));
  /** @type {(A: number[][], tau: Numbers) => number[]} */
  const transposed = (A, tau) => A[0].map((_, k) => A.reduce((sum, row, i) => sum + row[k] * tau[i], 0));

  return {
    motors: data.motors, joints: data.joints, start,
    // positions of the other side, and q of all coordinates for the next call, which takes the branch nearest to it
    toJoints(motor, q = start) {
      const r = ahead.assemble(q, driven(ahead, motor, data.motors));
      return { ok: r.ok, q: r.q, joint: read(back, r.q) };
    },
    toMotors(joint, q = start) {
      const r = back.assemble(q, driven(back, joint, data.joints));
      return { ok: r.ok, q: r.q, motor: read(ahead, r.q) };
    },
    // the map at q with these speeds of the joints; K is null in a dead center of the motors
    at(q, speed) {
      const rate = new Float64Array(back.start.drive.length);
      for (let i = 0; speed && i < n; i++) rate[i] = speed[i];
      const moved = back.velocities(q, rate);
      kernel.put("q", Float64Array.from(q));
      kernel.put("v", moved.v);
      const bad = kernel.run(), motors = ahead.drives(q, moved.v);
      w.J.set(kernel.get("J"));
      w.J_rate.set(kernel.get("J_rate"));
      const regular = inverted(w), K = regular ? matrix(w.K) : null, Krate = regular ? matrix(w.K_rate) : null;
      /** @type {TransmissionAt} */
      const r = {
        ok: moved.ok && !bad, joint: read(back, q), motor: motors.drive.slice(0, n), motorSpeed: motors.speed.slice(0, n), J: matrix(w.J), Jrate: matrix(w.J_rate), K, Krate,
      };
      return kernel.to.M ? { ...r, M: matrix(kernel.get("M")), h: Array.from(kernel.get("h")) } : r;
    },
    // torques with the power of those of the other side
    jointTorques: (map, motor) => transposed(map.J, motor),
    motorTorques: (map, joint) => map.K && transposed(map.K, joint),
  };
};
