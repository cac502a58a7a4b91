// The drawing as SVG: a planar mechanism from the front, or a spatial one in an axonometric view (where WebGL is missing, and for
// print). Elements are built once for a scale; a new frame only moves them.
//
// LW.plane(container, DATA, hooks) -> view: draw(frame), fit(list of poses?), svg(), png(scale), theme(), resize(), moved(), screen(place)
(() => {
  "use strict";
  const MANY = 40; // names
  const D = LW.draw;
  const LAYERS = ["ground", "ghost", "blocks", "bodies", "riders", "traces", "loads", "pins", "drives", "labels", "furniture", "hover"];
  const BAR = [7, 15]; // least and greatest width of a bar, pixels

  // room around the mechanism: for names and arrows, blocks and ends of guides, and at the foot for the scales
  function padding(width, scene) {
    const side = width < 480 ? 34 : 56, more = scene.guides.length ? 18 : 0, foot = scene.pins.some((p) => p.grounded) ? 30 : 16;
    return { left: side + more, right: side + more, top: side + 4, bottom: side + foot };
  }

  // ---------------------------------------------------------------- pins, points and names

  function makeEyes(sheet, things) {
    const { look, layers } = sheet, r = Math.max(0.36 * sheet.width, 3.6);
    return things.map((thing) => {
      const group = D.make("g", { class: thing.kind === "pin" ? "lw-pin" : "lw-point", "data-kind": thing.kind, "data-name": thing.name, tabindex: 0, role: "button", "aria-label": thing.words }, layers.pins);
      if (thing.kind === "pin") group.setAttribute("data-pin", thing.name);
      else group.setAttribute("data-body", thing.body);
      D.make("circle", { r: 14, fill: "none", "pointer-events": "all", "data-hit": "" }, group);
      D.make("circle", { r: r + 5, fill: "none", stroke: look.accent, "stroke-width": 2, class: "lw-ring", visibility: "hidden" }, group);
      if (thing.mark) D.make("circle", { r: 0.85 * r, fill: look.edge(thing.color), stroke: look.paper, "stroke-width": 1.2 }, group);
      else if (!thing.slider) D.make("circle", { r, fill: look.paper, stroke: look.ink, "stroke-width": 1.7 }, group);
      return { thing, group };
    });
  }

  function makeNames(sheet, things) {
    const { look, layers } = sheet, font = `500 12.5px ${look.font}`;
    const seen = [], same = (t) => seen.some(([label, at]) => label === t.label && D.size(D.minus(at, t.place)) * 20 < D.size(D.minus(sheet.box.high, sheet.box.low)));
    const wanted = things.filter((t) => {
      t.place = D.spot(sheet.poses, t.spot);
      const first = !t.slider && !same(t); // joints that share a place share its name
      seen.push([t.label, t.place]);
      return first;
    });
    return wanted.map((thing) => {
      const halo = { stroke: look.paper, "stroke-width": 3.2, "stroke-linejoin": "round", "paint-order": "stroke", "pointer-events": "none" };
      const node = D.text(layers.labels, look, 12.5, { "text-anchor": "middle", "font-weight": 500, ...halo });
      node.textContent = thing.label;
      if (thing.mark) node.setAttribute("fill", look.dark ? D.mix(thing.color, look.ink, 0.45) : look.edge(thing.color));
      return { thing, node, key: thing.kind + thing.name, width: D.textWidth(thing.label, font) + 4, height: 15, clear: 0.5 * sheet.width + 6, hidden: false };
    });
  }

  // lines that names should keep off: bodies, bearings, drive arrows, pins
  function obstacles(sheet, solids, things, poses) {
    const out = [...sheet.still, ...sheet.curves];
    for (const s of solids) out.push(...s.segments);
    for (const t of things) out.push([t.x - 1, t.y, t.x + 1, t.y, 6]);
    for (const line of sheet.scene.lines) out.push([...sheet.camera.pixel(D.spot(poses, line.ends[0])), ...sheet.camera.pixel(D.spot(poses, line.ends[1])), 5]);
    for (const t of sheet.scene.telescopes) if (!t.bodies[0]) out.push([...sheet.camera.pixel(D.spot(poses, t.ends[0])), ...sheet.camera.pixel(D.spot(poses, t.ends[1])), 6]);
    for (const [spot, a, b, wide] of sheet.arcs) {
      const p = sheet.camera.pixel(D.spot(poses, spot));
      const arc = [p[0] + a[0], p[1] + a[1], p[0] + b[0], p[1] + b[1], wide];
      out.push(arc, arc); // twice: a name on a bar can be read, one on an arrow hides where it points
    }
    return out;
  }

  function writeNames(sheet, names, place, segments) {
    for (const n of names) [n.x, n.y] = [n.thing.x, n.thing.y];
    const gliding = place(names, segments, [4, 4, sheet.size[0] - 4, sheet.size[1] - 34]);
    const most = names.length > MANY ? 5 : 16; // of many names those that can be read tell enough
    for (const n of names) {
      n.hidden = n.cost > (n.hidden ? 0.5 : 1) * most; // rather no name than one on top of others
      D.set(n.node, { x: D.short(n.left), y: D.short(n.top + 4.5), visibility: n.hidden ? "hidden" : "visible" });
    }
    return gliding;
  }

  // ---------------------------------------------------------------- traces, hover and the hand's label

  function traceLines(sheet) {
    const made = new Map();
    return (traces) => {
      const used = new Set();
      for (const t of traces || []) {
        if (!made.has(t.name)) made.set(t.name, { node: D.line(sheet.layers.traces, t.color, 1.5), points: null });
        const item = made.get(t.name);
        used.add(t.name);
        if (item.points === t.points) continue;
        item.points = t.points;
        const list = [];
        sheet.curves = sheet.curves.filter((c) => c[5] !== t.name);
        for (let i = 0; i + 2 < t.points.length; i += 3) list.push(sheet.camera.pixel([t.points[i], t.points[i + 1], t.points[i + 2]]));
        const step = Math.max(1, Math.floor(list.length / 40));
        for (let i = step; i < list.length; i += step) sheet.curves.push([...list[i - step], ...list[i], 1, t.name]);
        D.set(item.node, { d: D.gappedPath(list), stroke: sheet.look.dark ? D.mix(t.color, sheet.look.ink, 0.25) : t.color, "data-trace": t.name, opacity: 0.9 });
      }
      for (const [name, item] of made) {
        if (used.has(name)) continue;
        sheet.curves = sheet.curves.filter((c) => c[5] !== name);
        item.node.remove();
        made.delete(name);
      }
    };
  }

  // a small flag with words at a pixel
  function flag(sheet, paint, ink) {
    const group = D.make("g", { visibility: "hidden", "pointer-events": "none", "data-hit": "" }, sheet.layers.hover);
    const box = D.make("rect", { rx: 5, height: 24, fill: paint, stroke: D.mix(paint, ink, 0.18) }, group), node = D.text(group, sheet.look, 12.5, { y: 16.5, x: 9, fill: ink });
    return (words, at) => {
      group.setAttribute("visibility", words ? "visible" : "hidden");
      if (!words) return;
      if (node.textContent !== words) {
        node.textContent = words;
        box.setAttribute("width", D.textWidth(words, `12.5px ${sheet.look.font}`) + 18);
      }
      const width = Number(box.getAttribute("width"));
      const x = Math.max(4, Math.min(sheet.size[0] - width - 4, at[0] + 14)), y = at[1] > 44 ? at[1] - 36 : at[1] + 20;
      group.setAttribute("transform", `translate(${D.short(x)} ${D.short(y)})`);
    };
  }

  // ---------------------------------------------------------------- the view

  // `seen` (optional, in space): {azimuth, elevation} of the first view
  LW.plane = (container, DATA, hooks, seen) => {
    const svg = D.make("svg", { class: "lw-plane", role: "group", "aria-label": `Drawing of ${DATA.name}` });
    container.appendChild(svg);
    const camera = D.camera(DATA), place = D.placer();
    const view = /** @type {View} */ (/** @type {unknown} */ ({ hand: null, wheel: !DATA.planar, element: svg, camera }));
    /** @type {Sheet} */
    let sheet;
    /** @type {Frame} */
    let frame;
    /** @type {Thing[]} */
    let things = [];
    /** @type {Thing | null} */
    let hovered = null;
    /** @type {Thing | null} */
    let focused = null;
    let free = false, places = null, box = DATA.scene.extent;
    let arrows = { room: /** @type {any} */ (null), part: 1 }; // how long arrows are; kept while the view is moved by hand

    const sizeNow = () => [container.clientWidth || 640, container.clientHeight || 420];
    const poses = () => frame.poses;

    function build() {
      if (!frame) return; // nothing to show yet
      const size = sizeNow(), look = D.look(container), layers = /** @type {Record<string, SVGElement>} */ ({}), kept = /** @type {HTMLElement | null} */ (document.activeElement);
      const key = kept && svg.contains(kept) ? `[data-kind="${kept.dataset.kind}"][data-name="${CSS.escape(kept.dataset.name || "")}"]` : "";
      D.set(svg, { width: size[0], height: size[1], viewBox: `0 0 ${size[0]} ${size[1]}` });
      svg.replaceChildren();
      for (const name of LAYERS) layers[name] = D.make("g", { "data-layer": name }, svg);
      const scene = D.moved(DATA.scene, places), width = Math.max(BAR[0], Math.min(size[0] < 480 ? 11 : BAR[1], scene.bar * camera.scale));
      if (!free) arrows = { room: null, part: 1 };
      sheet = { DATA, scene, camera, look, layers, size, width, box, poses: poses(), arrows, free };
      D.solids(sheet);
      sheet.groups.forEach((group, index) => group && bodyFocus(group, index));
      things = D.things(DATA, scene);
      sheet.eyes = makeEyes(sheet, things);
      sheet.eyes.forEach(({ thing, group }) => reachable(group, () => thing));
      sheet.names = makeNames(sheet, things);
      D.scales(sheet);
      DATA.planar ? D.gravityArrow(sheet) : D.axesCross(sheet);
      Object.assign(sheet, { curves: [], ghost: D.ghost(sheet), traces: traceLines(sheet), loads: D.loadArrows(sheet), applied: D.appliedArrows(sheet), pushes: D.pushMarks(sheet), touched: D.touchMarks(sheet), tip: flag(sheet, look.raise, look.ink), stop: flag(sheet, look.accent, look.paper) });
      const again = key && svg.querySelector(key);
      if (again) again.focus({ preventScroll: true });
      show();
    }

    function reachable(group, find) {
      D.keys(group, find, view, hooks);
      group.addEventListener("focus", () => {
        focused = find();
        if (group.matches(":focus-visible")) sheet.tip(focused && focused.kind === "body" ? focused.name : "", focused ? [focused.x, focused.y] : [0, 0]);
      });
      group.addEventListener("blur", () => {
        focused = null;
        if (sheet) sheet.tip("");
      });
    }

    function bodyFocus(group, index) {
      const name = DATA.bodies[index].name;
      D.set(group, { "data-kind": "body", "data-name": name, tabindex: 0, role: "button", "aria-label": `body ${name}` });
      reachable(group, () => D.bodyThing(DATA, sheet.scene, index, poses(), camera.pixel));
    }

    function show() {
      const now = poses();
      sheet.absent = frame.absent || [];
      sheet.movers.forEach((move) => move(now));
      D.aimThings(things, now, camera.pixel);
      for (const { thing, group } of sheet.eyes) group.setAttribute("transform", `translate(${D.short(thing.x)} ${D.short(thing.y)})`);
      sheet.ghost(frame.ghost);
      sheet.traces(frame.traces);
      sheet.loads(frame);
      sheet.applied(frame);
      sheet.pushes(frame);
      sheet.touched(frame);
      settle();
      sheet.stop(frame.label, view.hand || sheet.lastHand || [sheet.size[0] / 2, 60]);
      if (view.hand) sheet.lastHand = view.hand;
      mark(frame.selected);
    }

    // names go on gliding to their places when nothing else moves
    let gliding = 0;
    function settle() {
      cancelAnimationFrame(gliding);
      if (writeNames(sheet, sheet.names, place, obstacles(sheet, view.solids(), things, poses()))) gliding = requestAnimationFrame(settle);
    }

    // rings and outlines of what is selected or under the pointer
    function mark(selected) {
      const is = (kind, name, other) => Boolean(other) && other.kind === kind && other.name === name;
      for (const { thing, group } of sheet.eyes) {
        group.classList.toggle("lw-selected", is(thing.kind, thing.name, selected));
        group.classList.toggle("lw-hover", is(thing.kind, thing.name, hovered));
      }
      for (const group of svg.querySelectorAll(".lw-body")) {
        const body = DATA.bodies.find((b) => b.name === group.dataset.body);
        group.classList.toggle("lw-selected", Boolean(body) && is("body", body.name, selected));
        group.classList.toggle("lw-hover", Boolean(body) && is("body", body.name, hovered));
      }
    }

    // ------------------------------------------------------------ what the hands ask

    Object.assign(view, {
      things: () => things,
      solids: () => (sheet ? D.solidsOnScreen(DATA, sheet.scene, poses(), camera, sheet.width / 2) : []),
      lift: camera.lift,
      local: (name, world) => D.local(poses(), DATA.bodies.findIndex((b) => b.name === name), world),
      background(kind, dx, dy) {
        free = true;
        if (kind === "pan" || DATA.planar) [camera.x, camera.y] = [camera.x + dx, camera.y + dy];
        else camera.orbit(dx, dy, [0, 1, 2].map((i) => (box.low[i] + box.high[i]) / 2));
        build();
      },
      zoom(factor, x, y) {
        free = true;
        camera.zoom(factor, x, y);
        build();
      },
      hover(thing, x, y) {
        const changed = (thing && thing.name) !== (hovered && hovered.name);
        hovered = thing;
        svg.style.cursor = thing ? (thing.moves ? "grab" : "pointer") : "";
        if (sheet) sheet.tip(thing && thing.kind === "body" ? thing.name : "", [x, y]);
        if (changed && sheet) mark(frame && frame.selected);
      },
      focus(thing) {
        const node = svg.querySelector(`[data-kind="${thing.kind}"][data-name="${CSS.escape(thing.name)}"]`);
        if (node) node.focus({ preventScroll: true });
      },
    });

    // ------------------------------------------------------------ what the page asks

    Object.assign(view, {
      // `again`: DATA has changed, everything is built anew
      draw(next, again) {
        const moved = again || (next.places || null) !== places;
        frame = next;
        places = next.places || null;
        moved || !sheet ? build() : show();
      },
      fits: (list) => D.within(D.extent(D.moved(DATA.scene, places), list), box),
      fit(list) {
        free = false;
        box = list && list.length ? D.extent(D.moved(DATA.scene, places), list) : list === undefined ? box : DATA.scene.extent;
        const from = seen || D.START;
        if (!DATA.planar) Object.assign(camera, from, D.viewed(camera.axes, from.azimuth, from.elevation));
        const size = sizeNow();
        camera.window(box, size[0], size[1], padding(size[0], DATA.scene));
        build();
      },
      resize() {
        const size = sizeNow();
        if (sheet && size[0] === sheet.size[0] && size[1] === sheet.size[1]) return;
        if (free) build();
        else view.fit();
      },
      theme: build,
      moved: () => free,
      screen(world) {
        const b = svg.getBoundingClientRect(), p = camera.pixel(world);
        return [b.left + p[0], b.top + p[1]];
      },
      svg: () => standalone(svg, sheet),
      png: (scale) => D.raster(view.svg(), sheet.size[0], sheet.size[1], scale || 2),
    });
    D.hands(svg, view, hooks);
    view.fit();
    return view;
  };

  Object.assign(D, { makeEyes, makeNames, writeNames, flag });

  // ---------------------------------------------------------------- files

  function standalone(svg, sheet) {
    const copy = svg.cloneNode(true);
    copy.querySelectorAll("[data-hit]").forEach((node) => node.remove());
    copy.querySelectorAll("[tabindex]").forEach((node) => ["tabindex", "role"].forEach((a) => node.removeAttribute(a)));
    ["class", "style", "role"].forEach((a) => copy.removeAttribute(a));
    copy.setAttribute("xmlns", D.SVG);
    copy.insertBefore(D.make("rect", { width: "100%", height: "100%", fill: sheet.look.paper }), copy.firstChild);
    return new XMLSerializer().serializeToString(copy);
  }

  // an SVG text as pixels: a promise of a PNG
  D.raster = (text, width, height, scale) =>
    new Promise((resolve, reject) => {
      const image = new Image();
      image.onload = () => {
        const canvas = document.createElement("canvas");
        [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
        /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")).drawImage(image, 0, 0, canvas.width, canvas.height);
        canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture could not be made"))), "image/png");
      };
      image.onerror = () => reject(new Error("the picture could not be made"));
      image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
    });
})();
