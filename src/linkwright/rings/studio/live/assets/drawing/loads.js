// Loads as arrows, and what tells their size: the scale of forces and of lengths, the direction of gravity.
(() => {
  "use strict";
  const D = LW.draw;
  const TINY = 5; // pixels below which an arrow is not drawn
  const HEAD = 8;
  const EDGE = 6; // pixels that stay free at the sheet's edge
  const SHORTEST = 0.35; // of the longest arrow by design: shorter than this they are not made for a few that would leave the sheet

  // longest arrow of the cycle in pixels
  const longest = (width, height) => Math.max(46, Math.min(120, 0.19 * Math.min(width, height)));

  // a thin arrow with a halo of paper, so that it reads on bodies: {show(x, y, dx, dy, dashed), hide()}
  function arrow(parent, look, color) {
    const group = D.make("g", { "pointer-events": "none" }, parent);
    const halo = D.line(group, look.paper, 4.6), tipHalo = D.make("path", { fill: look.paper, stroke: look.paper, "stroke-width": 3, "stroke-linejoin": "round" }, group);
    const shaft = D.line(group, color, 1.7, "butt"), tip = D.make("path", { fill: color }, group);
    [halo, tipHalo].forEach((node) => node.setAttribute("stroke-opacity", 0.75));
    let state = "";
    return {
      hide() {
        if (state !== "hidden") group.setAttribute("visibility", "hidden");
        state = "hidden";
      },
      show(x, y, dx, dy, dashed) {
        const length = Math.hypot(dx, dy), angle = Math.atan2(dy, dx), head = Math.min(HEAD, 0.55 * length);
        if (!(length >= TINY)) return this.hide();
        if (state === "hidden") group.removeAttribute("visibility");
        const mode = dashed ? "dashed" : "plain";
        if (state !== mode) dashed ? shaft.setAttribute("stroke-dasharray", "4 3") : shaft.removeAttribute("stroke-dasharray");
        state = mode;
        const neck = [x + dx * (1 - head / length), y + dy * (1 - head / length)], end = [x + dx, y + dy], d = D.path([[x, y], neck]);
        const side = (s) => [neck[0] + s * 0.42 * head * Math.sin(angle), neck[1] - s * 0.42 * head * Math.cos(angle)];
        const tipPath = D.path([end, side(1), side(-1)], true);
        halo.setAttribute("d", d);
        shaft.setAttribute("d", d);
        tip.setAttribute("d", tipPath);
        tipHalo.setAttribute("d", tipPath);
      },
    };
  }

  // the part of their length by design at which the arrows of a whole cycle stay on the sheet; peaks count as the largest force
  function fitting(sheet, room, scale, largest) {
    let part = 1;
    for (const [at, force] of room) {
      const p = sheet.camera.pixel(at), d = sheet.camera.direction(force), s = scale * Math.min(1, largest / D.size(force));
      for (let k = 0; k < 2; k++) {
        const free = s * d[k] > 0 ? sheet.size[k] - EDGE - p[k] : p[k] - EDGE;
        if (free > 0 && Math.abs(s * d[k]) > free) part = Math.min(part, free / Math.abs(s * d[k]));
      }
    }
    return Math.max(part, SHORTEST);
  }

  // arrows of a frame's loads; they are made when first needed and kept
  function loadArrows(sheet) {
    const made = new Map();
    return (frame) => {
      const loads = frame.loads || [], largest = frame.largest || 0, full = largest > 0 ? longest(sheet.size[0], sheet.size[1]) / largest : 0, used = new Set();
      if (sheet.arrows.room !== frame.room && frame.room && !sheet.free) Object.assign(sheet.arrows, { room: frame.room, part: fitting(sheet, frame.room, full, largest) });
      const scale = full * sheet.arrows.part;
      for (const load of loads) {
        const key = load.pin + "|" + load.body;
        if (!made.has(key)) made.set(key, arrow(sheet.layers.loads, sheet.look, sheet.look.load));
        used.add(key);
        const p = sheet.camera.pixel(load.at), d = sheet.camera.direction(load.force);
        made.get(key).show(p[0], p[1], scale * d[0], scale * d[1], load.unique === false);
      }
      for (const [key, item] of made) if (!used.has(key)) item.hide();
      sheet.forceScale(scale);
    };
  }

  // ---------------------------------------------------------------- scales

  function text(parent, look, size, attributes) {
    return D.make("text", { "font-size": size, fill: look.ink, "font-family": look.font, "text-anchor": "start", ...attributes }, parent);
  }

  // a length bar at the lower left, a force arrow beside it
  function scales(sheet) {
    const { layers, look, camera, DATA } = sheet, [width, height] = sheet.size, u = D.unit(DATA, "length"), small = width < 480;
    const y = height - (small ? 14 : 18), x = small ? 14 : 20, length = D.nice((small ? 70 : 110) / camera.scale / u.size) * u.size, end = x + length * camera.scale;
    const group = D.make("g", { class: "lw-scale", "pointer-events": "none" }, layers.furniture);
    D.set(D.line(group, look.ink, 1.5, "butt"), { d: `M${x} ${y}H${D.short(end)}M${x} ${y - 4}v8M${D.short(end)} ${y - 4}v8` });
    text(group, look, 12, { x: D.short((x + end) / 2), y: y - 7, "text-anchor": "middle" }).textContent = D.quantity(DATA, length, "length");
    const force = D.make("g", { visibility: "hidden", class: "lw-force-scale", "pointer-events": "none" }, layers.furniture), from = Math.max(end, x + 60) + (small ? 28 : 40);
    const shaft = D.line(force, look.load, 1.7, "butt"), tip = D.make("path", { fill: look.load }, force), label = text(force, look, 12, { y: y - 7, "text-anchor": "middle" });
    let last = -1;
    sheet.forceScale = (scale) => {
      if (scale === last) return;
      last = sheet.perNewton = scale;
      force.setAttribute("visibility", scale > 0 ? "visible" : "hidden");
      if (!(scale > 0)) return;
      const size = D.unit(DATA, "force").size, value = D.nice((small ? 46 : 70) / scale / size) * size, to = from + Math.max(value * scale, 12);
      shaft.setAttribute("d", `M${D.short(from)} ${y}H${D.short(to - HEAD)}`);
      tip.setAttribute("d", D.path([[to, y], [to - HEAD, y - 3.4], [to - HEAD, y + 3.4]], true));
      label.setAttribute("x", D.short((from + to) / 2));
      label.textContent = D.quantity(DATA, value, "force");
    };
    sheet.forceScale(0);
  }

  // an arrow in the upper right corner
  function gravityArrow(sheet) {
    const g = sheet.camera.direction(sheet.DATA.gravity || [0, 0, 0]), n = Math.hypot(g[0], g[1]);
    if (!(n > 0)) return;
    const d = [g[0] / n, g[1] / n], [x, y] = [sheet.size[0] - 24, 32], group = D.make("g", { "pointer-events": "none" }, sheet.layers.furniture);
    const at = (s) => [x + s * d[0], y + s * d[1]], tip = at(16);
    D.set(D.line(group, sheet.look.faint, 1.5, "butt"), { d: D.path([at(-16), at(10)]) });
    D.make("path", { d: D.path([tip, [at(8)[0] - 3.6 * d[1], at(8)[1] + 3.6 * d[0]], [at(8)[0] + 3.6 * d[1], at(8)[1] - 3.6 * d[0]]], true), fill: sheet.look.faint }, group);
    const side = [x - 11 * Math.abs(d[1]), y + 4 - 11 * Math.abs(d[0])];
    text(group, sheet.look, 13, { x: side[0], y: side[1], "text-anchor": "middle", "font-style": "italic", fill: sheet.look.faint }).textContent = "g";
  }

  // axes of a mechanism in space, in the lower right corner
  function axesCross(sheet) {
    const [x, y] = [sheet.size[0] - 44, sheet.size[1] - 40], group = D.make("g", { "pointer-events": "none" }, sheet.layers.furniture);
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]].forEach((axis, i) => {
      const d = sheet.camera.direction(axis), at = (s) => [x + s * d[0], y + s * d[1]];
      D.set(D.line(group, sheet.look.ink, 1.4), { d: D.path([[x, y], at(22)]) });
      text(group, sheet.look, 11.5, { x: at(31)[0], y: at(31)[1] + 4, "text-anchor": "middle" }).textContent = "xyz"[i];
    });
  }

  Object.assign(D, { arrow, loadArrows, scales, gravityArrow, axesCross, text, longest });
})();
