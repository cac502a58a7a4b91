// Moving by hand: a place of a body is pulled towards a target by damped steps of the drives' coordinates. Every step is closed again on
// its branch; where it cannot go on the hand stops and is told why.
var LW = globalThis.LW || (globalThis.LW = {});
(() => {
  "use strict";
  const STEPS = 8; // damped steps of one call: a hand on a fast pointer does not lag
  const LONGEST = 0.12; // radians, or multiples of the mechanism's size, of one of them
  const DAMPED = 1e-3; // singular values of the point's Jacobian, as multiples of the size, below which steps are held back
  const SMALLEST = 1e-4; // share of a step below which it is no step
  const STUCK = 1 / 16; // share of a step that tells of a dead centre
  const TURNING = 0.02; // speed of a point, in sizes per radian of a drive, below which it turns back
  const FINE = 33; // small steps over a singular position, to see whether the branch really goes through

  // x of (A + A') symmetric, 3 x 3, by Cramer's rule
  const solve3 = (A, b) => {
    const det = (m) => m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6]);
    const d = det(A);
    return [0, 1, 2].map((k) => {
      const m = Array.from(A);
      for (let i = 0; i < 3; i++) m[3 * i + k] = b[i];
      return det(m) / d;
    });
  };

  LW.engineHand = (e) => {
    const { core, mechanism } = e, { nq, nv, nd, nn, kappa } = core;
    const weight = Float64Array.from(e.data.kinds, (kind) => (kind === "angle" ? 1 : kappa)); // what a step of a drive is compared with
    const tangents = Array.from({ length: nd }, () => new Float64Array(nv)); // v for unit speeds of the drives, kept over singular positions
    let known = null; // the position they belong to

    // v per speed of each drive at the state; in a singular position those of a position close by; false where none is known
    const velocities = () => {
      const s = e.state, c = e.cycle;
      if (velocitiesAt(s.q, s.near, s.drive)) return true;
      if (known && s.q.every((x, i) => Math.abs(x - known[i]) < LONGEST * e.data.scale.q[i])) return true;
      if (s.s === null || !c) return false;
      for (const i of [Math.round(s.s) - 1, Math.round(s.s) + 1]) {
        if (!c.ok[i]) continue;
        const q = c.q.slice(i * nq, (i + 1) * nq), near = c.near.slice(i * nn, (i + 1) * nn);
        if (velocitiesAt(q, near, core.driveAt(q, near, new Float64Array(nd)))) return true;
      }
      return false;
    };
    const velocitiesAt = (position, near, drive) => {
      const speed = new Float64Array(nd), q = new Float64Array(nq), found = [];
      for (let k = 0; k < nd; k++) {
        speed.fill(0);
        speed[k] = weight[k];
        q.set(position);
        const r = core.solve(q, near, drive, speed);
        if (!r.ok) return false;
        found.push(Float64Array.from(r.v));
      }
      found.forEach((v, k) => tangents[k].set(v));
      known = Float64Array.from(position);
      return true;
    };

    // the drives moved by `step` (dimensionless) from the state: {q, near} on the same branch, or null
    const stepped = (step) => {
      const s = e.state, drive = new Float64Array(nd), q = Float64Array.from(s.q), near = Float64Array.from(s.near);
      for (let k = 0; k < nd; k++) drive[k] = s.drive[k] + step[k] * weight[k];
      if (nq === nv) for (let k = 0; k < nd; k++) for (let i = 0; i < nq; i++) q[i] += step[k] * tangents[k][i];
      let r = core.solve(q, near, drive);
      if (!r.closed) {
        q.set(s.q);
        r = core.solve(q, near, drive);
      }
      if (!r.closed && !walked(q, near, drive)) return null;
      core.count(q, near);
      const before = core.side(s.q, s.near), after = core.side(q, near);
      if (before * after < 0 && !passes(q, step)) return null;
      return { q, near };
    };

    // the mechanism's own assembling, which walks
    const walked = (q, near, drive) => {
      mechanism.near = Float64Array.from(e.state.near);
      const found = mechanism.assemble(e.state.q, drive);
      q.set(found.q);
      near.set(mechanism.near);
      return found.ok;
    };

    // whether the branch itself changes sides between the state and q: followed in small steps it must come out there
    const passes = (q, step) => {
      const s = e.state, drive = new Float64Array(nd), near = Float64Array.from(s.near), at = [Float64Array.from(s.q)];
      for (let m = 1; m <= FINE; m++) {
        for (let k = 0; k < nd; k++) drive[k] = s.drive[k] + (m / FINE) * step[k] * weight[k];
        const [a, b, c] = at, next = new Float64Array(nq);
        for (let i = 0; i < nq; i++) next[i] = c ? 3 * a[i] - 3 * b[i] + c[i] : b ? 2 * a[i] - b[i] : a[i];
        if (!core.solve(core.normalised(next), near, drive).closed) return false;
        core.count(next, near);
        at.unshift(next);
        at.length = Math.min(at.length, 3);
      }
      let gap = 0;
      for (let i = 0; i < nq; i++) gap = Math.max(gap, Math.abs(at[0][i] - q[i]));
      return gap < 1e-6;
    };

    const label = (step) => {
      let k = 0;
      for (let i = 1; i < nd; i++) if (Math.abs(step[i]) > Math.abs(step[k])) k = i;
      return `dead centre of ${mechanism.names.drives[k]}`;
    };

    // the damped step towards the target, in the weighed drives
    const towards = (body, at, gap) => {
      const s = e.state, J = [];
      for (let k = 0; k < nd; k++) J.push(core.velocity(body, at, s.q, tangents[k]));
      const A = new Float64Array(9);
      for (let i = 0; i < 3; i++) {
        for (let j = 0; j < 3; j++) for (let k = 0; k < nd; k++) A[3 * i + j] += J[k][i] * J[k][j];
        A[4 * i] += DAMPED * DAMPED * kappa * kappa;
      }
      const y = solve3(A, gap), step = new Float64Array(nd);
      let size = 0;
      for (let k = 0; k < nd; k++) {
        step[k] = J[k][0] * y[0] + J[k][1] * y[1] + J[k][2] * y[2];
        size = Math.max(size, Math.abs(step[k]));
      }
      if (size > LONGEST) for (let k = 0; k < nd; k++) step[k] *= LONGEST / size;
      return { step, size, speed: Math.max(...J.map((x) => Math.hypot(...x))) / kappa };
    };

    const gapTo = (body, at, q, target) => {
      const p = core.place(body, at, q);
      return [target[0] - p[0], target[1] - p[1], e.data.planar ? 0 : target[2] - p[2]];
    };

    // one step; {moved, stopped, distance}
    const pulled = (body, at, target) => {
      const gap = gapTo(body, at, e.state.q, target), distance = Math.hypot(...gap);
      if (distance <= 1e-13 * kappa) return { moved: false, stopped: "", distance };
      if (!velocities()) return { moved: false, stopped: "singular position", distance };
      const { step: whole, size, speed } = towards(body, at, gap);
      const end = speed > TURNING || distance <= TURNING * kappa ? "" : speed > 1e-9 ? "turning point of its path" : "this point stands still";
      if (!(size > 0)) return { moved: false, stopped: end, distance };
      let lost = false;
      for (let f = 1; f >= SMALLEST; f /= 2) {
        const step = whole.map((x) => f * x), found = stepped(step);
        lost = lost || (!found && f === 1);
        if (!found) continue;
        const left = Math.hypot(...gapTo(body, at, found.q, target));
        if (left >= distance) continue;
        e.put(found.q, found.near, null, null, { ok: true });
        return { moved: true, stopped: lost && f <= STUCK ? label(whole) : "", distance: left };
      }
      return { moved: false, stopped: lost ? label(whole) : end, distance };
    };

    // pulls a place of a body towards a world target; the state then rests
    e.drag = (body, at, target) => {
      const k = e.index(body), here = e.moved(body, at);
      const out = { moved: false, stopped: "", distance: Math.hypot(...gapTo(k, here, e.state.q, target)) };
      if (!core.kinematics || !nd) return { ...out, stopped: "nothing can move" };
      if (!k) return out;
      for (let i = 0; i < STEPS; i++) {
        const r = pulled(k, here, target);
        out.moved = out.moved || r.moved;
        out.stopped = r.stopped;
        out.distance = r.distance;
        if (!r.moved || r.stopped) break;
      }
      if (!out.moved && e.state.s !== null) e.put(e.state.q, e.state.near, null, null, { ok: true });
      return out;
    };

    // moves one drive by an amount (SI), in steps that keep the branch
    e.nudge = (drive, amount) => {
      const k = typeof drive === "number" ? drive : mechanism.names.drives.indexOf(drive);
      if (!(k >= 0 && k < nd)) throw new RangeError(`there is no drive ${drive}`);
      if (!core.kinematics) return { moved: false, stopped: "nothing can move" };
      const step = new Float64Array(nd);
      let left = amount / weight[k], moved = false;
      while (Math.abs(left) > 1e-12) {
        if (!velocities()) return { moved, stopped: "singular position" };
        let found = null, f = Math.sign(left) * Math.min(LONGEST, Math.abs(left));
        const whole = Math.abs(f);
        for (; !found && Math.abs(f) > SMALLEST * whole; f = found ? f : f / 2) {
          step[k] = f;
          found = stepped(step);
        }
        if (!found) return { moved, stopped: label(step) };
        e.put(found.q, found.near, null, null, { ok: true });
        moved = true;
        left -= f;
        if (Math.abs(f) < STUCK * whole) return { moved, stopped: label(step) };
      }
      return { moved, stopped: "" };
    };
  };
  if (typeof module === "object" && module.exports) module.exports = LW;
})();
