// Channels of a cycle by name, as Python's m.cycle()[...] has them: coordinates of joints, angles of bodies, points with their rates up to the
// jerk, transmission angles, mechanical advantage, loads of pins, torques and powers of drives, machine parts, energies. The list is made once; the
// values of a channel are computed when they are asked for, for the present cycle or for that of the file's values.
(() => {
  "use strict";
  const TURN = 2 * Math.PI;
  const REST = 1e-10; // m: a point whose v^2/|a| is shorter rests or reverses, and its path has no curvature there
  const RATES = { angle: ["angle", "angular_speed", "angular_acceleration", "angular_jerk"], length: ["length", "speed", "acceleration", "jerk"] };
  const ENDINGS = ["", ".v", ".a", ".jerk"];
  const WORDS = { angle: ["angle", "angular velocity", "angular acceleration", "angular jerk"], length: ["travel", "velocity", "acceleration", "jerk"] };
  /** @type {Record<string, string>} */
  const RATIOS = { "angle angle": "pure_number", "length length": "pure_number", "length angle": "curvature", "angle length": "length" };

  /** @param {Vector} a @param {Vector} b */
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  /** @type {(...vectors: Vector[]) => number[]} */
  const plus = (...vectors) => [0, 1, 2].map((k) => vectors.reduce((sum, x) => sum + x[k], 0));

  // whole turns added so that an angle does not jump; the first one is the nearest to `first`
  /** @param {Float64Array} values @param {number} first */
  const unwound = (values, first) => {
    let last = first;
    return values.map((x) => {
      if (!Number.isFinite(x)) return NaN;
      last = x + TURN * Math.round((last - x) / TURN);
      return last;
    });
  };

  LW.engineChannels = (e) => {
    const { core, data, law } = e, given = data.channels, { nq, nv, nd, nb } = core;
    /** @type {Map<string, EngineChannel>} */
    const all = new Map();
    e.third = given ? LW.decode(given.third).data : null;
    e.channels = { list: [], read: () => new Float64Array(0), of: () => [], get: (name) => all.get(name) };
    if (!law || !given || !e.cycle) return;
    const samples = LW.engineSamples(e), lead = Math.max(0, law.drives.indexOf(law.drive)), axes = Array.from(data.planar ? data.axes : "xyz");
    const solved = Boolean(core.kernel.derivatives);

    /** @type {(name: string, kind: string, label: string, of: Picked[], read: (c: Cycle) => Float64Array) => void} */
    const add = (name, kind, label, of, read) => {
      if (!all.has(name)) all.set(name, { name, kind, label, of, read: samples.once(read) });
    };
    /** @type {(c: Cycle, read: (i: number) => number) => Float64Array} */
    const each = (c, read) => Float64Array.from({ length: c.n }, (_, i) => (c.placed[i] ? read(i) : NaN));
    /** @type {(c: Cycle, read: (i: number) => number) => Float64Array} */
    const moving = (c, read) => Float64Array.from({ length: c.n }, (_, i) => (c.ok[i] ? read(i) : NaN));
    /** @type {(kind: Kind) => string} */
    const ratio = (kind) => RATIOS[`${kind} ${law.kinds[lead]}`];
    const advantage = (/** @type {string} */ what) => `mechanical advantage of ${what} over ${law.drive}`;

    // ---------------------------------------------------------------- time and coordinates

    add("t", "time", "time", [], (c) => Float64Array.from(c.t));
    /** @param {PageCoordinate} x */
    const coordinate = (x) => {
      const of = [/** @type {Picked} */ ({ kind: "pin", name: x.pin })], held = law.drives.includes(x.name);
      /** @param {number} order */
      const beside = (/** @type {number} */ order) => (/** @type {Cycle} */ c) => { const { beside: y } = samples.derivatives(c), m = y.length / c.n; return each(c, (i) => y[i * m + 4 * (x.beside || 0) + order]); };
      /** @type {((c: Cycle) => Float64Array)[]} */
      const own = [(c) => each(c, (i) => c.q[i * nq + x.q]), (c) => moving(c, (i) => c.v[i * nv + x.v]), (c) => moving(c, (i) => c.a[i * nv + x.v]),
        (c) => moving(c, (i) => samples.derivatives(c).jerk[i * nv + x.v])];
      const inTree = x.beside === undefined;
      ENDINGS.forEach((ending, k) => {
        if ((inTree && k < 3) || solved) add(x.name + ending, RATES[x.kind][k], `${WORDS[x.kind][k]} of ${x.name}`, of, inTree ? own[k] : beside(k));
      });
      if (!solved || held) return;
      add(`${x.name}.advantage`, ratio(x.kind), advantage(x.name), of, (c) => {
        const T = samples.tangent(c), m = T.beside.length / c.n;
        return each(c, (i) => 1 / (inTree ? T.v[i * nv + x.v] : T.beside[i * m + (x.beside || 0)]));
      });
    };
    given.coordinates.forEach(coordinate);

    // ---------------------------------------------------------------- bodies and points

    // the third entry of the vectors of a body in an array of six numbers a body
    /** @param {Float64Array} y @param {number} i @param {number} b */
    const turning = (y, i, b) => y[6 * (i * nb + b - 1) + 2];
    /** @param {PageBody} body @param {number} b */
    const bodyAngle = (body, b) => {
      const name = `${body.name}.angle`, of = [/** @type {Picked} */ ({ kind: "body", name: body.name })], width = 9 * (nb + 1);
      /** @param {number} k */
      const label = (k) => `${WORDS.angle[k]} of ${body.name}`;
      add(name, "angle", label(0), of, (c) => {
        const { R } = samples.poses(c);
        return unwound(each(c, (i) => Math.atan2(R[i * width + 9 * b + 3], R[i * width + 9 * b])), given.first[b]);
      });
      add(`${name}.v`, "angular_speed", label(1), of, (c) => moving(c, (i) => turning(samples.twists(c), i, b)));
      if (!solved) return;
      add(`${name}.a`, "angular_acceleration", label(2), of, (c) => moving(c, (i) => turning(samples.derivatives(c).body, i, b)));
      add(`${name}.jerk`, "angular_jerk", label(3), of, (c) => moving(c, (i) => turning(samples.derivatives(c).rate, i, b)));
      add(`${name}.advantage`, ratio("angle"), advantage(name), of, (c) => each(c, (i) => 1 / turning(samples.tangent(c).bodies, i, b)));
    };

    // position, velocity, acceleration and jerk of a place of body b at sample i, from the motion of the body
    /** @param {Float64Array} y @param {number} i @param {number} b */
    const rows = (y, i, b) => { const o = 6 * (i * nb + b - 1); return [y.subarray(o, o + 3), y.subarray(o + 3, o + 6)]; };
    /** @param {Cycle} c @param {number} b @param {Vector} at */
    const arm = (c, b, at) => {
      const { R } = samples.poses(c), width = 9 * (nb + 1);
      return (/** @type {number} */ i) => [0, 1, 2].map((k) => R[i * width + 9 * b + 3 * k] * at[0] + R[i * width + 9 * b + 3 * k + 1] * at[1] + R[i * width + 9 * b + 3 * k + 2] * at[2]);
    };
    /** @type {((c: Cycle, b: number, r: number[], i: number) => number[])[]} */
    const orders = [
      (c, b, r, i) => { const { p } = samples.poses(c), o = 3 * (i * (nb + 1) + b); return plus(p.subarray(o, o + 3), r); },
      (c, b, r, i) => { const [w, u] = rows(samples.twists(c), i, b); return plus(u, cross(w, r)); },
      (c, b, r, i) => {
        const [w] = rows(samples.twists(c), i, b), [dw, du] = rows(samples.derivatives(c).body, i, b);
        return plus(du, cross(dw, r), cross(w, cross(w, r)));
      },
      (c, b, r, i) => {
        const [w] = rows(samples.twists(c), i, b), [dw] = rows(samples.derivatives(c).body, i, b), [ddw, ddu] = rows(samples.derivatives(c).rate, i, b);
        const v = cross(w, r);
        return plus(ddu, cross(ddw, r), cross(dw, v), cross(dw, v), cross(w, cross(dw, r)), cross(w, cross(w, v)));
      },
    ];
    // all samples of one of them, three numbers a sample
    /** @param {number} b @param {Vector} at @param {number} order */
    const track = (b, at, order) => samples.once((c) => samples.with(c, () => {
      const out = new Float64Array(3 * c.n).fill(NaN), turned = arm(c, b, c === e.original ? at : core.moved(b, at)), read = orders[order];
      for (let i = 0; i < c.n; i++) if (order ? c.ok[i] : c.placed[i]) out.set(read(c, b, turned(i), i), 3 * i);
      return out;
    }));
    /** @param {PageBody} body @param {number} b @param {{name: string, at: number[]}} point */
    const bodyPoint = (body, b, point) => {
      const name = `${body.name}.${point.name}`, of = [/** @type {Picked} */ ({ kind: "point", name })];
      const kinds = RATES.length, prefix = ["", "v", "a", "j"], words = ["position", "velocity", "acceleration", "jerk"];
      const found = orders.map((_, k) => track(b, point.at, k));
      for (let k = 0; k < (solved ? 4 : 2); k++)
        axes.forEach((axis, m) => add(`${name}.${prefix[k]}${axis}`, kinds[k], `${words[k]} of ${name} along ${axis}`, of, (c) => each(c, (i) => found[k](c)[3 * i + m])));
      /** @param {Float64Array} y @param {number} i */
      const size = (y, i) => Math.hypot(y[3 * i], y[3 * i + 1], y[3 * i + 2]);
      add(`${name}.speed`, "speed", `speed of ${name}`, of, (c) => each(c, (i) => size(found[1](c), i)));
      if (!solved || given.rest.includes(name)) return;
      add(`${name}.curvature`, "curvature", `curvature of the path of ${name}`, of, (c) => each(c, (i) => {
        const v = found[1](c).subarray(3 * i, 3 * i + 3), a = found[2](c).subarray(3 * i, 3 * i + 3), square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
        if (!(square > REST * Math.hypot(...a))) return NaN;
        const across = data.planar ? v[0] * a[1] - v[1] * a[0] : Math.hypot(...cross(v, a));
        return across / (square * Math.sqrt(square));
      }));
      add(`${name}.advantage`, ratio("length"), advantage(name), of, (c) => samples.with(c, () => {
        const turned = arm(c, b, c === e.original ? point.at : core.moved(b, point.at)), { bodies } = samples.tangent(c);
        return each(c, (i) => { const [w, u] = rows(bodies, i, b); return 1 / Math.hypot(...plus(u, cross(w, turned(i)))); });
      }));
    };
    data.bodies.forEach((body, b) => {
      if (!b) return;
      if (data.planar) bodyAngle(body, b);
      for (const point of body.points) if (!given.rest.includes(`${body.name}.${point.name}`)) bodyPoint(body, b, point);
    });

    // ---------------------------------------------------------------- transmission, loads, energies

    given.passings.forEach((passing, k) => {
      if (!solved) return;
      add(`${passing.name}.transmission_angle`, "angle", `transmission angle at ${passing.pin}`, [{ kind: "pin", name: passing.pin }], (c) => {
        const { sides } = samples.derivatives(c), m = sides.length / c.n;
        return each(c, (i) => {
          const [a, b, x, y] = sides.subarray(i * m + 4 * k, i * m + 4 * k + 4);
          return Math.atan2(Math.abs(a * y - b * x), Math.abs(a * x + b * y));
        });
      });
    });
    given.cams.forEach((cam, k) => {
      if (!solved) return;
      const of = cam.pins.map((name) => /** @type {Picked} */ ({ kind: "pin", name })), lam = core.mechanism.names.lam.indexOf(`${cam.name}.ratio`);
      /** @param {Cycle} c @param {number} i @param {number} m */
      const value = (c, i, m) => samples.derivatives(c).cams[4 * (i * given.cams.length + k) + m];
      add(`${cam.name}.lift`, cam.kind, `lift of ${cam.name}`, of, (c) => each(c, (i) => value(c, i, 0)));
      add(`${cam.name}.pressure_angle`, "angle", `pressure angle of ${cam.name}`, of, (c) => each(c, (i) => value(c, i, 1)));
      add(`${cam.name}.curvature`, "curvature", `curvature of the profile of ${cam.name}`, of, (c) => each(c, (i) => value(c, i, 2)));
      const rows = core.mechanism.names.lam.length;
      if (data.loads && lam >= 0) add(`${cam.name}.contact`, "force", `contact force of ${cam.name}`, of, (c) => moving(c, (i) => c.lam[i * rows + lam] / value(c, i, 3)));
    });
    if (data.loads) LW.engineLoadChannels(e, add, moving);
    LW.engineMachineChannels(e, add, moving);
    if (core.kernel.energy) {
      ["kinetic", "potential"].forEach((part, k) => add(`energy.${part}`, "energy", `${part} energy`, [], (c) => moving(c, (i) => samples.energies(c)[2 * i + k])));
      add("energy.total", "energy", "kinetic and potential energy", [], (c) => moving(c, (i) => samples.energies(c)[2 * i] + samples.energies(c)[2 * i + 1]));
    }

    e.channels.list = [...all.values()];
    // values of a channel over the present cycle, or another one
    e.channels.read = (name, c = e.cycle) => {
      const found = all.get(name);
      if (!found) throw new RangeError(`there is no channel ${name}`);
      return c ? found.read(c) : new Float64Array(0);
    };
    // channels of what is picked: those of a pin, of a body, of a point
    e.channels.of = (picked) => e.channels.list.filter((x) => x.of.some((p) => p.kind === picked.kind && p.name === picked.name));
  };

  // torques, forces and powers of the drives, loads of the pins on their bodies and of single joints
  LW.engineLoadChannels = (e, add, moving) => {
    const { core, data } = e, law = /** @type {Law} */ (e.law), { nd } = core, { joints } = core.mechanism.names;
    const given = /** @type {ChannelData} */ (data.channels), pinOf = (/** @type {string} */ name) => (given.coordinates.find((x) => x.name === name) || { pin: name }).pin;
    law.drives.forEach((name, k) => {
      const kind = law.kinds[k] === "angle" ? "torque" : "force", of = [/** @type {Picked} */ ({ kind: "pin", name: pinOf(name) })];
      add(`${name}.${kind}`, kind, `drive ${kind} of ${name}`, of, (c) => moving(c, (i) => c.u[k][i]));
      add(`${name}.power`, "power", `power of ${name}`, of, (c) => moving(c, (i) => c.u[k][i] * law.speed[i * nd + k]));
    });
    /** @param {Float64Array} f @param {number} i */
    const size = (f, i) => Math.hypot(f[3 * i], f[3 * i + 1], f[3 * i + 2]);
    const eyes = [...data.pins.flatMap((pin) => pin.bodies.map((body) => ({ pin: pin.name, body }))), ...(data.eyes || [])]; // of joints; of rods, springs and cylinders
    for (const { pin, body } of eyes) {
      const key = `${pin}|${body}`, name = `${pin}.on.${body}`, of = [/** @type {Picked} */ ({ kind: "pin", name: pin }), /** @type {Picked} */ ({ kind: "body", name: body })];
      add(`${name}.magnitude`, "force", `load of ${pin} on ${body}`, of, (c) => moving(c, (i) => size(c.pins[key].force, i)));
      Array.from(data.planar ? data.axes : "xyz", (axis, m) => add(`${name}.${axis}`, "force", `load of ${pin} on ${body} along ${axis}`, of, (c) => moving(c, (i) => c.pins[key].force[3 * i + m])));
    }
    joints.forEach((name, j) => {
      const pin = data.pins.find((p) => p.joints.includes(name));
      if (!pin) return;
      const o = 6 * j + 3, m = 6 * joints.length;
      add(`${name}.load`, "force", `load of ${name}`, [{ kind: "pin", name: pin.name }], (c) => moving(c, (i) => Math.hypot(c.wrench[i * m + o], c.wrench[i * m + o + 1], c.wrench[i * m + o + 2])));
    });
  };
})();
