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
  /** @type {(key: string) => number[][]} */
  const matrix = (key) => {
    const a = kernel.get(key);
    return data.joints.map((_, i) => Array.from(a.slice(i * n, i * n + n)));
  };
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
      const bad = kernel.run(), J = matrix("J"), Jrate = matrix("J_rate"), K = inverse(J), motors = ahead.drives(q, moved.v);
      const Krate = K && product(product(K, Jrate), K).map((row) => row.map((x) => -x));
      /** @type {TransmissionAt} */
      const r = {
        ok: moved.ok && !bad, joint: read(back, q), motor: motors.drive.slice(0, n), motorSpeed: motors.speed.slice(0, n), J, Jrate, K, Krate,
      };
      return kernel.to.M ? { ...r, M: matrix("M"), h: Array.from(kernel.get("h")) } : r;
    },
    // torques with the power of those of the other side
    jointTorques: (map, motor) => transposed(map.J, motor),
    motorTorques: (map, joint) => map.K && transposed(map.K, joint),
  };
};

/** @type {(A: number[][], B: number[][]) => number[][]} */
const product = (A, B) => A.map((row) => B[0].map((_, j) => row.reduce((sum, a, k) => sum + a * B[k][j], 0)));

/**
 * @param {number[][]} J
 * @returns {number[][] | null} null if J is singular
 */
const inverse = (J) => {
  const n = J.length, A = J.map((row) => Array.from(row)), K = J.map((row, i) => row.map((_, j) => (i === j ? 1 : 0)));
  const least = 1e-13 * Math.max(...J.map((row) => Math.max(...row.map(Math.abs))));
  for (let k = 0; k < n; k++) {
    let best = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(A[i][k]) > Math.abs(A[best][k])) best = i;
    if (!(Math.abs(A[best][k]) > least)) return null;
    [A[k], A[best]] = [A[best], A[k]];
    [K[k], K[best]] = [K[best], K[k]];
    for (let i = 0; i < n; i++) {
      const f = i === k ? 0 : A[i][k] / A[k][k];
      for (let j = 0; j < n; j++) {
        A[i][j] -= f * A[k][j];
        K[i][j] -= f * K[k][j];
      }
    }
  }
  return K.map((row, i) => row.map((x) => x / A[i][i]));
};
