// Motion of the bodies over a whole cycle, computed when it is asked for and kept with the cycle: poses, velocities, accelerations, jerks,
// and the velocities per unit speed of the leading drive. Sample i of an array of m numbers a sample begins at i m; NaN where it is not known.
(() => {
  "use strict";

  /** @type {(work: (c: Cycle) => any) => (c: Cycle) => any} */
  const once = (work) => {
    const known = new WeakMap();
    return (c) => {
      if (!known.has(c)) known.set(c, work(c));
      return known.get(c);
    };
  };

  LW.engineSamples = (e) => {
    const { core, mechanism } = e, { nq, nv, nd, nn, nb, kernel } = core, law = /** @type {Law} */ (e.law);
    const file = Float64Array.from(e.data.parameters, (p) => p.value);

    // work with the values that a cycle was computed for: those of the file, or the present ones
    /** @type {Samples["with"]} */
    const withValues = (c, work) => {
      const now = Float64Array.from(mechanism.parameters), time = mechanism.t;
      const wanted = c === e.original ? file : Float64Array.from(e.data.parameters, (p) => e.values[p.name]);
      const same = now.every((x, i) => x === wanted[i]);
      mechanism.parameters.set(wanted);
      if (!same) core.reshape();
      try {
        return work();
      } finally {
        mechanism.parameters.set(now);
        mechanism.t = time;
        if (!same) core.reshape();
        core.dirty();
      }
    };

    /** @type {(c: Cycle, width: number) => Float64Array} */
    const blank = (c, width) => new Float64Array(c.n * width).fill(NaN);
    /** @type {(out: Float64Array, i: number, width: number, bound: BoundKernel, key: string) => void} */
    const take = (out, i, width, bound, key) => {
      const start = bound.to[key][0];
      for (let k = 0; k < width; k++) out[i * width + k] = bound.y[start + k];
    };

    const poses = once((c) => withValues(c, () => {
      const R = blank(c, 9 * (nb + 1)), p = blank(c, 3 * (nb + 1));
      for (let i = 0; i < c.n; i++) {
        if (!c.placed[i]) continue;
        const at = core.poses(c.q, i * nq);
        R.set(at.R, 9 * (nb + 1) * i);
        p.set(at.p, 3 * (nb + 1) * i);
      }
      return { R, p };
    }));

    // angular velocity and velocity of the origin of the bodies for velocities v of the tree, both in one array
    /** @type {(c: Cycle, v: Float64Array) => Float64Array} */
    const twistsFor = (c, v) => {
      const out = blank(c, 6 * nb), { twists } = kernel, w = twists.to.w[0], u = twists.to.u[0];
      for (let i = 0; i < c.n; i++) {
        if (!c.placed[i]) continue;
        twists.put("q", c.q, i * nq);
        twists.put("v", v, i * nv);
        twists.run(core.none);
        for (let b = 0; b < nb; b++) for (let k = 0; k < 3; k++) {
          out[6 * (i * nb + b) + k] = twists.y[w + 3 * b + k];
          out[6 * (i * nb + b) + 3 + k] = twists.y[u + 3 * b + k];
        }
      }
      return out;
    };
    /** @param {Cycle} c */
    const known = (c) => c.v.map((x, i) => (c.ok[Math.floor(i / nv)] ? x : NaN));
    const twists = once((c) => withValues(c, () => twistsFor(c, known(c))));

    // jerk of the tree, accelerations of the bodies and their rates, coordinates beside the tree, sides of the transmission angles, cams
    const derivatives = once((c) => withValues(c, () => {
      const f = kernel.derivatives, third = e.third || new Float64Array(c.n * nd);
      /** @type {Record<string, number>} */
      const width = { jerk: nv, body: 6 * nb, rate: 6 * nb, beside: f.to.beside[1], sides: f.to.sides[1], cams: f.to.cams[1] };
      const out = Object.fromEntries(Object.entries(width).map(([key, m]) => [key, blank(c, m)]));
      for (let i = 0; i < c.n; i++) {
        if (!c.placed[i]) continue;
        f.put("q", c.q, i * nq);
        f.put("v", c.v, i * nv);
        f.put("a", c.a, i * nv);
        f.put("third", third, i * nd);
        mechanism.t = law.t[i];
        f.run(c.near, i * nn);
        for (const key in width) take(out[key], i, width[key], f, key);
        if (c.ok[i]) continue;
        for (const key of ["jerk", "body", "rate"]) out[key].fill(NaN, i * width[key], (i + 1) * width[key]);
        for (let k = 0; k < width.beside; k++) if (k % 4) out.beside[i * width.beside + k] = NaN; // only positions are known
      }
      return out;
    }));

    // velocities of the tree, of the bodies and beside the tree per unit speed of the leading drive, the other drives held
    const tangent = once((c) => withValues(c, () => {
      const f = kernel.walk, lead = Math.max(0, law.drives.indexOf(law.drive)), v = blank(c, nv);
      const beside = blank(c, kernel.speeds ? kernel.speeds.to.beside[1] : 0), speed = new Float64Array(nd);
      speed[lead] = 1;
      f.zero("acceleration");
      f.put("speed", speed);
      for (let i = 0; i < c.n; i++) {
        if (!c.placed[i]) continue;
        f.put("q", c.q, i * nq);
        f.put("drive", law.value, i * nd);
        if (f.run(c.near, i * nn)) continue; // a singular position
        take(v, i, nv, f, "v");
        if (!kernel.speeds) continue;
        kernel.speeds.put("q", c.q, i * nq);
        kernel.speeds.put("v", v, i * nv);
        kernel.speeds.run(c.near, i * nn);
        take(beside, i, beside.length / c.n, kernel.speeds, "beside");
      }
      return { v, beside, bodies: twistsFor(c, v) };
    }));

    const energies = once((c) => withValues(c, () => {
      const f = kernel.energy, out = blank(c, 2);
      for (let i = 0; i < c.n; i++) {
        if (!c.ok[i]) continue;
        f.put("q", c.q, i * nq);
        f.put("v", c.v, i * nv);
        mechanism.t = law.t[i];
        f.run(c.near, i * nn);
        out[2 * i] = f.y[f.to.kinetic[0]];
        out[2 * i + 1] = f.y[f.to.potential[0]];
      }
      return out;
    }));

    return { with: withValues, once, poses, twists, derivatives, tangent, energies };
  };
})();
