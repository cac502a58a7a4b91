// Readings of a state or a cycle: traces, hodographs, free bodies, singular values, multipliers, the table.
(() => {
  "use strict";

  const DUST = 1e-11; // of the largest force or moment on a body: round-off
  /** @param {Vector} a @param {Vector} b */
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  /** @param {Vector} a */
  const size = (a) => Math.hypot(a[0], a[1], a[2]);

  // a text as a cell of a CSV file; one that begins like a formula gets an apostrophe, so that spreadsheets take it for text
  LW.csvCell = (text) => {
    const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\n]/.test(plain) ? `"${plain.replace(/"/g, '""')}"` : plain;
  };

  LW.engineTell = (e) => {
    const { core, mechanism, data } = e, { nq, nv } = core;

    // world places of a point of a body over the cycle; NaN where there is none
    e.trace = (body, at) => {
      const c = e.played === null ? e.cycle : e.original, k = e.index(body), here = e.moved(body, at); // a run is shown with the file's values
      const out = new Float64Array(c ? 3 * c.n : 0).fill(NaN);
      for (let i = 0; c && i < c.n; i++) if (c.placed[i]) core.placeInto(k, here, c.q, i * nq, out, 3 * i);
      return out;
    };

    // a vector in the axes of a body with the rotation R (all bodies', row by row)
    /** @param {Float64Array} R @param {number} body @param {Vector} f */
    const turned = (R, body, f) => [0, 1, 2].map((i) => R[9 * body + i] * f[0] + R[9 * body + 3 + i] * f[1] + R[9 * body + 6 + i] * f[2]);

    // force of a pin on a body over the cycle and now, in the axes of the body `frame` ("" or "world": the world's)
    e.hodograph = (pin, body, frame) => {
      const c = e.cycle, load = c && c.pins[`${pin}|${body}`];
      const k = frame && frame !== "world" ? e.index(frame) : 0, n = c ? c.n : 0;
      const out = { x: new Float64Array(n).fill(NaN), y: new Float64Array(n).fill(NaN), z: new Float64Array(n).fill(NaN), now: [NaN, NaN, NaN] };
      for (let i = 0; load && i < n; i++) {
        if (!c.ok[i]) continue;
        const f = load.force.subarray(3 * i, 3 * i + 3), g = k ? turned(c.poses(i).R, k, f) : f;
        out.x[i] = g[0];
        out.y[i] = g[1];
        out.z[i] = g[2];
      }
      if (e.state.loads) {
        const f = Array.from(mechanism.on(e.state.loads, pin, body)).slice(3);
        out.now = k ? turned(e.poses().R, k, f) : f;
      }
      return out;
    };

    // loads of all pins on their bodies now, at their world places; null where they are not known
    e.pinLoads = () => {
      if (!e.state.loads) return null;
      const out = [];
      for (const pin of data.pins) {
        const at = e.place(pin.at.body, pin.at.at);
        for (const body of pin.bodies) {
          const w = Array.from(mechanism.on(e.state.loads, pin.name, body));
          out.push({ pin: pin.name, body, at, moment: w.slice(0, 3), force: w.slice(3), unique: pin.unique[body] });
        }
      }
      return out;
    };

    /** @param {Float64Array} y @param {[number, number]} block @param {number} k */
    const row = (y, block, k) => Array.from(y.subarray(block[0] + 3 * k, block[0] + 3 * k + 3));

    // everything that acts on a body now; with the inertia force it adds up to zero
    e.freeBody = (body) => {
      const k = e.index(body), name = data.bodies[k].name, poses = e.poses();
      const pose = { R: poses.R.slice(9 * k, 9 * k + 9), p: poses.p.slice(3 * k, 3 * k + 3) };
      const bodies = core.kernel.bodies, s = e.state;
      if (!k || !bodies || !s.loads) return { body: name, pose, com: null, actions: [], residual: 0, places: e.places };
      bodies.put("q", s.q);
      bodies.put("v", s.v);
      bodies.put("a", s.a);
      bodies.run(s.near);
      /** @param {string} key */
      const of = (key) => row(bodies.y, bodies.to[key], k - 1);
      const com = of("com"), none = [0, 0, 0];
      const actions = (e.pinLoads() || []).filter((x) => x.body === name).map((x) => ({ name: x.pin, kind: "pin", force: x.force, moment: x.moment, at: x.at, unique: x.unique }));
      actions.push(...acting(k));
      actions.push({ name: "weight", kind: "weight", force: of("weight"), moment: none, at: com, unique: true });
      actions.push({ name: "inertia", kind: "inertia", force: of("force").map((x) => -x), moment: of("moment").map((x) => -x), at: com, unique: true });
      clean(actions, com);
      const kept = actions.filter((x) => x.kind === "pin" || size(x.force) > 0 || size(x.moment) > 0);
      return { body: name, pose, com, actions: kept, residual: unbalanced(kept, com), places: e.places };
    };

    // round-off of actions that are zero: what is far below the largest force, or its moment at the size of the mechanism
    /** @param {Action[]} actions @param {number[]} com */
    const clean = (actions, com) => {
      const force = Math.max(...actions.map((x) => size(x.force))), arm = Math.max(core.kappa, ...actions.map((x) => size(x.at.map((p, i) => p - com[i]))));
      const moment = Math.max(force * arm, ...actions.map((x) => size(x.moment)));
      for (const x of actions) {
        if (size(x.force) <= DUST * force) x.force = [0, 0, 0];
        if (size(x.moment) <= DUST * moment) x.moment = [0, 0, 0];
      }
    };

    // rows of what pushes bodies besides joints and weight, those that `wanted` names: {name, kind, body, moment, force, at}
    /** @param {(x: {name: string, kind: string, body: number}) => boolean} wanted */
    const pushing = (wanted) => {
      const f = core.kernel.acting, s = e.state;
      if (!f || !s.q || !data.acting.some(wanted)) return [];
      f.put("q", s.q);
      if (s.v) f.put("v", s.v);
      else f.zero("v");
      for (const key of /** @type {["u", "lam"]} */ (["u", "lam"])) { // not known without masses; loads of the model do not depend on them
        if (s.loads) f.put(key, s.loads[key]);
        else f.zero(key);
      }
      f.run(s.near);
      const out = /** @type {{name: string, kind: string, body: number, moment: number[], force: number[], at: number[]}[]} */ ([]), start = f.to.rows[0];
      data.acting.forEach((x, i) => {
        if (!wanted(x)) return;
        const r = Array.from(f.y.subarray(start + 9 * i, start + 9 * i + 9));
        out.push({ name: x.name, kind: x.kind, body: x.body, moment: r.slice(0, 3), force: r.slice(3, 6), at: r.slice(6) });
      });
      return out;
    };

    // drives, springs, loads, gears and rods that push the body
    /** @param {number} k */
    const acting = (k) => !e.state.loads ? [] : pushing((x) => x.body === k).map((x) => ({ name: x.name, kind: x.kind === "drive" ? "drive" : "other", moment: x.moment, force: x.force, at: x.at, unique: true }));

    // loads of the model now
    e.applied = () => pushing((x) => x.kind === "applied");

    // force of cylinders and gas springs now, by name: positive where they push
    const telescopes = /** @type {{name: string, ends: {body: number, at: number[]}[]}[]} */ (data.scene.telescopes);
    e.pushes = () => {
      const out = /** @type {Record<string, number>} */ ({}), at = (/** @type {{body: number, at: number[]}} */ spot) => e.place(spot.body, spot.at);
      if (!e.state.loads) return out;
      for (const x of pushing((y) => y.kind !== "applied" && telescopes.some((t) => t.name === y.name))) {
        const t = telescopes.find((y) => y.name === x.name), k = t && t.ends[1].body > 0 ? 1 : 0;
        if (!t || t.ends[k].body !== x.body) continue; // one end is enough
        const ends = t.ends.map(at), d = ends[k].map((c, i) => c - ends[1 - k][i]), n = size(d) || 1;
        out[x.name] = (out[x.name] || 0) + x.force.reduce((sum, c, i) => sum + (c * d[i]) / n, 0);
      }
      return out;
    };

    // what is left of forces and moments, relative to the largest that enter
    /** @param {Action[]} actions @param {number[]} com */
    const unbalanced = (actions, com) => {
      const F = [0, 0, 0], M = [0, 0, 0];
      let largest = 0, arm = core.kappa * 1e-3, own = 0;
      for (const x of actions) {
        const r = x.at.map((p, i) => p - com[i]), c = cross(r, x.force);
        for (let i = 0; i < 3; i++) {
          F[i] += x.force[i];
          M[i] += x.moment[i] + c[i];
        }
        largest = Math.max(largest, size(x.force));
        arm = Math.max(arm, size(r));
        own = Math.max(own, size(x.moment));
      }
      if (data.planar) F[2] = M[0] = M[1] = 0;
      return Math.max(largest > 0 ? size(F) / largest : 0, largest > 0 || own > 0 ? size(M) / Math.max(largest * arm, own) : 0);
    };

    // singular values of the dimensionless loop Jacobian now, the smallest first
    e.singular = () => ({ values: core.singularValues(e.state.q, e.state.near), labels: core.loops ? mechanism.names.lam : [] });

    e.multipliers = () => mechanism.names.lam.map((name, i) => ({ name, value: e.state.loads ? e.state.loads.lam[i] : null }));

    // ------------------------------------------------------------------ the table

    // channels of the table: coordinates, marked points, and their first and second rates
    const moved = (/** @type {string[]} */ drives) => {
      const axes = Array.from(data.planar ? data.axes : "xyz"), joints = (data.channels ? data.channels.coordinates : []).map((x) => x.name);
      const points = data.points.flatMap((p) => ["", "v", "a"].flatMap((k) => axes.map((axis) => `${p.name}.${k}${axis}`)));
      return [...joints.flatMap((name) => [...(drives.includes(name) ? [] : [name]), `${name}.v`, `${name}.a`]), ...points].filter((name) => e.channels.get(name));
    };

    // the cycle as comma-separated values in the shown units: positions and rates of joints and marked points, efforts, loads
    e.csv = () => {
      const c = e.cycle, law = e.law;
      if (!c || !law) return "";
      const nd = core.nd, columns = /** @type {{head: string, read: (i: number) => number}[]} */ ([]), unit = (/** @type {string} */ kind) => data.units[kind];
      /** @param {string} name @param {Unit} u @param {(i: number) => number} read */
      const add = (name, u, read) => columns.push({ head: `${name} [${u.symbol}]`, read: (i) => read(i) / u.size });
      const over = law.over;
      if (over.name !== "t" && !law.drives.includes(over.name)) add(over.name, over, (i) => c.x[i]);
      add("t", unit("time"), (i) => c.t[i]);
      law.drives.forEach((d, k) => add(d, unit(law.kinds[k]), (i) => law.value[i * nd + k]));
      for (const name of moved(law.drives)) { const y = e.channels.read(name), x = e.channels.get(name); if (x) add(name, unit(x.kind), (i) => y[i]); }
      c.u.forEach((u, k) => {
        const kind = law.kinds[k] === "angle" ? "torque" : "force";
        add(`${law.drives[k]}.${kind}`, unit(kind), (i) => (c.ok[i] ? u[i] : NaN));
      });
      if (c.u.length) add("power", unit("power"), (i) => (c.ok[i] ? c.power[i] : NaN));
      for (const key in c.pins) {
        const [pin, body] = key.split("|"), f = c.pins[key].force;
        [...data.axes].forEach((axis, k) => add(`${pin}.on.${body}.${axis}`, unit("force"), (i) => (c.ok[i] ? f[3 * i + k] : NaN)));
      }
      const lines = [columns.map((x) => LW.csvCell(x.head)).join(",")];
      for (let i = 0; i < c.n; i++) lines.push(columns.map((x) => { const y = x.read(i); return Number.isFinite(y) ? String(y) : ""; }).join(","));
      return `${lines.join("\n")}\n`;
    };
  };
})();
