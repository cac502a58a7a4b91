// Channels of machine parts over a cycle, by Python's names: loads at the eyes of rods, springs and cylinders, pressures, flows and volumes
// of cylinders with a bore, tensions of belts.
(() => {
  "use strict";
  const size = (f, i) => Math.hypot(f[3 * i], f[3 * i + 1], f[3 * i + 2]);

  // places of bodies at sample i of a cycle
  const placed = (core, c, i, spots) => {
    const q = c.q.subarray(i * core.nq, (i + 1) * core.nq);
    return spots.map((s) => core.place(s.body, core.moved(s.body, s.at), q));
  };

  const eyes = (e, add, moving) => {
    const { data } = e;
    for (const eye of data.eyes || []) {
      const key = `${eye.pin}|${eye.body}`, name = `${eye.pin}.on.${eye.body}`, of = [{ kind: "body", name: eye.body }];
      add(`${name}.size`, "force", `load of ${eye.pin} on ${eye.body}`, of, (c) => moving(c, (i) => size(c.pins[key].force, i)));
      Array.from(data.planar ? data.axes : "xyz", (axis, m) => add(`${name}.${axis}`, "force", `load of ${eye.pin} on ${eye.body} along ${axis}`, of, (c) => moving(c, (i) => c.pins[key].force[3 * i + m])));
    }
  };

  // force of a cylinder, positive where it pushes: that of its second eye along the line
  const pushOf = (core, x) => (c, i) => {
    const [a, b] = placed(core, c, i, x.ends), d = b.map((y, k) => y - a[k]), f = c.pins[x.eye].force;
    return (f[3 * i] * d[0] + f[3 * i + 1] * d[1] + f[3 * i + 2] * d[2]) / Math.hypot(...d);
  };

  const flows = (e, add, moving, x) => {
    const of = [{ kind: "pin", name: x.name }], rate = (c) => e.channels.read(`${x.name}.v`, c), length = (c) => e.channels.read(x.name, c);
    const some = (name, kind, label, read) => add(`${x.name}.${name}`, kind, `${label} of ${x.name}`, of, read);
    some("push.flow", "flow", "flow into the push side", (c) => rate(c).map((v) => x.push * v));
    if (x.low !== null) some("push.volume", "volume", "volume of the push side", (c) => length(c).map((l) => x.push * (l - x.low)));
    if (x.pull !== null) {
      some("pull.flow", "flow", "flow into the pull side", (c) => rate(c).map((v) => -x.pull * v));
      if (x.high !== null) some("pull.volume", "volume", "volume of the pull side", (c) => length(c).map((l) => x.pull * (x.high - l)));
    }
    some("supply.flow", "flow", "flow into the side that is filled", (c) => rate(c).map((v) => (v > 0 ? x.push * v : x.pull === null ? 0 : -x.pull * v)));
    if (!e.data.loads || !e.core.kernel.acting) return;
    const push = pushOf(e.core, x), pressure = (name, label, of_) => some(name, "pressure", label, (c) => moving(c, (i) => of_(push(c, i))));
    pressure("push.pressure", "pressure of the push side", (f) => (x.pull === null ? f / x.push : Math.max(f / x.push, 0)));
    if (x.pull !== null) pressure("pull.pressure", "pressure of the pull side", (f) => Math.max(-f / x.pull, 0));
    pressure("supply.pressure", "pressure of the side that carries the force", (f) => (x.pull === null || f > 0 ? f / x.push : -f / x.pull));
  };

  // tensions of all spans at sample i: minus the multipliers, and what all have in common where one body carries the pulleys
  const tensions = (core, belt, lams) => (c, i) => {
    const own = belt.parts.map((_, k) => (k < belt.rows.length ? -c.lam[i * lams + belt.rows[k]] : 0)), out = new Float64Array(belt.spans.length);
    let common = 0;
    if (belt.carried && belt.pretension === null) common = -Math.min(...own);
    else if (belt.carried) {
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
    if (!given) return;
    for (const x of given.cylinders || []) flows(e, add, moving, x);
    if (!data.loads) return;
    if (core.kernel.acting) eyes(e, add, moving);
    for (const belt of given.belts || []) {
      const read = tensions(core, belt, lams), of = belt.pulleys.map((p) => ({ kind: "pin", name: p.pin }));
      belt.spans.forEach((_, k) => add(`${belt.name}.tension.${k + 1}`, "force", `tension of span ${k + 1} of ${belt.name}`, of, (c) => moving(c, (i) => read(c, i)[k])));
      add(`${belt.name}.tension.max`, "force", `largest tension of ${belt.name}`, of, (c) => moving(c, (i) => Math.max(...read(c, i))));
      add(`${belt.name}.tension.min`, "force", `smallest tension of ${belt.name}`, of, (c) => moving(c, (i) => Math.min(...read(c, i))));
    }
  };
})();
