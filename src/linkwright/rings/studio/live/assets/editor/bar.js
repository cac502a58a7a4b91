// The tool bar: Draw or Move, undo and redo, what is done with the selection, the picture behind the drawing; the palette of drawing
// tools beside the sheet, and the line below it that says what the mode and the tool do and takes typed dimensions.
(() => {
  "use strict";
  const E = LW.edit || (LW.edit = {});
  // parts of icons: paths, "c x y r" circles, "r x y width height" rectangles; a star fills them, a tilde breaks their line. Of elements
  // they have the names of shapes and marks in their descriptions
  const ICONS = /** @type {Record<string, string[]>} */ ({
    select: ["*M5 3l10 7-4.6.9 2.6 5-2.2 1.1-2.5-5L5 15z"],
    pin: ["c 10 6 2.6", "M8.2 8L5.5 14h9L11.8 8M3.5 14h13M5 14l-1.6 3M9 14l-1.6 3M13 14l-1.6 3"],
    link: ["M5.6 14.4L14.4 5.6", "c 4 16 2.3", "c 16 4 2.3"],
    point: ["*c 10 10 2.2", "M10 2.5V6M10 14v3.5M2.5 10H6M14 10h3.5"],
    slider: ["M2 14.5h16M2 5.5h16M3.5 14.5l-1.5 3M8.5 14.5l-1.5 3M13.5 14.5l-1.5 3", "r 6 7 8 6"],
    telescope: ["M3 17L5 15M15 5l2-2M10.5 9.5L15 5", "M4 13.5l5-5 2.5 2.5-5 5z"],
    line: ["M4.5 15.5l11-11", "*c 4 16 1.4", "*c 16 4 1.4"],
    gears: ["~c 6.5 12 4.3", "~c 14.3 7.5 3.2"],
    dashed: ["~M4.5 15.5l11-11", "*c 4 16 1.4", "*c 16 4 1.4"],
    rope: ["M2 10q2-4 4 0t4 0 4 0 4 0", "M2 10q2 4 4 0t4 0 4 0 4 0"],
    ring: ["*M10 3a7 7 0 1 0 0 14a7 7 0 1 0 0-14zM10 6.5a3.5 3.5 0 1 1 0 7a3.5 3.5 0 1 1 0-7z"],
    spiral: ["M8 10a2 2 0 1 1 4 0a4.5 4.5 0 1 1-9 0a7 7 0 1 1 14 0"],
    dashpot: ["M1.5 10H7M13.5 5H7v10h6.5M11 7.2v5.6M11 10h7.5"],
    ratchet: ["*c 10 10 1.6", "M4.4 13.4A6.5 6.5 0 1 1 15.6 13.4M17.2 9.8l-1.6 3.8-3.6-1.6M2 11.8l4.8 3.2"],
    rub: ["M3 5.5h11.5M11.5 2.5l3.5 3-3.5 3M2 11.5h16M5 11.5l-2.2 4M9.5 11.5l-2.2 4M14 11.5l-2.2 4M18 11.5l-2.2 4"],
    wall: ["M2 10h8.5M7.5 6.8L10.8 10l-3.3 3.2M13 3.5v13M13 6.5l4-2.5M13 11l4-2.5M13 15.5l4-2.5"],
    other: ["c 10 10 2", "M14 10a4 4 0 1 1-8 0a6 6 0 1 1 12 0"],
    coil: ["M2 10h2.5l1.3-4 2.2 8 2.2-8 2.2 8 2.2-8 1.3 4H18"],
    load: ["M10 2.5v12M6 11l4 4.5 4-4.5", "M5 18h10"],
    motor: ["c 10 10 2", "M15.8 7A6.6 6.6 0 1 0 16.5 11.5M16.8 3.5L16 7.3l-3.7-.9"],
    undo: ["M7.5 4L3.5 8l4 4M3.5 8H12a4.5 4.5 0 0 1 0 9H8"],
    redo: ["M12.5 4l4 4-4 4M16.5 8H8a4.5 4.5 0 0 0 0 9h4"],
    delete: ["M4 5.5h12M8 5.5v-2h4v2M5.5 5.5l.8 11h7.4l.8-11M8.5 8.5v5M11.5 8.5v5"],
    duplicate: ["r 3 6.5 10 10", "M7 6.5V3.5h9.5V13H13"],
    mirror: ["~M10 2.5v15", "M7.5 5.5v9h-5zM12.5 5.5v9h5z"],
    backdrop: ["r 2.5 4 15 12", "c 7 8 1.5", "M3 14.5l4.5-4 3 2.5 3-3.5 4 4"],
    snap: ["M5 3v6.5a5 5 0 0 0 10 0V3h-3.5v6.5a1.5 1.5 0 0 1-3 0V3zM5 6h3.5M11.5 6H15"],
    fit: ["M3.5 7.5v-4h4M12.5 3.5h4v4M16.5 12.5v4h-4M7.5 16.5h-4v-4"],
  });
  const MODES = { draw: "Draw: dragging changes the drawing", move: "Move: dragging moves the mechanism, its dimensions stay" };

  const drawn = (text, dashes) => {
    const [, mark, shape] = /** @type {RegExpExecArray} */ (/^([*~]?)(.*)$/.exec(text)), more = { "*": { fill: "currentColor" }, "~": { "stroke-dasharray": dashes, "stroke-linecap": "butt" } }[mark] || {}, [kind, ...n] = shape.split(" ");
    if (kind === "c") return LW.svgEl("circle", { cx: n[0], cy: n[1], r: n[2], ...more });
    return kind === "r" ? LW.svgEl("rect", { x: n[0], y: n[1], width: n[2], height: n[3], rx: "1.5", ...more }) : LW.svgEl("path", { d: shape, ...more });
  };
  const icon = (name, dashes = "2 1.5") => LW.svgEl("svg", { viewBox: "0 0 20 20", "aria-hidden": "true", fill: "none", stroke: "currentColor", "stroke-width": "1.5", "stroke-linecap": "round", "stroke-linejoin": "round" }, ...ICONS[name].map((part) => drawn(part, dashes)));

  /** The mark of an element in a joint. @param {ElementLooks} looks */
  E.markIcon = (looks) => icon(ICONS[looks.mark] ? looks.mark : "other");
  // between two points as it is drawn there, else its mark
  const shapeIcon = (looks) => (looks.shape === "line" && looks.dashes.length ? icon("dashed", looks.dashes.join(" ")) : ICONS[looks.shape] ? icon(looks.shape) : E.markIcon(looks));
  const button = (id, label, title, click, more = {}) => LW.el("button", { id: `ed-${id}`, class: "button quiet square", type: "button", "aria-label": label, title, on: { click }, ...more }, icon(id));

  /** Menu of the picture behind the drawing. */
  const backdropMenu = (ed) => {
    const input = /** @type {HTMLInputElement} */ (LW.el("input", { type: "file", accept: ".png,.jpg,.jpeg,.gif,.webp,.svg,.dxf", class: "visually-hidden", id: "ed-picture", "aria-label": "Picture, DXF or SVG in the background", tabindex: "-1" }));
    input.addEventListener("change", () => { if (input.files && input.files[0]) ed.backdrop.choose(input.files[0]); input.value = ""; });
    const list = LW.el("div", { class: "sheet ed-menu", id: "ed-backdrop-menu", hidden: true });
    const item = (id, label, click) => LW.el("button", { id, class: "button quiet", type: "button", text: label, on: { click: () => { list.hidden = true; click(); } } });
    const opener = button("backdrop", "Background picture", "Photo, DXF or SVG in the background", () => {
      const there = ed.backdrop.there();
      list.replaceChildren(item("ed-picture-choose", there ? "Another picture…" : "Choose a photo, DXF or SVG…", () => input.click()),
        ...(there ? [item("ed-picture-scale", "Scale by two clicks and a length", () => ed.use("scale")), item("ed-picture-fainter", "Fainter", () => ed.backdrop.fade(-0.15)),
          item("ed-picture-stronger", "Stronger", () => ed.backdrop.fade(0.15)), item("ed-picture-remove", "Remove it", () => ed.backdrop.remove())] : []));
      list.hidden = !list.hidden;
      opener.setAttribute("aria-expanded", String(!list.hidden));
      if (!list.hidden) list.querySelector("button").focus();
    }, { "aria-expanded": "false", "aria-controls": "ed-backdrop-menu" });
    document.addEventListener("pointerdown", (event) => { if (!list.hidden && !(/** @type {Element} */ (event.target)).closest(".ed-popup")) list.hidden = true; });
    return LW.el("div", { class: "ed-popup" }, opener, input, list);
  };

  /** The bar on top. @param {Editor} ed */
  E.bar = (ed) => {
    const mode = (name, label, title) => LW.el("button", { id: `ed-mode-${name}`, type: "button", text: label, title, on: { click: () => ed.setMode(name) } });
    const modes = LW.el("div", { class: "segments", role: "group", "aria-label": "What dragging does" }, mode("draw", "Draw", MODES.draw), mode("move", "Move", MODES.move));
    const undo = button("undo", "Undo", "Undo (Ctrl+Z)", () => ed.undo()), redo = button("redo", "Redo", "Redo (Ctrl+Y)", () => ed.redo());
    const duplicate = button("duplicate", "Duplicate", "Duplicate (Ctrl+D)", () => ed.duplicate()), mirror = button("mirror", "Mirror", "Mirror the selection about a line of two clicks", () => ed.use("mirror"));
    const remove = button("delete", "Delete", "Delete (Del)", () => ed.remove());
    const snap = button("snap", "Snap to pins, directions and the grid", "Snap to pins, directions and the grid (Alt or Ctrl suspends it)", () => ed.setSnapping(!ed.snapping));
    const fit = button("fit", "Fit the drawing", "Fit the drawing (0)", () => ed.sheet.fit());
    const saved = LW.el("span", { id: "ed-file", role: "status" }), mobility = LW.el("b", { id: "ed-mobility" });
    const drawOnly = LW.el("div", { class: "ed-group" }, duplicate, mirror, remove, backdropMenu(ed), snap, fit);
    const bar = LW.el("div", { id: "edit-bar", role: "toolbar", "aria-label": "Editor" }, modes, LW.el("div", { class: "ed-group" }, undo, redo), drawOnly, LW.el("span", { class: "ed-space" }), mobility, saved);
    return {
      element: bar,
      update() {
        const { answer } = ed, h = answer.history, some = ed.selection.length > 0;
        for (const [name, node] of [["draw", modes.children[0]], ["move", modes.children[1]]]) node.setAttribute("aria-pressed", String(ed.mode === name));
        Object.assign(undo, { disabled: !h.undo, title: h.undo_label ? `Undo: ${h.undo_label} (Ctrl+Z)` : "Undo (Ctrl+Z)" });
        Object.assign(redo, { disabled: !h.redo, title: h.redo_label ? `Redo: ${h.redo_label} (Ctrl+Y)` : "Redo (Ctrl+Y)" });
        for (const node of [duplicate, mirror, remove]) node.disabled = !some;
        snap.setAttribute("aria-pressed", String(ed.snapping));
        drawOnly.hidden = ed.mode !== "draw";
        LW.setText(mobility, answer.mobility ? answer.mobility.text : "");
        LW.setText(saved, ed.offline ? "not connected" : `${answer.file.name}: ${answer.file.state}`);
      },
    };
  };

  /** What dragging does now, in one line over the drawing. @param {Editor} ed */
  E.legend = (ed) => {
    const text = LW.el("span", {}), strip = LW.el("div", { id: "ed-legend", role: "status" }, text);
    return {
      element: strip,
      update() {
        const { answer, mode } = ed, file = answer.file.name, exact = answer.mobility ? answer.mobility.exact : null;
        strip.dataset.mode = mode;
        if (mode === "draw") LW.setText(text, `Draw: dragging a pin or a link changes the drawing and ${file}.`);
        else if (!ed.motion.there()) LW.setText(text, "Move: the motion is being computed.");
        else if (ed.motion.pending()) LW.setText(text, "Move: the motion of the changed drawing is being computed. The last motion is shown.");
        else if (exact === 0) LW.setText(text, "Move: nothing can be dragged, the mechanism has no degree of freedom.");
        else LW.setText(text, `Move: drag a pin or a link to move the mechanism. Its dimensions and ${file} stay as they are.`);
      },
    };
  };

  /** Tools beside the sheet, one of which is in use; arrow keys go along them. @param {Editor} ed @param {any[]} tools */
  E.palette = (ed, tools) => {
    const buttons = tools.map((t) => LW.el("button", { id: `ed-tool-${t.id}`, class: "ed-tool", type: "button", role: "radio", "aria-checked": "false", tabindex: "-1", title: `${t.label} (${t.key.toUpperCase()})`, on: { click: () => ed.use(t.id) } },
      t.looks ? shapeIcon(t.looks) : icon(t.id), LW.el("span", { text: t.label })));
    const list = LW.el("div", { id: "ed-palette", role: "radiogroup", "aria-label": "Tools" }, ...buttons);
    list.addEventListener("keydown", (event) => {
      const way = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
      if (!way) return;
      event.preventDefault();
      event.stopPropagation();
      const next = (tools.findIndex((t) => t.id === ed.tool.id) + way + tools.length) % tools.length;
      ed.use(tools[next].id);
      buttons[next].focus();
    });
    return {
      element: list,
      update() {
        const known = tools.some((t) => t.id === ed.tool.id);
        tools.forEach((t, i) => {
          const on = t.id === ed.tool.id || (!known && i === 0);
          buttons[i].setAttribute("aria-checked", String(t.id === ed.tool.id));
          buttons[i].tabIndex = on ? 0 : -1;
        });
      },
    };
  };

  /** The line below the sheet. @param {Editor} ed */
  E.foot = (ed) => {
    const hint = LW.el("span", { id: "ed-hint", role: "status", "aria-live": "polite" });
    const input = /** @type {HTMLInputElement} */ (LW.el("input", { id: "ed-dimension", type: "text", autocomplete: "off", inputmode: "text", "aria-describedby": "ed-dimension-problem" }));
    const name = LW.el("span", {}), label = LW.el("label", { class: "ed-field", hidden: true }, name, input), problem = LW.el("span", { id: "ed-dimension-problem", class: "ed-problem", role: "alert" });
    const done = LW.el("button", { id: "ed-done", class: "button", type: "button", text: "Done", hidden: true, on: { click: () => ed.tool.finish() } });
    const foot = LW.el("div", { id: "ed-foot" }, hint, label, problem, done);
    const enter = () => {
      const text = input.value.trim();
      if (!text) { ed.tool.finish(); return; }
      const why = ed.tool.typed(text, ed.pointer);
      LW.setText(problem, why);
      input.classList.toggle("wrong", Boolean(why));
      if (!why) { input.value = ""; ed.sheet.element.focus({ preventScroll: true }); }
      ed.repaint();
    };
    input.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter") { event.preventDefault(); enter(); }
      if (event.key === "Escape") { input.value = ""; LW.setText(problem, ""); input.classList.remove("wrong"); ed.sheet.element.focus({ preventScroll: true }); }
    });
    return {
      element: foot,
      /** A key typed anywhere begins a dimension. @param {string} text */
      type(text) {
        if (label.hidden) return false;
        input.focus({ preventScroll: true });
        input.value = text;
        return true;
      },
      update() {
        const f = ed.tool.field();
        LW.setText(hint, ed.tool.hint());
        label.hidden = !f;
        done.hidden = !(ed.tool.many && ed.tool.places().length >= ed.tool.least);
        if (f) { LW.setText(name, f.label); input.placeholder = f.hint; } else { input.value = ""; LW.setText(problem, ""); }
      },
    };
  };

})();
