// LW.pinTable(container, DATA, {pick(pin, body), seek(sample)}): the loads of all pins over the cycle. One row for a pin of two
// bodies (their loads are equal and opposite), one row for each body of a pin that joins more. `update` takes the cycle of the
// engine and the one of the file's values, `now` the sample whose loads the bars show.
(() => {
  "use strict";
  const SHARE = "not unique: least-norm share";
  const MATTERS = 1e-3; // of the pin's force times the mechanism's size: smaller moments are not worth a line
  const ZERO = 1e-9; // of the largest force: round-off of a pin that carries nothing
  const DUST = 1e-6; // of the largest force times the size: and these are hardly more than round-off

  // The body whose load stands for a pin where one is shown: the last that moves. Loads on two bodies are equal and opposite, so
  // the table and the arrows of the drawing must mean the same one.
  LW.loadedBody = (pin, data) => {
    const moving = pin.bodies.filter((name) => name !== data.bodies[0].name);
    return moving[moving.length - 1] || pin.bodies[0];
  };

  // Why a load is not known where parts of a coupling without contact geometry touch; null where it is.
  LW.meshOf = (pin, data) => {
    const found = (data.meshes || []).filter((mesh) => mesh.pin === pin).map((mesh) => mesh.coupling);
    return found.length ? `not known: the force in the mesh of ${[...new Set(found)].join(", ")} is not modeled` : null;
  };

  // [{pin, body, others, unique, mesh, type, key}] in the order of the file
  const rowsOf = (data) => {
    const rows = [];
    for (const pin of data.pins) {
      const bodies = pin.bodies.length > 2 ? pin.bodies : [LW.loadedBody(pin, data)];
      for (const body of bodies) {
        const unique = !pin.unique || pin.unique[body] !== false;
        const others = pin.bodies.filter((b) => b !== body);
        rows.push({ pin: pin.name, body, others, unique, mesh: LW.meshOf(pin.name, data), type: pin.type, several: pin.bodies.length > 2, key: `${pin.name}|${body}` });
      }
    }
    for (const eye of data.eyes || []) {
      rows.push({ pin: eye.pin, body: eye.body, others: [eye.part], unique: eye.unique, mesh: null, type: eye.type, several: false, key: `${eye.pin}|${eye.body}` });
    }
    return rows;
  };

  const sizeOf = (data) => {
    const extent = data.scene && data.scene.extent;
    return (extent && Math.hypot(...extent.high.map((h, i) => h - extent.low[i]))) || 1;
  };

  const loadOf = (cycle, row) => {
    const found = cycle && cycle.pins && cycle.pins[row.key];
    return found ? { force: LW.magnitudes(found.force, cycle.t), moment: found.moment ? LW.magnitudes(found.moment, cycle.t) : null, doubtful: Boolean(found.doubtful) } : null;
  };

  const change = (now, before) => {
    const part = (now - before) / before;
    if (!(before > 0) || !(Math.abs(part) >= 5e-4)) return "";
    const percent = 100 * part;
    return `${percent > 0 ? "+" : "\u2212"}${Math.abs(percent).toFixed(Math.abs(percent) < 10 ? 1 : 0)}\u202f%`;
  };

  const build = (container, rows, hooks, recorded) => {
    const el = LW.el;
    const body = el("tbody");
    const head = ["Pin", "On", "Max load", "At", "Now"].map((text, i) => el("th", { scope: "col", class: `c${i}`, text }));
    const note = el("p", { class: "lw-note" });
    const caption = el("caption", { class: "lw-hidden", text: "Loads of the pins over the cycle" });
    const table = el("table", { class: "lw-pins" }, caption, el("thead", {}, el("tr", {}, ...head)), body);
    for (const row of rows) body.append(buildRow(row, hooks));
    if (recorded && DATA.cycle) container.append(el("p", { class: "note", text: "Loads of the cycle, not of the recorded run." }));
    container.append(el("div", { class: "lw-panel" }, table, note));
    return { table, note };
  };

  const buildRow = (row, hooks) => {
    const el = LW.el;
    const pick = () => hooks.pick && hooks.pick(row.pin, row.body);
    row.name = el("button", { type: "button", class: "lw-row-button", text: row.pin, title: row.type || null });
    row.value = el("span", { class: "value" });
    row.delta = el("small", { class: "delta" });
    row.moment = el("small", { class: "moment" });
    const spoken = el("span", { class: "lw-hidden", text: ` (${row.mesh || SHARE})` });
    const title = row.mesh || `${SHARE}. Redundant loops leave open how the joints share this load.`;
    row.share = row.unique && !row.mesh ? null : el("abbr", { class: "share", title, text: "\u2248" }, spoken);
    const go = (event) => {
      event.stopPropagation(); // the row would be picked
      if (row.s >= 0) hooks.seek(row.s);
    };
    row.at = hooks.seek ? el("button", { type: "button", class: "lw-at", title: "Go there", on: { click: go } }) : el("span", { class: "lw-at" });
    row.under = el("small", { class: "under" });
    row.reach = el("i", { class: "reach" });
    row.fill = el("i", { class: "fill" });
    const on = el("td", { class: "c1" }, el("span", { text: row.body }));
    if (!row.several && row.others.length) on.append(el("small", { title: `equal and opposite on ${row.others[0]}`, text: row.others[0] }));
    row.node = el(
      "tr",
      { on: { click: pick } }, // the button is for the keyboard and for readers of the screen; its clicks arrive here too
      el("th", { scope: "row", class: "c0" }, row.name),
      on,
      el("td", { class: "c2" }, row.delta, row.share, row.value, row.under, row.moment),
      el("td", { class: "c3" }, row.at),
      el("td", { class: "c4", "aria-hidden": "true" }, el("span", { class: "bar" }, row.reach, row.fill)),
    );
    return row.node;
  };

  const noteText = (data, rows, cycle, loads) => {
    const missing = "Loads need the masses of the bodies and drives that determine the motion.";
    if (!cycle || !cycle.pins || data.loads === false) return (cycle && cycle.why) || data.why || missing;
    const marked = loads.some((load) => load && load.doubtful) ? "* Near a singular position: the load grows without bound there, this value depends on the sample distance." : "";
    const rough = loads.some((load) => load && !load.doubtful && roughMark(load, load.force.max)) ? "+ The samples do not resolve this peak: the load is larger between them." : "";
    if (cycle.why || marked || rough) return [cycle.why && `${cycle.why}.`, marked, rough].filter(Boolean).join(" ");
    const open = rows.some((row) => !row.unique && !row.mesh), meshes = [...new Set(rows.map((row) => row.mesh).filter(Boolean))];
    const share = "not unique: redundant loops leave open how the joints share this load. The least-norm share is shown";
    const said = [...(open ? [share] : []), ...meshes].map((text) => `\u2248 ${text}.`);
    return said.join(" ") || "All loads are statically determinate.";
  };

  const roughMark = (load, shown) => (LW.samplingText(shown, load.force.error, String) ? "+" : "");

  const showRow = (data, row, load, before, unit, largest) => {
    const s = load ? load.force.s : -1;
    const where = s < 0 || row.mesh || !(load.force.max > ZERO * largest) ? "" : LW.withUnit(LW.placeNumber(LW.cycleAxis(data.cycle, row.x), LW.scale.between(row.x, s)), data.cycle.over.symbol);
    row.load = load;
    row.s = s;
    const doubtful = Boolean(load && load.doubtful);
    const shown = load && load.force.max > ZERO * largest ? load.force.max : 0;
    LW.setText(row.value, load && row.mesh ? "unknown" : load ? LW.withUnit(LW.number(shown / unit.size), unit.symbol) + (doubtful ? "*" : roughMark(load, shown)) : "\u2013");
    row.value.title = load && !row.mesh && !doubtful ? LW.samplingText(shown, load.force.error, (v) => LW.withUnit(LW.number(v / unit.size), unit.symbol)) : "";
    row.node.classList.toggle("doubtful", doubtful);
    LW.setText(row.delta, load && before && !row.mesh && !doubtful && !before.doubtful ? change(load.force.max, before.force.max) : "");
    LW.setText(row.at, where);
    LW.setText(row.under, where && `at ${where}`);
  };

  LW.pinTable = (container, data, hooks = {}) => {
    const rows = rowsOf(data);
    const dom = build(container, rows, hooks, Boolean(data.run));
    const size = sizeOf(data);
    let largest = 0;
    let last = 0;
    const magnitudeAt = (row, at) => {
      if (typeof at === "function") return at(row.pin, row.body);
      return row.load ? LW.scale.between(row.load.force.values, at) : NaN;
    };
    const table = {
      update(cycle, original) {
        const loads = rows.map((row) => loadOf(cycle, row));
        const before = original && original !== cycle ? rows.map((row) => loadOf(original, row)) : [];
        largest = Math.max(0, ...loads.map((l) => (l && l.force.max >= 0 ? l.force.max : 0)));
        const unit = LW.prefixed(LW.unitOf("force"), largest);
        rows.forEach((row, i) => {
          row.x = (cycle && cycle.x) || [];
          showRow(data, row, loads[i], before[i], unit, largest);
          const load = loads[i], force = load ? load.force.max : 0, moment = load && load.moment ? load.moment.max : 0;
          const least = size * Math.max(MATTERS * force, DUST * largest);
          LW.setText(row.moment, moment > least ? `and ${LW.format(moment, "torque")}` : "");
          row.reach.style.width = load && largest > 0 ? `${(100 * force) / largest}%` : "0";
          row.node.classList.toggle("largest", Boolean(load) && largest > 0 && force === largest && !(load && load.doubtful));
        });
        LW.setText(dom.note, noteText(data, rows, cycle, loads));
        table.now(last);
      },
      // a real sample number of the cycle, or a function (pin, body) -> magnitude of the force
      now(at) {
        last = at;
        for (const row of rows) {
          const part = largest > 0 ? magnitudeAt(row, at) / largest : 0;
          row.fill.style.transform = `scaleX(${part > 0 ? Math.min(1, part).toFixed(4) : 0})`;
        }
      },
      select(pin, body) {
        for (const row of rows) row.node.classList.toggle("selected", row.pin === pin && (!body || row.body === body || !row.several));
      },
    };
    return table;
  };
})();
