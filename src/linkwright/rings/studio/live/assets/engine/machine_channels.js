// Channels of machine parts over a cycle, by Python's names: pressures, flows and volumes of cylinders with a bore, tensions of belts, lengths of springs.
(() => {
  "use strict";
  /** @typedef {(name: string, kind: string, label: string, of: Picked[], read: (c: Cycle) => Float64Array) => void} Add */
  /** @typedef {(c: Cycle, read: (i: number) => number) => Float64Array} Moving */
  /** @typedef {ChannelData["cylinders"][number]} Cylinder */

  // places of bodies at sample i of a cycle
  /** @type {(core: Core, c: Cycle, i: number, spots: { body: number, at: number[] }[]) => number[][]} */
  const placed = (core, c, i, spots) => {
    const q = c.q.subarray(i * core.nq, (i + 1) * core.nq);
    return spots.map((s) => core.place(s.body, core.moved(s.body, s.at), q));
  };

  // force of a cylinder, positive where it pushes: that of its second eye along the line
  /** @type {(core: Core, x: Cylinder) => (c: Cycle, i: number) => number} */
  const pushOf = (core, x) => (c, i) => {
    const [a, b] = placed(core, c, i, x.ends), d = b.map((y, k) => y - a[k]), f = c.pins[x.eye].force;
    return (f[3 * i] * d[0] + f[3 * i + 1] * d[1] + f[3 * i + 2] * d[2]) / Math.hypot(...d);
  };

  /** @type {(e: Engine, add: Add, moving: Moving, x: Cylinder) => void} */
  const hydraulics = (e, add, moving, x) => {
    const { cap, rod, low, high } = x, of = [/** @type {Picked} */ ({ kind: "pin", name: x.name })];
    /** @type {(name: string, kind: string, label: string, read: (c: Cycle) => Float64Array) => void} */
    const some = (name, kind, label, read) => add(`${x.name}.${name}`, kind, `${label} of ${x.name}`, of, read);
    const rate = (/** @type {Cycle} */ c) => e.channels.read(`${x.name}.v`, c), length = (/** @type {Cycle} */ c) => e.channels.read(x.name, c);
    some("cap.flow", "flow", "flow into the cap end", (c) => rate(c).map((v) => cap * v));
    if (low !== null) some("cap.volume", "volume", "volume of the cap end", (c) => length(c).map((l) => cap * (l - low)));
    if (rod !== null) some("rod.flow", "flow", "flow into the rod end", (c) => rate(c).map((v) => -rod * v));
    if (rod !== null && high !== null) some("rod.volume", "volume", "volume of the rod end", (c) => length(c).map((l) => rod * (high - l)));
    some("pump.flow", "flow", "flow into the end that is being filled", (c) => rate(c).map((v) => (v > 0 ? cap * v : rod === null ? 0 : -rod * v)));
    if (!e.data.loads || !e.core.kernel.acting) return;
    const force = pushOf(e.core, x);
    /** @type {(name: string, label: string, by: (f: number) => number) => void} */
    const pressure = (name, label, by) => some(name, "pressure", label, (c) => moving(c, (i) => by(force(c, i))));
    pressure("cap.pressure", "pressure of the cap end", (f) => (rod === null ? f / cap : Math.max(f / cap, 0)));
    if (rod !== null) pressure("rod.pressure", "pressure of the rod end", (f) => Math.max(-f / rod, 0));
    pressure("pump.pressure", "pressure of the end that carries the force", (f) => (rod === null || f > 0 ? f / cap : -f / rod));
  };

  // tensions of all spans at sample i: minus the multipliers, and what all have in common where one body carries the pulleys
  /** @type {(core: Core, belt: PageBelt, lams: number) => (c: Cycle, i: number) => number[]} */
  const tensions = (core, belt, lams) => (c, i) => {
    const own = belt.parts.map((_, k) => (k < belt.rows.length ? -c.lam[i * lams + belt.rows[k]] : 0)), out = belt.spans.map(() => 0);
    let common = 0;
    if (belt.carried && belt.pretension === null) common = -Math.min(...own);
    else if (belt.pretension !== null) {
      const at = placed(core, c, i, belt.pulleys), s = belt.pulleys.map((p) => p.turn * p.radius);
      const lengths = belt.spans.map(([a, b]) => Math.sqrt((at[b][0] - at[a][0]) ** 2 + (at[b][1] - at[a][1]) ** 2 - (s[b] - s[a]) ** 2));
      const parts = belt.parts.map((part) => part.reduce((sum, k) => sum + lengths[k], 0)), total = parts.reduce((sum, l) => sum + l, 0);
      common = belt.pretension - parts.reduce((sum, l, k) => sum + l * own[k], 0) / total;
    }
    belt.parts.forEach((part, k) => part.forEach((span) => (out[span] = own[k] + common)));
    return out;
  };

  LW.engineMachineChannels = (e, add, moving) => {
    const { core, data } = e, given = data.channels, lams = core.mechanism.names.lam.length;
    for (const x of (given && given.cylinders) || []) hydraulics(e, add, moving, x);
    for (const x of (given && given.lines) || []) {
      add(`${x.name}.length`, "length", `length of ${x.name}`, [/** @type {Picked} */ ({ kind: "pin", name: x.name })], (c) => Float64Array.from({ length: c.n }, (_, i) => {
        if (!c.placed[i]) return NaN;
        const [a, b] = placed(core, c, i, x.ends);
        return Math.hypot(...b.map((y, k) => y - a[k]));
      }));
    }
    for (const belt of (given && data.loads && given.belts) || []) {
      const read = tensions(core, belt, lams), of = belt.pulleys.map((p) => /** @type {Picked} */ ({ kind: "pin", name: p.pin }));
      belt.spans.forEach((_, k) => add(`${belt.name}.tension.${k + 1}`, "force", `tension of span ${k + 1} of ${belt.name}`, of, (c) => moving(c, (i) => read(c, i)[k])));
      add(`${belt.name}.tension.max`, "force", `largest tension of ${belt.name}`, of, (c) => moving(c, (i) => Math.max(...read(c, i))));
      add(`${belt.name}.tension.min`, "force", `smallest tension of ${belt.name}`, of, (c) => moving(c, (i) => Math.min(...read(c, i))));
    }
  };
})();
