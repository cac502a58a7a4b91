// The editor: what is drawn, selected and in use, and its parts put together. It exists only in pages of `linkwright edit` (DATA.edit).
//
// Draw shows the sheet, Move the page of the mechanism (LW.app); both are of the same file. Every change goes to the server, which answers with
// the drawing as the file then has it; while something is dragged, the drawing on the screen is ahead of that answer.
(() => {
  "use strict";
  const E = LW.edit || (LW.edit = {});
  const D = LW.draw;
  const MARK = 9; // radius of the mark of an element in a joint, pixels
  const ROUND = [135, 90, 45, 180, 0, 225, 315, 270]; // degrees: where marks stand around their joint, one after the other
  const AWAY = 3; // steps of the grid by which a duplicate is put aside

  const empty = (name, units) => ({ kind: "answer", version: "", name, axes: "xy", units, file: { name, state: "saved", text: "" }, history: { undo: 0, redo: 0, undo_label: "", redo_label: "" }, selection: [], stale: false,
    drawing: { points: [], bodies: [], joints: [], elements: [], drives: [], masses: [], extent: null, backdrop: null }, kinds: [], mobility: null, messages: [], complete: false, kernels: null });

  // what lies in joints, as marks around them: they are clicked or reached with Tab, and say their name
  const paintJointMarks = (ed, focused) => {
    const { sheet } = ed;
    ed.jointMarks = [];
    for (const item of ed.drawing().elements.filter((x) => x.joint && x.at && !x.wheels)) {
      const pin = sheet.pixel(item.at), free = (p) => ed.jointMarks.every((m) => Math.hypot(m.at[0] - p[0], m.at[1] - p[1]) >= 2 * MARK - 2);
      for (let k = 0, at = pin; at === pin; k++) {
        const far = MARK * (3 + 2 * Math.floor(k / ROUND.length)), angle = (ROUND[k % ROUND.length] * Math.PI) / 180, p = [pin[0] + far * Math.cos(angle), pin[1] - far * Math.sin(angle)];
        if (free(p)) ed.jointMarks.push({ id: item.id, item, pin, at: (at = p) });
      }
    }
    for (const { id, item, pin, at } of ed.jointMarks) {
      const chosen = ed.selection.includes(id), text = `${item.title} ${item.name}${item.name === item.joint ? "" : ` in ${item.joint}`}`;
      const group = D.make("g", { class: `ed-joint-mark${chosen ? " selected" : ""}`, "data-mark": id, tabindex: 0, role: "button", "aria-label": text, "aria-pressed": String(chosen) }, sheet.marks);
      D.make("path", { d: D.path([pin, at]) }, group);
      D.make("circle", { cx: D.short(at[0]), cy: D.short(at[1]), r: MARK }, group);
      group.append(D.set(E.markIcon(item.looks), { x: D.short(at[0] - 7), y: D.short(at[1] - 7), width: 14, height: 14 }));
      D.make("title", {}, group).textContent = text;
      group.addEventListener("keydown", (event) => { if (event.key === "Enter") ed.select([id]); });
      if (focused === id) group.focus({ preventScroll: true });
    }
  };

  /** What lies over the drawing: what lies in joints, loose ends, loads, lengths of what is selected. */
  const paintMarks = (ed) => {
    const { sheet } = ed, d = ed.drawing(), u = ed.units().length, focused = sheet.marks.querySelector(":focus");
    sheet.marks.replaceChildren();
    ed.loadMarks = d.elements.map((x) => ({ id: x.id, at: x.on && x.on.at, force: E.forceOf(x) })).filter((l) => l.force && l.at).map((l) => {
      const size = Math.hypot(l.force[0], l.force[1]);
      return { id: l.id, ...E.forceArrow(sheet, sheet.marks, l.at, l.force, ed.selection.includes(l.id) ? "selected" : "", `${E.shown(Number((size / ed.units().force.size).toPrecision(4)), { size: 1 })} ${ed.units().force.symbol}`) };
    });
    for (const p of d.points.filter((q) => q.loose)) E.ring(sheet, sheet.marks, p.at, "loose", 13);
    paintJointMarks(ed, focused && focused.getAttribute("data-mark"));
    for (const id of ed.selection) {
      const found = E.partOf(d, id), item = found && found[1];
      if (!item) continue;
      if (found[0] === "body" && item.points.length === 2) {
        const [a, b] = item.points.map((n) => d.points.find((p) => p.name === n));
        if (a && b) E.dimension(sheet, sheet.marks, a.at, b.at, `${E.shown(Math.hypot(a.at[0] - b.at[0], a.at[1] - b.at[1]), u)} ${u.symbol}`);
      } else if (item.ends) item.ends.forEach((e) => E.ring(sheet, sheet.marks, e.at, "selected", 9));
      else if (found[0] !== "body" && !item.on && item.at) E.ring(sheet, sheet.marks, item.at, "selected", 13);
    }
  };

  const make = (first) => {
    const ed = /** @type {Editor} */ (/** @type {unknown} */ ({ answer: first, selection: [], mode: "draw", snapping: true, offline: "", pointer: null, loadMarks: [], jointMarks: [] }));
    const app = LW.byId("app"), head = LW.byId("head");
    /** @type {Drawing | null} */
    let front = null;
    let problem = 0;

    // ---------------------------------------------------------- state
    ed.drawing = () => front || ed.answer.drawing;
    ed.units = () => ed.answer.units;
    ed.toolOf = (key) => (Object.values(ed.tools).find((t) => t.key === key) || {}).id;
    ed.say = (text, kind = "") => { problem = kind ? Date.now() : 0; ed.message(text, kind); };
    ed.ahead = (drawing) => { if (drawing || front) { front = drawing; ed.sheet.show(ed.answer, ed.drawing()); } ed.repaint(); };
    ed.select = (ids) => { ed.selection = ids; ed.sheet.select(ids); ed.refresh(); };
    ed.selectAll = () => ed.select([...ed.drawing().points.map((p) => p.id), ...ed.drawing().bodies.filter((b) => !b.ground).map((b) => b.id)]);
    ed.use = (id) => {
      ed.tool.clear();
      ed.tool = ed.tools[id];
      const begun = ed.tool.start && ed.tool.start();
      if (begun) ed.tool.click(begun);
      ed.sheet.container.dataset.tool = id;
      ed.refresh();
    };
    ed.setSnapping = (on) => { ed.snapping = on; ed.refresh(); };
    ed.escape = () => {
      if (ed.tool.busy()) ed.tool.clear();
      else if (ed.tool.id !== "select") ed.use("select");
      else ed.select([]);
      ed.refresh();
    };
    ed.setMode = (mode) => {
      if (mode === "move" && !ed.motion.there() && !ed.answer.kernels) { ed.say(missing(ed.answer), "warn"); return; }
      ed.mode = mode;
      ed.tool.clear();
      document.body.dataset.editing = mode === "draw" || ed.motion.there() ? mode : "wait";
      ed.motion.update();
      if (LW.app) { if (mode === "draw") LW.app.player.pause(); else { LW.app.view.resize(); LW.app.redraw(); } }
      ed.sheet.resize();
      ed.refresh();
    };

    // ---------------------------------------------------------- edits
    ed.edit = async (ops, more = {}) => {
      const { quiet, ...rest } = more, answer = await ed.server.edit(ops, rest);
      if (answer && answer.kind === "answer" && !quiet && ed.tool.once && !ed.tool.busy()) ed.use("select");
      return answer;
    };
    ed.undo = () => ed.server.undo();
    ed.redo = () => ed.server.redo();
    ed.remove = () => { if (ed.selection.length) ed.edit({ do: "delete", ids: ed.selection.slice() }); };
    ed.duplicate = () => { const s = AWAY * ed.sheet.step(); if (ed.selection.length) ed.edit({ do: "duplicate", ids: ed.selection.slice(), by: [s, -s] }); };

    // ---------------------------------------------------------- what is shown
    ed.hover = (place) => { ed.pointer = place; ed.repaint(true); };
    const cursor = () => {
      const under = ed.pointer && ed.pointer.under;
      return ed.tool.id !== "select" ? "crosshair" : under && under.point ? "move" : under && under.id ? "pointer" : "default";
    };
    /** The preview of the tool and the hint beside the pointer; `only` leaves the panels alone. */
    ed.repaint = (only) => {
      if (!ed.sheet) return;
      const { preview } = ed.sheet, now = ed.pointer;
      preview.replaceChildren();
      ed.tool.preview(preview, now);
      ed.sheet.element.style.cursor = cursor();
      if (now && now.kind !== "typed" && (ed.tool.id !== "select" || ed.tool.busy())) {
        const [x, y] = ed.sheet.pixel(now.at);
        E.ring(ed.sheet, preview, now.at, `snap ${now.kind}`, now.kind === "pin" ? 12 : 4);
        E.flag(preview, now.text, x + 14, y + 12, "hint");
      }
      if (!only) ed.foot.update();
    };
    ed.refresh = () => {
      for (const part of [ed.bar, ed.legend, ed.palette, ed.foot, ed.part, ed.list, ed.banner]) part.update();
      if (ed.motion) ed.motion.judged();
      paintMarks(ed);
      ed.repaint(true);
    };
    ed.started = () => {
      document.body.classList.remove("without-app");
      LW.byId("keys").querySelector("header").after(E.keyList(ed), LW.el("h2", { class: "ed-move-keys", text: "Move" }));
      document.body.dataset.editing = ed.mode;
      ed.sheet.traces(ed.motion.traces());
      if (ed.mode === "draw") LW.app.player.pause();
      else LW.app.view.resize();
      ed.refresh();
    };

    // ---------------------------------------------------------- from the server
    const on = {
      answer(a, own) {
        const fresh = a.version !== ed.answer.version || !ed.answer.version, busy = ed.tool.busy && ed.tool.id === "select" && ed.tool.busy();
        ed.answer = a;
        if (own && a.selection && a.selection.length && !busy) ed.selection = a.selection;
        ed.selection = ed.selection.filter((id) => E.partOf(a.drawing, id));
        if (!busy) front = null;
        if (problem && Date.now() - problem > 300) ed.say("");
        if (fresh || !busy) ed.sheet.show(a, ed.drawing());
        ed.sheet.select(ed.selection);
        ed.motion.update();
        ed.sheet.traces(ed.motion.traces());
        ed.backdrop.update();
        ed.refresh();
        if (a.conflict) on.conflict(a.conflict);
      },
      ask(questions, again) { E.ask(questions, again, () => { front = null; ed.sheet.show(ed.answer); ed.refresh(); ed.part.update(true); }); },
      refused(text, a) {
        front = null;
        ed.sheet.show(ed.answer);
        if (a) ed.say(text, "warn");
        ed.part.update(true);
        ed.refresh();
      },
      conflict(a) { if (!document.querySelector(".ed-dialog[open]")) E.conflict(a, (choice) => ed.server.resolve(choice)); },
      file(file) { if (file.state !== ed.answer.file.state || file.text !== ed.answer.file.text) { ed.answer = { ...ed.answer, file }; ed.refresh(); } },
      offline(text) { ed.offline = text; ed.refresh(); },
    };

    // ---------------------------------------------------------- its parts
    const box = LW.el("div", { id: "sheet", tabindex: "-1" }), message = LW.el("div", { id: "ed-message", role: "status", "aria-live": "polite", hidden: true });
    ed.tools = {};
    ed.server = E.server(first.version ? first : null, on);
    ed.message = LW.messages(message);
    ed.sheet = E.sheet(box, { pick: (thing) => ed.select([ed.sheet.idOf(thing)]) });
    ed.sheet.element.setAttribute("tabindex", "-1");
    ed.tools = { select: E.selectTool(ed), ...E.drawingTools(ed) };
    ed.tool = ed.tools.select;
    ed.backdrop = E.backdrop(ed);
    ed.motion = E.motion(ed);
    ed.bar = E.bar(ed);
    ed.legend = E.legend(ed);
    ed.palette = E.palette(ed, Object.values(ed.tools).filter((t) => t.key));
    ed.foot = E.foot(ed);
    ed.part = E.part(ed);
    ed.list = E.messages(ed);
    ed.banner = E.banner(ed);
    const left = LW.el("div", { id: "ed-left" }, LW.el("div", { id: "ed-stage" }, ed.palette.element, LW.el("div", { id: "ed-paper" }, box, message)), ed.foot.element);
    ed.area = LW.el("main", { id: "draw", "aria-label": "Drawing" }, left, LW.el("aside", { id: "ed-side", "aria-label": "Part and state" }, ed.part.element, ed.list.element));
    head.after(ed.bar.element, ed.legend.element, ed.banner.element, ed.area);
    document.body.dataset.editing = "draw";
    app.classList.add("editing");
    document.body.classList.add("without-app");
    const theme = LW.theme(() => {}); // until the page of a mechanism has its own
    LW.byId("theme").addEventListener("click", () => { if (!LW.app) theme.toggle(); });
    ed.sheet.changed(() => { if (ed.foot) { paintMarks(ed); ed.repaint(true); } });
    ed.sheet.show(first);
    E.keys(ed, E.pointing(ed));
    new ResizeObserver(() => ed.sheet.resize()).observe(box);
    new MutationObserver(() => ed.sheet.theme()).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    ed.refresh();
    ed.motion.update();
    ed.backdrop.update();
    ed.server.start();
    return ed;
  };

  // why the mechanism cannot move yet
  const missing = (a) => { const first = a.messages.find((m) => m.level === "error") || a.messages.find((m) => m.level === "missing"); return first ? first.text : "The drawing is not complete: nothing can move yet."; };

  /** Starts the editor of a page; DATA.edit is the first answer of the server, or true. */
  E.start = (DATA) => {
    if (DATA.edit && DATA.edit.kind === "answer") { LW.editor = make(DATA.edit); return; }
    LW.editor = make(empty(DATA.name || "", DATA.units));
    LW.editor.server.load();
  };
})();
