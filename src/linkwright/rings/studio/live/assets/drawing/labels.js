// Names beside places that keep out of each other's way and out of the drawing's. Each label prefers the side it stands on, so
// that names stay calm while a mechanism moves, and glides when it has to change sides.
(() => {
  "use strict";
  const SIDES = [45, 135, -45, -135, 90, 0, 180, -90].map((d) => (d * Math.PI) / 180);
  const RINGS = [0, 9, 24]; // pixels farther away; the last is beyond the arrow of a drive
  const KEEP = 1.2; // what another side must be better by
  const PAUSE = 250; // ms without a drawing after which labels jump instead of gliding

  /** @type {CanvasRenderingContext2D | null} */
  let ruler = null;
  function textWidth(text, font) {
    if (!ruler) ruler = document.createElement("canvas").getContext("2d");
    if (!ruler) return 7 * text.length;
    ruler.font = font;
    return ruler.measureText(text).width;
  }

  // how much of a segment lies in a box, in pixels (Liang-Barsky)
  function inside(s, low, high) {
    let from = 0, to = 1;
    const d = [s[2] - s[0], s[3] - s[1]];
    for (let i = 0; i < 2; i++) {
      const a = low[i] - s[4] - s[i], b = high[i] + s[4] - s[i];
      if (Math.abs(d[i]) < 1e-9) {
        if (a > 0 || b < 0) return 0;
      } else {
        from = Math.max(from, Math.min(a / d[i], b / d[i]));
        to = Math.min(to, Math.max(a / d[i], b / d[i]));
      }
    }
    return to > from ? (to - from) * Math.hypot(d[0], d[1]) + 2 : 0;
  }

  function crowd(box, segments, taken, room) {
    const [low, high] = box;
    let cost = 0;
    if (low[0] < room[0] || low[1] < room[1] || high[0] > room[2] || high[1] > room[3]) cost += 50;
    for (const other of taken) {
      const w = Math.min(high[0], other[1][0]) - Math.max(low[0], other[0][0]);
      const h = Math.min(high[1], other[1][1]) - Math.max(low[1], other[0][1]);
      if (w > 0 && h > 0) cost += 6 + (20 * w * h) / ((high[0] - low[0]) * (high[1] - low[1]));
    }
    const size = high[0] - low[0] + high[1] - low[1];
    for (const s of segments) cost += (8 * inside(s, low, high)) / size;
    return cost;
  }

  // labels: [{text, width, height, clear, x, y}]; gives each one `left`, `top` of its middle; true while some still glide
  function placer() {
    let last = -1e9;
    /** @type {Map<string, any>} */
    const memory = new Map(); // key: {side, ring, dx, dy}
    return function place(labels, segments, room) {
      const now = Date.now(), jump = now - last > PAUSE, taken = /** @type {number[][][]} */ ([]);
      let gliding = false;
      last = now;
      for (const label of labels) {
        const kept = memory.get(label.key);
        let best = { side: 0, ring: 0, dx: 0, dy: 0, box: /** @type {number[][]} */ ([]) }, lowest = Infinity;
        SIDES.forEach((angle, side) => {
          for (const ring of RINGS) {
            const reach = label.clear + ring, c = Math.cos(angle), s = -Math.sin(angle);
            const dx = c * (reach + Math.abs(c) * (label.width / 2)), dy = s * (reach + Math.abs(s) * (label.height / 2));
            const middle = [label.x + dx, label.y + dy];
            const box = [[middle[0] - label.width / 2, middle[1] - label.height / 2], [middle[0] + label.width / 2, middle[1] + label.height / 2]];
            const stay = kept && kept.side === side && kept.ring === ring ? KEEP : 0;
            const cost = crowd(box, segments, taken, room) + 0.05 * side + 0.08 * ring - stay;
            if (cost < lowest) {
              lowest = cost;
              best = { side, ring, dx, dy, box };
            }
          }
        });
        if (!label.hidden) taken.push(best.box);
        const state = kept && !jump ? kept : { dx: best.dx, dy: best.dy };
        state.side = best.side;
        state.ring = best.ring;
        state.dx += 0.22 * (best.dx - state.dx);
        state.dy += 0.22 * (best.dy - state.dy);
        gliding = gliding || Math.abs(best.dx - state.dx) + Math.abs(best.dy - state.dy) > 0.5;
        memory.set(label.key, state);
        label.left = label.x + state.dx;
        label.top = label.y + state.dy;
        label.cost = lowest;
      }
      return gliding;
    };
  }

  Object.assign(LW.draw, { placer, textWidth, crowd });
})();
