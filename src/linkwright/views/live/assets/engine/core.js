// Kernels with arrays of their own, closing by Newton's method, and where bodies are. What a cycle of hundreds of positions calls in
// its inner loop allocates nothing, which is why `solve` does not call the `assemble` of the exported script: that one walks and copies.
var LW = globalThis.LW || (globalThis.LW = {});
(() => {
  "use strict";
  const CLOSED = 1e-13; // dimensionless residual: round-off
  const NEARLY = 1e-10; // where round-off may stop progress earlier
  const LONGEST = 0.3; // radians, or multiples of the mechanism's size, of one Newton step
  const SAME_PLACE = 1e-9; // of the mechanism's size: two places of a body are one

  const bound = (mechanism, name) => {
    const f = mechanism.kernels[name];
    if (!f) return null;
    const end = (blocks) => Object.keys(blocks).reduce((n, k) => Math.max(n, blocks[k][0] + blocks[k][1]), 0);
    const x = new Float64Array(end(f.inputs)), y = new Float64Array(end(f.outputs));
    const free = f.inputs.free, near = f.inputs.near, t = f.inputs.t;
    return {
      x, y, to: f.outputs,
      put(key, a, from) {
        const block = f.inputs[key];
        if (!block) return;
        const start = block[0], n = block[1];
        from = from || 0;
        for (let i = 0; i < n; i++) x[start + i] = a[from + i];
      },
      zero(key) {
        const block = f.inputs[key];
        if (block) for (let i = 0; i < block[1]; i++) x[block[0] + i] = 0;
      },
      // references of cut joints, free parameters and the time of the mechanism
      run(turns, from) {
        if (free) for (let i = 0; i < free[1]; i++) x[free[0] + i] = mechanism.free[i];
        if (near) for (let i = 0; i < near[1]; i++) x[near[0] + i] = turns[(from || 0) + i];
        if (t) x[t[0]] = mechanism.t;
        return f(x, y);
      },
      get: (key) => y.slice(f.outputs[key][0], f.outputs[key][0] + f.outputs[key][1]),
    };
  };

  LW.engineCore = (mechanism, DATA) => {
    const { names, start } = mechanism;
    const nq = start.q.length, nv = names.v.length, nd = names.drives.length, nn = start.near.length, nb = names.bodies.length;
    const kernel = {};
    for (const name in mechanism.kernels) kernel[name] = bound(mechanism, name);
    const { kinematics, turns, poses, twists, branch, drives } = kernel;
    const { kappa, quaternions } = DATA.scale;
    const sizeOf = Float64Array.from(DATA.scale.q); // what a step of an entry of q is compared with
    const none = new Float64Array(Math.max(nq, nv, nn, nd, 1));
    const core = { nq, nv, nd, nn, nb, kappa, kernel, kinematics: !!kinematics, mechanism, none };

    core.setTime = (t) => (mechanism.t = t);

    core.normalised = (q) => {
      for (const i of quaternions) {
        const r = Math.hypot(q[i], q[i + 1], q[i + 2], q[i + 3]);
        for (let k = i; k < i + 4; k++) q[k] /= r;
      }
      return q;
    };

    // ------------------------------------------------------------------ closing

    const v = new Float64Array(nv), a = new Float64Array(nv);
    const answer = { closed: false, ok: false, residual: 0, steps: 0, v, a };

    // Newton's steps on q, in place, each less than a quarter of the one before; then v and a for the drives' speeds and accelerations.
    // `closed`: the position is there; `ok`: speeds and accelerations as well. The answer's arrays are overwritten by the next call.
    core.solve = (q, near, value, speed, acceleration, from) => {
      const { y, to } = kinematics, at = to.q[0];
      from = from || 0;
      kinematics.zero("v");
      kinematics.put("drive", value, from);
      if (speed) kinematics.put("speed", speed, from);
      else kinematics.zero("speed");
      if (acceleration) kinematics.put("acceleration", acceleration, from);
      else kinematics.zero("acceleration");
      answer.closed = answer.ok = false;
      let last = Infinity, status = 0, r = 0;
      for (let k = 0; k < 30; k++) {
        kinematics.put("q", q);
        status = kinematics.run(near);
        r = y[to.residual[0]];
        answer.steps = k;
        if (!(r >= 0)) return answer;
        if (r <= CLOSED) break;
        let size = 0;
        for (let i = 0; i < nq; i++) size = Math.max(size, Math.abs(y[at + i] - q[i]) / sizeOf[i]);
        if (!(size <= LONGEST) || size > last / 4) {
          if (r < NEARLY) break;
          return answer;
        }
        last = size;
        for (let i = 0; i < nq; i++) q[i] = y[at + i];
      }
      if (!(r < NEARLY)) return answer;
      answer.closed = true;
      answer.residual = r;
      if (status) return answer;
      for (let i = 0; i < nv; i++) v[i] = y[to.v[0] + i];
      kinematics.put("v", v);
      if (kinematics.run(near)) return answer;
      for (let i = 0; i < nv; i++) a[i] = y[to.a[0] + i];
      answer.ok = true;
      return answer;
    };

    // the Newton step at a position, into `step`
    core.newton = (q, near, value, step) => {
      core.residual(q, near, value);
      for (let i = 0; i < nq; i++) step[i] = kinematics.y[kinematics.to.q[0] + i] - q[i];
    };

    // the residual of a position as it is
    core.residual = (q, near, value, from) => {
      kinematics.zero("v");
      kinematics.zero("speed");
      kinematics.zero("acceleration");
      kinematics.put("drive", value, from);
      kinematics.put("q", q);
      kinematics.run(near);
      return kinematics.y[kinematics.to.residual[0]];
    };

    // whole turns of the cut joints counted on, in place
    core.count = (q, near) => {
      if (!turns) return;
      turns.put("q", q);
      if (turns.run(near)) return;
      for (let i = 0; i < nn; i++) near[i] = turns.y[turns.to.near[0] + i];
    };

    core.driveAt = (q, near, out) => {
      if (!drives) return out;
      drives.put("q", q);
      drives.zero("v");
      drives.run(near);
      for (let i = 0; i < nd; i++) out[i] = drives.y[drives.to.drive[0] + i];
      return out;
    };

    // determinant of the driven closing conditions, 0 where it cannot be told
    core.determinant = (q, near) => {
      if (!branch) return 0;
      branch.put("q", q);
      const bad = branch.run(near), d = branch.y[branch.to.determinant[0]];
      return bad || !(Math.abs(d) > 1e-14) ? 0 : d;
    };

    // the side of the branch: its sign
    core.side = (q, near) => Math.sign(core.determinant(q, near));

    // q and near, in place, carried from parameters `before` to `after` with the drives held: false where the branch ends on the way
    core.carried = (q, near, value, before, after) => {
      const here = Float64Array.from(q), turn = Float64Array.from(near), side = core.side(q, near);
      const now = mechanism.free;
      const at = (s) => {
        for (let i = 0; i < now.length; i++) now[i] = s < 1 ? before[i] + s * (after[i] - before[i]) : after[i];
      };
      at(0);
      const first = core.side(q, near) || side;
      for (let s = 0, f = 1; s < 1; ) {
        at(s + f);
        here.set(q);
        turn.set(near);
        const r = core.solve(here, turn, value);
        const flipped = r.closed && core.side(here, turn) * first < 0;
        if (r.closed && !flipped) {
          core.count(here, turn);
          q.set(here);
          near.set(turn);
          s += f;
          f = Math.min(2 * f, 1 - s);
        } else f /= 2;
        if (f < 1e-3 && s < 1) {
          at(1);
          return false;
        }
      }
      at(1);
      return true;
    };

    // ------------------------------------------------------------------ bodies

    const where = { q: new Float64Array(nq).fill(NaN), R: new Float64Array(9 * (nb + 1)), p: new Float64Array(3 * (nb + 1)) };
    where.R[0] = where.R[4] = where.R[8] = 1;
    core.dirty = () => (where.q[0] = NaN);

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
  if (typeof module === "object" && module.exports) module.exports = LW;
})();
