// The drawing tools. Each collects places until it has enough, shows what it would draw, and then asks the server for one operation.
//
// A place is {at, kind, point, text, body, joint}: where the pointer is meant to be, the drawn point it snapped to, the body or the
// joint under it. A tool has `places(n)`: what place number n is for, `enough`, `op(places)` and what it draws under the pointer.
(() => {
  "use strict";
  const E = LW.edit || (LW.edit = {});
  const D = LW.draw;
  const SPEED = { turns: "60 rpm", slides: "100 mm/s" }; // of a new motor
  const FORCE = 100; // N of a new load
  const NEAR = 1e-9; // m between places that are the same
  const TYPED = 1e-6; // m within which a typed place is the pin that is drawn there: coordinates are read off a panel

  const minus = (a, b) => [a[0] - b[0], a[1] - b[1]];
  const length = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
  const same = (a, b) => (a.point && a.point === b.point) || length(a.at, b.at) < NEAR;
  const where = (p) => (p.point ? p.point : { at: p.at });
  const end = (p) => (p.point ? p.point : { at: p.at, body: p.body || "ground" });
  const direction = (a, b) => { const d = minus(b, a), n = Math.hypot(d[0], d[1]) || 1; return [Number((d[0] / n).toFixed(9)), Number((d[1] / n).toFixed(9))]; };

  /** The joint that a motor at a place would turn: that of the ground, if there is one. */
  E.jointAt = (drawing, p) => {
    if (p.joint) return drawing.joints.find((j) => j.name === p.joint) || E.driven(drawing, p.joint) || null;
    const found = drawing.joints.filter((j) => j.point === p.point && p.point), ground = drawing.bodies.find((b) => b.ground);
    return found.find((j) => ground && (j.first === ground.name || j.second === ground.name)) || found[0] || null;
  };

  // ---------------------------------------------------------------- what is shown under the pointer

  const paintLine = (ed, parent, a, b, text) => {
    const [p, q] = [ed.sheet.pixel(a), ed.sheet.pixel(b)];
    D.make("path", { class: "ed-preview", d: D.path([p, q]) }, parent);
    if (text) E.dimension(ed.sheet, parent, a, b, text, "now");
  };
  const measured = (ed, a, b) => {
    const u = ed.units().length, d = minus(b, a);
    return `${E.shown(Math.hypot(d[0], d[1]), u)} ${u.symbol}  ${E.shown(E.degrees(d), { size: 1 }).replace(/(\.\d)\d+$/, "$1")}°`;
  };
  const paintAll = (ed, parent, places, now) => {
    const all = now ? [...places, now] : places;
    all.forEach((p, i) => {
      if (i) paintLine(ed, parent, all[i - 1].at, p.at, p === now ? measured(ed, all[i - 1].at, p.at) : "");
      E.ring(ed.sheet, parent, p.at, "now", 6);
    });
  };

  // ---------------------------------------------------------------- typed values

  const tooSmall = "A length must be greater than 0.";
  // a typed place, and the drawn point that lies there
  const typedAt = (ed, at, written) => {
    const there = ed.drawing().points.find((p) => length(p.at, at) < TYPED);
    return there ? { at: there.at.slice(), kind: "typed", point: there.name, text: "" } : { at, kind: "typed", text: "", written };
  };
  // a place from typed text, as seen from the last one
  const typedPlace = (ed, text, from, now) => {
    const t = E.typed(text, ed.units().length);
    if (t.problem) return t;
    if (t.at) return typedAt(ed, t.at);
    if (!from) return { problem: `The first place needs two numbers: 120; 50 (${ed.units().length.symbol}).` };
    if (!(t.size > 0)) return { problem: tooSmall };
    if (t.angle === undefined && (!now || same(now, { at: from }))) return { problem: "Point in the direction first, or type it: 120<30." };
    const d = t.angle === undefined ? direction(from, now.at) : [Math.cos(t.angle), Math.sin(t.angle)];
    return typedAt(ed, [from[0] + t.size * d[0], from[1] + t.size * d[1]], t.written);
  };

  // ---------------------------------------------------------------- the tools

  /** What all tools share. @param {Editor} ed @param {any} spec */
  const collecting = (ed, spec) => {
    let places = [];
    const tool = {
      ...spec,
      places: () => places,
      from: () => (places.length && !spec.free ? places[places.length - 1].at : null),
      clear() { places = []; ed.repaint(); },
      busy: () => places.length > 0,
      turned: () => Boolean(spec.aims) && places.length > 0, // the next place is only a direction
      hint: () => spec.hints(places, ed),
      field: () => spec.field(places, ed),
      click(p) {
        const why = spec.refuse ? spec.refuse(p, places, ed) : "";
        if (why) { ed.say(why, "warn"); return; }
        if (spec.instead && spec.instead(p, places)) places = [];
        const last = places[places.length - 1];
        if (last && same(last, p)) { if (spec.many && places.length > 1) tool.finish(); return; }
        places = [...places, p];
        if (spec.enough(places)) tool.finish();
        else ed.repaint();
      },
      // Enter, a right click, the last pin again
      finish() {
        const done = places;
        if (spec.least > done.length) { tool.clear(); return; }
        places = [];
        const made = spec.op(done, ed);
        if (made) ed.edit(made, { label: spec.done });
        ed.repaint();
      },
      typed(text, now) {
        if (spec.typed) return spec.typed(text, places, ed, now, tool);
        const p = typedPlace(ed, text, tool.from(), now);
        if (p.problem) return p.problem;
        tool.click(p);
        return "";
      },
      preview(parent, now) { (spec.paint || paintAll)(ed, parent, places, now); },
    };
    return tool;
  };

  const LENGTH = (places, ed) => (places.length ? { label: "Length", hint: `${ed.units().length.symbol}, or 120<30` } : { label: "Place", hint: `x; y in ${ed.units().length.symbol}` });
  /** The tool of a kind of elements between two points, by its description. @param {Editor} ed @param {ElementKind} kind @param {ElementTool} tool */
  const twoEnds = (ed, kind, tool) => collecting(ed, {
    id: kind.word, label: tool.label, key: tool.key, looks: kind.looks, least: 2, onLinks: true, done: `Add ${kind.word}`, enough: (places) => places.length === 2, field: LENGTH,
    hints: (places) => (places.length ? `Click the other end of the ${kind.word}.` : `Click where the ${kind.word} begins: a pin, a point, a link or the ground.`),
    op: ([a, b]) => ({ do: `add_${kind.word}`, between: [end(a), end(b)] }),
  });
  /** The tool of a kind of elements in a joint. @param {Editor} ed @param {ElementKind} kind @param {ElementTool} tool */
  const inJoint = (ed, kind, tool) => collecting(ed, {
    id: kind.word, label: tool.label, key: tool.key, looks: kind.looks, least: 1, free: true, done: `Add ${kind.word}`, enough: () => true, field: () => null,
    refuse: (p) => (E.jointAt(ed.drawing(), p) ? "" : "Click a hinge or a slider: two parts that move on each other."),
    hints: () => `Click the hinge or slider that gets the ${kind.word}.`,
    op: ([p], e) => ({ do: `add_${kind.word}`, joint: E.jointAt(e.drawing(), p).name }),
    typed: () => "Click a hinge or a slider.",
    paint: () => {},
  });

  const pin = (ed) => collecting(ed, {
    id: "pin", label: "Ground pin", key: "g", least: 1, free: true, done: "Add ground pin", enough: () => true, field: LENGTH,
    hints: () => "Click where the ground holds a pin, or a pin to fix.",
    op: ([p]) => (p.point ? { do: "set_ground", point: p.point, ground: true } : { do: "add_pin", at: p.at, ground: true }),
  });
  const link = (ed) => collecting(ed, {
    id: "link", label: "Link", key: "l", least: 2, many: true, done: "Add link", enough: () => false, field: LENGTH,
    hints: (places) => ["Click the first pin of the link, or drag from pin to pin.", "Click the next pin, or type the length."][places.length] || "Click further pins. Click the last pin again, press Enter or right-click to end the link.",
    op: (places) => ({ do: "add_link", through: places.map(where), ...(places.length === 2 && places[1].written && !places[1].point ? { length: places[1].written } : {}) }),
  });
  const point = (ed) => collecting(ed, {
    id: "point", label: "Point", key: "p", least: 2, done: "Add point", enough: (places) => places.length === 2, free: true, field: (places, e) => LENGTH([], e),
    start: () => { const [one] = ed.selection; return one && one.startsWith("body:") ? { at: [0, 0], body: one.slice(5), chosen: true } : null; },
    refuse: (p, places) => (places.length || p.body ? "" : "First click the link that carries the point."),
    instead: (p, places) => places.length === 1 && places[0].chosen && p.body && p.body !== places[0].body && !p.chosen, // another link was meant
    hints: (places) => (places.length ? `Click where the point of ${places[0].body} is.` : "Click the link that carries the point."),
    op: ([a, p]) => ({ do: "add_point", at: p.at, body: a.body }),
    paint: (e, parent, places, now) => { if (now && places.length) E.ring(e.sheet, parent, now.at, "now", 6); },
  });
  const slider = (ed) => collecting(ed, {
    id: "slider", label: "Slider", key: "s", least: 2, done: "Add slider", enough: (places) => places.length === 2,
    field: (places, e) => (places.length ? { label: "Direction", hint: "deg" } : LENGTH(places, e)),
    hints: (places) => (places.length ? "Click in the direction of the guide. Along a link below the pin, the link carries it." : "Click the pin that slides."),
    op: ([a, b]) => ({ do: "add_slider", at: where(a), ...(b.turn ? { angle: b.turn } : { axis: direction(a.at, b.at) }) }),
    typed: (text, places, e, now, tool) => {
      if (!places.length) { const p = typedPlace(e, text, null, now); if (p.problem) return p.problem; tool.click(p); return ""; }
      const angle = E.quantity(text.replace(/^.*</, ""), { size: Math.PI / 180 });
      if (!Number.isFinite(angle)) return `“${text}” is not a direction. Type degrees: 30.`;
      const at = places[0].at;
      tool.click({ at: [at[0] + Math.cos(angle) * e.sheet.step(), at[1] + Math.sin(angle) * e.sheet.step()], kind: "typed", turn: E.degreesText(text.replace(/^.*</, "")) });
      return "";
    },
    paint: (e, parent, places, now) => {
      if (!places.length || !now) return;
      const a = places[0].at, d = direction(a, now.at), r = 70 / e.sheet.scale();
      paintLine(e, parent, [a[0] - r * d[0], a[1] - r * d[1]], [a[0] + r * d[0], a[1] + r * d[1]], "");
      E.flag(parent, `guide ${E.shown(E.degrees(d), { size: 1 }).replace(/(\.\d)\d+$/, "$1")}°`, e.sheet.pixel(now.at)[0] + 14, e.sheet.pixel(now.at)[1] - 32, "now");
    },
  });

  const gears = (ed) => collecting(ed, {
    id: "gears", label: "Gear pair", key: "e", least: 3, done: "Add gear pair", enough: (places) => places.length === 3, free: true,
    field: (places, e) => (places.length === 2 ? { label: "Radius", hint: `of the first, ${e.units().length.symbol}` } : null),
    refuse: (p, places) => {
      if (places.length === 2) return "";
      const j = E.jointAt(ed.drawing(), p);
      return j && j.kind === "hinge" ? "" : "Click a hinge: a pin at which a link turns on the ground or on another link.";
    },
    hints: (places) => ["Click the hinge of the first wheel.", "Click the hinge of the second wheel.", "Click the point of contact of the wheels, or type the radius of the first."][places.length],
    op: ([a, b, c], e) => {
      const [r, far] = radii(a, b, c, e);
      return { do: "add_gears", joints: [a, b].map((p) => E.jointAt(e.drawing(), p).name), radii: [r, far - r] };
    },
    typed: (text, places, e, now, tool) => {
      const r = E.quantity(text, e.units().length), far = places.length === 2 ? length(places[0].at, places[1].at) : 0;
      if (places.length !== 2) return "Click the two hinges first.";
      if (!(r > 0 && r < far)) return `The radius must be between 0 and the distance of the hinges, ${E.shown(far, e.units().length)} ${e.units().length.symbol}.`;
      tool.click({ at: places[0].at, kind: "typed", radius: r });
      return "";
    },
    paint: (e, parent, places, now) => {
      places.forEach((p) => E.ring(e.sheet, parent, p.at, "now", 8));
      if (places.length !== 2 || !now) return;
      const [r, far] = radii(places[0], places[1], now, e), u = e.units().length;
      [[places[0], r], [places[1], far - r]].forEach(([p, size]) => E.ring(e.sheet, parent, p.at, "now", size * e.sheet.scale()));
      E.flag(parent, `${E.shown(r, u)} : ${E.shown(far - r, u)} ${u.symbol}`, e.sheet.pixel(now.at)[0] + 14, e.sheet.pixel(now.at)[1] - 32, "now");
    },
  });
  const radii = (a, b, c, ed) => {
    const far = length(a.at, b.at), d = direction(a.at, b.at), step = ed.sheet.step(), along = (c.at[0] - a.at[0]) * d[0] + (c.at[1] - a.at[1]) * d[1];
    if (c.radius) return [c.radius, far];
    return [Math.max(Math.min(step, far / 4), Math.min(far - Math.min(step, far / 4), Math.round(along / step) * step)), far];
  };

  const load = (ed) => collecting(ed, {
    id: "load", label: "Load", key: "f", least: 2, onLinks: true, aims: true, done: "Add load", enough: (places) => places.length === 2,
    field: (places, e) => (places.length ? { label: "Force", hint: `${e.units().force.symbol}, or 500<-90` } : null),
    refuse: (p, places) => (places.length || p.point || p.body ? "" : "Click a point or a link that carries the load."),
    hints: (places) => (places.length ? "Click in the direction of the force, or type it: 500<-90." : "Click the point or the link that carries the load."),
    op: ([a, b]) => {
      const d = direction(a.at, b.at), size = b.force || FORCE;
      return { do: "add_load", on: end(a), force: d.map((x) => `${Number((size * x).toPrecision(9))} N`) };
    },
    typed: (text, places, e, now, tool) => {
      if (!places.length) return "Click the point that carries the load first.";
      const [size, angle] = text.split("<"), force = E.quantity(size, e.units().force), a = places[0].at, turn = angle === undefined ? NaN : E.quantity(angle, { size: Math.PI / 180 });
      if (!Number.isFinite(force) || !force || (angle !== undefined && !Number.isFinite(turn))) return `“${text}” is not a force. Type 500 or 500<-90 (${e.units().force.symbol} and degrees).`;
      if (angle === undefined && (!now || same(now, places[0]))) return "Point in the direction first, or type it: 500<-90.";
      const d = angle === undefined ? direction(a, now.at) : [Math.cos(turn), Math.sin(turn)];
      tool.click({ at: [a[0] + d[0], a[1] + d[1]], kind: "typed", force });
      return "";
    },
    paint: (e, parent, places, now) => {
      if (places.length && now && !same(places[0], now)) E.forceArrow(e.sheet, parent, places[0].at, minus(now.at, places[0].at), "now", `${FORCE} N, ${E.shown(E.degrees(minus(now.at, places[0].at)), { size: 1 }).replace(/(\.\d)\d+$/, "$1")}°`);
    },
  });

  let speed = ""; // typed before the hinge is clicked
  const motor = (ed) => collecting(ed, {
    id: "motor", label: "Motor", key: "m", least: 1, free: true, done: "Add motor", enough: () => true,
    field: () => ({ label: "Speed", hint: "60 rpm", value: speed }),
    refuse: (p) => (E.jointAt(ed.drawing(), p) ? "" : "Click a hinge, a slider or a cylinder: a motor needs two parts that move on each other."),
    hints: () => (speed ? `Click the hinge, slider or cylinder that runs at ${speed}.` : "Click the hinge, slider or cylinder to drive. Type the speed before or afterwards."),
    op: ([p], e) => {
      const j = E.jointAt(e.drawing(), p), turns = j.kind === "hinge", value = speed || (turns ? SPEED.turns : SPEED.slides);
      speed = "";
      return { do: "set_drive", joint: j.name, value };
    },
    typed: (text) => {
      if (!Number.isFinite(E.quantity(text, { size: 1 }))) return `“${text}” is not a speed. Type 45, 45 rpm or 100 mm/s.`;
      speed = E.pointed(text);
      ed.repaint();
      return "";
    },
    paint: () => {},
  });

  const mirror = (ed) => collecting(ed, {
    id: "mirror", label: "Mirror", least: 2, done: "Mirror", enough: (places) => places.length === 2, field: LENGTH, once: true,
    hints: (places) => (places.length ? "Click a second place of the mirror line." : "Click a place on the mirror line."),
    op: ([a, b]) => ({ do: "mirror", ids: ed.selection.slice(), line: [a.at, b.at], copy: true }),
  });

  const scale = (ed) => collecting(ed, {
    id: "scale", label: "Scale", least: 3, done: "Scale the picture", enough: (places) => places.length === 3, once: true, unsnapped: true,
    field: (places, e) => (places.length > 1 ? { label: "Length", hint: e.units().length.symbol } : null),
    refuse: (p, places) => (places.length < 2 || p.written ? "" : "Type the length between the two places."),
    hints: (places) => ["Click one end of a known length in the picture.", "Click its other end.", "Type how long this is, then Enter."][places.length],
    op: ([a, b, c]) => ({ do: "scale_backdrop", from: a.at, to: b.at, length: c.written }),
    typed: (text, places, e, now, tool) => {
      if (places.length < 2) return "Click the two ends first.";
      if (!(E.quantity(text, e.units().length) > 0)) return tooSmall;
      tool.click({ at: [Infinity, 0], kind: "typed", written: E.pointed(text) });
      return "";
    },
    paint: (e, parent, places, now) => paintAll(e, parent, places.slice(0, 2), places.length < 2 ? now : null),
  });

  /** All tools by name; select is made elsewhere. @param {Editor} ed */
  E.drawingTools = (ed) => {
    const of = (first) => ed.answer.kinds.flatMap((k) => (k.tool && k.tool.first === first ? [(k.tool.place === "ends" ? twoEnds : inJoint)(ed, k, k.tool)] : []));
    const list = [pin(ed), link(ed), point(ed), slider(ed), ...of(true), gears(ed), ...of(false), load(ed), motor(ed), mirror(ed), scale(ed)];
    return Object.fromEntries(list.map((t) => [t.id, t]));
  };
})();
