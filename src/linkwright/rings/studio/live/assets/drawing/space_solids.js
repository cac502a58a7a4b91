// The parts of a spatial mechanism as three.js meshes: bars as capsules, plates as thin webs with round rims, joints along their
// axes, telescopes, springs, rails, wheels, drives; a grid and flat shadows on the floor for depth. A body is one group whose
// matrix is its pose; only what lies between two bodies is fitted anew in every frame.
(() => {
  "use strict";
  const D = LW.draw;
  const THIN = 2.6; // pixels, when everything fits: bars are not thinner
  const RIM = 1.16; // outlines: the same mesh, fatter, seen from the inside

  const vector = (p) => new THREE.Vector3(p[0], p[1], p[2]);

  // materials by color, shared
  function palette(look) {
    const kept = new Map();
    const get = (key, make) => {
      if (!kept.has(key)) kept.set(key, make());
      return kept.get(key);
    };
    return {
      body: (color) => get("b" + color, () => new THREE.MeshLambertMaterial({ color: look.dark ? D.mix(color, look.ink, 0.08) : D.mix(color, look.paper, 0.16) })),
      unseen: () => get("u", () => new THREE.MeshBasicMaterial({ visible: false })),
      faceted: (color) => get("t" + color, () => new THREE.MeshLambertMaterial({ color: look.dark ? D.mix(color, look.ink, 0.08) : D.mix(color, look.paper, 0.16), side: THREE.DoubleSide, flatShading: true })),
      web: (color) => get("w" + color, () => new THREE.MeshLambertMaterial({ color: D.mix(color, look.paper, 0.42), side: THREE.DoubleSide, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 })),
      rim: (color) => get("r" + color, () => new THREE.MeshBasicMaterial({ color: look.edge(color), side: THREE.BackSide })),
      behind: (color) => get("h" + color, () => new THREE.MeshBasicMaterial({ color: look.edge(color), side: THREE.BackSide, polygonOffset: true, polygonOffsetFactor: 4, polygonOffsetUnits: 4 })),
      glow: (color) => get("g" + color, () => new THREE.MeshBasicMaterial({ color: color, side: THREE.BackSide })),
      plain: (color) => get("p" + color, () => new THREE.MeshLambertMaterial({ color: color })),
      flat: (color) => get("f" + color, () => new THREE.MeshBasicMaterial({ color: color, side: THREE.DoubleSide })),
      over: (color) => get("o" + color, () => new THREE.MeshBasicMaterial({ color: color, depthTest: false, depthWrite: false, transparent: true })),
      line: (color) => get("l" + color, () => new THREE.LineBasicMaterial({ color: color })),
      dispose: () => kept.forEach((m) => m.dispose()),
    };
  }

  // puts a mesh made along +y, of length 1, between two places; thickness across
  function stretch(mesh, a, b, thick) {
    const d = D.minus(b, a), length = D.size(d) || 1e-9;
    mesh.position.set((a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2);
    mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), vector(d).divideScalar(length));
    mesh.scale.set(thick, length, thick);
  }

  const capsule = (radius, length) => new THREE.CapsuleGeometry(radius, length, 8, 20);

  // a bar from a to b in its body: fill and outline
  function bar(kit, group, a, b, radius, body) {
    const { color, name } = body;
    const d = D.minus(b, a), length = D.size(d), along = length > 0 ? vector(d).divideScalar(length) : new THREE.Vector3(0, 1, 0);
    [[radius, kit.paint.body(color), true], [radius * RIM, kit.paint.rim(color), false]].forEach(([r, material, solid]) => {
      const mesh = new THREE.Mesh(capsule(r, length), material);
      mesh.position.copy(vector(D.add(a, d, 0.5)));
      mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), along);
      Object.assign(mesh.userData, solid ? { solid } : { rim: name, usual: material });
      group.add(mesh);
    });
  }

  // the web of a plate: its outline filled in its own plane
  function web(kit, group, points, color) {
    const middle = points.reduce((sum, p) => D.add(sum, p, 1 / points.length), [0, 0, 0]);
    let normal = [0, 0, 0];
    points.forEach((p, i) => {
      normal = D.add(normal, D.cross(D.minus(p, middle), D.minus(points[(i + 1) % points.length], middle)), 1);
    });
    normal = D.unitVector(normal);
    const u = D.unitVector(D.minus(points[0], middle)), v = D.cross(normal, u);
    const flat = points.map((p) => new THREE.Vector2(D.dot(D.minus(p, middle), u), D.dot(D.minus(p, middle), v)));
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.Float32BufferAttribute(points.flat(), 3));
    geometry.setIndex(THREE.ShapeUtils.triangulateShape(flat, []).flat());
    geometry.computeVertexNormals();
    const mesh = new THREE.Mesh(geometry, kit.paint.web(color));
    mesh.userData.solid = true;
    group.add(mesh);
  }

  function bodies(kit) {
    const { scene, DATA } = kit.sheet;
    kit.groups = DATA.bodies.map(() => {
      const group = new THREE.Group();
      group.matrixAutoUpdate = false;
      kit.root.add(group);
      return group;
    });
    D.surfaces(kit);
    const covered = D.covered(scene);
    for (const piece of scene.pieces.filter((p) => !covered.has(p.body))) {
      const group = kit.groups[piece.body], body = DATA.bodies[piece.body], radius = (piece.closed ? 0.72 : 1) * kit.radius;
      piece.points.forEach((p, i) => i && bar(kit, group, piece.points[i - 1], p, radius, body));
      if (piece.closed) {
        bar(kit, group, piece.points[piece.points.length - 1], piece.points[0], radius, body);
        web(kit, group, piece.points, body.color);
      }
    }
  }

  // ---------------------------------------------------------------- joints

  function joint(kit, thing) {
    const { look } = kit.sheet, r = kit.radius, color = thing.grounded ? look.faint : look.dark ? "#dfe6ec" : "#33424f";
    const group = kit.groups[thing.index], add = (geometry, material) => {
      const mesh = new THREE.Mesh(geometry, material);
      mesh.position.copy(vector(thing.at));
      group.add(mesh);
      return mesh;
    };
    if (thing.slider) return;
    if (thing.mark) {
      add(new THREE.SphereGeometry(1.05 * r, 20, 14), kit.paint.plain(look.edge(thing.color)));
      return;
    }
    if (thing.axis) {
      const axis = localAxis(kit, thing), mesh = add(new THREE.CylinderGeometry(1.18 * r, 1.18 * r, 3.4 * r, 24), kit.paint.plain(color));
      mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), vector(axis));
      return;
    }
    add(new THREE.SphereGeometry(1.38 * r, 24, 16), kit.paint.plain(color));
  }

  // a joint's axis is given on the second body; on the ground it is turned there by the poses of the first frame
  function localAxis(kit, thing) {
    const poses = kit.sheet.poses, world = D.turned(poses, thing.axis.body, thing.axis.at);
    if (thing.axis.body === thing.index) return D.unitVector(thing.axis.at);
    const k = 9 * thing.index;
    return D.unitVector([0, 1, 2].map((j) => poses.R[k + j] * world[0] + poses.R[k + 3 + j] * world[1] + poses.R[k + 6 + j] * world[2]));
  }

  // ---------------------------------------------------------------- between two bodies

  function tube(kit, color, solid) {
    const mesh = new THREE.Mesh(new THREE.CylinderGeometry(1, 1, 1, 24), color);
    mesh.userData.solid = solid;
    kit.root.add(mesh);
    return mesh;
  }

  function telescopes(kit) {
    for (const t of kit.sheet.scene.telescopes) {
      const body = kit.sheet.DATA.bodies.find((b) => b.name === t.bodies[0]), color = body ? body.color : "#62708f", r = kit.radius;
      const barrel = tube(kit, kit.paint.body(color), true), barrelRim = tube(kit, kit.paint.rim(color), false);
      const rod = tube(kit, kit.paint.plain(D.mix(color, kit.sheet.look.dark ? "#ffffff" : kit.sheet.look.paper, 0.62)), true), rodRim = tube(kit, kit.paint.rim(color), false);
      if (body) [[barrelRim, t.bodies[0]], [rodRim, t.bodies[1]]].forEach(([mesh, name]) => Object.assign(mesh.userData, { rim: name, usual: mesh.material }));
      kit.movers.push((poses) => {
        const [a, b] = t.ends.map((e) => D.spot(poses, e)), d = D.minus(b, a), length = D.size(d) || 1, share = Math.min(t.barrel, 0.85 * length) / length;
        const cut = D.add(a, d, share), grow = (0.16 * r) / length;
        stretch(barrel, a, cut, 1.25 * r);
        stretch(barrelRim, D.add(a, d, -grow), D.add(a, d, share + grow), 1.25 * r + 0.16 * r);
        stretch(rod, cut, b, 0.58 * r);
        stretch(rodRim, cut, b, 0.58 * r + 0.16 * r);
      });
    }
  }

  class Helix extends THREE.Curve {
    getPoint(t, target = new THREE.Vector3()) {
      const s = Math.max(0, Math.min(1, (t - 0.08) / 0.84)), turn = 2 * Math.PI * 8 * s, r = t < 0.08 || t > 0.92 ? 0 : 1;
      return target.set(r * Math.cos(turn), t - 0.5, r * Math.sin(turn));
    }
  }

  // a short thick ring of rubber between an outer sleeve and an inner one, which is longer and bored; its axis is +y
  function ring(kit) {
    const group = new THREE.Group(), r = kit.radius, steel = "#9aa6b0", rubber = "#2e363d";
    for (const [radius, half, color] of /** @type {[number, number, string][]} */ ([[2.7, 1.7, steel], [2.4, 1.8, rubber], [1.25, 2.7, steel], [0.75, 2.75, rubber]])) {
      const mesh = new THREE.Mesh(new THREE.CylinderGeometry(radius * r, radius * r, 2 * half * r, 36), kit.paint.plain(color));
      mesh.userData.solid = true;
      group.add(mesh);
    }
    kit.root.add(group);
    return group;
  }

  // shares of a line's length from which to which it is drawn: its dashes, in widths, as often as they fit when the page is built
  function dashesOf(item, length, thick) {
    const dashes = item.dashes || [], total = dashes.reduce((sum, x) => sum + x, 0), count = total ? Math.max(1, Math.round(length / (2 * thick * total))) : 0, out = [];
    if (!count) return [[0, 1]];
    const end = count * total - (dashes.length % 2 ? 0 : dashes[dashes.length - 1]);
    for (let k = 0, s = 0; s < end; s += dashes[k++ % dashes.length]) if (k % 2 === 0) out.push([s / end, Math.min(1, (s + dashes[k % dashes.length]) / end)]);
    return out;
  }

  function lines(kit) {
    for (const item of kit.sheet.scene.lines) {
      const spring = item.shape === "coil", material = kit.paint.plain(kit.sheet.look.dark ? "#aab6c0" : "#4c5b68"), thick = spring ? 1.3 * kit.radius : (0.06 + 0.21 * item.width) * kit.radius;
      const [from, to] = item.ends.map((e) => D.spot(kit.sheet.poses, e)), shares = dashesOf(item, D.size(D.minus(to, from)), thick);
      const meshes = spring ? [new THREE.Mesh(new THREE.TubeGeometry(new Helix(), 240, 0.12, 6), material)] : shares.map(() => tube(kit, material, true)), pad = item.shape === "ring" ? ring(kit) : null;
      if (spring) kit.root.add(meshes[0]);
      kit.movers.push((poses) => {
        const [a, b] = item.ends.map((e) => D.spot(poses, e)), d = D.minus(b, a);
        meshes.forEach((mesh, k) => {
          stretch(mesh, D.add(a, d, shares[k][0]), D.add(a, d, shares[k][1]), thick);
          mesh.visible = !(kit.sheet.absent || []).includes(item.name);
        });
        if (!pad) return;
        pad.position.copy(vector(D.add(a, d, 0.5)));
        pad.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), vector(D.unitVector(D.turned(poses, item.ends[0].body, item.about))));
      });
    }
  }

  // rails with their blocks
  function guides(kit) {
    for (const g of kit.sheet.scene.guides) {
      const { look, DATA } = kit.sheet, r = kit.radius, body = g.spot.body, paint = kit.paint.plain(D.mix(look.faint, look.paper, 0.35));
      const rails = D.track(g, 3 * r).slice(1).map(() => tube(kit, paint, false));
      const block = new THREE.Mesh(new THREE.BoxGeometry(1, 1, 1), kit.paint.body(g.block.body ? DATA.bodies[g.block.body].color : look.faint));
      kit.root.add(block);
      kit.movers.push((poses) => {
        const path = D.track(g, 3 * r).map((p) => D.placed(poses, body, p)), at = D.spot(poses, g.block);
        const x = D.turned(poses, body, D.tangent(g, D.local(poses, body, at)));
        rails.forEach((rail, i) => stretch(rail, path[i], path[i + 1], 0.55 * r));
        stretch(block, D.add(at, x, -2.2 * r), D.add(at, x, 2.2 * r), 2.6 * r);
      });
    }
  }

  function wheels(kit) {
    for (const w of kit.sheet.scene.wheels) {
      const mesh = new THREE.Mesh(new THREE.TorusGeometry(w.radius, 0.35 * kit.radius, 10, 72), kit.paint.plain(kit.sheet.look.faint));
      mesh.position.copy(vector(w.spot.at));
      mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), vector(D.unitVector(w.axis)));
      kit.groups[w.spot.body].add(mesh);
    }
  }

  // ---------------------------------------------------------------- drives

  function turningArrow(kit, arrow) {
    const group = new THREE.Group(), r = 4.2 * kit.radius, material = kit.paint.plain(kit.sheet.look.accent), sense = arrow.sense < 0 ? -1 : 1, arc = 1.35 * Math.PI;
    group.add(new THREE.Mesh(new THREE.TorusGeometry(r, 0.19 * kit.radius, 10, 48, arc), material));
    const cone = (angle, way) => {
      const mesh = new THREE.Mesh(new THREE.ConeGeometry(0.72 * kit.radius, 1.9 * kit.radius, 18), material);
      mesh.position.set(r * Math.cos(angle), r * Math.sin(angle), 0);
      mesh.rotation.z = angle + (way > 0 ? 0 : Math.PI);
      group.add(mesh);
    };
    if (sense > 0 || arrow.sense === 0) cone(arc, 1);
    if (sense < 0 || arrow.sense === 0) cone(0, -1);
    group.position.copy(vector(arrow.spot.at));
    group.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), vector(D.unitVector(arrow.axis.at)));
    kit.groups[arrow.spot.body].add(group);
  }

  function slidingArrow(kit, arrow) {
    const material = kit.paint.plain(kit.sheet.look.accent), shaft = tube(kit, material, false), heads = [1, -1].filter((way) => arrow.sense === 0 || way === arrow.sense);
    const cones = heads.map(() => {
      const mesh = new THREE.Mesh(new THREE.ConeGeometry(1, 1, 18), material);
      kit.root.add(mesh);
      return mesh;
    });
    kit.movers.push((poses) => {
      const a = D.spot(poses, arrow.spot), x = arrow.to ? D.unitVector(D.minus(D.spot(poses, arrow.to), a)) : D.turned(poses, arrow.axis.body, arrow.axis.at), r = kit.radius;
      const side = D.unitVector(D.cross(x, Math.abs(D.dot(x, kit.up)) > 0.9 ? kit.sheet.camera.axes[0] : kit.up)), far = arrow.to ? D.size(D.minus(D.spot(poses, arrow.to), a)) : 0;
      const middle = D.add(D.add(a, x, 0.5 * far), side, 2.7 * r), at = (s) => D.add(middle, x, s * r);
      stretch(shaft, at(-3), at(3), 0.16 * r);
      cones.forEach((cone, i) => stretch(cone, at(2.7 * heads[i]), at(4.4 * heads[i]), 0.62 * r));
    });
  }

  // ---------------------------------------------------------------- the floor

  // how far the box reaches along a direction
  function range(box, axis) {
    const ends = [0, 1, 2].map((i) => [box.low[i] * axis[i], box.high[i] * axis[i]]);
    return [ends.reduce((s, x) => s + Math.min(...x), 0), ends.reduce((s, x) => s + Math.max(...x), 0)];
  }

  function floor(kit) {
    const { sheet } = kit, [e1, e2, up] = sheet.camera.axes, [a, b, c] = [e1, e2, up].map((axis) => range(sheet.box, axis));
    const u = D.unit(sheet.DATA, "length").size, step = D.nice((0.27 * Math.max(a[1] - a[0], b[1] - b[0], 0.5 * (c[1] - c[0]))) / u) * u, h = c[0] - 2.2 * kit.radius;
    /** @type {(ends: number[]) => number[]} */
    const bounds = ([low, high]) => [Math.floor(low / step - 0.3), Math.ceil(high / step + 0.3)];
    const [i0, i1] = bounds(a), [j0, j1] = bounds(b), points = [];
    const put = (x, y) => points.push(...D.add(D.add(up.map((v) => v * h), e1, x * step), e2, y * step));
    for (let i = i0; i <= i1; i++) [j0, j1].forEach((j) => put(i, j));
    for (let j = j0; j <= j1; j++) [i0, i1].forEach((i) => put(i, j));
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
    kit.root.add(new THREE.LineSegments(geometry, kit.paint.line(D.mix(sheet.look.faint, sheet.look.paper, 0.7))));
    Object.assign(kit, { step, height: h });
    if (sheet.scene.base.length > 1) base(kit);
  }

  // what stands still: a dashed outline through the joints on the ground, and a foot under each
  function base(kit) {
    const places = kit.sheet.scene.base.map((s) => D.spot(kit.sheet.poses, s)), count = places.length > 2 ? places.length : 1, material = kit.paint.plain(kit.sheet.look.faint);
    for (let i = 0; i < count; i++) {
      const a = places[i], d = D.minus(places[(i + 1) % places.length], a), pieces = Math.max(1, Math.round(D.size(d) / (9 * kit.radius)));
      for (let k = 0; k < pieces; k++) stretch(tube(kit, material, false), D.add(a, d, (k + 0.2) / pieces), D.add(a, d, (k + 0.8) / pieces), 0.22 * kit.radius);
    }
  }

  // flat copies of everything solid, pressed onto the floor against gravity's direction
  function shadows(kit) {
    const material = kit.paint.flat(D.mix(kit.sheet.look.faint, kit.sheet.look.paper, kit.sheet.look.dark ? 0.72 : 0.74)), [ux, uy, uz] = kit.up, h = kit.height;
    const press = new THREE.Matrix4().set(1 - ux * ux, -ux * uy, -ux * uz, h * ux, -uy * ux, 1 - uy * uy, -uy * uz, h * uy, -uz * ux, -uz * uy, 1 - uz * uz, h * uz, 0, 0, 0, 1);
    const pairs = [];
    kit.root.traverse((mesh) => {
      if (!mesh.isMesh || !mesh.userData.solid) return;
      const flat = new THREE.Mesh(mesh.geometry, material);
      flat.matrixAutoUpdate = false;
      flat.frustumCulled = false;
      pairs.push([mesh, flat]);
    });
    const layer = new THREE.Group();
    pairs.forEach(([, flat]) => layer.add(flat));
    kit.root.add(layer);
    kit.after = () => {
      kit.root.updateMatrixWorld(true);
      for (const [mesh, flat] of pairs) {
        flat.matrix.multiplyMatrices(press, mesh.matrixWorld);
        flat.matrixWorldNeedsUpdate = true;
      }
    };
  }

  // ---------------------------------------------------------------- all of them

  // {root, radius, move(poses), dispose(), paint}: the mechanism for a sheet, as D.solids makes it in SVG
  function meshes(sheet, things) {
    const diagonal = D.size(D.minus(sheet.box.high, sheet.box.low)) || 1;
    const radius = Math.max(0.006 * diagonal, THIN * sheet.unit, Math.min(0.013 * diagonal, 0.3 * sheet.scene.bar));
    const kit = { sheet, radius, root: new THREE.Group(), paint: palette(sheet.look), movers: /** @type {((poses: Poses) => void)[]} */ ([]), up: sheet.camera.axes[2], after: () => {} };
    bodies(kit);
    things.forEach((thing) => joint(kit, thing));
    telescopes(kit);
    lines(kit);
    guides(kit);
    wheels(kit);
    sheet.scene.arrows.forEach((arrow) => (arrow.turning ? turningArrow(kit, arrow) : slidingArrow(kit, arrow)));
    floor(kit);
    shadows(kit);
    kit.move = (poses) => {
      kit.groups.forEach((group, k) => {
        const R = poses.R, i = 9 * k, p = poses.p, j = 3 * k;
        group.matrix.set(R[i], R[i + 1], R[i + 2], p[j], R[i + 3], R[i + 4], R[i + 5], p[j + 1], R[i + 6], R[i + 7], R[i + 8], p[j + 2], 0, 0, 0, 1);
        group.matrixWorldNeedsUpdate = true;
      });
      kit.movers.forEach((move) => move(poses));
      kit.after();
    };
    // outlines of bodies: paint(name) gives a color, or null for the usual one
    const rims = [];
    kit.root.traverse((mesh) => mesh.userData.rim && rims.push(mesh));
    kit.mark = (paint) => {
      for (const mesh of rims) {
        const color = paint(mesh.userData.rim), material = color ? kit.paint.glow(color) : mesh.userData.usual;
        if (mesh.material !== material) mesh.material = material;
      }
    };
    kit.dispose = () => {
      kit.root.traverse((node) => node.geometry && node.geometry.dispose());
      kit.paint.dispose();
    };
    return kit;
  }

  Object.assign(D, { meshes, stretch });
})();
