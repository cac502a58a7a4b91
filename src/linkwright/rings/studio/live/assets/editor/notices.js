// What the editor says: a banner where the file or the server has a problem, the list of what is missing in the drawing, and dialogs that
// ask what to change where an expression gives a number, and which text to take where the file was changed by another program.
(() => {
  "use strict";
  const E = LW.edit || (LW.edit = {});
  const LEVELS = { error: "Problem", missing: "Missing", note: "Note" };

  /** A banner over the drawing; what is shown stays as it is. @param {Editor} ed */
  E.banner = (ed) => {
    const text = LW.el("span", { id: "ed-banner-text" }), button = LW.el("button", { class: "button", type: "button", id: "ed-banner-button", hidden: true });
    const field = /** @type {HTMLInputElement} */ (LW.el("input", { type: "text", id: "ed-banner-name", "aria-label": "New file name", hidden: true }));
    const banner = LW.el("div", { id: "ed-banner", role: "alert", hidden: true }, text, field, button);
    let act = () => {};
    button.addEventListener("click", () => act());
    field.addEventListener("keydown", (event) => { event.stopPropagation(); if (event.key === "Enter") act(); });
    const show = (words, label, work, name) => {
      LW.setText(text, words);
      banner.hidden = !words;
      button.hidden = !label;
      field.hidden = !name;
      if (name && !field.value) field.value = name;
      LW.setText(button, label || "");
      act = work || (() => {});
    };
    return {
      element: banner,
      update() {
        const { file, stale, messages } = ed.answer, unreadable = messages.find((m) => m.code === "unreadable");
        if (ed.offline) show(`${ed.offline} ${file.state === "saved" ? "The drawing on the screen is the last one that was saved." : `The last edits on the screen are not in ${file.name}.`}`);
        else if (file.state === "read-only") show(file.text || `${file.name} is read-only: nothing is saved.`, "Save under this name", () => ed.server.save(field.value.trim()), file.name.replace(/(\.\w+)?$/, "-2$1"));
        else if (file.state !== "saved") show(file.text || `${file.name}: ${file.state}.`, "Save again", () => ed.server.save(""));
        else if (stale) show(`${unreadable ? `${unreadable.where || file.name}: ${unreadable.text}` : `${file.name} cannot be read.`} The page shows the last version that could be read. Correct the file or undo.`, "Undo", () => ed.undo());
        else show("");
      },
    };
  };

  /** Degrees of freedom and what is missing; a click selects the parts that are meant. @param {Editor} ed */
  E.messages = (ed) => {
    const list = LW.el("ul", { id: "ed-messages" }), head = LW.el("h2", { text: "" }), box = LW.el("section", { "aria-label": "State of the mechanism", id: "ed-state" }, head, list);
    return {
      element: box,
      update() {
        const { mobility, messages, complete } = ed.answer, m = mobility || { text: "", bodies: 0, joints: 0 };
        LW.setText(head, m.text);
        head.title = mobility ? `${LW.counted(m.bodies, "moving body", "moving bodies")}, ${LW.counted(m.joints, "joint")}` : "";
        const rows = messages.filter((x) => x.code !== "empty" || messages.length === 1).map((x) => {
          const ids = (x.ids || []).filter((id) => E.partOf(ed.answer.drawing, id));
          const words = [LW.el("b", { text: `${LEVELS[x.level] || "Note"}: ` }), x.text, x.where ? LW.el("small", { text: ` ${x.where}` }) : null];
          const end = x.code === "loose_pin" ? E.partOf(ed.answer.drawing, ids[0] || "") : null, only = end && end[1].bodies.length === 1 && !end[1].grounded;
          const mark = only ? LW.el("button", { type: "button", class: "ed-mark", text: `Make ${end[1].name} a marked point`, on: { click: () => ed.edit({ do: "set_pin", point: end[1].name, pin: false }, { label: `Make ${end[1].name} a marked point` }) } }) : null;
          const [one, other] = x.code === "on_pin" ? ids.map((id) => E.partOf(ed.answer.drawing, id)[1].name) : [];
          const join = other ? LW.el("button", { type: "button", class: "ed-mark", text: `Join ${one} with ${other}`, on: { click: () => ed.edit({ do: "join", point: one, to: other }, { label: `Join ${one} with ${other}` }) } }) : null;
          return LW.el("li", { "data-level": x.level, "data-code": x.code }, ids.length ? LW.el("button", { type: "button", on: { click: () => ed.select(ids) } }, ...words) : LW.el("span", {}, ...words), mark, join);
        });
        if (!rows.length && complete) rows.push(LW.el("li", { "data-level": "good" }, LW.el("span", { text: "Complete: Move shows its motion." })));
        list.replaceChildren(...rows);
      },
    };
  };

  const dialog = (title, ...content) => {
    const close = () => { node.close(); node.remove(); };
    const node = /** @type {HTMLDialogElement} */ (LW.el("dialog", { class: "ed-dialog", "aria-label": title }, LW.el("h2", { text: title }), ...content));
    node.addEventListener("keydown", (event) => event.stopPropagation());
    node.addEventListener("close", () => node.remove());
    document.body.append(node);
    node.showModal();
    return { node, close };
  };

  /** Asks one question after the other; answers(…) is called with all choices, never when it is canceled. */
  E.ask = (questions, answers, canceled) => {
    const given = {};
    const next = (i) => {
      if (i === questions.length) { answers(given); return; }
      const q = questions[i];
      let chosen = false;
      const choose = (id) => () => { chosen = true; given[q.key] = id; box.close(); next(i + 1); };
      const box = dialog("An expression gives this number", LW.el("p", { text: q.text }),
        LW.el("div", { class: "ed-choices" }, ...q.choices.map((c) => LW.el("button", { class: "button", type: "button", text: c.text, "data-choice": c.id, on: { click: choose(c.id) } })),
          LW.el("button", { class: "button quiet", type: "button", text: "Cancel", on: { click: () => box.close() } })));
      box.node.addEventListener("close", () => { if (!chosen) canceled(); });
    };
    next(0);
  };

  /** The file was changed by another program while it was edited here. */
  E.conflict = (a, choose) => {
    const pick = (id) => () => { box.close(); choose(id); };
    const button = (id, label, title) => LW.el("button", { class: "button", type: "button", text: label, title, "data-choice": id, on: { click: pick(id) } });
    const texts = LW.el("div", { class: "ed-texts" }, ...[["mine", "Drawn here"], ["theirs", "In the file"]].map(([key, label]) => LW.el("figure", {}, LW.el("figcaption", { text: label }), LW.el("pre", { tabindex: "0" }, ...marked(a[key], a[key === "mine" ? "theirs" : "mine"])))));
    const box = dialog("Two versions of the file", LW.el("p", { text: `${a.text} Lines that differ are marked.` }), texts,
      LW.el("div", { class: "ed-choices" }, ...(a.merged ? [button("merged", "Take both changes")] : []), button("mine", "Keep what is drawn here"), button("theirs", "Take the file")));
    box.node.addEventListener("cancel", (event) => event.preventDefault());
  };

  // the lines of a text, those marked that the other one does not have
  const marked = (text, other) => {
    const known = new Set((other || "").split("\n"));
    return (text || "").split("\n").map((line) => LW.el(known.has(line) ? "span" : "mark", { text: `${line}\n` }));
  };
})();
