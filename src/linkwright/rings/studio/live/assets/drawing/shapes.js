// The parts of a mechanism as SVG: bars and plates, bearings on hatched ground, guides with blocks, telescopes, springs, wheels, cams
// and drive arrows. Every builder makes its elements once for a scale and returns a function that moves them to new poses; a body of
// a planar mechanism moves by one matrix.
//
// `sheet` is {DATA, scene, camera, look, layers, width (of a bar, pixels), box (extent), poses (at the time of building)}.
(() => {
  "use strict";
  const D = LW.draw;
  const EDGE = 1.1; // pixels of outline on each side of a bar

  const line = (parent, color, width, cap) =>
    D.make("path", { fill: "none", stroke: color, "stroke-width": D.short(width), "stroke-linecap": cap || "round", "stroke-linejoin": "round" }, parent);

  // ---------------------------------------------------------------- bodies

  // the group of a body: where its pieces, blocks and eyes go
  function bodyGroup(sheet, index) {
    const found = sheet.groups[index];
    if (found) return found;
    const body = sheet.DATA.bodies[index];
    return (sheet.groups[index] = D.make("g", { "data-body": body.name, class: "lw-body" }, sheet.layers.bodies));
  }

  // pixels of points of a body: in its own group (planar: the group's matrix brings them into place) or on the sheet
  function pixels(sheet, body, points, poses) {
    const c = sheet.camera;
    if (sheet.DATA.planar) return points.map((p) => [c.scale * p[0], -c.scale * p[1]]);
    return points.map((p) => c.pixel(D.placed(poses, body, p)));
  }

  function matrix(sheet, body, poses) {
    const R = poses.R, k = 9 * body, c = sheet.camera, at = c.pixel([poses.p[3 * body], poses.p[3 * body + 1], 0]);
    return `matrix(${R[k].toFixed(6)} ${(-R[k + 3]).toFixed(6)} ${(-R[k + 1]).toFixed(6)} ${R[k + 4].toFixed(6)} ${D.short(at[0])} ${D.short(at[1])})`;
  }

  // webs of plates, then the outline of the whole body, then its fill, so that bars of one body grow together
  function bodies(sheet) {
    const { scene, DATA, look } = sheet, moves = [];
    const covered = DATA.planar ? D.covered(scene) : new Set();
    const order = [...new Set([...scene.pieces.map((p) => p.body), ...covered])];
    if (covered.has(0)) D.outlines(sheet, 0, D.make("g", { transform: matrix(sheet, 0, sheet.poses) }, sheet.layers.ground));
    for (const index of order.filter((k) => k || !covered.has(0))) {
      if (covered.has(index)) {
        D.outlines(sheet, index, bodyGroup(sheet, index));
        continue;
      }
      const group = bodyGroup(sheet, index), color = DATA.bodies[index].color, own = scene.pieces.filter((p) => p.body === index);
      const pieces = own.filter((p) => !p.solid), drawn = [];
      for (const p of own.filter((q) => q.solid)) drawn.push([D.make("path", { fill: look.fill(color), stroke: look.edge(color), "stroke-width": EDGE, "stroke-linejoin": "round" }, group), p]);
      for (const p of pieces.filter((q) => q.closed)) drawn.push([D.make("path", { fill: look.web(color), "fill-opacity": 0.9 }, group), p]);
      for (const p of pieces) drawn.push([line(group, look.edge(color), sheet.width + 2 * EDGE), p]);
      for (const p of pieces) drawn.push([line(group, look.fill(color), sheet.width), p]);
      drawn.forEach(([node], i) => i >= drawn.length - 2 * pieces.length && i < drawn.length - pieces.length && node.classList.add("lw-edge"));
      const put = (poses) => {
        for (const [node, p] of drawn) node.setAttribute("d", D.path(pixels(sheet, index, p.points, poses), p.closed));
      };
      put(sheet.poses);
      if (!DATA.planar) moves.push(put);
    }
    if (DATA.planar) moves.push((poses) => sheet.groups.forEach((g, index) => g && !sheet.loose.has(index) && g.setAttribute("transform", matrix(sheet, index, poses))));
    else moves.push((poses) => farFirst(sheet, poses));
    return moves;
  }

  // painter's order: bodies that are nearer are drawn later
  function farFirst(sheet, poses) {
    const points = sheet.groups.map(() => []);
    for (const p of sheet.scene.pieces) points[p.body].push(...p.points.map((at) => D.placed(poses, p.body, at)));
    for (const t of sheet.scene.telescopes) {
      const [a, b] = t.ends.map((e) => D.spot(poses, e));
      t.bodies.forEach((name, i) => name && points[sheet.DATA.bodies.findIndex((x) => x.name === name)].push(D.add(a, D.minus(b, a), i ? 0.75 : 0.3)));
    }
    const depth = points.map((list, index) => [index, list.reduce((sum, p) => sum + sheet.camera.depth(p), 0) / (list.length || 1)]).filter(([index]) => sheet.groups[index]);
    const sorted = depth.sort((a, b) => a[1] - b[1]).map((x) => x[0]), key = sorted.join();
    if (sheet.order === key) return;
    sheet.order = key;
    for (const index of sorted) sheet.layers.bodies.appendChild(sheet.groups[index]);
  }

  // ---------------------------------------------------------------- ground and guides

  function down(sheet) {
    const g = sheet.DATA.gravity || [0, 0, 0], n = Math.hypot(g[0], g[1]);
    return n > 0 ? [g[0] / n, -g[1] / n] : [0, 1]; // pixels: y points down
  }

  const heading = (a, b) => {
    const length = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1;
    return [(b[0] - a[0]) / length, (b[1] - a[1]) / length, length];
  };

  // a line of pixels moved to its left, as seen along it
  function beside(path, distance) {
    return path.map(([x, y], i) => {
      const d = heading(path[Math.max(i - 1, 0)], path[Math.min(i + 1, path.length - 1)]);
      return [x + d[1] * distance, y - d[0] * distance];
    });
  }

  // a line with short strokes on its left: a part that does not move
  function hatched(sheet, parent, path) {
    let strokes = "", s = 3;
    for (let i = 1; i < path.length; i++) {
      const a = path[i - 1], d = heading(a, path[i]);
      for (; s < d[2]; s += 5.6) {
        const x = a[0] + s * d[0], y = a[1] + s * d[1];
        strokes += D.path([[x, y], [x + (d[1] - 0.8 * d[0]) * 5, y + (-d[0] - 0.8 * d[1]) * 5]]);
      }
      s -= d[2];
    }
    D.set(line(parent, sheet.look.faint, 1, "butt"), { d: strokes });
    D.set(line(parent, sheet.look.faint, 1.6, "butt"), { d: D.path(path) });
  }

  // a bearing block on hatched ground under every pin that stands still
  function ground(sheet) {
    const { scene, camera, look } = sheet, w = Math.max(sheet.width, 9), g = down(sheet), across = [-g[1], g[0]], seen = new Set();
    for (const pin of scene.pins.filter((p) => p.grounded)) {
      const p = camera.pixel(D.spot(sheet.poses, pin.spot)), key = p.map(Math.round).join();
      if (seen.has(key)) continue;
      seen.add(key);
      const foot = [p[0] + g[0] * 1.55 * w, p[1] + g[1] * 1.55 * w];
      const to = (from, s) => [from[0] + across[0] * s * w, from[1] + across[1] * s * w];
      const block = { fill: D.mix(look.faint, look.paper, 0.62), stroke: look.faint, "stroke-width": 1.4, "stroke-linejoin": "round" };
      D.make("path", { d: D.path([to(p, 0.55), to(p, -0.55), to(foot, -0.95), to(foot, 0.95)], true), ...block }, sheet.layers.ground);
      hatched(sheet, sheet.layers.ground, [to(foot, -1.5), to(foot, 1.5)]);
      sheet.still.push([p[0], p[1], foot[0], foot[1], 0.9 * w]);
    }
  }

  // a rail with its block or a slot with its pin; both lie on bodies, so that their groups carry them
  function guides(sheet) {
    for (const g of sheet.scene.guides) {
      const { camera: c, look, DATA } = sheet, w = sheet.width, body = g.spot.body, s = c.scale;
      const path = D.track(g, (2.2 * w) / s).map((p) => [s * p[0], -s * p[1]]);
      if (body === 0) {
        const rail = D.make("g", { transform: matrix(sheet, 0, sheet.poses) }, sheet.layers.ground);
        hatched(sheet, rail, beside(path, 0.85 * w));
        hatched(sheet, rail, beside(path.slice().reverse(), 0.85 * w));
      } else {
        const color = DATA.bodies[body].color, slot = D.path(path), group = bodyGroup(sheet, body);
        const rows = [[w + 2 * EDGE, look.edge(color)], [w, look.fill(color)]], cut = [[0.5 * w + 1.6, look.edge(color)], [0.5 * w, look.paper]];
        const draw = (layers) => layers.forEach(([width, paint]) => D.set(line(group, paint, width), { d: slot }));
        draw(rows);
        sheet.slots.push(() => draw(cut)); // into the bars of the link, which are not there yet
      }
      if (!g.turns || body === 0) block(sheet, g);
    }
  }

  // the block is drawn with the guide's direction; in a sliding pair without turning that is fixed in the block's body too
  function block(sheet, g) {
    const { look, DATA } = sheet, w = sheet.width;
    const node = D.make("rect", { x: -1.4 * w, y: -0.7 * w, width: 2.8 * w, height: 1.4 * w, rx: 0.18 * w, stroke: look.ink, "stroke-width": 1.5 }, g.spot.body ? sheet.layers.riders : sheet.layers.blocks);
    const own = !g.turns && g.block.body > 0;
    D.set(node, { fill: own ? look.fill(DATA.bodies[g.block.body].color) : D.mix(look.faint, look.paper, 0.5), class: "lw-edge" });
    sheet.movers.push((poses) => {
      const place = D.spot(poses, g.block), p = sheet.camera.pixel(place), body = g.spot.body;
      const d = sheet.camera.direction(D.turned(poses, body, D.tangent(g, D.local(poses, body, place))));
      node.setAttribute("transform", `translate(${D.short(p[0])} ${D.short(p[1])}) rotate(${D.short((Math.atan2(d[1], d[0]) * 180) / Math.PI)})`);
    });
  }

  // guides of a mechanism in space: a pale rail
  function rails(sheet) {
    for (const g of sheet.scene.guides) {
      const node = line(sheet.layers.ground, D.mix(sheet.look.faint, sheet.look.paper, 0.4), 1.2 * sheet.width);
      sheet.movers.push((poses) => {
        node.setAttribute("d", D.path(D.track(g, 0).map((at) => sheet.camera.pixel(D.placed(poses, g.spot.body, at)))));
      });
    }
  }

  // what stands still of a mechanism in space: a grid at its foot and a dashed outline through the joints on the ground
  function floor(sheet) {
    const { camera: c, DATA, look } = sheet, { low, high } = sheet.box, [e1, e2, up] = c.axes;
    const range = (axis) => {
      const ends = [0, 1, 2].map((i) => [low[i] * axis[i], high[i] * axis[i]]);
      return [ends.reduce((s, x) => s + Math.min(...x), 0), ends.reduce((s, x) => s + Math.max(...x), 0)];
    };
    const [a, b, h] = [range(e1), range(e2), range(up)[0]], u = D.unit(DATA, "length").size, step = D.nice((0.22 * Math.max(a[1] - a[0], b[1] - b[0], 1e-9)) / u) * u;
    const at = (x, y) => c.pixel(D.add(D.add(up.map((v) => v * h), e1, x), e2, y));
    let d = "";
    for (let x = Math.floor(a[0] / step) * step; x <= a[1] + step; x += step) d += D.path([at(x, Math.floor(b[0] / step) * step), at(x, Math.ceil(b[1] / step) * step)]);
    for (let y = Math.floor(b[0] / step) * step; y <= b[1] + step; y += step) d += D.path([at(Math.floor(a[0] / step) * step, y), at(Math.ceil(a[1] / step) * step, y)]);
    D.set(line(sheet.layers.ground, D.mix(look.faint, look.paper, 0.72), 1), { d });
    if (sheet.scene.base.length < 2) return;
    const outline = D.path(sheet.scene.base.map((s) => c.pixel(D.spot(sheet.poses, s))), sheet.scene.base.length > 2);
    D.set(line(sheet.layers.ground, look.faint, 2.4, "butt"), { d: outline, "stroke-dasharray": "6 4" });
  }

  // ---------------------------------------------------------------- between two places

  // barrel and rod are bodies of their own; of a cylinder or gas spring they belong to none
  function telescopes(sheet) {
    for (const t of sheet.scene.telescopes) {
      const { look, DATA } = sheet, w = sheet.width, [barrelBody, rodBody] = t.bodies.map((name) => DATA.bodies.findIndex((b) => b.name === name));
      const color = barrelBody > 0 ? DATA.bodies[barrelBody].color : "#62708f", groupOf = (index) => (index > 0 ? bodyGroup(sheet, index) : D.make("g", {}, sheet.layers.bodies));
      const rodGroup = groupOf(rodBody), barrelGroup = groupOf(barrelBody);
      // what lies between two places is put on the sheet itself, not into a body that moves by its matrix
      const inRod = D.make("g", {}, rodGroup), inBarrel = D.make("g", {}, barrelGroup);
      const rodEdge = line(inRod, look.edge(color), 0.42 * w + 2 * EDGE), rod = line(inRod, D.mix(color, look.paper, 0.75), 0.42 * w);
      const barrelEdge = line(inBarrel, look.edge(color), w + 4, "butt"), barrel = line(inBarrel, look.fill(color), w + 1.8, "butt");
      [rodEdge, barrelEdge].forEach((node) => node.classList.add("lw-edge"));
      [barrelBody, rodBody].forEach((index) => index > 0 && sheet.loose.add(index));
      sheet.movers.push((poses) => {
        const [a, b] = t.ends.map((e) => D.spot(poses, e)), length = D.size(D.minus(b, a)) || 1;
        const [p, q] = [sheet.camera.pixel(a), sheet.camera.pixel(b)], share = Math.min(t.barrel, 0.85 * length) / length;
        const at = (s) => [p[0] + s * (q[0] - p[0]), p[1] + s * (q[1] - p[1])], n = EDGE / (Math.hypot(q[0] - p[0], q[1] - p[1]) || 1);
        [rodEdge, rod].forEach((node) => node.setAttribute("d", D.path([at(share / 2), q])));
        barrelEdge.setAttribute("d", D.path([p, at(share)]));
        barrel.setAttribute("d", D.path([at(n), at(share - n)]));
      });
    }
  }

  // a zigzag between two pixels with straight ends
  function coil(a, b, half) {
    const d = [b[0] - a[0], b[1] - a[1]], length = Math.hypot(d[0], d[1]) || 1, n = [-d[1] / length, d[0] / length], points = [a];
    for (let i = 0; i < 14; i++) {
      const s = 0.16 + (0.68 * i) / 13, swing = half * (i % 2 ? -1 : 1);
      if (i === 0) points.push([a[0] + 0.12 * d[0], a[1] + 0.12 * d[1]]);
      points.push([a[0] + s * d[0] + swing * n[0], a[1] + s * d[1] + swing * n[1]]);
    }
    return [...points, [a[0] + 0.88 * d[0], a[1] + 0.88 * d[1]], b];
  }

  // two strands of a rope between two pixels; `lay`: length of a turn
  function rope(a, b, half, lay) {
    const d = [b[0] - a[0], b[1] - a[1]], length = Math.hypot(d[0], d[1]) || 1, n = [-d[1] / length, d[0] / length], count = 12 * Math.max(2, Math.round(length / lay));
    return [half, -half].map((side) => D.path(Array.from({ length: count + 1 }, (_, i) => {
      const s = i / count, swing = side * Math.sin((Math.PI * i) / 6);
      return [a[0] + s * d[0] + swing * n[0], a[1] + s * d[1] + swing * n[1]];
    }))).join("");
  }

  // rubber between an outer and an inner sleeve: larger and darker than a hinge
  function ring(sheet) {
    const { look, layers, width: w } = sheet, group = D.make("g", { stroke: look.ink, "stroke-width": 1.4, class: "lw-rubber" }, layers.bodies);
    D.make("circle", { r: D.short(1.15 * w), fill: D.mix(look.ink, look.paper, 0.25) }, group);
    D.make("circle", { r: D.short(0.62 * w), fill: look.paper }, group);
    return group;
  }

  function lines(sheet) {
    for (const item of sheet.scene.lines) {
      const node = line(sheet.layers.bodies, sheet.look.ink, 1.25 * item.width - 0.05);
      if (item.dashes && item.dashes.length) node.setAttribute("stroke-dasharray", item.dashes.map((x) => D.short(1.5 * x)).join(" "));
      const pad = item.shape === "ring" ? ring(sheet) : null, w = sheet.width;
      node.setAttribute("data-line", item.name);
      sheet.movers.push((poses) => {
        const [a, b] = item.ends.map((e) => sheet.camera.pixel(D.spot(poses, e)));
        node.setAttribute("d", item.shape === "rope" ? rope(a, b, 0.2 * w, 1.6 * w) : D.path(item.shape === "coil" ? coil(a, b, 0.55 * w) : [a, b]));
        node.setAttribute("display", sheet.absent.includes(item.name) ? "none" : "inline");
        if (pad) D.set(pad, { transform: `translate(${D.short((a[0] + b[0]) / 2)} ${D.short((a[1] + b[1]) / 2)})` });
      });
    }
  }

  function wheels(sheet) {
    for (const w of sheet.scene.wheels) {
      const node = D.make("ellipse", { rx: w.radius * sheet.camera.scale, ry: w.radius * sheet.camera.scale, fill: "none", stroke: sheet.look.ink }, sheet.layers.ground);
      D.set(node, { "stroke-width": 1.2, "stroke-dasharray": "10 4 2 4" });
      sheet.movers.push((poses) => {
        const p = sheet.camera.pixel(D.spot(poses, w.spot));
        D.set(node, { cx: D.short(p[0]), cy: D.short(p[1]) });
      });
    }
  }

  // a group that moves with a body, and points of the body in its pixels
  function carried(sheet, layer, body) {
    const group = D.make("g", { "data-body": sheet.DATA.bodies[body].name, class: "lw-body" }, layer);
    sheet.movers.push((poses) => group.setAttribute("transform", matrix(sheet, body, poses)));
    return group;
  }
  const flattened = (sheet, points) => points.map((p) => [sheet.camera.scale * p[0], -sheet.camera.scale * p[1]]);

  // outlines of surfaces that may touch, thin; walls are hatched on the right of their direction
  const STROKES = [9, 5.5]; // their distance and length, pixels
  function surfaces(sheet) {
    const { look, DATA } = sheet;
    for (const x of sheet.scene.surfaces || []) {
      const color = x.body ? look.edge(DATA.bodies[x.body].color) : look.ink, group = carried(sheet, sheet.layers.riders, x.body), points = flattened(sheet, x.points);
      D.set(line(group, color, 1.2), { d: D.path(points, x.closed), fill: "none", "data-surface": x.name });
      if (x.wall) D.set(line(group, color, 0.8), { d: strokes(points), fill: "none" });
    }
  }

  function strokes(points) {
    const [step, length] = STROKES, out = [];
    let left = 0.5 * step;
    points.slice(1).forEach((b, i) => {
      const a = points[i], size = D.size([b[0] - a[0], b[1] - a[1], 0]) || 1, u = [(b[0] - a[0]) / size, (b[1] - a[1]) / size];
      for (; left < size; left += step) {
        const foot = [a[0] + left * u[0], a[1] + left * u[1]];
        out.push(D.path([foot, [foot[0] + 0.7 * length * (-u[1] - u[0]), foot[1] + 0.7 * length * (u[0] - u[1])]]));
      }
      left -= size;
    });
    return out.join("");
  }

  // the disc of a cam by its profile, behind the bearings; roller or face with the follower
  function cams(sheet) {
    const { look, DATA } = sheet, s = sheet.camera.scale, flat = (points) => flattened(sheet, points);
    for (const cam of sheet.scene.cams || []) {
      const color = DATA.bodies[cam.disc].color, own = DATA.bodies[cam.follower].color, disc = carried(sheet, sheet.layers.ground, cam.disc);
      if (cam.groove) D.set(line(disc, look.edge(color), 1.6), { d: D.path(flat(cam.groove.points), cam.closed) });
      D.set(line(disc, look.edge(color), 1.6), { d: D.path(flat(cam.profile.points), cam.closed), fill: cam.closed ? look.web(color) : "none", "data-cam": cam.name });
      if (cam.face) D.set(line(carried(sheet, sheet.layers.bodies, cam.follower), look.edge(own), 3.4), { d: D.path(flat(cam.face)) });
      if (!cam.roller) continue;
      const [center, rim] = cam.roller.points, c = flat([center])[0], r = s * D.size(D.minus(rim, center));
      D.make("circle", { cx: c[0], cy: c[1], r, fill: look.fill(own), stroke: look.edge(own), "stroke-width": 1.6 }, carried(sheet, sheet.layers.bodies, cam.follower));
    }
  }

  // ---------------------------------------------------------------- drives

  // the direction from a pin with the most room between the bodies that meet there
  function openSide(sheet, p) {
    const g = down(sheet), busy = [Math.atan2(g[1], g[0])];
    for (const piece of sheet.scene.pieces) {
      const away = piece.points.map((at) => sheet.camera.pixel(D.placed(sheet.poses, piece.body, at))).map((q) => [q[0] - p[0], q[1] - p[1]]);
      if (away.some((d) => Math.hypot(d[0], d[1]) < 0.5)) busy.push(...away.filter((d) => Math.hypot(d[0], d[1]) > 0.5).map((d) => Math.atan2(d[1], d[0])));
    }
    let best = 0, most = -1;
    for (let k = 0; k < 72; k++) {
      const angle = (k * Math.PI) / 36, gap = (b) => Math.abs(((((angle - b + Math.PI) % (2 * Math.PI)) + 2 * Math.PI) % (2 * Math.PI)) - Math.PI);
      const room = Math.min(...busy.map(gap));
      if (room > most + 1e-6) [best, most] = [angle, room];
    }
    return best;
  }

  const head = (tip, angle, long) => {
    const at = (r, turn) => [tip[0] + r * Math.cos(angle + turn), tip[1] + r * Math.sin(angle + turn)];
    return D.path([at(long, 0), at(0.62 * long, 2.2), at(0.62 * long, -2.2)], true);
  };

  function turningArrow(sheet, arrow, group) {
    const p = sheet.camera.pixel(D.spot(sheet.poses, arrow.spot)), begin = openSide(sheet, p), r = Math.max(1.9 * sheet.width, 17);
    Object.assign(arrow, { begin, radius: r });
    const front = D.dot(D.turned(sheet.poses, arrow.axis.body, arrow.axis.at), sheet.camera.toward) >= 0 ? 1 : -1;
    const sense = -(arrow.sense || 1) * front; // pixels: y points down
    const at = (t) => [r * Math.cos(begin + sense * t), r * Math.sin(begin + sense * t)], [a, b] = [at(-0.8), at(0.8)];
    D.set(line(group, sheet.look.accent, 2.1), { d: `M${D.short(a[0])} ${D.short(a[1])}A${r} ${r} 0 0 ${sense > 0 ? 1 : 0} ${D.short(b[0])} ${D.short(b[1])}` });
    D.make("path", { d: head(b, begin + sense * (0.8 + Math.PI / 2 + 0.12), 8), fill: sheet.look.accent }, group);
    if (arrow.sense === 0) D.make("path", { d: head(a, begin + sense * (-0.8 - Math.PI / 2 - 0.12), 8), fill: sheet.look.accent }, group);
    for (let t = -0.8; t < 0.8; t += 0.4) sheet.arcs.push([arrow.spot, at(t), at(t + 0.4), 3]);
    for (const s of arrow.sense === 0 ? [-1, 1] : [1]) sheet.arcs.push([arrow.spot, at(0.75 * s), at((0.8 + 9 / r) * s), 7]);
    return (poses) => sheet.camera.pixel(D.spot(poses, arrow.spot));
  }

  function slidingArrow(sheet, arrow, group) {
    const w = 2 * Math.max(sheet.width, 9), [from, to] = arrow.sense < 0 ? [w, -w] : [-w, w];
    D.set(line(group, sheet.look.accent, 2.1), { d: D.path([[from, 0], [to, 0]]) });
    D.make("path", { d: head([to, 0], to > 0 ? 0 : Math.PI, 8), fill: sheet.look.accent }, group);
    if (arrow.sense === 0) D.make("path", { d: head([from, 0], to > 0 ? Math.PI : 0, 8), fill: sheet.look.accent }, group);
    return (poses) => {
      const a = D.spot(poses, arrow.spot), b = arrow.to ? D.spot(poses, arrow.to) : D.add(a, D.turned(poses, arrow.axis.body, arrow.axis.at), 1);
      const p = sheet.camera.pixel(a), q = sheet.camera.pixel(b), angle = Math.atan2(q[1] - p[1], q[0] - p[0]);
      const middle = arrow.to ? [(p[0] + q[0]) / 2, (p[1] + q[1]) / 2] : p, off = 1.55 * Math.max(sheet.width, 9);
      return [middle[0] + off * Math.sin(angle), middle[1] - off * Math.cos(angle), angle];
    };
  }

  // drives that are not called as their pin is have their name beside the arrow
  function driveName(sheet, name) {
    const halo = { stroke: sheet.look.paper, "stroke-width": 3.2, "stroke-linejoin": "round", "paint-order": "stroke", "pointer-events": "none" };
    const node = D.text(sheet.layers.labels, sheet.look, 12, { "text-anchor": "middle", "font-weight": 500, ...halo, fill: sheet.look.accent });
    node.textContent = name;
    return node;
  }

  function arrows(sheet) {
    for (const arrow of sheet.scene.arrows) {
      const group = D.make("g", { class: "lw-drive", "data-drive": arrow.name }, sheet.layers.drives);
      const where = arrow.turning ? turningArrow(sheet, arrow, group) : slidingArrow(sheet, arrow, group);
      const crowded = sheet.size[0] < 480 && sheet.scene.pins.length > 8, known = crowded || sheet.scene.pins.some((p) => p.name === arrow.name);
      const named = known ? null : driveName(sheet, arrow.name);
      sheet.movers.push((poses) => {
        const [x, y, angle] = where(poses);
        if (named) {
          const d = angle === undefined ? [Math.cos(arrow.begin), Math.sin(arrow.begin)] : [Math.sin(angle), -Math.cos(angle)];
          const far = angle === undefined ? arrow.radius + 13 : 14;
          D.set(named, { x: D.short(x + far * d[0]), y: D.short(Math.max(14, y + far * d[1] + 4.5)) });
        }
        group.setAttribute("transform", `translate(${D.short(x)} ${D.short(y)})` + (angle === undefined ? "" : ` rotate(${D.short((angle * 180) / Math.PI)})`));
      });
    }
  }

  // ---------------------------------------------------------------- all of them

  // builds everything that is solid; `sheet.movers` then holds the functions to call with new poses
  function solids(sheet) {
    Object.assign(sheet, { groups: [], absent: sheet.absent || [], movers: [], still: [], arcs: [], loose: new Set(), slots: [], order: "" });
    if (sheet.DATA.planar) {
      cams(sheet);
      ground(sheet);
      guides(sheet);
      wheels(sheet);
      D.belts(sheet);
    } else {
      floor(sheet);
      rails(sheet);
    }
    const moves = bodies(sheet);
    sheet.slots.forEach((cut) => cut());
    if (sheet.DATA.planar) surfaces(sheet);
    lines(sheet);
    telescopes(sheet);
    arrows(sheet);
    sheet.movers.push(...moves);
  }

  Object.assign(D, { solids, line, head, coil, down, hatched });
})();
