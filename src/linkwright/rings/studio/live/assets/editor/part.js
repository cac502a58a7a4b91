// The panel of what is selected: its name, coordinates, lengths, mass and values as they are written in the file. A field is sent when it
// is left or with Enter. What cannot be is said next to it, also what the server refuses, and the file stays as it is.
(() => {
  "use strict";
  const E = LW.edit || (LW.edit = {});
  const NAME = /^[^\s.:{}[\],&*#?|<>=!%@`'"/\\-][^\s.:{}[\],&*#?|<>=!%@`'"]*$/;
  const BARE = /^[-+−]?[\d.,]+(e[-+]?\d+)?$/i;
  let fields = 0;

  /** A labeled field; check(text) -> "" or why not, send(text) does it. */
  const field = (label, value, unit, check, send) => {
    const id = `ed-part-${++fields}`, input = /** @type {HTMLInputElement} */ (LW.el("input", { id, type: "text", value, autocomplete: "off", "data-field": label, "aria-describedby": `${id}-why` }));
    const why = LW.el("span", { id: `${id}-why`, class: "ed-problem", role: "alert" });
    let last = value;
    input.dataset.sent = value; // a field that says what the file says leaves Ctrl+Z to the editor
    const leave = () => {
      const text = input.value.trim();
      if (text === last.trim()) { tell(""); return; }
      const problem = check(text);
      tell(problem);
      if (problem) return;
      const before = last;
      last = input.dataset.sent = text;
      Promise.resolve(send(E.pointed(text))).then((answer) => {
        if (!answer || answer.kind !== "refused") return;
        last = input.dataset.sent = before;
        tell(answer.text);
      });
    };
    const tell = (text) => { LW.setText(why, text); input.classList.toggle("wrong", Boolean(text)); input.setAttribute("aria-invalid", String(Boolean(text))); };
    input.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter") leave();
      if (event.key === "Escape") { input.value = last; tell(""); input.blur(); }
    });
    input.addEventListener("change", leave);
    return LW.el("div", { class: "ed-row" }, LW.el("label", { for: id, text: label }), input, LW.el("span", { class: "ed-unit", text: unit || "" }), why);
  };
  const choice = (label, value, options, send) => {
    const id = `ed-part-${++fields}`, select = /** @type {HTMLSelectElement} */ (LW.el("select", { id, "data-field": label }, ...options.map(([key, text]) => LW.el("option", { value: key, text, selected: key === value }))));
    select.addEventListener("change", () => send(select.value));
    select.addEventListener("keydown", (event) => event.stopPropagation());
    return LW.el("div", { class: "ed-row" }, LW.el("label", { for: id, text: label }), select);
  };
  const note = (text) => LW.el("p", { class: "note", text });

  /** @type {(text: string) => string} */
  const anything = (text) => (text ? "" : "Type a value.");
  const positive = (what) => (text) => {
    const number = parseFloat(E.pointed(text));
    if (!text) return `Type a ${what}.`;
    return Number.isFinite(number) && number <= 0 && /^[-+−.,\d\s]*[a-z^/²\d\s]*$/i.test(text) ? `A ${what} must be greater than 0.` : "";
  };
  const name = (text) => (NAME.test(text) ? "" : "A name has no spaces, dots, commas or brackets.");

  // ---------------------------------------------------------------- the kinds of parts

  const renamed = (ed, item) => field("Name", item.name, "", name, (text) => ed.edit({ do: "rename", id: item.id, to: text }, { label: `Rename ${item.name}` }));
  const value = (ed, label, written, unit, path, check = anything) => field(label, written, unit, check, (text) => ed.edit({ do: "set_value", path, value: text }, { label: `Change ${path.slice(1).join(" ")}` }));
  const text = (x) => (x === null || x === undefined ? "" : typeof x === "object" ? "" : String(x));

  const pointPart = (ed, p) => {
    const u = ed.units().length, axes = ed.answer.axes;
    const at = (i) => field(axes[i], p.written && p.written[i] !== undefined && p.written[i] !== null ? String(p.written[i]) : E.plain(p.at[i], u), u.symbol, anything,
      (typed) => ed.edit({ do: "move", points: { [p.name]: [0, 1].map((k) => (k === i ? typed : p.at[k])) } }, { label: `Move ${p.name}` }));
    const ground = /** @type {HTMLInputElement} */ (LW.el("input", { type: "checkbox", id: "ed-part-ground", "data-field": "On the ground" }));
    ground.checked = p.grounded;
    ground.addEventListener("change", () => ed.edit({ do: "set_ground", point: p.name, ground: ground.checked }, { label: ground.checked ? `Fix ${p.name} to the ground` : `Free ${p.name}` }));
    const joined = p.bodies.length ? `${p.pin ? "Joins" : "Point of"} ${p.bodies.join(", ")}.` : "No body names this point yet.";
    const only = p.bodies.length === 1 && !p.grounded && p.bodies[0] !== "ground", hinge = /** @type {HTMLInputElement} */ (LW.el("input", { type: "checkbox", id: "ed-part-hinge", "data-field": "Pin" }));
    hinge.checked = p.pin;
    hinge.addEventListener("change", () => ed.edit({ do: "set_pin", point: p.name, pin: hinge.checked }, { label: hinge.checked ? `Make ${p.name} a pin` : `Make ${p.name} a marked point` }));
    return [renamed(ed, p), at(0), at(1), LW.el("label", { class: "ed-check" }, ground, " held by the ground"), only ? LW.el("label", { class: "ed-check" }, hinge, " pin for another link (else a marked point)") : null, note(joined), ...(p.loose ? [note("Loose: only one body has this pin. Draw another link to it.")] : []),
      ...(p.expression || []).some(Boolean) ? [note("An expression gives a coordinate. If you change it, you choose the value to change.")] : []];
  };

  const SECTIONS = [["", "none"], ["given", "given"], ["bar", "rectangular bar"], ["round", "round bar or tube"], ["plate", "plate"]];
  // the bars that a link of several points weighs by: `, with bars C-F, F-H`
  const along = (b) => (b.bars.length ? `, with ${b.bars.length > 1 ? "bars" : "one bar"} ${b.bars.map((ends) => ends.join("-")).join(", ")}` : "");
  // mass: none, a number, or from the section of a bar or the thickness of a plate and a material
  const massPart = (ed, b) => {
    const m = ed.units().mass, s = b.section || {}, kind = b.section ? (s.thickness !== undefined ? "plate" : s.diameter !== undefined ? "round" : "bar") : b.mass !== null && b.mass !== undefined ? "given" : "";
    const set = (more, label) => ed.edit({ do: "set_mass", body: b.name, ...more }, { label: label || `Mass of ${b.name}` });
    const material = b.material || "steel", u = ed.units().length, first = { bar: { width: 20, height: 8 }, round: { diameter: 10 }, plate: { thickness: 5 } };
    const mm = (x) => `${x} mm`;
    const chosen = (now) => {
      if (now === "") set({}, `No mass for ${b.name}`);
      else if (now === "given") set({ mass: `${E.plain(b.mass || 1, { size: 1 })} kg` });
      else if (now === "plate") set({ thickness: mm(first.plate.thickness), material });
      else set({ section: Object.fromEntries(Object.entries(first[now]).map(([key, x]) => [key, mm(x)])), material });
    };
    const rows = [choice("Mass", kind, SECTIONS.filter(([key]) => key !== "plate" || b.points.length > 2 || kind === "plate"), chosen)];
    if (kind === "given") rows.push(field("Mass value", E.plain(b.mass, m), m.symbol, positive("mass"), (typed) => set({ mass: /[a-z]/i.test(typed) ? typed : `${typed} ${m.symbol}` })));
    if (kind === "bar" || kind === "round" || kind === "plate") {
      const keys = kind === "bar" ? ["width", "height"] : kind === "round" ? ["diameter", "inner"] : ["thickness"];
      for (const key of keys) {
        const send = (typed) => { const next = { ...s, [key]: typed }; if (!typed) delete next[key]; set(kind === "plate" ? { thickness: typed, material } : { section: next, material }); };
        rows.push(field(key[0].toUpperCase() + key.slice(1), text(s[key]), /[a-z]/i.test(text(s[key])) ? "" : u.symbol, key === "inner" ? (typed) => (typed ? positive("diameter")(typed) : "") : positive(key), send));
      }
      rows.push(choice("Material", material, (ed.answer.materials || [material]).map((x) => [x, x]), (x) => set(kind === "plate" ? { thickness: text(s.thickness), material: x } : { section: s, material: x })));
      if (b.mass !== null) rows.push(note(`Mass ${E.shown(b.mass, m)} ${m.symbol}, computed from the ${kind === "plate" ? "outline" : "section"} and the material${along(b)}.`));
    }
    return rows;
  };
  const bodyPart = (ed, b) => {
    const u = ed.units().length, d = ed.drawing(), rows = [renamed(ed, b)];
    const pairs = b.points.slice(1).map((to, i) => [b.points[i], to]);
    if (b.points.length === 3) pairs.push([b.points[2], b.points[0]]);
    if (b.points.length <= 3) for (const [a, c] of pairs) {
      const label = b.points.length === 2 ? "Length" : `Length ${a}–${c}`, size = b.points.length === 2 && b.length !== null ? b.length : E.lengthOf(d, [a, c]);
      rows.push(field(label, E.plain(size, u), u.symbol, positive("length"), (typed) => ed.edit({ do: "set_length", body: b.name, between: [a, c], length: typed }, { label: `Length of ${b.name}` })));
    }
    rows.push(...massPart(ed, b), note(`Through ${b.points.join(", ") || "no point yet"}.`));
    if (b.loose) rows.push(note("Loose: no other body is joined to this one."));
    return rows;
  };
  const angleOf = (axis) => E.plain(E.degrees(axis), { size: 1 });
  const jointPart = (ed, j) => {
    const rows = j.implicit ? [note(`Hinge of ${j.first} and ${j.second} at pin ${j.point || j.name}.`)] : [renamed(ed, j)];
    if (j.axis) rows.push(field("Direction", angleOf(j.axis), "deg", (typed) => (Number.isFinite(E.quantity(typed, { size: 1 })) ? "" : "Type degrees: 30."), (typed) => {
      const a = E.quantity(typed, { size: Math.PI / 180 }), exact = [Math.cos(a), Math.sin(a)].map((x) => Number(x.toFixed(12))), text = E.degreesText(typed);
      ed.edit({ do: "set_value", path: ["joints", j.name, "axis"], value: exact.every(Number.isInteger) ? exact.map(String) : [`cos(${text})`, `sin(${text})`] }, { label: `Direction of ${j.name}` });
    }));
    const driven = ed.drawing().drives.find((x) => x.joint === j.name), carriers = ed.drawing().bodies.filter((b) => b.name !== j.second).map((b) => [b.name, b.name]);
    if (j.axis && !j.implicit) rows.push(choice("Guide on", j.first, carriers, (body) => ed.edit({ do: "set_value", path: ["joints", j.name, "between"], value: [body, j.second] }, { label: `Guide of ${j.name}` })));
    rows.push(note(`${j.type}, between ${j.first} and ${j.second}.`), drivePart(ed, j.name, driven, j.kind === "hinge"));
    return rows;
  };
  const drivePart = (ed, joint, driven, turns) => field("Drive", driven ? driven.written : "", driven ? "" : turns ? "none, e.g. 60 rpm" : "none, e.g. 100 mm/s", () => "", (typed) => ed.edit({ do: "set_drive", joint, value: typed || null }, { label: `Drive of ${joint}` }));
  // fields of a number of an element: one, or one for each axis; a bare number gets the unit that is shown beside it where the file needs one
  const numberRows = (ed, x, n) => {
    const set = (value) => ed.edit({ do: "set_value", path: [x.section, x.name, n.key], value }, { label: `Change ${x.name} ${n.key}` }), u = n.unit;
    const what = n.label.toLowerCase(), drawn = n.text === null && n.drawn && n.value !== null;
    const check = (typed) => (!typed ? (n.optional && n.text !== null ? "" : drawn ? "" : anything(typed)) : n.above === 0 ? positive(what)(typed) : n.least === 0 && parseFloat(E.pointed(typed)) < 0 ? `A ${what} cannot be negative.` : "");
    const unitOf = (old) => (/[a-z°%]/i.test(old) || !u.symbol ? "" : u.symbol);
    const full = (typed, old) => (typed && BARE.test(typed) && unitOf(old) && (!n.bare || drawn) ? `${typed} ${u.symbol}` : typed);
    const row = (label, old, send) => { const made = field(label, old, unitOf(old), check, send); made.title = n.meaning; return made; };
    if (Array.isArray(n.text)) return n.text.map((old, i) => row(`${n.label} ${ed.answer.axes[i] || ""}`.trim(), text(old), (typed) => set(n.text.map((one, k) => (k === i ? full(typed, text(old)) : one)))));
    return [row(n.label, drawn ? E.plain(n.value, u) : text(n.text), (typed) => set(typed ? full(typed, text(n.text)) : null))];
  };
  const choiceRow = (ed, x, n) => {
    const made = choice(n.label, n.text, n.choices.map((one) => [one, one]), (value) => ed.edit({ do: "set_value", path: [x.section, x.name, n.key], value }, { label: `Change ${x.name} ${n.key}` }));
    made.title = n.meaning;
    return made;
  };
  const elementPart = (ed, x) => {
    const driven = ed.drawing().drives.find((one) => one.joint === x.name), rows = x.wheels ? gearRows(ed, x) : x.numbers.filter((n) => n.shown).flatMap((n) => numberRows(ed, x, n));
    const where = x.ends ? x.ends.map((e) => `${e.body}.${e.point}`).join(" to ") : x.on ? `On ${x.on.body}${x.on.point ? `.${x.on.point}` : ""}.` : x.joints.length ? `In ${x.joints.join(", ")}.` : "";
    return [renamed(ed, x), ...rows, ...x.choices.map((n) => choiceRow(ed, x, n)), x.coordinate ? drivePart(ed, x.name, driven, false) : null, where && !x.wheels ? note(where) : null];
  };
  const gearRows = (ed, g) => {
    const u = ed.units().length, { radii, internal } = g.wheels, far = g.centers[0] && g.centers[1] ? Math.hypot(g.centers[0][0] - g.centers[1][0], g.centers[0][1] - g.centers[1][1]) : 0;
    return [...radii.map((r, i) => r !== null && field(`Radius ${g.joints[i]}`, E.plain(r, u), u.symbol, positive("radius"), (typed) => {
      const one = E.quantity(typed, u), both = i === 0 ? [one, internal ? far + one : far - one] : [internal ? one - far : far - one, one];
      ed.edit({ do: "set_value", path: [g.section, g.name, "radii"], value: both.map((x) => E.plain(x, u, 12)) }, { label: `Radii of ${g.name}` });
    })), note(`Distance of the hinges ${E.shown(far, u)} ${u.symbol}: the radii add up to it.`)];
  };
  // what is no element: name of the kind, list in the drawing, rows of the panel
  const KINDS = /** @type {Record<string, [string, string, (ed: any, item: any) => any[]]>} */ ({
    point: ["Pin", "points", pointPart], body: ["Link", "bodies", bodyPart], joint: ["Joint", "joints", jointPart],
    drive: ["Motor", "drives", (ed, x) => [drivePart(ed, x.joint, x, !x.slides)]],
  });

  /** The part of a drawing with an id: [kind, item] or null. */
  E.partOf = (drawing, id) => {
    const kind = id.split(":")[0], found = (KINDS[kind] ? drawing[KINDS[kind][1]] : drawing.elements).find((x) => x.id === id);
    return found ? [kind, found] : null;
  };

  // the parts of a selection that the panel is about: of a guide and the block on it, as they are drawn, the guide
  const shownParts = (drawing, ids) => {
    const parts = ids.map((id) => E.partOf(drawing, id)).filter(Boolean), guide = parts.find(([kind]) => kind === "joint");
    return parts.length === 2 && guide && parts.some(([kind, item]) => kind === "body" && item.name === guide[1].second) ? [guide] : parts;
  };

  /** The panel. @param {Editor} ed */
  E.part = (ed) => {
    const panel = LW.el("section", { id: "ed-part", "aria-label": "Selected part" });
    let shown = "";
    return {
      element: panel,
      update(force) {
        const d = ed.answer.drawing, parts = shownParts(d, ed.selection), key = JSON.stringify([ed.answer.version, ed.selection]);
        const focus = /** @type {HTMLElement | null} */ (panel.contains(document.activeElement) ? document.activeElement : null), typing = focus && focus.matches("input[type=text]") && !force;
        if (key === shown || (typing && parts.length === 1 && shown.endsWith(JSON.stringify(ed.selection) + "]") && focus.classList.contains("wrong"))) return;
        const focused = focus ? focus.dataset.field : "";
        shown = key;
        if (parts.length !== 1) {
          panel.replaceChildren(LW.el("h2", { text: parts.length ? `${parts.length} parts selected` : "Nothing selected" }),
            note(parts.length ? "Drag them to move them together. Duplicate, Mirror and Delete are in the bar." : "Click a pin, a link or any other part to see its dimensions here."));
          return;
        }
        const [[kind, item]] = parts, ground = kind === "body" && item.ground, title = ground ? "Ground" : kind === "point" ? (item.pin || item.grounded ? "Pin" : "Point") : KINDS[kind] ? KINDS[kind][0] : item.title;
        panel.replaceChildren(...[LW.el("h2", {}, `${title} `, LW.el("b", { text: item.name || item.joint })),
          ...(item.fixed ? [note("Made by a `repeat` block of the file. Change it there.")] : ground ? [note(`Pins ${item.pins.join(", ") || "none"}.`)] : (KINDS[kind] ? KINDS[kind][2] : elementPart)(ed, item))].filter(Boolean));
        if (focused) { const again = panel.querySelector(`[data-field="${CSS.escape(focused)}"]`); if (again) again.focus({ preventScroll: true }); }
      },
    };
  };
})();
