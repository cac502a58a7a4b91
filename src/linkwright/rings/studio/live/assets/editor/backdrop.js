// A photo, DXF or SVG behind the drawing. The file is stored beside the model and its place in the model file; it is scaled by two clicks on
// a known length. The image lies in meters of the drawing, so that it moves and grows with the window.
(() => {
  "use strict";
  const E = LW.edit || (LW.edit = {});
  const D = LW.draw;
  const MM = 1e-3; // unit of the lines of a DXF or SVG, as the server reads them
  const FIRST = 0.6; // of the window's width that a new photo takes

  /** @param {Editor} ed */
  E.backdrop = (ed) => {
    let shown = "";
    /** @type {any} */
    let content = null;
    const { sheet } = ed, layer = sheet.behind;

    const paint = (b) => {
      layer.replaceChildren();
      if (!b || !content || content.kind === "none") return;
      const turn = `translate(${b.at[0]} ${b.at[1]}) rotate(${((b.angle || 0) * 180) / Math.PI}) scale(${b.scale})`, opacity = b.opacity === undefined ? 0.5 : b.opacity;
      const group = D.make("g", { transform: turn, opacity, class: "ed-backdrop" }, layer);
      if (content.kind === "image") D.make("image", { href: content.data, x: 0, y: 0, width: content.size[0], height: content.size[1], transform: `translate(0 ${content.size[1]}) scale(1 -1)`, preserveAspectRatio: "none" }, group);
      else D.make("path", { d: content.lines.map((line) => line.map(([x, y], i) => `${i ? "L" : "M"}${x} ${y}`).join("")).join(""), class: "ed-traced", "vector-effect": "non-scaling-stroke" }, group);
    };
    const set = (more, label, drag) => { const b = ed.answer.drawing.backdrop; return b ? ed.edit({ do: "set_backdrop", file: b.file, at: b.at, scale: b.scale, angle: b.angle, opacity: b.opacity, ...more }, { label, drag }) : Promise.resolve(null); };
    return {
      there: () => Boolean(ed.answer && ed.answer.drawing.backdrop),
      async update() {
        const b = ed.answer.drawing.backdrop, key = b ? b.file : "";
        if (key !== shown) {
          shown = key;
          content = null;
          if (b) content = (await ed.server.get("edit/backdrop")) || { kind: "none" };
        }
        paint(ed.answer.drawing.backdrop);
      },
      /** Stores a file beside the model: a photo in the middle of the window, to be scaled; lines in their own size. @param {File} file */
      async choose(file) {
        const stored = await ed.server.upload(file);
        if (!stored || stored.kind !== "uploaded") return;
        const step = { drag: `picture${Date.now()}`, label: "Background picture" };
        shown = "";
        await ed.edit({ do: "set_backdrop", file: stored.file, at: [0, 0], scale: MM, opacity: 0.5 }, step);
        const found = await ed.server.get("edit/backdrop");
        if (!found || found.kind === "none") return;
        if (found.kind === "lines") {
          sheet.fit({ low: found.low.map((x) => x * MM), high: found.high.map((x) => x * MM) });
          ed.say("The drawing is shown in its own size. If that is wrong, scale it by two clicks and a length.");
          return;
        }
        const box = sheet.container, scale = (FIRST * box.clientWidth) / sheet.scale() / found.size[0];
        await set({ scale, at: sheet.place([(1 - FIRST) / 2 * box.clientWidth, box.clientHeight / 2 + (scale * sheet.scale() * found.size[1]) / 2]) }, step.label, step.drag);
        ed.use("scale");
      },
      fade: (by) => set({ opacity: Math.max(0.1, Math.min(1, ((ed.answer.drawing.backdrop || { opacity: 0 }).opacity || 0.5) + by)) }, "Opacity of the picture"),
      remove: () => ed.edit({ do: "set_backdrop", file: null }, { label: "Remove the picture" }),
    };
  };
})();
