// Exported with kernel `walk`, which pages have.

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
  // value, speed and acceleration of the drives at a share of the way from a sample to the next; overwritten by the next call
  m.lawAt = (law, i, share) => {
    if (law !== known) told(law);
    law_between(w, laws, 3 * nd, i, i + 1, share, law.t[i + 1] - law.t[i]);
    const { drive, speed, acceleration } = w.close.x;
    return { value: drive, speed, acceleration };
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
