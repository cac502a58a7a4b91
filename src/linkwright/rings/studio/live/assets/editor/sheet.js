// The sheet: the drawing with its grid, what is drawn over it while a tool is used, and the way from pixels to places. It is drawn
// by the same view as the page's mechanism; over it lies a transparent layer that takes the pointers.
(() => {
  "use strict";
  const E = LW.edit || (LW.edit = {});
  const D = LW.draw;
  const EDGE = 0.15; // of the sheet that stays free on each side: there is room to draw on

  // thin lines at every step of the grid, stronger ones at every fifth or tenth
  const gridPath = (camera, size, step) => {
    const from = camera.lift(0, size[1], [0, 0, 0]), to = camera.lift(size[0], 0, [0, 0, 0]);
    let d = "";
    for (let x = Math.ceil(from[0] / step) * step; x <= to[0]; x += step) d += `M${D.short(camera.pixel([x, 0, 0])[0])} 0V${size[1]}`;
    for (let y = Math.ceil(from[1] / step) * step; y <= to[1]; y += step) d += `M0 ${D.short(camera.pixel([0, y, 0])[1])}H${size[0]}`;
    return d;
  };

  /** @param {HTMLElement} container @param {{pick: (thing: any) => void}} hooks */
  E.sheet = (container, hooks) => {
    const back = D.make("svg", { class: "ed-back", "aria-hidden": "true" }, container), plane = LW.el("div", { class: "ed-plane" });
    const over = D.make("svg", { class: "ed-over" });
    container.append(plane, over);
    const behind = D.make("g", {}, back), fine = D.make("path", { class: "ed-grid" }, back), coarse = D.make("path", { class: "ed-grid strong" }, back), cross = D.make("path", { class: "ed-origin" }, back);
    const marks = D.make("g", {}, over), preview = D.make("g", {}, over);
    const DATA = /** @type {any} */ ({ planar: true, bodies: [], pins: [], points: [], units: {}, gravity: [0, 0, 0], scene: {} });
    /** @type {View} */
    let view;
    /** @type {Drawing} */
    let drawing;
    let traces = [];
    /** @type {string[]} */
    let selected = [];
    /** @type {(() => void)[]} */
    const listeners = [];
    const sheet = { element: over, container, marks, preview, behind };
    const quiet = () => {};

    const frame = () => ({ poses: E.drawnPoses(DATA.bodies.length), places: null, loads: null, largest: 0, room: null, traces, ghost: null, label: "", selected: null });
    const furnish = () => {
      const { camera } = view, size = [container.clientWidth, container.clientHeight], unit = DATA.units.length, step = E.gridStep(camera.scale, unit);
      for (const svg of [back, over]) D.set(svg, { width: size[0], height: size[1], viewBox: `0 0 ${size[0]} ${size[1]}` });
      fine.setAttribute("d", gridPath(camera, size, step));
      coarse.setAttribute("d", gridPath(camera, size, 10 * step));
      const o = camera.pixel([0, 0, 0]).map(D.short);
      cross.setAttribute("d", `M${o[0] - 9} ${o[1]}h18M${o[0]} ${o[1] - 9}v18`);
      behind.setAttribute("transform", `matrix(${camera.scale} 0 0 ${-camera.scale} ${camera.x} ${camera.y})`);
      emphasize();
      listeners.forEach((tell) => tell());
    };
    const emphasize = () => {
      for (const node of plane.querySelectorAll("[data-kind]")) node.classList.toggle("lw-selected", selected.includes(sheet.idOf(node)));
    };

    Object.assign(sheet, {
      /** The id of a drawn element or of what the view calls a thing. @param {any} node */
      idOf(node) {
        const { kind, name } = node.dataset || node;
        if (kind === "body") return `body:${name}`;
        const own = drawing && drawing.points.find((p) => p.name === name), marked = name.replace(/^[^.]*\./, "");
        return own ? own.id : `point:${marked}`;
      },
      /** Shows a drawing; the window stays where it is. @param {EditAnswer} answer @param {any} [shown] the drawing, if it is ahead of the server's */
      show(answer, shown) {
        drawing = shown || answer.drawing;
        Object.assign(DATA, E.sheetData({ ...answer, drawing }));
        if (!view) {
          view = LW.plane(plane, DATA, { pick: hooks.pick, dragStart: quiet, drag: quiet, dragEnd: quiet });
          view.draw(frame());
          sheet.fit();
          return;
        }
        view.draw(frame(), true);
        furnish();
      },
      drawing: () => drawing,
      units: () => DATA.units,
      traces(list) {
        if (!list.length && !traces.length) return;
        traces = list;
        if (view) { view.draw(frame()); emphasize(); }
      },
      select(ids) { selected = ids; emphasize(); },
      changed(tell) { listeners.push(tell); },
      /** The window of a box, or of all that is drawn. @param {{low: number[], high: number[]}} [given] */
      fit(given) {
        const box = given ? { low: [...given.low, 0], high: [...given.high, 0] } : DATA.scene.extent, size = [container.clientWidth || 640, container.clientHeight || 420];
        const [x, y] = size.map((s) => EDGE * s);
        view.camera.window(box, size[0], size[1], { left: x, right: x, top: y, bottom: y });
        sheet.refresh();
      },
      refresh() { view.background("pan", 0, 0); furnish(); },
      pan(dx, dy) { view.background("pan", dx, dy); furnish(); },
      zoom(factor, x, y) { view.zoom(factor, x, y); furnish(); },
      resize() { if (view && container.clientWidth) sheet.refresh(); },
      theme() { if (view) { view.theme(); furnish(); } },
      scale: () => view.camera.scale,
      pixel: (at) => view.camera.pixel([at[0], at[1], 0]),
      place: (pixel) => view.camera.lift(pixel[0], pixel[1], [0, 0, 0]).slice(0, 2),
      step: () => E.gridStep(view.camera.scale, DATA.units.length),
      solids: () => view.solids(),
      things: () => view.things(),
      look: () => D.look(container),
    });
    return sheet;
  };

  // ---------------------------------------------------------------- what lies over it

  const label = (parent, text, x, y, kind = "") => {
    const group = D.make("g", { class: `ed-label ${kind}`, "pointer-events": "none" }, parent), box = D.make("rect", { rx: 4, height: 20 }, group);
    const node = D.make("text", { x: 7, y: 14.5, "font-size": 12.5 }, group);
    node.textContent = text;
    const width = D.textWidth(text, "12.5px system-ui, sans-serif") + 14;
    box.setAttribute("width", D.short(width));
    group.setAttribute("transform", `translate(${D.short(x)} ${D.short(y)})`);
    return group;
  };

  /** A dimension along a line of two places: a thin line beside it with its length. */
  E.dimension = (sheet, parent, a, b, text, kind = "") => {
    const [p, q] = [sheet.pixel(a), sheet.pixel(b)], far = Math.hypot(q[0] - p[0], q[1] - p[1]);
    if (far < 12) return;
    const flip = q[0] < p[0] ? -1 : 1, n = [(flip * (q[1] - p[1])) / far, (-flip * (q[0] - p[0])) / far], off = 20;
    const at = (c, s) => [c[0] + s * n[0], c[1] + s * n[1]], [u, v] = [at(p, off), at(q, off)];
    D.make("path", { class: `ed-dimension ${kind}`, d: D.path([u, v]) + D.path([at(p, 6), at(p, off + 4)]) + D.path([at(q, 6), at(q, off + 4)]) }, parent);
    const width = D.textWidth(text, "12.5px system-ui, sans-serif") + 14;
    label(parent, text, (u[0] + v[0]) / 2 - width / 2 + 6 * n[0], (u[1] + v[1]) / 2 - 10 + 6 * n[1], kind);
  };

  E.flag = label;

  /** A ring around a place. */
  E.ring = (sheet, parent, at, kind, radius = 11) => {
    const [x, y] = sheet.pixel(at);
    return D.make("circle", { class: `ed-ring ${kind}`, cx: D.short(x), cy: D.short(y), r: radius }, parent);
  };

  /** An arrow from a place by pixels. */
  E.forceArrow = (sheet, parent, at, d, kind, text) => {
    const [x, y] = sheet.pixel(at), far = Math.hypot(d[0], d[1]) || 1, u = [d[0] / far, -d[1] / far], long = 64;
    const tip = [x - 6 * u[0], y - 6 * u[1]], tail = [x - (long + 6) * u[0], y - (long + 6) * u[1]], neck = [tip[0] - 10 * u[0], tip[1] - 10 * u[1]];
    const side = (s) => [neck[0] + s * 4.5 * u[1], neck[1] - s * 4.5 * u[0]];
    D.make("path", { class: `ed-force ${kind}`, d: D.path([tail, neck]) }, parent);
    D.make("path", { class: `ed-force-tip ${kind}`, d: D.path([tip, side(1), side(-1)], true) }, parent);
    if (text) label(parent, text, tail[0] + 8, tail[1] - 10, kind);
    return { tail, tip };
  };
})();
