// Moving by hand: a place of a body is pulled toward a target by damped steps of the drives' coordinates. Every step is closed again on
// its branch; at the end of the branch the hand stops, with the reason.
(() => {
  "use strict";
  const STEPS = 8; // damped steps of one call: a hand on a fast pointer does not lag
  const LONGEST = 0.12; // radians, or multiples of the mechanism's size, of one of them
  const DAMPED = 1e-3; // singular values of the point's Jacobian, as multiples of the size, below which steps are held back
  const SMALLEST = 1e-4; // share of a step below which it is no step
  const STUCK = 1 / 16; // share of a step that tells of a dead center
  const TURNING = 0.02; // speed of a point, in sizes per radian of a drive, below which it turns back
  const FARTHEST = 0.3; // radians, or multiples of the mechanism's size, of a predicted step
  const CORRECTED = 1 / 4; // share of a predicted step by which it may be corrected
  const BENT = 1 / 2; // share by which speeds may change over a singular position that the branch passes
  const ASIDE = 0.1; // share of a step by which positions over a passage may lie beside the straight way
  const BETWEEN = [0.15, 0.3, 0.45, 0.6, 0.75, 0.9]; // shares of a step at which a passage is looked at
  const SINGULAR = 1e-9; // determinant below which speeds of the position itself are not trusted
  const ROUND_OFF = 1e-12; // of predicted changes
  const SMALL_TURN = 1e-4; // of a drive, for tangents of quaternions: linear to round-off

  // x of (A + A') symmetric, 3 x 3, by Cramer's rule
  /** @param {ArrayLike<number>} A @param {ArrayLike<number>} b */
  const solve3 = (A, b) => {
    /** @param {ArrayLike<number>} m */
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
    const entries = mechanism.solver.scale;
    const fresh = () => Array.from({ length: nd }, () => ({ v: new Float64Array(nv), q: new Float64Array(nq) }));
    /** @type {Tangents} */
    let tangents = fresh(); // v and change of q for unit speeds of the drives, kept over singular positions
    /** @type {{q: Float64Array, parameters: Float64Array} | null} */
    let known = null; // the position they belong to
    const stop = LW.engineStops(core, e.data);
    let met = ""; // coordinate whose stop refused a longer step

    // tangents at the state; in a singular position those of a position close by; false where none are known
    const velocities = () => {
      const s = e.state, c = e.cycle;
      if (known && known.q.every((x, i) => x === s.q[i]) && sameValues()) return true;
      if (!singular(s.q, s.near) && learn(tangentsAt(s.q, s.near, s.drive), s.q)) return true;
      const there = known;
      if (there && sameValues() && s.q.every((x, i) => Math.abs(x - there.q[i]) < LONGEST * entries[i])) return true;
      if (s.s === null || !c) return learn(tangentsAt(s.q, s.near, s.drive), s.q);
      for (const i of [Math.round(s.s) - 1, Math.round(s.s) + 1]) {
        if (!c.ok[i]) continue;
        const q = c.q.slice(i * nq, (i + 1) * nq), near = c.near.slice(i * nn, (i + 1) * nn);
        if (learn(tangentsAt(q, near, core.driveAt(q, near, new Float64Array(nd))), q)) return true;
      }
      return false;
    };
    const sameValues = () => known !== null && known.parameters.every((x, i) => x === mechanism.parameters[i]);
    /** @param {ArrayLike<number>} q @param {ArrayLike<number>} near */
    const singular = (q, near) => core.kinematics && Math.abs(core.determinant(q, near)) < SINGULAR;
    /** @param {Tangents | null} found @param {ArrayLike<number>} q */
    const learn = (found, q) => {
      if (!found) return false;
      tangents = found;
      known = { q: Float64Array.from(q), parameters: Float64Array.from(mechanism.parameters) };
      return true;
    };
    /** @param {ArrayLike<number>} position @param {ArrayLike<number>} near @param {ArrayLike<number>} drive */
    const tangentsAt = (position, near, drive) => {
      const speed = new Float64Array(nd), moved = new Float64Array(nd), q = new Float64Array(nq), found = fresh();
      for (let k = 0; k < nd; k++) {
        speed.fill(0);
        speed[k] = weight[k];
        q.set(position);
        const r = core.solve(q, near, drive, speed);
        if (!r.ok) return null;
        found[k].v.set(r.v);
        if (nq === nv) found[k].q.set(r.v);
        else {
          moved.set(drive);
          moved[k] += SMALL_TURN * weight[k];
          core.newton(q, near, moved, found[k].q);
          for (let i = 0; i < nq; i++) found[k].q[i] /= SMALL_TURN;
        }
      }
      return found;
    };

    // largest entry of a change of q, dimensionless
    /** @param {(i: number) => number} change */
    const sizeOf = (change) => {
      let most = 0;
      for (let i = 0; i < nq; i++) most = Math.max(most, Math.abs(change(i)) / entries[i]);
      return most;
    };
    /** @param {Tangents} found @param {ArrayLike<number>} step @param {number} i */
    const along = (found, step, i) => {
      let sum = 0;
      for (let k = 0; k < nd; k++) sum += step[k] * found[k].q[i];
      return sum;
    };

    // The drives moved by `step` (dimensionless) from the state: {q, near} on the same branch, or null. What is found must be what the
    // tangents say: a correction by less than a quarter of the prediction, and tangents at both ends that lead from one to the other.
    // Another branch close by, beyond a fold, fails in this. Null asks for a shorter step.
    /** @param {ArrayLike<number>} step */
    const stepped = (step) => {
      const s = e.state, drive = new Float64Array(nd), q = new Float64Array(nq), near = Float64Array.from(s.near);
      for (let k = 0; k < nd; k++) drive[k] = s.drive[k] + step[k] * weight[k];
      const predicted = sizeOf((i) => along(tangents, step, i));
      if (!(predicted <= FARTHEST)) return null;
      for (let i = 0; i < nq; i++) q[i] = s.q[i] + along(tangents, step, i);
      core.normalized(q);
      if (!core.solve(q, near, drive).closed) return null;
      const ended = stop(q, s.q);
      if (ended) {
        met = ended;
        return null;
      }
      if (sizeOf((i) => q[i] - s.q[i] - along(tangents, step, i)) > CORRECTED * predicted + ROUND_OFF) return null;
      core.count(q, near);
      if (singular(q, near)) return { q, near, tangents: null };
      const found = tangentsAt(q, near, drive);
      if (!found) return { q, near, tangents: null };
      const off = sizeOf((i) => q[i] - s.q[i] - 0.5 * (along(tangents, step, i) + along(found, step, i)));
      if (off > CORRECTED * predicted + ROUND_OFF) return null;
      if (core.side(s.q, s.near) * core.side(q, near) <= 0 && !passes(q, drive, found)) return null;
      return { q, near, tangents: found };
    };

    // Whether the branch itself changes sides between the state and q. Over a passage its tangents go on, for every drive (at a fold some
    // turn round), and its positions lie on the way from one end to the other.
    /** @param {ArrayLike<number>} q @param {ArrayLike<number>} drive @param {Tangents} found */
    const passes = (q, drive, found) => {
      const s = e.state, whole = sizeOf((i) => q[i] - s.q[i]);
      /** @param {{q: Float64Array}} t @param {number} k */
      const bent = (t, k) => sizeOf((i) => t.q[i] - tangents[k].q[i]) > BENT * Math.min(sizeOf((i) => t.q[i]), sizeOf((i) => tangents[k].q[i]));
      if (found.some(bent)) return false;
      const value = new Float64Array(nd), here = new Float64Array(nq), near = Float64Array.from(s.near);
      for (const f of BETWEEN) {
        for (let k = 0; k < nd; k++) value[k] = (1 - f) * s.drive[k] + f * drive[k];
        /** @param {number} i */
        const chord = (i) => (1 - f) * s.q[i] + f * q[i];
        for (let i = 0; i < nq; i++) here[i] = chord(i);
        if (singular(core.normalized(here), near)) continue;
        if (!core.solve(here, near, value).closed || sizeOf((i) => here[i] - chord(i)) > ASIDE * whole) return false;
      }
      return true;
    };

    // whether a step leads toward a dead center; away from one steps are short at first, too
    /** @param {{q: Float64Array, near: Float64Array, tangents: Tangents | null}} found */
    const nearer = (found) => Math.abs(core.determinant(found.q, found.near)) < Math.abs(core.determinant(e.state.q, e.state.near));

    /** @param {{q: Float64Array, near: Float64Array, tangents: Tangents | null}} found */
    const take = (found) => {
      e.put(found.q, found.near, null, null, { ok: true });
      if (found.tangents) learn(found.tangents, found.q);
    };

    /** @param {ArrayLike<number>} step */
    const label = (step) => {
      if (met) return `end of travel of ${met}`;
      let k = 0;
      for (let i = 1; i < nd; i++) if (Math.abs(step[i]) > Math.abs(step[k])) k = i;
      return `dead center of ${mechanism.names.drives[k]}`;
    };

    // the damped step toward the target, in the weighed drives
    /** @param {number} body @param {Vector} at @param {number[]} gap */
    const toward = (body, at, gap) => {
      const s = e.state, J = [];
      for (let k = 0; k < nd; k++) J.push(core.velocity(body, at, s.q, tangents[k].v));
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

    /** @param {number} body @param {Vector} at @param {ArrayLike<number>} q @param {Vector} target */
    const gapTo = (body, at, q, target) => {
      const p = core.place(body, at, q);
      return [target[0] - p[0], target[1] - p[1], e.data.planar ? 0 : target[2] - p[2]];
    };

    // one step; {moved, stopped, distance}
    /** @param {number} body @param {Vector} at @param {Vector} target */
    const pulled = (body, at, target) => {
      const gap = gapTo(body, at, e.state.q, target), distance = Math.hypot(...gap);
      if (distance <= 1e-13 * kappa) return { moved: false, stopped: "", distance };
      if (!velocities()) return { moved: false, stopped: "singular position", distance };
      const { step: whole, size, speed } = toward(body, at, gap);
      const end = speed > TURNING || distance <= TURNING * kappa ? "" : speed > 1e-9 ? "end of travel" : "this point is at rest";
      if (!(size > 0)) return { moved: false, stopped: end, distance };
      let lost = false;
      met = "";
      for (let f = 1; f >= SMALLEST; f /= 2) {
        const step = whole.map((x) => f * x), found = stepped(step);
        lost = lost || (!found && f === 1);
        if (!found) continue;
        const left = Math.hypot(...gapTo(body, at, found.q, target));
        if (left >= distance) continue;
        const closer = nearer(found);
        take(found);
        return { moved: true, stopped: lost && (closer || met) && f <= STUCK ? label(whole) : "", distance: left };
      }
      return { moved: false, stopped: lost ? label(whole) : end, distance };
    };

    // why no drive moves it
    const why = () => (e.data.topology.mobility > 0 ? "this degree of freedom cannot be dragged. Use free swing" : "nothing can move");
    const built = () => core.residual(e.state.q, e.state.near, e.state.drive) < 1e-9;

    // pulls a place of a body toward a world target; the state then rests
    e.drag = (body, at, target) => {
      e.leave();
      const k = e.index(body), here = e.moved(body, at);
      const out = { moved: false, stopped: "", distance: Math.hypot(...gapTo(k, here, e.state.q, target)) };
      if (!core.kinematics || !nd) return { ...out, stopped: why() };
      if (!k) return out;
      if (!built()) return { ...out, stopped: "the mechanism cannot be assembled with these dimensions" };
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
      e.leave();
      if (!core.kinematics) return { moved: false, stopped: why() };
      if (!built()) return { moved: false, stopped: "the mechanism cannot be assembled with these dimensions" };
      const step = new Float64Array(nd);
      let left = amount / weight[k], moved = false;
      while (Math.abs(left) > 1e-12) {
        met = "";
        if (!velocities()) return { moved, stopped: "singular position" };
        let found = /** @type {ReturnType<typeof stepped>} */ (null), f = Math.sign(left) * Math.min(LONGEST, Math.abs(left));
        const whole = Math.abs(f);
        for (; !found && Math.abs(f) > SMALLEST * whole; f = found ? f : f / 2) {
          step[k] = f;
          found = stepped(step);
        }
        if (!found) return { moved, stopped: label(step) };
        const closer = nearer(found);
        take(found);
        moved = true;
        left -= f;
        if ((closer || met) && Math.abs(f) < STUCK * whole) return { moved, stopped: label(step) };
      }
      return { moved, stopped: "" };
    };
  };
})();
