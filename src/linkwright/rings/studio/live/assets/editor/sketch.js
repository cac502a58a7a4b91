// The drawing of the file as a scene for the sheet: the same shapes as on the page of a mechanism, put together from what is drawn so
// far instead of from a mechanism that can be computed. All bodies are at rest where they are drawn, so places are world places.
(() => {
  "use strict";
  const E = LW.edit || (LW.edit = {});
  const BAR = 0.1; // width of a bar, of the typical link
  const RAIL = 0.7; // half of a guide, of the typical link
  const BARREL = 0.55; // of a cylinder's length
  const FIRST = /** @type {Record<string, number>} */ ({ mm: 400, cm: 40, in: 16, ft: 2, m: 2 }); // width of an empty sheet, in the file's unit

  /** Everything of a drawing that has two ends. @param {Drawing} d */
  E.lines = (d) => d.elements.filter((x) => x.ends && x.looks.shape && x.ends.every((e) => e.at));

  /** The element whose travel can be driven by this name. @param {Drawing} d @param {string} name */
  E.driven = (d, name) => d.elements.find((x) => x.coordinate && x.name === name && x.ends);

  /** Wheels of gear pairs that have a place and a radius: {id, at, radius}. @param {Drawing} d */
  E.wheels = (d) => d.elements.flatMap((x) => (x.wheels ? x.wheels.radii : []).map((r, i) => ({ id: x.id, at: x.centers[i], radius: Math.abs(r || 0) }))).filter((w) => w.at && w.radius > 0);

  /** The constant force of what acts at a point; null where there is none. @param {DrawnElement} x */
  E.forceOf = (x) => {
    const found = x.on ? x.numbers.find((n) => n.axes === "along" && Array.isArray(n.value)) : null, v = found ? found.value : [];
    return v.length === 2 && v.every((c) => c !== null) && Math.hypot(v[0], v[1]) > 0 ? v : null;
  };

  const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);

  // the median of the longest sides of bodies and of what lies between two places; null where nothing has a length
  const typical = (d, places) => {
    const lengths = d.bodies.filter((b) => !b.ground).map((b) => {
      const all = b.points.map((name) => places.get(name)).filter(Boolean);
      return Math.max(0, ...all.slice(1).map((p, i) => distance(p.at, all[i].at)));
    });
    const found = [...lengths, ...E.lines(d).map((x) => distance(x.ends[0].at, x.ends[1].at))].filter((x) => x > 0).sort((a, b) => a - b);
    return found.length ? found[Math.floor(found.length / 2)] : null;
  };

  /** The window of a drawing: its extent, or a round piece of empty paper. @param {EditAnswer} answer */
  E.extent = (answer) => {
    const unit = answer.units.length, width = (FIRST[unit.symbol] || 4) * unit.size, found = answer.drawing.extent;
    if (!found) return { low: [-0.25 * width, -0.25 * width, 0], high: [0.75 * width, 0.5 * width, 0] };
    const room = (i, least) => Math.max(0, (least - (found.high[i] - found.low[i])) / 2);
    const [x, y] = [room(0, width / 4), room(1, width / 5)];
    return { low: [found.low[0] - x, found.low[1] - y, 0], high: [found.high[0] + x, found.high[1] + y, 0] };
  };

  const spot = (body, at) => ({ body, at: [at[0], at[1], 0], place: null });

  // sliders and slots as guides; the block is at the place where they are drawn
  const guides = (d, index, half) =>
    d.joints.filter((j) => (j.kind === "slider" || j.kind === "slot") && j.axis && j.at).map((j) => ({
      name: j.name, pin: j.point || j.name, type: j.type, turns: j.kind === "slot", spot: spot(index(j.first), j.at),
      axis: { body: index(j.first), at: [j.axis[0], j.axis[1], 0], place: null }, block: spot(index(j.second), j.at), low: -half, high: half, curve: null,
    }));

  const pieces = (d, index, places) => d.bodies.filter((b) => !b.ground).flatMap((b) =>
    b.outline.map((names) => {
      const closed = names.length > 3 && names[0] === names[names.length - 1], used = closed ? names.slice(0, -1) : names;
      const points = used.map((name) => places.get(name)).filter(Boolean).map((p) => [p.at[0], p.at[1], 0]);
      return { body: index(b.name), points: points.length === 1 ? [points[0], points[0]] : points, places: points.map(() => null), closed };
    }).filter((p) => p.points.length));

  // a drive as an arrow: about a hinge, along a guide or between the ends of a cylinder
  const arrows = (d) => d.drives.filter((x) => x.at).map((x) => {
    const line = E.driven(d, x.joint), joint = d.joints.find((j) => j.name === x.joint);
    const axis = x.slides && joint && joint.axis ? [joint.axis[0], joint.axis[1], 0] : [0, 0, 1];
    return { name: x.joint, turning: !x.slides, spot: spot(0, line ? line.ends[0].at : x.at), to: line ? spot(0, line.ends[1].at) : null,
      sense: Math.sign(x.value || 0), axis: { body: 0, at: axis, place: null } };
  });

  /** DATA of a sheet: what the drawing needs of a page's DATA. @param {EditAnswer} answer */
  E.sheetData = (answer) => {
    const d = answer.drawing, ground = d.bodies.filter((b) => b.ground), bodies = [...ground.slice(0, 1), ...d.bodies.filter((b) => !b.ground)];
    if (!ground.length) bodies.unshift(/** @type {any} */ ({ name: "ground", ground: true }));
    const index = (name) => Math.max(0, bodies.findIndex((b) => b.name === name)), places = new Map(d.points.map((p) => [p.name, p]));
    const link = typical(d, places), extent = E.extent(answer), size = link || 0.3 * (extent.high[0] - extent.low[0]);
    const owner = (p) => index(p.bodies.find((b) => b !== bodies[0].name) || bodies[0].name);
    const pins = d.points.filter((p) => p.pin || p.grounded), marks = d.points.filter((p) => !p.pin && !p.grounded);
    const lines = E.lines(d), ended = (x) => x.ends.map((e) => spot(index(e.body), e.at));
    return {
      name: answer.name, planar: true, units: answer.units, gravity: [...(answer.gravity || [0, 0]), 0], points: [],
      bodies: bodies.map((b) => ({ name: b.name, ground: b.ground, color: b.color || "#8593a0", points: [] })),
      pins: pins.map((p) => ({ name: p.name, bodies: p.bodies })),
      scene: {
        pieces: pieces(d, index, places), meshes: [], base: [], places: [],
        pins: pins.map((p) => ({ name: p.name, spot: spot(owner(p), p.at), grounded: p.grounded, type: "revolute", pin: p.name, bodies: p.bodies.map(index), axis: null })),
        guides: guides(d, index, RAIL * size),
        telescopes: lines.filter((x) => x.looks.shape === "telescope").map((x) => ({ name: x.name, bodies: ["", ""], ends: ended(x), barrel: BARREL * distance(x.ends[0].at, x.ends[1].at) })),
        lines: [
          ...lines.filter((x) => x.looks.shape !== "telescope").map((x) => ({ ...x.looks, name: x.name, ends: ended(x) })),
          ...d.touches.map((x) => ({ shape: "line", width: 0.8, dashes: [3, 3], name: x.name, ends: x.ends.map((at) => spot(0, at)) })),
        ],
        surfaces: d.surfaces.map((x) => ({ ...x, body: index(x.body), points: x.points.map((at) => [at[0], at[1], 0]) })),
        wheels: E.wheels(d).map((w) => ({ spot: spot(0, w.at), axis: [0, 0, 1], radius: w.radius })),
        arrows: arrows(d),
        marks: marks.map((p) => ({ body: p.bodies[0] || bodies[0].name, name: p.name.replace(/^.*\./, ""), spot: spot(owner(p), p.at) })),
        extent, bar: BAR * size,
      },
    };
  };

  /** Poses of bodies that are where they are drawn. @param {number} count */
  E.drawnPoses = (count) => {
    const R = new Float64Array(9 * count), p = new Float64Array(3 * count);
    for (let k = 0; k < count; k++) R[9 * k] = R[9 * k + 4] = R[9 * k + 8] = 1;
    return { R, p };
  };

  /** A copy of a drawing in which points are elsewhere, with all that is drawn at them. @param {Drawing} drawing @param {Record<string, number[]>} moved */
  E.withMoved = (drawing, moved) => {
    const at = (name, old) => (name !== null && moved[name] ? moved[name] : old);
    const own = (e) => ({ ...e, at: at(e.point, at(`${e.body}.${e.point}`, e.at)) });
    const hinge = (name) => { const j = drawing.joints.find((x) => x.name === name); return j ? j.point : null; };
    const joints = drawing.joints.map((j) => ({ ...j, at: at(j.point, j.at) }));
    return {
      ...drawing, joints,
      points: drawing.points.map((p) => ({ ...p, at: at(p.name, p.at) })),
      bodies: drawing.bodies.map((b) => (b.length !== null && b.points.some((n) => moved[n]) && b.shape === "drawn" ? { ...b, length: E.lengthOf(drawing, b.points, moved) } : b)),
      elements: drawing.elements.map((x) => ({ ...x, ends: x.ends && x.ends.map(own), on: x.on && own(x.on), at: at(hinge(x.joint), x.at), centers: x.centers.map((c, i) => at(hinge(x.joints[i]), c)) })),
      drives: drawing.drives.map((x) => ({ ...x, at: at(hinge(x.joint), x.at) })),
    };
  };

  /** Distance of two points of a drawing. @param {Drawing} drawing @param {string[]} names @param {Record<string, number[]>} [moved] */
  E.lengthOf = (drawing, names, moved = {}) => {
    const [a, b] = names.slice(0, 2).map((name) => moved[name] || (drawing.points.find((p) => p.name === name) || { at: [0, 0] }).at);
    return distance(a, b);
  };
})();
