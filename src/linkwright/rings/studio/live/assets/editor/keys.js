// Keys of the editor in Draw mode, before those of the page: tools by letter, digits begin a dimension, arrows move what is selected.
// Undo and redo work in both modes. Keys typed into fields are left alone.
(() => {
  "use strict";
  const E = LW.edit || (LW.edit = {});
  const PAUSE = 800; // ms: arrow keys within it are one step of undo
  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

  const ALSO = [
    ["120 Enter", "length in the direction of the pointer"], ["120<30 Enter", "length and direction"], ["120; 50 Enter", "place"], ["Enter", "end a link"], ["Esc", "leave the tool"], ["Alt, Ctrl", "suspend snapping"],
    ["Ctrl+Z, Ctrl+Y", "undo, redo"], ["Ctrl+D, Ctrl+A, Del", "duplicate, select all, delete"], ["Arrows", "move the selection by a step of the grid, with Shift by ten"], ["0", "fit the drawing"],
  ];

  /** The keys of Draw, for the page's list of keys. @param {Editor} ed */
  E.keyList = (ed) => {
    const tools = Object.values(ed.tools).filter((t) => t.key).map((t) => [String(t.key).toUpperCase(), t.label.toLowerCase()]);
    return LW.el("section", { id: "ed-keys" }, LW.el("h2", { text: "Draw" }), LW.el("dl", {}, ...[...tools, ...ALSO].flatMap(([keys, words]) => [LW.el("dt", {}, LW.el("kbd", { text: keys })), LW.el("dd", { text: words })])));
  };

  /** @param {Editor} ed @param {any} hands */
  E.keys = (ed, hands) => {
    let series = "", last = 0;
    const typing = (target) => target.closest && target.closest("input:not([type=checkbox]):not([type=range]), select, textarea, dialog");
    const onSheet = (target) => target === document.body || target.closest("#sheet, #ed-palette");

    const command = (event) => {
      const key = event.key.toLowerCase();
      if (key === "z") { if (event.shiftKey) ed.redo(); else ed.undo(); return true; }
      if (key === "y") { ed.redo(); return true; }
      if (ed.mode !== "draw") return false;
      if (key === "d") { ed.duplicate(); return true; }
      if (key === "a") { ed.selectAll(); return true; }
      return false;
    };
    const nudge = (event) => {
      const by = ARROWS[event.key].map((x) => x * (event.shiftKey ? 10 : 1)), now = Date.now();
      if (now - last > PAUSE) series = `keys${now}`;
      last = now;
      return E.nudge(ed, by, series);
    };
    const plain = (event) => {
      const { key, target } = event;
      if (key === "Escape") { ed.escape(); return true; }
      if (ARROWS[key]) return onSheet(target) && !target.closest("#ed-palette") && nudge(event);
      if (key === "Enter") return Boolean(onSheet(target) && !target.closest("#ed-palette, [data-kind], [data-mark]") && (ed.tool.finish(), true));
      if (key === "Delete" || key === "Backspace") { ed.remove(); return true; }
      if (key === " ") { if (!onSheet(target) || target.closest("#ed-palette")) return false; hands.space(true); return true; }
      if (key === "0" && !ed.tool.field()) { ed.sheet.fit(); return true; }
      if (/^[-\d.,+]$/.test(key)) return ed.foot.type(key);
      const tool = ed.toolOf(key.toLowerCase());
      if (tool) { ed.use(tool); return true; }
      return false;
    };
    window.addEventListener("keydown", (event) => {
      const held = event.ctrlKey || event.metaKey, field = typing(event.target);
      if (document.querySelector("dialog[open]") || (field && !(held && field.dataset.sent === field.value))) return;
      if (event.altKey && !held) { if (event.key === "Alt") event.preventDefault(); return; }
      const done = held ? command(event) : ed.mode === "draw" && plain(event);
      if (done) event.preventDefault();
      // the page's own keys are for Move only
      if (done || (ed.mode === "draw" && !held && event.key !== "Tab" && event.key !== "Enter" && event.key !== " " && event.key !== "?")) event.stopPropagation();
    }, true);
  };
})();
