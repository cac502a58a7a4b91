// Closing with speeds and accelerations, branches, and where bodies are, by the kernels and the solver of the mechanism (kernels/script).
// What a cycle of hundreds of positions calls in its inner loop allocates nothing.
(() => {
  "use strict";
  const SAME_PLACE = 1e-9; // of the mechanism's size: two places of a body are one

  LW.engineCore = (mechanism, DATA) => {
    const { names, start, solver } = mechanism;
    const nq = start.q.length, nv = names.v.length, nd = names.drives.length, nn = start.near.length, nb = names.bodies.length;
    /** @type {Record<string, BoundKernel>} */
    const kernel = {};
    for (const name in mechanism.kernels) kernel[name] = /** @type {BoundKernel} */ (mechanism.bind(name));
    const { poses, twists } = kernel, { kappa } = DATA.scale;
    const kinematics = /** @type {LoopKernel} */ (solver.kinematics); // with the arrays that `close` fills
    const none = new Float64Array(Math.max(nq, nv, nn, nd, 1)), step = new Float64Array(nq);
    const core = /** @type {Core} */ ({ nq, nv, nd, nn, nb, kappa, kernel, kinematics: !!kinematics, mechanism, none });

    core.loops = kernel.terms || kernel.closure; // phi, J and b of the loops
    core.setTime = (t) => (mechanism.t = t);

    core.normalized = solver.normalize;
    core.count = solver.count;
    core.driveAt = solver.driveAt;

    // ------------------------------------------------------------------ closing

    const v = new Float64Array(nv), a = new Float64Array(nv);
    const answer = { closed: false, ok: false, residual: 0, determinant: 0, v, a };
    const branch = () => {
      const d = kinematics ? kinematics.y.determinant[0] : 0;
      return Math.abs(d) > 1e-14 ? d : 0;
    };

    // Newton's steps on q, in place; v and a there for the drives' speeds and accelerations, and the determinant. `closed`: the
    // position is there; `ok`: speeds and accelerations as well. The answer is overwritten by the next call.
    core.solve = (q, near, value, speed, acceleration, from = 0) => {
      const { x, y } = kinematics;
      for (let k = 0; k < nd; k++) {
        x.speed[k] = speed ? speed[from + k] : 0;
        x.acceleration[k] = acceleration ? acceleration[from + k] : 0;
      }
      answer.residual = solver.close(q, near, value, from);
      answer.closed = answer.residual >= 0;
      answer.determinant = answer.closed ? branch() : 0;
      answer.ok = answer.closed && !solver.status();
      if (!answer.ok) return answer;
      v.set(y.v);
      a.set(y.a);
      return answer;
    };

    // the Newton step at a position, into `out`
    core.newton = (q, near, value, out) => solver.newton(q, near, value, 0, out);

    // the residual of a position as it is
    core.residual = (q, near, value, from = 0) => solver.newton(q, near, value, from, step);

    // determinant of the driven closing conditions, 0 where it is not defined
    core.determinant = (q, near) => {
      solver.newton(q, near, none, 0, step);
      return branch();
    };

    // singular values of the dimensionless loop Jacobian, the smallest first
    core.singularValues = (q, near) => {
      const f = core.loops, n = names.lam.length, { columns, rows } = DATA.scale, upright = n > nv, J = new Float64Array(n * nv);
      if (!f || !J.length) return [];
      f.put("q", q);
      f.zero("v");
      f.run(near);
      for (let i = 0; i < n; i++) for (let j = 0; j < nv; j++) J[upright ? j * n + i : i * nv + j] = (f.y[f.to.J[0] + i * nv + j] * columns[j]) / rows[i];
      return mechanism.singularValues(J, Math.min(n, nv));
    };

    // the side of the branch: its sign
    core.side = (q, near) => Math.sign(core.determinant(q, near));

    // q and near, in place, carried from parameters `before` to `after` with the drives held: false where the branch ends on the way
    core.carried = (q, near, value, before, after) => {
      const drive = Float64Array.from(value);
      if (mechanism.reach(q, near, drive, before, after)) return true;
      const here = Float64Array.from(q); // in a singular position: where the loops close all the same
      mechanism.parameters.set(before);
      const regular = core.solve(here, near, drive).ok;
      mechanism.parameters.set(after);
      if (regular || !core.solve(here, near, drive).closed) return false;
      q.set(here);
      return true;
    };

    // ------------------------------------------------------------------ bodies

    const where = { q: new Float64Array(nq).fill(NaN), R: new Float64Array(9 * (nb + 1)), p: new Float64Array(3 * (nb + 1)) };
    where.R[0] = where.R[4] = where.R[8] = 1;
    core.dirty = () => (where.q[0] = NaN);

    /** @param {ArrayLike<number>} q @param {number} [from] */
    const placeAll = (q, from) => {
      poses.put("q", q, from);
      poses.run(none);
      const { y, to } = poses;
      for (let i = 0; i < 9 * nb; i++) where.R[9 + i] = y[to.R[0] + i];
      for (let i = 0; i < 3 * nb; i++) where.p[3 + i] = y[to.p[0] + i];
    };

    // {R, p} of all bodies, ground first
    core.poses = (q, from) => {
      placeAll(q, from);
      return { R: where.R.slice(), p: where.p.slice() };
    };

    /** @type {<T extends number[] | Float64Array>(body: number, at: Vector, out: T, o: number) => T} */
    const put = (body, at, out, o) => {
      const { R, p } = where, r = 9 * body, s = 3 * body;
      for (let i = 0; i < 3; i++) out[o + i] = p[s + i] + R[r + 3 * i] * at[0] + R[r + 3 * i + 1] * at[1] + R[r + 3 * i + 2] * at[2];
      return out;
    };

    core.place = (body, at, q) => {
      placeAll(q);
      return put(body, at, [0, 0, 0], 0);
    };
    core.placeInto = (body, at, q, from, out, o) => {
      placeAll(q, from);
      put(body, at, out, o);
    };

    // world velocity of a place on a body
    core.velocity = (body, at, q, speeds) => {
      if (!body) return [0, 0, 0];
      placeAll(q);
      const here = put(body, at, [0, 0, 0], 0);
      twists.put("q", q);
      twists.put("v", speeds);
      twists.run(none);
      const { y, to } = twists, k = 3 * (body - 1), w = to.w[0] + k, u = to.u[0] + k;
      const r = [0, 1, 2].map((i) => here[i] - where.p[3 * body + i]);
      return [
        y[u] + y[w + 1] * r[2] - y[w + 2] * r[1],
        y[u + 1] + y[w + 2] * r[0] - y[w] * r[2],
        y[u + 2] + y[w] * r[1] - y[w + 1] * r[0],
      ];
    };

    // ------------------------------------------------------------------ shapes that follow the parameters

    /** @type {Float64Array | null} */
    let shape = null;
    core.reshape = () => {
      if (!kernel.places) return null;
      kernel.places.run(none);
      shape = kernel.places.get("shape");
      return kernel.places.get("places");
    };

    core.moved = (body, at) => {
      if (!shape) return at;
      let best = -1, gap = SAME_PLACE * kappa;
      DATA.shape.forEach((s, k) => {
        if (s.body !== body) return;
        const d = Math.hypot(s.at[0] - at[0], s.at[1] - at[1], s.at[2] - at[2]);
        if (d < gap) {
          best = k;
          gap = d;
        }
      });
      return best < 0 ? at : [shape[3 * best], shape[3 * best + 1], shape[3 * best + 2]];
    };

    return core;
  };
})();
