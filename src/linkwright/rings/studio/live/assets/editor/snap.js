// Snapping: a place under the pointer becomes that of a pin, lies in a round direction from the last place, or on the grid. Every
// snap has a text that is shown beside the pointer; a key or the switch of the tool bar suspends all of them.
(() => {
  "use strict";
  const E = LW.edit || (LW.edit = {});
  const D = LW.draw;
  const PIN = { mouse: 12, pen: 14, touch: 22 }; // pixels
  const TURN = Math.PI / 12; // directions snap to multiples of 15 degrees
  const NEAR = 5; // pixels off such a direction
  const STEP = 11; // least pixels of a grid step

  /** Step of the grid: a round number of the file's unit. @param {number} scale pixels per meter @param {{size: number}} unit */
  E.gridStep = (scale, unit) => {
    const least = STEP / scale / unit.size, nice = D.nice(least);
    const next = nice >= least * 0.999 ? nice : [1, 2, 5, 10].map((k) => k * Math.pow(10, Math.floor(Math.log10(least)))).find((k) => k >= least * 0.999);
    return (next || nice) * unit.size;
  };

  const rounded = (x, step) => Math.round(x / step) * step;

  /** The pin nearest to a pixel within reach. @param {any[]} points @param {number[]} pixel @param {(at: number[]) => number[]} toPixel @param {string} kind @param {string[]} [without] */
  E.nearPoint = (points, pixel, toPixel, kind, without = []) => {
    let best = null, nearest = PIN[kind] || PIN.mouse;
    for (const p of points) {
      const q = toPixel(p.at), d = Math.hypot(q[0] - pixel[0], q[1] - pixel[1]);
      if (d < nearest && !without.includes(p.name)) [best, nearest] = [p, d];
    }
    return best;
  };

  // the direction from `from` that is meant, and a round length along it
  const along = (from, at, scale, step) => {
    const d = [at[0] - from[0], at[1] - from[1]], far = Math.hypot(d[0], d[1]);
    if (far * scale < NEAR) return null;
    const angle = rounded(Math.atan2(d[1], d[0]), TURN), c = Math.cos(angle), s = Math.sin(angle);
    if (Math.abs(d[1] * c - d[0] * s) * scale > NEAR) return null;
    const length = Math.max(step, rounded(d[0] * c + d[1] * s, step));
    const clean = (x) => (Math.abs(x) < 1e-12 ? 0 : x);
    return { at: [from[0] + length * clean(c), from[1] + length * clean(s)], angle: Math.round((angle * 180) / Math.PI) };
  };

  /** A place on a link: on the line of one of its bars, a round distance from the bar's first point. @param {Drawing} drawing @param {string} name of the body @param {number[]} at @param {number} step */
  E.onLink = (drawing, name, at, step) => {
    const body = drawing.bodies.find((b) => b.name === name), places = new Map(drawing.points.map((p) => [p.name, p.at]));
    /** @type {{at: number[], from: string, far: number} | null} */
    let best = null;
    let nearest = Infinity;
    for (const line of body && !body.ground ? body.outline : []) for (let i = 1; i < line.length; i++) {
      const [a, b] = [places.get(line[i - 1]), places.get(line[i])];
      if (!a || !b) continue;
      const d = [b[0] - a[0], b[1] - a[1]], long = Math.hypot(d[0], d[1]) || 1, s = Math.max(0, Math.min(long, ((at[0] - a[0]) * d[0] + (at[1] - a[1]) * d[1]) / long));
      const off = Math.hypot(at[0] - a[0] - (s * d[0]) / long, at[1] - a[1] - (s * d[1]) / long), round = Math.min(long, rounded(s, step));
      if (off < nearest) [best, nearest] = [{ at: [a[0] + (round * d[0]) / long, a[1] + (round * d[1]) / long], from: line[i - 1], far: round }, off];
    }
    return best;
  };

  /**
   * Where a click is meant: {at, kind, point?, text}. `from` is the last place, `off` suspends everything.
   * @param {{at: number[], pixel: number[], points: any[], toPixel: (at: number[]) => number[], scale: number, unit: {size: number, symbol: string}, kind: string,
   *   from?: number[] | null, off?: boolean, without?: string[]}} p
   */
  E.snap = (p) => {
    if (p.off) return { at: p.at, kind: "free", text: "no snap" };
    const pin = E.nearPoint(p.points, p.pixel, p.toPixel, p.kind, p.without);
    if (pin) return { at: pin.at.slice(), kind: "pin", point: pin.name, text: `${pin.pin ? "pin" : "point"} ${pin.name}` };
    const step = E.gridStep(p.scale, p.unit), line = p.from ? along(p.from, p.at, p.scale, step) : null;
    if (line) return { at: line.at, kind: "angle", angle: line.angle, text: `${line.angle}°` };
    const grid = [rounded(p.at[0], step), rounded(p.at[1], step)];
    return { at: grid, kind: "grid", text: `grid ${E.shown(step, p.unit)} ${p.unit.symbol}` };
  };
})();
