// Small figures for cards: the free-body diagram of a body and the hodograph of a pin's force. Both are SVG in the page's colors,
// drawn anew into the same container with every call; in space they show the plane in which there is most to see.
(() => {
  "use strict";
  const D = LW.draw;
  const LEAST = 0.004; // forces below this share of the largest are written but not drawn

  // the sheet of a figure: an SVG as wide as its container
  function paper(container, height) {
    const width = Math.max(220, Math.min(container.clientWidth || 340, 560)), look = D.look(container);
    let svg = container.querySelector("svg.lw-figure");
    if (!svg) {
      container.replaceChildren();
      svg = D.make("svg", { class: "lw-figure", role: "img" }, container);
    }
    const tall = Math.round(height(width));
    D.set(svg, { width, height: tall, viewBox: `0 0 ${width} ${tall}` });
    svg.replaceChildren();
    return { svg, width, height: tall, look };
  }

  // ---------------------------------------------------------------- which plane

  // eigenvectors of a symmetric 3 x 3 matrix by Jacobi rotations, largest value first
  function principal(A) {
    const V = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    for (let sweep = 0; sweep < 30; sweep++) {
      for (const [p, q] of [[0, 1], [0, 2], [1, 2]]) {
        if (Math.abs(A[p][q]) < 1e-300) continue;
        const t = 0.5 * Math.atan2(2 * A[p][q], A[q][q] - A[p][p]), c = Math.cos(t), s = Math.sin(t);
        for (let k = 0; k < 3; k++) [A[k][p], A[k][q]] = [c * A[k][p] - s * A[k][q], s * A[k][p] + c * A[k][q]];
        for (let k = 0; k < 3; k++) [A[p][k], A[q][k]] = [c * A[p][k] - s * A[q][k], s * A[p][k] + c * A[q][k]];
        for (let k = 0; k < 3; k++) [V[k][p], V[k][q]] = [c * V[k][p] - s * V[k][q], s * V[k][p] + c * V[k][q]];
      }
    }
    return [0, 1, 2].sort((i, j) => A[j][j] - A[i][i]).map((i) => [V[0][i], V[1][i], V[2][i]]);
  }

  // how a body in space is looked at: as in the drawing
  function seenFrom(DATA) {
    if (DATA.planar) return { right: [1, 0, 0], up: [0, 1, 0] };
    return D.viewed(D.uprightAxes(DATA.gravity || [0, 0, 0]), D.START.azimuth, D.START.elevation);
  }

  // ---------------------------------------------------------------- free-body diagram

  const NAMES = { weight: "weight", inertia: "inertia" };

  // a body's pieces in the world as flat points; a telescope's part reaches over its center of mass
  function flatPieces(DATA, fb, flat) {
    const index = DATA.bodies.findIndex((b) => b.name === fb.body), scene = D.moved(DATA.scene, fb.places || null), poses = { R: fb.pose.R, p: fb.pose.p };
    const place = (at) => D.placed(poses, 0, at);
    const pieces = scene.pieces.filter((p) => p.body === index).map((p) => ({ points: p.points.map((at) => flat(place(at))), closed: p.closed }));
    for (const t of scene.telescopes.filter((x) => x.bodies.includes(fb.body))) {
      const end = t.ends[t.bodies.indexOf(fb.body)], here = flat(place(end.at)), middle = flat(fb.com || place(end.at));
      pieces.push({ points: [here, [2 * middle[0] - here[0], 2 * middle[1] - here[1]]], closed: false });
    }
    return pieces;
  }

  const bounds = (points) => [0, 1].map((i) => [Math.min(...points.map((p) => p[i])), Math.max(...points.map((p) => p[i]))]);

  // the body as large as leaves room for its arrows (`tips`: [place, arrow in pixels]) and their words
  function bodyWindow(DATA, fb, figure, largest, longest) {
    const view = seenFrom(DATA), flat = (p) => [D.dot(p, view.right), -D.dot(p, view.up)], direction = (v) => flat(v);
    const pieces = flatPieces(DATA, fb, flat), places = [...pieces.flatMap((p) => p.points), ...fb.actions.map((a) => flat(a.at))];
    const tips = fb.actions.map((a) => [flat(a.at), direction(a.force).map((x) => (largest > 0 ? (x * longest) / largest : 0))]);
    const body = bounds(places), span = Math.max(...body.map((b) => b[1] - b[0]), 1e-9), room = [figure.width - 2 * 52, figure.height - 2 * 24];
    let scale = Math.min(...[0, 1].map((i) => (0.5 * room[i]) / Math.max(body[i][1] - body[i][0], 0.1 * span))), all = body;
    for (let round = 0; round < 6; round++) {
      all = bounds([...places.map((p) => p.map((x) => x * scale)), ...tips.map(([p, d]) => p.map((x, i) => x * scale + d[i]))]);
      const wish = [0, 1].map((i) => (room[i] - (all[i][1] - all[i][0]) + scale * (body[i][1] - body[i][0])) / Math.max(body[i][1] - body[i][0], 0.1 * span));
      scale = Math.max(Math.min(...wish), (0.25 * Math.min(...room)) / span);
    }
    const middle = all.map((b) => (b[0] + b[1]) / 2), pixel = (p) => [figure.width / 2 + scale * p[0] - middle[0], figure.height / 2 + scale * p[1] - middle[1]];
    return { view, pieces: pieces.map((p) => ({ ...p, points: p.points.map(pixel) })), pixel: (world) => pixel(flat(world)), direction, span };
  }

  function outline(figure, seen, color) {
    const { svg, look } = figure, w = 13;
    for (const p of seen.pieces) if (p.closed) D.make("path", { d: D.path(p.points, true), fill: D.mix(color, look.paper, 0.82) }, svg);
    for (const p of seen.pieces) D.set(D.line(svg, D.mix(color, look.ink, 0.3), w + 2), { d: D.path(p.points, p.closed) });
    for (const p of seen.pieces) D.set(D.line(svg, D.mix(color, look.paper, 0.72), w), { d: D.path(p.points, p.closed) });
  }

  // the center of mass: a disc in quarters
  function center(figure, p) {
    const { svg, look } = figure, r = 5.5, g = D.make("g", { transform: `translate(${D.short(p[0])} ${D.short(p[1])})` }, svg);
    D.make("circle", { r, fill: look.paper, stroke: look.ink, "stroke-width": 1.3 }, g);
    D.make("path", { d: `M0 0V${-r}A${r} ${r} 0 0 1 ${r} 0ZM0 0V${r}A${r} ${r} 0 0 1 ${-r} 0Z`, fill: look.ink }, g);
  }

  const paint = (look, kind) => (kind === "weight" ? look.soft : kind === "inertia" ? look.inertia : kind === "drive" ? look.accent : look.load);

  function straight(figure, from, d, length, color, dashed) {
    const angle = Math.atan2(d[1], d[0]), head = Math.min(9, 0.6 * length), at = (s) => [from[0] + s * Math.cos(angle), from[1] + s * Math.sin(angle)];
    const shaft = D.line(figure.svg, color, 2, "butt"), neck = at(length - head), side = (s) => [neck[0] + s * 0.42 * head * Math.sin(angle), neck[1] - s * 0.42 * head * Math.cos(angle)];
    D.set(shaft, { d: D.path([from, neck]) });
    if (dashed) shaft.setAttribute("stroke-dasharray", "5 3.5");
    D.make("path", { d: D.path([at(length), side(1), side(-1)], true), fill: color }, figure.svg);
    return at(length + 6);
  }

  // a moment about the line of sight: three quarters of a circle; counter-clockwise where positive
  function arc(figure, p, sense, color, dashed) {
    const r = 17, turn = -sense, from = -0.75 * Math.PI * turn, to = 0.6 * Math.PI * turn, at = (t) => [p[0] + r * Math.cos(t), p[1] + r * Math.sin(t)], [a, b] = [at(from), at(to)];
    const node = D.line(figure.svg, color, 2, "butt");
    D.set(node, { d: `M${D.short(a[0])} ${D.short(a[1])}A${r} ${r} 0 1 ${turn > 0 ? 1 : 0} ${D.short(b[0])} ${D.short(b[1])}` });
    if (dashed) node.setAttribute("stroke-dasharray", "5 3.5");
    D.make("path", { d: D.head(b, to + turn * (Math.PI / 2 + 0.15), 7), fill: color }, figure.svg);
    return [p[0], p[1] + r + 10];
  }

  // a name with its value near a tip, where the least is in its way
  function words(figure, text, at, color, taken, segments) {
    const { svg, look, width, height } = figure, w = D.textWidth(text, `500 12px ${look.font}`);
    let x0 = 0, y0 = 0, taking = /** @type {number[][]} */ ([]), least = Infinity;
    for (const [dx, dy] of [[0, 0], [0, -14], [0, 14], [0, -28], [0, 28], [w / 2, 0], [-w / 2, 0], [w / 2, 16], [-w / 2, 16], [w / 2, -16], [-w / 2, -16], [w, 0], [-w, 0]]) {
      const x = Math.max(w / 2 + 3, Math.min(width - w / 2 - 3, at[0] + dx)), y = Math.max(12, Math.min(height - 8, at[1] + dy)), box = [[x - w / 2 - 2, y - 8], [x + w / 2 + 2, y + 8]];
      const cost = D.crowd(box, segments, taken, [0, 0, width, height]) + 0.05 * Math.hypot(x - at[0], y - at[1]);
      if (cost < least) [x0, y0, taking, least] = [x, y, box, cost];
    }
    taken.push(taking);
    const halo = { stroke: look.paper, "stroke-width": 3, "paint-order": "stroke", "stroke-linejoin": "round" };
    D.text(svg, look, 12, { x: D.short(x0), y: D.short(y0 + 4), "text-anchor": "middle", "font-weight": 500, fill: color, ...halo }).textContent = text;
  }

  // forces keep their scale while the mechanism runs: it only grows
  const scales = new WeakMap();
  function steady(container, key, largest) {
    const kept = scales.get(container), value = kept && kept.key === key ? Math.max(kept.value, largest) : largest;
    scales.set(container, { key, value });
    return value;
  }

  // fb as the engine's freeBody gives it: {body, pose, com, actions}; `places` where parameters have moved them
  function freeBody(container, DATA, fb) {
    const figure = paper(container, (width) => Math.min(0.78 * width, 310)), { look, svg } = figure;
    look.soft = D.mix(look.ink, look.paper, 0.25);
    look.inertia = look.dark ? "#c9a7f5" : "#7a4fb0";
    const longest = 0.28 * Math.min(figure.width, figure.height), largest = steady(container, fb.body, Math.max(...fb.actions.map((a) => D.size(a.force)), 0));
    const seen = bodyWindow(DATA, fb, figure, largest, longest), body = DATA.bodies.find((b) => b.name === fb.body) || { color: look.faint };
    const segments = seen.pieces.flatMap((p) => p.points.map((q, i) => (i || p.closed ? [...p.points[(i + p.points.length - 1) % p.points.length], ...q, 7] : null)).filter(Boolean));
    const most = Math.max(...fb.actions.map((a) => D.size(a.moment)), 0), taken = [], texts = [];
    outline(figure, seen, body.color);
    for (const a of fb.actions) {
      const p = seen.pixel(a.at), color = paint(look, a.kind), size = D.size(a.force), d = seen.direction(a.force), length = largest > 0 ? (longest * Math.hypot(d[0], d[1])) / largest : 0;
      const dashed = a.kind === "inertia" || a.unique === false, name = NAMES[a.kind] || a.name;
      if (length > 4) segments.push([p[0], p[1], p[0] + (longest * d[0]) / largest, p[1] + (longest * d[1]) / largest, 4]);
      if (size > LEAST * largest && length > 4) texts.push([`${name} ${D.quantity(DATA, size, "force")}`, straight(figure, p, d, length, color, dashed), color, d]);
      const moment = D.size(a.moment), toward = D.cross(seen.view.right, seen.view.up), turning = D.dot(a.moment, toward);
      if (moment > 1e-3 * most && moment > LEAST * largest * seen.span) texts.push([`${name} ${D.quantity(DATA, moment, "torque")}`, arc(figure, p, turning >= 0 ? 1 : -1, color, dashed), color, [0, 1]]);
    }
    for (const a of fb.actions.filter((x) => x.kind === "pin")) {
      const p = seen.pixel(a.at);
      D.make("circle", { cx: D.short(p[0]), cy: D.short(p[1]), r: 4.2, fill: look.paper, stroke: look.ink, "stroke-width": 1.6 }, svg);
    }
    if (fb.com) {
      const p = seen.pixel(fb.com);
      center(figure, p);
      segments.push([p[0] - 1, p[1], p[0] + 1, p[1], 16]);
    }
    for (const [text, tip, color, d] of texts) {
      const n = Math.hypot(d[0], d[1]) || 1, w = D.textWidth(text, `500 12px ${look.font}`);
      words(figure, text, [tip[0] + (d[0] / n) * (w / 2 + 2), tip[1] + (d[1] / n) * 8], color, taken, segments);
    }
    svg.setAttribute("aria-label", `Free-body diagram of ${fb.body || "the body"}: ${texts.map((t) => t[0]).join(", ")}`);
  }

  // ---------------------------------------------------------------- hodograph

  function ticks(low, high, count) {
    const raw = (high - low) / count, power = Math.pow(10, Math.floor(Math.log10(raw))), step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999) || raw, out = [];
    for (let x = Math.ceil(low / step - 1e-9) * step; x <= high + 1e-9 * step; x += step) out.push(Math.abs(x) < 1e-9 * step ? 0 : x);
    return out;
  }

  // the two directions a curve is shown along: axes of the plane, or the two axes that carry most of it
  function shownAxes(DATA, h) {
    if (DATA.planar) return { axes: [[1, 0, 0], [0, 1, 0]], names: [...DATA.axes] };
    const A = [[0, 0, 0], [0, 0, 0], [0, 0, 0]];
    for (let k = 0; k < h.x.length; k++) {
      const f = [h.x[k], h.y[k], h.z[k]];
      if (f.every(isFinite)) for (let i = 0; i < 3; i++) for (let j = 0; j < 3; j++) A[i][j] += f[i] * f[j];
    }
    const carried = [0, 1, 2].map((i) => A[i][i]), total = carried[0] + carried[1] + carried[2], least = carried.indexOf(Math.min(...carried));
    if (!(total > 0) || carried[least] < 0.02 * total) {
      const kept = [0, 1, 2].filter((i) => i !== least);
      return { axes: kept.map((i) => [0, 1, 2].map((j) => (i === j ? 1 : 0))), names: kept.map((i) => "xyz"[i]) };
    }
    const [first, second] = principal(A), named = (v) => {
      const signed = v[[0, 1, 2].reduce((b, i) => (Math.abs(v[i]) > Math.abs(v[b]) ? i : b), 0)] < 0 ? v.map((x) => -x) : v;
      return [signed, "(" + signed.map((x) => D.digits(Math.round(x * 100) / 100)).join(", ") + ")"];
    };
    const [a, b] = [named(first), named(second)];
    return { axes: [a[0], b[0]], names: [a[1], b[1]] };
  }

  // h as the engine's hodograph gives it: {x, y, z, now}; options: {title, frame: body whose axes these are, color}
  function hodograph(container, DATA, h, options) {
    const given = options || {}, figure = paper(container, (width) => Math.min(0.9 * width, 340)), { svg, look, width, height } = figure;
    const shown = shownAxes(DATA, h), u = D.unit(DATA, "force");
    const flat = (f) => shown.axes.map((axis) => D.dot(f, axis) / u.size), curve = [];
    for (let k = 0; k < h.x.length; k++) curve.push(flat([h.x[k], h.y[k], h.z[k]]));
    const now = h.now ? flat(h.now) : null, good = curve.filter((p) => p.every(isFinite)).concat([[0, 0]], now && now.every(isFinite) ? [now] : []);
    const low = [0, 1].map((i) => Math.min(...good.map((p) => p[i]))), high = [0, 1].map((i) => Math.max(...good.map((p) => p[i])));
    const span = Math.max(high[0] - low[0], high[1] - low[1], 1e-12), factor = span > 2e4 && u.symbol === "N" ? 1000 : 1, pad = { left: 46, right: 16, top: 14, bottom: 36 };
    const room = [width - pad.left - pad.right, height - pad.top - pad.bottom], scale = Math.min(...[0, 1].map((i) => room[i] / (Math.max(high[i] - low[i], 0.12 * span) * 1.12)));
    const middle = [0, 1].map((i) => (low[i] + high[i]) / 2), pixel = (p) => [pad.left + room[0] / 2 + scale * (p[0] - middle[0]), pad.top + room[1] / 2 - scale * (p[1] - middle[1])];
    const edges = [0, 1].map((i) => [middle[i] - room[i] / 2 / scale, middle[i] + room[i] / 2 / scale]);
    grid(figure, pad, room, edges, pixel, factor);
    const symbol = (factor === 1000 ? "k" : "") + u.symbol;
    D.text(svg, look, 11.5, { x: pad.left + room[0], y: height - 6, "text-anchor": "end", fill: D.mix(look.ink, look.paper, 0.3) }).textContent = `along ${shown.names[0]} [${symbol}]`;
    D.text(svg, look, 11.5, { transform: `translate(11 ${pad.top}) rotate(-90)`, "text-anchor": "end", fill: D.mix(look.ink, look.paper, 0.3) }).textContent = `along ${shown.names[1]} [${symbol}]`;
    const color = given.color || look.load, pixels = curve.map(pixel);
    D.set(D.line(svg, color, 2), { d: D.gappedPath(pixels), class: "curve" });
    beads(figure, pixels, curve, color);
    const zero = pixel([0, 0]);
    if (now && now.every(isFinite)) {
      const tip = pixel(now), arrow = D.arrow(svg, look, look.accent);
      arrow.show(zero[0], zero[1], tip[0] - zero[0], tip[1] - zero[1], false);
      D.make("circle", { cx: D.short(tip[0]), cy: D.short(tip[1]), r: 4, fill: look.accent, stroke: look.paper, "stroke-width": 1.3 }, svg);
    }
    D.make("circle", { cx: D.short(zero[0]), cy: D.short(zero[1]), r: 3.2, fill: look.ink }, svg);
    svg.setAttribute("aria-label", `Hodograph${given.title ? " of " + given.title : ""}${given.frame ? " in axes of " + given.frame : ""}`);
  }

  function grid(figure, pad, room, edges, pixel, factor) {
    const { svg, look } = figure, pale = D.mix(look.faint, look.paper, 0.72), soft = D.mix(look.ink, look.paper, 0.3), bottom = pad.top + room[1];
    for (const x of ticks(edges[0][0], edges[0][1], Math.max(2, room[0] / 75))) {
      const at = D.short(pixel([x, 0])[0]);
      D.make("path", { d: `M${at} ${pad.top}V${bottom}`, stroke: x === 0 ? look.faint : pale, "stroke-width": x === 0 ? 1.3 : 1 }, svg);
      D.text(svg, look, 11, { x: at, y: bottom + 14, "text-anchor": "middle", fill: soft }).textContent = D.digits(Number((x / factor).toPrecision(6)));
    }
    for (const y of ticks(edges[1][0], edges[1][1], Math.max(2, room[1] / 55))) {
      const at = D.short(pixel([0, y])[1]);
      D.make("path", { d: `M${pad.left} ${at}H${pad.left + room[0]}`, stroke: y === 0 ? look.faint : pale, "stroke-width": y === 0 ? 1.3 : 1 }, svg);
      D.text(svg, look, 11, { x: pad.left - 6, y: at + 4, "text-anchor": "end", fill: soft }).textContent = D.digits(Number((y / factor).toPrecision(6)));
    }
  }

  // beads at equal steps of the cycle show where the force lingers and where it runs
  function beads(figure, pixels, curve, color) {
    const count = 12, n = pixels.length - 1;
    for (let k = 0; k < count && n > count; k++) {
      const i = Math.round((k * n) / count);
      if (!curve[i].every(isFinite)) continue;
      D.make("circle", { cx: D.short(pixels[i][0]), cy: D.short(pixels[i][1]), r: 2.6, fill: figure.look.paper, stroke: color, "stroke-width": 1.3 }, figure.svg);
    }
  }

  LW.figures = { freeBody, hodograph };
})();
