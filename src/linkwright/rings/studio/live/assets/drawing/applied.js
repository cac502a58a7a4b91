// What acts from outside and what cylinders do: loads of the model as arrows with their tip where the force acts (an arc for a moment in the
// plane), and marks on cylinders that point apart where they push and together where they pull.
(() => {
  "use strict";
  const D = LW.draw;
  const LONG = 72; // pixels of the arrow of the largest load where pins have none
  const LEAST = 3; // pixels: shorter ones are not drawn
  const EDGE = 8; // pixels that stay free at the sheet's edge
  const FOOT = 44; // pixels at the foot of the sheet: the scales, and a name above them
  const NONE = 1e-9; // of the largest force: neither push nor pull

  // a vector at a place as pixels, as long as a vector of size 1 in the plane of the drawing is `long` pixels
  function seen(camera, at, v, long) {
    const size = D.size(v), perMeter = camera.perPixel ? 1 / camera.perPixel() : camera.scale;
    if (!(size > 0)) return [0, 0];
    const step = 1 / perMeter, p = camera.pixel(at), q = camera.pixel(D.add(at, v, step / size));
    return [long * size * (q[0] - p[0]), long * size * (q[1] - p[1])];
  }

  const inside = (sheet, p) => p[0] > EDGE && p[1] > EDGE + 14 && p[0] < sheet.size[0] - EDGE && p[1] < sheet.size[1] - FOOT; // a name too

  // arrows of a frame's applied loads; made when first needed
  function appliedArrows(sheet) {
    const made = new Map(), color = sheet.look.applied, halo = { stroke: sheet.look.paper, "stroke-width": 3.2, "stroke-linejoin": "round", "paint-order": "stroke", "pointer-events": "none" };
    const make = (name) => {
      const group = D.make("g", { class: "lw-applied", "data-load": name, "pointer-events": "none" }, sheet.layers.loads);
      const label = D.text(group, sheet.look, 12, { "text-anchor": "middle", ...halo, fill: color });
      label.textContent = name;
      const arc = D.make("g", {}, group);
      return { group, arrow: D.arrow(group, sheet.look, color), arc, ring: D.line(arc, color, 1.9), tip: D.make("path", { fill: color }, arc), label };
    };
    return (frame) => {
      const list = frame.applied || [], largest = frame.largestApplied || [0, 0], used = new Set();
      const scale = sheet.perNewton || (largest[0] > 0 ? LONG / largest[0] : 0); // one scale with the loads of the pins
      for (const x of list) {
        if (!made.has(x.name)) made.set(x.name, make(x.name));
        const item = made.get(x.name), p = sheet.camera.pixel(x.at), d = seen(sheet.camera, x.at, x.force, scale);
        const long = Math.hypot(d[0], d[1]), turn = sheet.DATA.planar && largest[1] > 0 && Math.abs(x.moment[2]) > NONE * largest[1] ? Math.sign(x.moment[2]) : 0;
        used.add(x.name);
        // its tip is where it acts, or its tail where the sheet has no room for that
        const from = inside(sheet, [p[0] - d[0], p[1] - d[1]]) ? [p[0] - d[0], p[1] - d[1]] : p;
        if (long >= LEAST) item.arrow.show(from[0], from[1], d[0], d[1], false);
        else item.arrow.hide();
        item.arc.setAttribute("visibility", turn ? "inherit" : "hidden");
        if (turn) moment(sheet, item, p, turn);
        const gap = 1 + (11 + (3.2 * x.name.length * Math.abs(d[0])) / long) / long; // beside the end of the arrow, half the name further along a level one
        const free = from === p ? 1 : -1, away = long >= LEAST ? [free * d[0] * gap, free * d[1] * gap] : [0, -30];
        const half = 4 * x.name.length + EDGE, [w, h] = sheet.size, clip = (v, low, high) => Math.max(low, Math.min(high, v));
        D.set(item.label, { x: D.short(clip(p[0] + away[0], half, w - half)), y: D.short(clip(p[1] + away[1] + 4, EDGE + 14, h - FOOT + 8)), visibility: long >= LEAST || turn ? "inherit" : "hidden" });
        item.group.setAttribute("visibility", "visible");
      }
      for (const [name, item] of made) if (!used.has(name)) item.group.setAttribute("visibility", "hidden");
    };
  }

  // an arc round the place, counterclockwise for a positive moment
  function moment(sheet, item, p, sense) {
    const r = Math.max(1.4 * sheet.width, 16), at = (a) => [p[0] + r * Math.cos(a), p[1] - r * Math.sin(a)], end = 2.2 * sense;
    const points = [];
    for (let k = 0; k <= 30; k++) points.push(at(-end + (2 * end * k) / 30));
    item.ring.setAttribute("d", D.path(points));
    item.tip.setAttribute("d", D.head(at(end), -end - (sense * Math.PI) / 2, 8));
  }

  // two heads on the barrel of a cylinder: apart where it pushes, together where it pulls
  function pushMarks(sheet) {
    const made = new Map();
    return (frame) => {
      const forces = frame.pushes || {}, largest = Object.values(forces).reduce((most, x) => Math.max(most, Math.abs(x)), 0);
      for (const t of sheet.scene.telescopes) {
        const force = forces[t.name], acts = force !== undefined && Math.abs(force) > NONE * largest;
        if (!made.has(t.name)) {
          const group = D.make("g", { class: "lw-push", "data-cylinder": t.name, "pointer-events": "none" }, sheet.layers.drives);
          made.set(t.name, { group, heads: [0, 1].map(() => D.make("path", { fill: sheet.look.load, stroke: sheet.look.paper, "stroke-width": 1 }, group)) });
        }
        const item = made.get(t.name);
        D.set(item.group, { visibility: acts ? "visible" : "hidden", "data-acts": acts ? (force > 0 ? "push" : "pull") : "" });
        if (!acts) continue;
        const [a, b] = t.ends.map((e) => D.spot(frame.poses, e)), [p, q] = [sheet.camera.pixel(a), sheet.camera.pixel(b)];
        const length = D.size(D.minus(b, a)) || 1, share = Math.min(t.barrel, 0.85 * length) / length, angle = Math.atan2(q[1] - p[1], q[0] - p[0]);
        const middle = [p[0] + 0.5 * share * (q[0] - p[0]), p[1] + 0.5 * share * (q[1] - p[1])], gap = 7;
        item.heads.forEach((node, k) => {
          const side = k ? 1 : -1, way = angle + (side > 0 === force > 0 ? 0 : Math.PI);
          node.setAttribute("d", D.head([middle[0] + side * gap * Math.cos(angle), middle[1] + side * gap * Math.sin(angle)], way, 7));
        });
      }
    };
  }

  // where surfaces touch: a spot, the force on the first of them, a ring where it sticks
  const FORCE = 46; // pixels of the largest
  function touchMarks(sheet) {
    const made = /** @type {any[]} */ ([]), { look } = sheet, r = Math.max(0.24 * sheet.width, 3);
    const make = () => {
      const group = D.make("g", { class: "lw-touch", "pointer-events": "none" }, sheet.layers.drives), arrow = D.arrow(group, look, look.load);
      const ring = D.make("circle", { r: 2.1 * r, fill: "none", stroke: look.accent, "stroke-width": 1.5 }, group);
      D.make("circle", { r, fill: look.accent, stroke: look.paper, "stroke-width": 1 }, group);
      return { group, arrow, ring };
    };
    return (frame) => {
      const list = frame.touches || [];
      while (made.length < list.length) made.push(make());
      made.forEach((item, i) => {
        const x = list[i];
        item.group.setAttribute("visibility", x ? "visible" : "hidden");
        if (!x) return;
        const p = sheet.camera.pixel(x.at), scale = frame.largestTouch > 0 ? FORCE / frame.largestTouch : 0;
        item.group.setAttribute("transform", `translate(${D.short(p[0])} ${D.short(p[1])})`);
        item.ring.setAttribute("visibility", x.sticks ? "inherit" : "hidden");
        const tip = sheet.DATA.planar ? null : sheet.camera.pixel(D.add(x.at, x.force, scale * sheet.camera.perPixel()));
        const d = tip ? [tip[0] - p[0], tip[1] - p[1]] : [scale * x.force[0], -scale * x.force[1]];
        if (Math.hypot(d[0], d[1]) >= LEAST) item.arrow.show(0, 0, d[0], d[1], false);
        else item.arrow.hide();
      });
    };
  }

  Object.assign(D, { appliedArrows, pushMarks, touchMarks });
})();
