// Belts, chains and ropes in the plane: discs of the pulleys, with a line from the center that shows their rotation, and the line of the
// belt, which is tangents and arcs.
(() => {
  "use strict";
  const D = LW.draw;
  const ARC = 0.1; // radians of an arc between two of its points

  // direction and tangent points of the span between two pulleys; s is the radius, negative where the belt passes clockwise
  const tangent = (a, b, sa, sb) => {
    const dx = b[0] - a[0], dy = b[1] - a[1], h = sb - sa, square = dx * dx + dy * dy || 1, length = Math.sqrt(Math.max(square - h * h, 0));
    const u = [(length * dx + h * dy) / square, (length * dy - h * dx) / square];
    return { angle: Math.atan2(u[1], u[0]), start: [a[0] + sa * u[1], a[1] - sa * u[0]], end: [b[0] + sb * u[1], b[1] - sb * u[0]] };
  };

  // points of the line of a belt round pulleys with these centers
  function beltPath(centers, belt) {
    const { radii, turns, closed } = belt, n = centers.length, count = closed ? n : n - 1, out = [];
    const spans = Array.from({ length: count }, (_, i) => tangent(centers[i], centers[(i + 1) % n], turns[i] * radii[i], turns[(i + 1) % n] * radii[(i + 1) % n]));
    spans.forEach((span, k) => {
      const j = (k + 1) % n, turn = turns[j];
      out.push(span.start, span.end);
      if (!turn || (!closed && k + 1 === count)) return;
      const whole = 2 * Math.PI, angle = (((turn * (spans[(k + 1) % count].angle - span.angle)) % whole) + whole) % whole;
      for (let t = ARC; t < angle; t += ARC) {
        const at = span.angle + turn * (t - Math.PI / 2);
        out.push([centers[j][0] + radii[j] * Math.cos(at), centers[j][1] + radii[j] * Math.sin(at)]);
      }
    });
    return out;
  }

  // builds the belts of a sheet
  function belts(sheet) {
    const { look, DATA, camera } = sheet;
    for (const belt of sheet.scene.belts || []) {
      const discs = belt.spots.map((spot, i) => {
        const color = belt.turning[i] ? DATA.bodies[spot.body].color : look.faint, radius = belt.radii[i] * camera.scale;
        const group = D.make("g", { class: "lw-pulley", "data-belt": belt.name }, sheet.layers.ground);
        if (radius > 0) D.make("circle", { r: D.short(radius), fill: look.web(color), stroke: look.edge(color), "stroke-width": 1.3 }, group);
        if (radius > 0 && belt.turning[i]) D.set(D.line(group, look.edge(color), 1.3), { d: D.path([[0, 0], [0.86 * radius, 0]]) });
        return group;
      });
      const node = D.line(sheet.layers.ground, look.ink, 2.4);
      node.setAttribute("data-line", belt.name);
      sheet.movers.push((poses) => {
        const centers = belt.spots.map((s) => D.spot(poses, s));
        discs.forEach((group, i) => {
          const k = 9 * belt.spots[i].body, [x, y] = camera.pixel(centers[i]), turned = (-Math.atan2(poses.R[k + 3], poses.R[k]) * 180) / Math.PI;
          group.setAttribute("transform", `translate(${D.short(x)} ${D.short(y)}) rotate(${D.short(turned)})`);
        });
        node.setAttribute("d", D.path(beltPath(centers, belt).map((p) => camera.pixel([p[0], p[1], 0])), belt.closed));
      });
    }
  }

  // rims of pulleys that turn with their bodies: [{body, center, points}]
  function rims(scene, poses) {
    const out = [];
    for (const belt of scene.belts || []) {
      belt.spots.forEach((spot, i) => {
        if (!belt.turning[i] || !(belt.radii[i] > 0) || !spot.body) return;
        const center = D.spot(poses, spot), at = (t) => [center[0] + belt.radii[i] * Math.cos(t), center[1] + belt.radii[i] * Math.sin(t), center[2]];
        out.push({ body: spot.body, center, points: Array.from({ length: 24 }, (_, k) => at((k * Math.PI) / 12)) });
      });
    }
    return out;
  }

  Object.assign(D, { belts, beltPath, rims });
})();
