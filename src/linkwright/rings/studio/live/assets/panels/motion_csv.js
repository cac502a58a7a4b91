// The curves that are shown as comma-separated values in the shown units: place and time, positions of joints, cylinders and marked points,
// the chosen channels, those of the file's values where they differ, and targets at the same places.
(() => {
  "use strict";

  LW.motionCsv = (app, chosen, targets) => {
    const { engine: e, DATA } = app, law = /** @type {Law} */ (e.law), c = /** @type {Cycle} */ (e.cycle), given = /** @type {ChannelData} */ (DATA.channels);
    const axes = Array.from(DATA.planar ? DATA.axes : "xyz");
    const positions = [...given.coordinates.map((x) => x.name), ...DATA.points.flatMap((p) => axes.map((axis) => `${p.name}.${axis}`))].filter((name) => e.channels.get(name));
    const names = [...new Set(["t", ...positions, ...chosen])];
    /** @type {{head: string, read: (i: number) => number}[]} */
    const columns = [];
    /** @type {(title: string, unit: Unit, values: ArrayLike<number>) => void} */
    const add = (title, unit, values) => columns.push({ head: `${title} [${unit.symbol}]`, read: (i) => values[i] / unit.size });
    if (!names.includes(law.over.name)) add(law.over.name, law.over, c.x);
    const unitOf = (/** @type {string} */ name) => LW.unitOf(/** @type {EngineChannel} */ (e.channels.get(name)).kind);
    for (const name of names) add(name, unitOf(name), e.channels.read(name));
    if (e.changed && e.original) for (const name of chosen) add(`${name} original`, unitOf(name), e.channels.read(name, e.original));
    for (const target of targets) add(`${target.channel} target`, unitOf(target.channel), Float64Array.from({ length: c.n }, (_, i) => between(target, i)));
    const lines = [columns.map((x) => LW.csvCell(x.head)).join(",")];
    for (let i = 0; i < c.n; i++) lines.push(columns.map((x) => { const y = x.read(i); return Number.isFinite(y) ? String(y) : ""; }).join(","));
    return `${lines.join("\n")}\n`;
  };

  // a target at a sample, straight between its points; NaN outside
  /** @type {(target: TargetCurve, i: number) => number} */
  const between = ({ s, values }, i) => (i < s[0] || i > s[s.length - 1] ? NaN : LW.scale.between(values, LW.scale.sampleAt(s, i)));
})();
