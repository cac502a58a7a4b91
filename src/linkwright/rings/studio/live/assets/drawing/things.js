// What can be pointed at: pins, marked points and bodies, with their places in the world and on the screen, and words for people
// who hear the page instead of seeing it. The plane and space share them.
(() => {
  "use strict";
  const D = LW.draw;

  function listed(names) {
    return names.length > 1 ? names.slice(0, -1).join(", ") + " and " + names[names.length - 1] : names[0] || "";
  }

  // a pin of the scene as something to point at; ends of springs and cylinders are points of their bodies
  function pinThing(DATA, pin) {
    const name = (index) => DATA.bodies[index].name, moving = [pin.spot.body, ...pin.bodies].find((b) => b > 0) || 0;
    const known = pin.pin !== null && (DATA.pins || []).find((p) => p.name === pin.pin);
    const on = known ? known.bodies : pin.bodies.map(name);
    const moves = !pin.grounded && pin.spot.body > 0;
    if (pin.pin === null) {
      const words = `point ${pin.name} of ${name(pin.spot.body)}`;
      return { kind: "point", name: `${name(pin.spot.body)}.${pin.name}`, body: name(pin.spot.body), label: pin.name, words, moves, spot: pin.spot, grounded: pin.grounded, axis: null, type: "end" };
    }
    const words = `pin ${pin.pin}${pin.grounded ? ", fixed to the ground" : ""}, joins ${listed(on)}`;
    return { kind: "pin", name: pin.pin, body: name(moving), label: pin.name, words, moves, spot: pin.spot, grounded: pin.grounded, axis: pin.axis, type: pin.type };
  }

  // pins, ends and marks, each place once; sliders join where no pin is at their block
  function things(DATA, scene) {
    const out = [], taken = (spot) => out.some((t) => t.spot.body === spot.body && D.size(D.minus(t.spot.at, spot.at)) < 1e-9);
    for (const pin of scene.pins) {
      const thing = pinThing(DATA, pin);
      const twin = out.find((t) => t.name === thing.name && t.kind === thing.kind);
      if (!twin && !(thing.kind === "point" && taken(pin.spot))) out.push(thing);
    }
    for (const m of scene.marks) {
      const words = `point ${m.name} of ${m.body}`;
      out.push({ kind: "point", name: `${m.body}.${m.name}`, body: m.body, label: m.name, words, moves: true, spot: m.spot, mark: true, grounded: false, axis: null, type: "mark" });
    }
    for (const g of scene.guides) {
      if (taken(g.block) || out.some((t) => t.name === g.pin)) continue;
      const body = DATA.bodies[g.block.body || g.spot.body].name, words = `slider ${g.pin}, joins ${DATA.bodies[g.spot.body].name} and ${DATA.bodies[g.block.body].name}`;
      out.push({ kind: "pin", name: g.pin, body, label: g.pin, words, moves: g.block.body > 0, spot: g.block, slider: true, grounded: false, axis: null, type: g.type });
    }
    for (const t of out) {
      t.at = t.spot.at;
      t.index = t.spot.body;
      t.color = DATA.bodies[t.index].color;
    }
    return out;
  }

  // where a body is held by the keyboard: in the middle of what is drawn of it; null for one that is not drawn
  function bodyThing(DATA, scene, index, poses, pixel) {
    const body = DATA.bodies[index], points = scene.pieces.filter((p) => p.body === index).flatMap((p) => p.points);
    for (const mesh of (scene.meshes || []).filter((m) => m.body === index && !points.length)) points.push(mesh.middle);
    for (const t of scene.telescopes) {
      const k = t.bodies.indexOf(body.name), worlds = t.ends.map((e) => D.spot(poses, e));
      if (k >= 0) points.push(D.local(poses, index, D.add(worlds[0], D.minus(worlds[1], worlds[0]), k ? 0.8 : 0.3)));
    }
    for (const rim of D.rims(scene, poses).filter((r) => r.body === index && !points.length)) points.push(D.local(poses, index, rim.center));
    if (index === 0 || !points.length) return null;
    const at = points.reduce((sum, p) => D.add(sum, p, 1 / points.length), [0, 0, 0]), place = D.placed(poses, index, at), [x, y] = pixel(place);
    return { kind: "body", name: body.name, body: body.name, words: `body ${body.name}`, at, place, x, y, moves: true };
  }

  // bring the things to new poses; `pixel` is the camera's
  function aimThings(list, poses, pixel) {
    for (const t of list) {
      t.place = D.spot(poses, t.spot);
      [t.x, t.y] = pixel(t.place);
    }
  }

  // outlines of the bodies on the screen, in space the far ones first: [{kind, name, body, moves, segments: [x, y, x, y, half, A, B], polygons, through}]
  function solidsOnScreen(DATA, scene, poses, camera, half) {
    const out = [], pixel = camera.pixel;
    const entry = (index) => {
      const body = DATA.bodies[index];
      out.push({ kind: "body", name: body.name, body: body.name, index, moves: index > 0, segments: [], polygons: [], through: null });
      return out[out.length - 1];
    };
    const segment = (s, a, b) => s.segments.push([...pixel(a), ...pixel(b), half, a, b]);
    const covered = D.covered(scene);
    for (const mesh of (scene.meshes || []).filter((m) => m.body > 0)) {
      const s = entry(mesh.body), polygon = D.onScreen(mesh, poses, pixel);
      s.polygons.push(polygon);
      s.through = D.placed(poses, mesh.body, mesh.middle);
      D.hull(polygon).forEach((p, i, all) => s.segments.push([...all[(i || all.length) - 1], ...p, 1, s.through, s.through]));
    }
    for (const piece of scene.pieces.filter((p) => !covered.has(p.body))) {
      const s = entry(piece.body), world = piece.points.map((p) => D.placed(poses, piece.body, p));
      world.forEach((p, i) => i && segment(s, world[i - 1], p));
      if (piece.closed) {
        segment(s, world[world.length - 1], world[0]);
        s.polygons.push(world.map((p) => pixel(p)));
      }
      s.through = world.reduce((sum, p) => D.add(sum, p, 1 / world.length), [0, 0, 0]);
    }
    for (const t of scene.telescopes) {
      const [a, b] = t.ends.map((e) => D.spot(poses, e)), d = D.minus(b, a), cut = D.add(a, d, Math.min(0.85, t.barrel / (D.size(d) || 1)));
      if (!t.bodies[0]) continue;
      [[t.bodies[0], a, cut], [t.bodies[1], cut, b]].forEach(([name, from, to]) => {
        const s = entry(DATA.bodies.findIndex((body) => body.name === name));
        segment(s, from, to);
        s.through = from;
      });
    }
    for (const rim of D.rims(scene, poses)) {
      const s = entry(rim.body);
      rim.points.forEach((p, i, all) => segment(s, all[(i || all.length) - 1], p));
      s.polygons.push(rim.points.map((p) => pixel(p)));
      s.through = rim.center;
    }
    return DATA.planar ? out : out.sort((a, b) => camera.depth(a.through) - camera.depth(b.through));
  }

  Object.assign(D, { things, bodyThing, aimThings, solidsOnScreen });
})();
