// Select and reshape: a click selects, a drag changes the drawing. Points snap while they are dragged and become one pin with the pin they
// are dropped on; a link takes its points along; a rectangle selects what lies in it.
(() => {
  "use strict";
  const E = LW.edit || (LW.edit = {});
  const D = LW.draw;

  const pointsOf = (drawing, ids) => {
    const names = new Set();
    for (const id of ids) {
      const body = drawing.bodies.find((b) => b.id === id), point = drawing.points.find((p) => p.id === id), joint = drawing.joints.find((j) => j.id === id);
      if (body) body.points.forEach((name) => names.add(name));
      if (point) names.add(point.name);
      if (joint && joint.point) names.add(joint.point);
      for (const item of E.lines(drawing)) if (item.id === id) item.ends.forEach((e) => e.point && names.add(e.point));
    }
    return drawing.points.filter((p) => names.has(p.name) && !p.fixed);
  };

  /** @param {Editor} ed */
  E.selectTool = (ed) => {
    /** @type {any} what is dragged */
    let held = null;
    /** @type {{from: number[], to: number[]} | null} */
    let box = null;
    let drags = 0;
    const label = (count) => (count === 1 ? `Move ${held.points[0].name}` : "Move");

    const take = (p) => {
      const { id } = p.under, d = ed.drawing();
      if (!id) return;
      const already = ed.selection.includes(id);
      if (p.shift) ed.select(already ? ed.selection.filter((x) => x !== id) : [...ed.selection, id]);
      else if (!already) ed.select([id]);
      const points = pointsOf(d, already ? ed.selection : [id]);
      const grabbed = points.find((q) => q.name === p.under.point);
      if (points.length) held = { points, grabbed, from: grabbed ? grabbed.at : ed.sheet.place(p.pixel), start: d, id: `drag${Date.now()}-${++drags}`, asks: points.some((q) => (q.expression || []).some(Boolean)), moved: null, join: null, sent: false };
    };
    const shifted = (p) => {
      const step = ed.sheet.step(), free = p.kind === "free";
      const to = held.grabbed ? p.at : ed.sheet.place(p.pixel).map((x, i) => (free ? x : held.from[i] + Math.round((x - held.from[i]) / step) * step));
      const by = [to[0] - held.from[0], to[1] - held.from[1]];
      return Object.fromEntries(held.points.map((q) => [q.name, [q.at[0] + by[0], q.at[1] + by[1]]]));
    };
    const send = (last) => ed.edit({ do: "move", points: held.moved }, { drag: held.id, label: label(held.points.length), quiet: !last });

    return {
      id: "select", label: "Select", key: "v",
      busy: () => Boolean(held && held.moved) || Boolean(box),
      hint: () => (ed.selection.length ? "Drag to change the drawing. Delete removes the selection." : "Click a part to select it. Drag a pin to change the drawing."),
      field: () => null,
      from: () => null,
      places: () => [],
      clear() { held = box = null; ed.ahead(null); ed.repaint(); },
      finish() {},
      typed: () => "Choose a drawing tool first, or change the length in the panel of the part.",
      moving: () => (held ? held.points.map((q) => q.name) : []),
      // a finger beside everything moves the window
      pans: (press) => press.kind === "touch" && !held,
      down(p) { held = null; take(p); },
      drag(p, press) {
        if (!held) {
          box = { from: press.pixel, to: p.pixel };
          ed.repaint();
          return;
        }
        held.moved = shifted(p);
        held.join = held.points.length === 1 && p.kind === "pin" ? p.point : null;
        ed.ahead(E.withMoved(held.start, held.moved));
        ed.hover(p);
        if (!held.asks && !held.join) { held.sent = true; send(false); }
      },
      up(p, press) {
        const done = held, region = box;
        held = box = null;
        if (region) { ed.select(within(ed, region)); ed.repaint(); return; }
        if (!press.far || !done) { if (!press.far && !p.under.id && !p.shift) ed.select([]); ed.repaint(); return; }
        if (!done.moved) return;
        held = done;
        const op = done.join ? ed.edit({ do: "join", point: done.points[0].name, to: done.join }, { drag: done.id, label: `Join ${done.points[0].name} with ${done.join}` }) : send(true);
        held = null;
        // pins that cannot be one: the point goes back to where it was
        op.then((answer) => { ed.ahead(null); if (done.join && done.sent && answer && answer.kind === "refused") ed.undo(); });
        ed.repaint();
      },
      cancelDrag() { held = box = null; ed.ahead(null); ed.repaint(); },
      preview(parent, now) {
        if (box) {
          const { from, to } = box, [x, y] = [0, 1].map((i) => Math.min(from[i], to[i])), [w, h] = [0, 1].map((i) => Math.abs(from[i] - to[i]));
          D.make("rect", { class: "ed-box", x, y, width: w, height: h }, parent);
        }
        if (!held || !held.moved) return;
        const d = ed.drawing(), names = Object.keys(held.moved), u = ed.units().length;
        for (const b of d.bodies.filter((one) => !one.ground && one.points.some((n) => names.includes(n)) && !one.points.every((n) => names.includes(n)))) {
          const all = d.points.filter((q) => b.points.includes(q.name));
          for (const q of all.filter((one) => names.includes(one.name))) for (const other of all.filter((one) => !names.includes(one.name)).slice(0, 2)) E.dimension(ed.sheet, parent, other.at, q.at, `${E.shown(Math.hypot(q.at[0] - other.at[0], q.at[1] - other.at[1]), u)} ${u.symbol}`, "now");
        }
        if (held.join && now) E.flag(parent, `one pin with ${held.join}`, now.pixel[0] + 14, now.pixel[1] + 14, "now");
      },
    };
  };

  // points and bodies that lie wholly in a rectangle of pixels
  const within = (ed, region) => {
    const low = [0, 1].map((i) => Math.min(region.from[i], region.to[i])), high = [0, 1].map((i) => Math.max(region.from[i], region.to[i])), d = ed.drawing();
    const inside = new Set(d.points.filter((p) => ed.sheet.pixel(p.at).every((x, i) => x >= low[i] && x <= high[i])).map((p) => p.name));
    return [...d.points.filter((p) => inside.has(p.name)).map((p) => p.id), ...d.bodies.filter((b) => !b.ground && b.points.length && b.points.every((n) => inside.has(n))).map((b) => b.id)];
  };

  /** Selected parts moved by the arrow keys. @param {Editor} ed @param {number[]} by steps of the grid @param {string} id of this series of keys */
  E.nudge = (ed, by, id) => {
    const d = ed.drawing(), points = pointsOf(d, ed.selection), step = ed.sheet.step();
    if (!points.length) return false;
    ed.edit({ do: "move", points: Object.fromEntries(points.map((p) => [p.name, [p.at[0] + by[0] * step, p.at[1] + by[1] * step]])) }, { drag: id, label: "Move" });
    return true;
  };
})();
