// Loads at the eyes of rods, springs, dampers and cylinders over a cycle: sums of rows of the kernel `acting`, which knows what pushes
// every moving body; on ground it is the opposite of what acts at the other end.
(() => {
  "use strict";
  // adds them to c.pins, under the names of Python's channels (lift.W on boom)
  LW.eyeLoads = (core, law, c, DATA) => {
    const f = core.kernel.acting, eyes = DATA.eyes || [];
    if (!f || !eyes.length || !c.u.length) return;
    const { nq, nv, nn } = core, lams = core.mechanism.names.lam.length, time = core.mechanism.t, u = new Float64Array(c.u.length);
    const forces = eyes.map(() => new Float64Array(3 * c.n).fill(NaN));
    for (let i = 0; i < c.n; i++) {
      if (!c.ok[i]) continue;
      core.setTime(law.t[i]);
      for (let k = 0; k < u.length; k++) u[k] = c.u[k][i];
      f.put("q", c.q.subarray(i * nq, (i + 1) * nq));
      f.put("v", c.v.subarray(i * nv, (i + 1) * nv));
      f.put("u", u);
      f.put("lam", c.lam.subarray(i * lams, (i + 1) * lams));
      f.run(c.near.subarray(i * nn, (i + 1) * nn));
      const o = f.to.rows[0];
      eyes.forEach((eye, k) => {
        for (let axis = 0; axis < 3; axis++) forces[k][3 * i + axis] = eye.rows.reduce((sum, row) => sum + eye.sign * f.y[o + 9 * row + 3 + axis], 0);
      });
    }
    core.setTime(time);
    eyes.forEach((eye, k) => {
      const force = forces[k], { max, s, error } = LW.magnitudes(force, c.t), index = Math.round(s);
      c.pins[`${eye.pin}|${eye.body}`] = { force, moment: new Float64Array(3 * c.n), max: max || 0, s, error, index, doubtful: c.doubtful(index) };
    });
  };
})();
