// Small tools that all drawings share: SVG elements, colors of the page, numbers for people, places in the world, and the camera
// that brings places to pixels (a plane seen from the front, or space in an axonometric view).
(() => {
  "use strict";
  const SVG = "http:" + "//www.w3.org/2000/svg";

  // ---------------------------------------------------------------- SVG

  function set(node, attributes) {
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    return node;
  }

  function make(tag, attributes, parent) {
    const node = set(document.createElementNS(SVG, tag), attributes || {});
    if (parent) parent.appendChild(node);
    return node;
  }

  const short = (x) => Math.round(x * 100) / 100;

  // "M x y L x y ..." through pixels
  function path(points, closed) {
    let text = "";
    for (let i = 0; i < points.length; i++) text += (i ? "L" : "M") + short(points[i][0]) + " " + short(points[i][1]);
    return closed ? text + "Z" : text;
  }

  // a curve with gaps where a coordinate is not a number
  function gappedPath(points) {
    let text = "", pen = "M";
    for (const [x, y] of points) {
      if (!(isFinite(x) && isFinite(y))) pen = "M";
      else {
        text += pen + short(x) + " " + short(y);
        pen = "L";
      }
    }
    return text;
  }

  // ---------------------------------------------------------------- colors

  function channels(color) {
    const text = String(color).trim();
    if (text[0] === "#") {
      const hex = text.length === 4 ? text.replace(/[0-9a-f]/gi, "$&$&") : text;
      return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
    }
    const found = text.match(/[\d.]+/g);
    return found && found.length >= 3 ? found.slice(0, 3).map(Number) : [128, 128, 128];
  }

  function mix(color, other, share) {
    const a = channels(color), b = channels(other);
    return "#" + a.map((x, i) => Math.round(x + share * (b[i] - x)).toString(16).padStart(2, "0")).join("");
  }

  const FALLBACK = { paper: "#ffffff", ink: "#22303c", faint: "#8593a0", line: "#dfe4e8", accent: "#c8421a", raise: "#f6f8f9" };

  // what a thing really lies on: cards and panels have their own paper
  function background(element) {
    for (let node = element; node; node = node.parentElement) {
      const color = getComputedStyle(node).backgroundColor;
      if (/^rgb\(/.test(color)) return "#" + channels(color).map((x) => Math.round(x).toString(16).padStart(2, "0")).join("");
    }
    return null;
  }

  // the page's colors as they are now; everything is drawn with plain values, so that a saved SVG needs no style sheet
  function look(element) {
    const style = getComputedStyle(element), out = {};
    for (const key in FALLBACK) {
      const value = style.getPropertyValue("--" + key).trim();
      out[key] = /^(#|rgb)/.test(value) ? value : FALLBACK[key];
    }
    out.paper = background(element) || out.paper;
    const [r, g, b] = channels(out.paper);
    out.dark = 0.3 * r + 0.59 * g + 0.11 * b < 128;
    out.load = out.dark ? "#8fc4ff" : "#1d5da6";
    out.applied = out.dark ? "#cdb6ee" : "#6d4f9c";
    out.lighten = out.dark ? 0.22 : 0.3;
    out.font = style.fontFamily || "sans-serif";
    out.fill = (color) => mix(color, out.paper, out.lighten);
    out.edge = (color) => mix(color, out.ink, 0.55);
    out.web = (color) => mix(color, out.paper, 0.62);
    return out;
  }

  // ---------------------------------------------------------------- numbers

  // the largest of 1, 2, 5 times a power of ten that is not above x
  function nice(x) {
    if (!(x > 0)) return 0;
    const power = Math.pow(10, Math.floor(Math.log10(x)));
    return (x >= 4.9999999 * power ? 5 : x >= 1.9999999 * power ? 2 : 1) * power;
  }

  const unit = (DATA, kind) => (DATA.units && DATA.units[kind]) || { symbol: "", size: 1 };

  // three significant digits, no exponent where it can be avoided, a real minus
  function digits(x) {
    if (x === 0 || !isFinite(x)) return x === 0 ? "0" : "\u2013";
    const size = Math.abs(x);
    const text = size >= 1e6 || size < 1e-4 ? x.toExponential(2) : size >= 100 ? String(Math.round(x)) : String(Number(x.toPrecision(3)));
    return text.replace("-", "\u2212");
  }

  // a value in SI with the file's unit: "1.2 kN"
  function quantity(DATA, value, kind) {
    const u = unit(DATA, kind), x = value / u.size;
    if ((u.symbol === "N" || u.symbol === "W" || u.symbol === "J") && Math.abs(x) >= 9999.5) return digits(x / 1000) + " k" + u.symbol;
    return digits(x) + (u.symbol && u.symbol !== "-" ? (u.symbol === "°" ? "" : " ") + u.symbol : "");
  }

  // ---------------------------------------------------------------- vectors and places

  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const add = (a, b, s) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
  const minus = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const size = (a) => Math.hypot(a[0], a[1], a[2]);
  const unitVector = (a) => {
    const n = size(a) || 1;
    return [a[0] / n, a[1] / n, a[2] / n];
  };

  // a direction of a body in the world
  function turned(poses, body, v) {
    const R = poses.R, k = 9 * body;
    return [0, 3, 6].map((i) => R[k + i] * v[0] + R[k + i + 1] * v[1] + R[k + i + 2] * v[2]);
  }

  // a point of a body in the world
  function placed(poses, body, at) {
    const v = turned(poses, body, at), p = poses.p, k = 3 * body;
    return [v[0] + p[k], v[1] + p[k + 1], v[2] + p[k + 2]];
  }

  const spot = (poses, s) => placed(poses, s.body, s.at);

  // places of a guide on its body, longer by a margin at either end
  function track(g, margin) {
    if (!g.curve) return [g.low - margin, g.high + margin].map((s) => add(g.spot.at, g.axis.at, s));
    const p = g.curve.map((c) => c.at), beyond = (a, b) => add(a, minus(a, b), margin / (size(minus(a, b)) || 1));
    return [beyond(p[0], p[1]), ...p, beyond(p[p.length - 1], p[p.length - 2])];
  }

  // direction of a guide on its body, where it is closest to a place of that body
  function tangent(g, at) {
    if (!g.curve) return g.axis.at;
    const steps = g.curve.slice(1).map((c, i) => [g.curve[i].at, c.at]), off = ([a, b]) => size(minus(add(a, minus(b, a), 0.5), at));
    const [a, b] = steps.reduce((best, step) => (off(step) < off(best) ? step : best));
    return unitVector(minus(b, a));
  }

  // where a world place lies on a body
  function local(poses, body, world) {
    const R = poses.R, k = 9 * body, d = [0, 1, 2].map((i) => world[i] - poses.p[3 * body + i]);
    return [0, 1, 2].map((j) => R[k + j] * d[0] + R[k + 3 + j] * d[1] + R[k + 6 + j] * d[2]);
  }

  // a copy of the scene whose places are the given numbers (three a place); null: as in the file
  function moved(scene, numbers) {
    const at = (place, old) => (numbers && place !== null && place !== undefined ? Array.from(numbers.slice(3 * place, 3 * place + 3)) : old);
    const walk = (node) => {
      if (Array.isArray(node)) return node.map(walk);
      if (node === null || typeof node !== "object") return node;
      const out = {};
      for (const key in node) out[key] = walk(node[key]);
      if ("place" in node) out.at = at(node.place, node.at);
      if (node.points && node.places) out.points = node.points.map((p, i) => at(node.places[i], p));
      return out;
    };
    return walk(scene);
  }

  // the box of everything with places over a list of poses
  // whether a box lies within another one, but for a little, and fills it reasonably
  function within(inner, outer) {
    const sides = outer.high.map((x, i) => x - outer.low[i]), room = 0.04 * Math.max(...sides), wide = Math.max(...inner.high.map((x, i) => x - inner.low[i]));
    return sides.every((_, i) => inner.low[i] >= outer.low[i] - room && inner.high[i] <= outer.high[i] + room) && wide > 0.55 * Math.max(...sides);
  }

  function extent(scene, list) {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    const take = (p) => p.forEach((x, i) => {
      low[i] = Math.min(low[i], x);
      high[i] = Math.max(high[i], x);
    });
    for (const poses of list) {
      for (const piece of scene.pieces) for (const at of piece.points) take(placed(poses, piece.body, at));
      for (const mesh of scene.meshes || []) for (const at of mesh.corners) take(placed(poses, mesh.body, at));
      for (const s of [...scene.pins, ...scene.marks]) take(spot(poses, s.spot));
      for (const t of [...scene.telescopes, ...scene.lines]) t.ends.forEach((e) => take(spot(poses, e)));
      for (const g of scene.guides) {
        track(g, 0).forEach((at) => take(placed(poses, g.spot.body, at)));
      }
      for (const belt of scene.belts || []) {
        belt.spots.forEach((s, i) => [-belt.radii[i], belt.radii[i]].forEach((r) => take(spot(poses, s).map((x) => x + r))));
      }
      for (const x of scene.surfaces || []) if (!x.wall || x.points.length > 2) x.points.forEach((at) => take(placed(poses, x.body, at)));
      for (const cam of scene.cams || []) {
        for (const curve of [cam.profile, cam.groove]) if (curve) curve.points.forEach((at) => take(placed(poses, cam.disc, at)));
      }
      for (const w of scene.wheels) {
        const center = spot(poses, w.spot);
        [-w.radius, w.radius].forEach((r) => take(center.map((x) => x + r)));
      }
    }
    return { low, high };
  }

  // ---------------------------------------------------------------- the camera

  // right-handed axes with the third against gravity: [first, second, up]
  function uprightAxes(gravity) {
    const g = size(gravity) > 0 ? gravity : [0, 0, -1], up = unitVector(g).map((x) => -x);
    const most = [0, 1, 2].reduce((best, i) => (Math.abs(up[i]) > Math.abs(up[best]) ? i : best), 0);
    const next = [0, 0, 0];
    next[(most + 1) % 3] = 1;
    const first = unitVector(add(next, up, -dot(next, up)));
    return [first, cross(up, first), up];
  }

  // directions on the screen for a view from `azimuth` and `elevation` (radians)
  function viewed(axes, azimuth, elevation) {
    const ground = add(axes[0].map((x) => x * Math.cos(azimuth)), axes[1], Math.sin(azimuth));
    const toward = add(ground.map((x) => x * Math.cos(elevation)), axes[2], Math.sin(elevation));
    const right = unitVector(cross(axes[2], toward));
    return { right, up: cross(toward, right), toward };
  }

  const START = { azimuth: (-58 * Math.PI) / 180, elevation: (22 * Math.PI) / 180 };

  function camera(DATA) {
    const axes = uprightAxes(DATA.gravity || [0, 0, 0]);
    const flat = DATA.planar ? { right: [1, 0, 0], up: [0, 1, 0], toward: [0, 0, 1] } : viewed(axes, START.azimuth, START.elevation);
    const c = /** @type {Camera} */ ({ ...flat, axes, ...START, scale: 1, x: 0, y: 0 });
    c.pixel = (p) => [c.x + c.scale * dot(p, c.right), c.y - c.scale * dot(p, c.up)];
    c.direction = (v) => [dot(v, c.right), -dot(v, c.up)];
    c.depth = (p) => dot(p, c.toward);
    // the world place under a pixel, in the plane through `through` parallel to the screen
    c.lift = (x, y, through) => {
      const here = c.pixel(through);
      return add(add(through, c.right, (x - here[0]) / c.scale), c.up, -(y - here[1]) / c.scale);
    };
    c.window = (box, width, height, pad) => {
      const corners = [0, 1, 2, 3, 4, 5, 6, 7].map((k) => [0, 1, 2].map((i) => ((k >> i) & 1 ? box.high[i] : box.low[i])));
      const xs = corners.map((p) => dot(p, c.right)), ys = corners.map((p) => dot(p, c.up));
      const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
      const span = Math.max(x1 - x0, y1 - y0, 1e-9);
      const w = Math.max(width - pad.left - pad.right, 20), h = Math.max(height - pad.top - pad.bottom, 20);
      c.scale = Math.min(w / Math.max(x1 - x0, 1e-3 * span), h / Math.max(y1 - y0, 1e-3 * span));
      c.x = pad.left + w / 2 - (c.scale * (x0 + x1)) / 2;
      c.y = pad.top + h / 2 + (c.scale * (y0 + y1)) / 2;
    };
    c.zoom = (factor, x, y) => {
      c.scale *= factor;
      c.x = x + factor * (c.x - x);
      c.y = y + factor * (c.y - y);
    };
    c.orbit = (dx, dy, about) => {
      const before = c.pixel(about);
      c.azimuth -= dx * 0.008;
      c.elevation = Math.max(-1.5, Math.min(1.5, c.elevation + dy * 0.008));
      Object.assign(c, viewed(axes, c.azimuth, c.elevation));
      const after = c.pixel(about);
      c.x += before[0] - after[0];
      c.y += before[1] - after[1];
    };
    return c;
  }

  Object.assign(LW.draw, {
    SVG, set, make, path, gappedPath, short, mix, look, nice, unit, digits, quantity,
    dot, add, minus, cross, size, unitVector, turned, placed, spot, track, tangent, local, moved, extent, within, uprightAxes, viewed, camera, START,
  });
})();
