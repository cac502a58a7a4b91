// The drawing of a spatial mechanism with three.js: bodies in perspective with soft light, over them an SVG sheet with names, rings,
// scales and everything that takes the keyboard. Renders only when something has changed. Without WebGL the axonometric SVG view
// takes its place.
//
// LW.space(container, DATA, hooks) -> view, as LW.plane
(() => {
  "use strict";
  const D = LW.draw;
  const LENS = (24 * Math.PI) / 180; // field of view, vertical: long, so that parallels stay nearly parallel
  const LAYERS = ["ghost", "loads", "drives", "pins", "labels", "furniture", "hover"];
  const TINY = 5; // pixels of an arrow that is not worth drawing

  // ---------------------------------------------------------------- the camera

  function perspective(DATA) {
    const axes = D.uprightAxes(DATA.gravity || [0, 0, 0]);
    const c = { axes, ...D.START, target: [0, 0, 0], distance: 1, size: [1, 1], ...D.viewed(axes, D.START.azimuth, D.START.elevation) };
    const focal = () => c.size[1] / 2 / Math.tan(LENS / 2);
    const away = (p) => Math.max(c.distance - D.dot(D.minus(p, c.target), c.toward), 0.02 * c.distance);
    c.perPixel = () => c.distance / focal(); // meters at the target
    c.pixel = (p) => {
      const d = D.minus(p, c.target), f = focal() / away(p);
      return [c.size[0] / 2 + f * D.dot(d, c.right), c.size[1] / 2 - f * D.dot(d, c.up)];
    };
    c.direction = (v) => [D.dot(v, c.right), -D.dot(v, c.up)];
    c.depth = (p) => D.dot(p, c.toward);
    c.eye = () => D.add(c.target, c.toward, c.distance);
    // in the plane through a place, parallel to the screen
    c.lift = (x, y, through) => {
      const s = away(through) / focal(), here = c.pixel(through);
      return D.add(D.add(through, c.right, (x - here[0]) * s), c.up, -(y - here[1]) * s);
    };
    c.look = (azimuth, elevation) => {
      c.azimuth = azimuth;
      c.elevation = Math.max(-1.5, Math.min(1.5, elevation));
      Object.assign(c, D.viewed(axes, c.azimuth, c.elevation));
    };
    // all corners just fit, with their middle in the middle; perspective makes it a matter of a few corrections
    c.window = (box, pad) => {
      const corners = [0, 1, 2, 3, 4, 5, 6, 7].map((k) => [0, 1, 2].map((i) => ((k >> i) & 1 ? box.high[i] : box.low[i])));
      c.target = [0, 1, 2].map((i) => (box.low[i] + box.high[i]) / 2);
      c.distance = Math.max(4 * D.size(D.minus(box.high, box.low)), 1e-6);
      for (let round = 0; round < 5; round++) {
        const [xs, ys] = [0, 1].map((i) => corners.map((p) => c.pixel(p)[i])), [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
        c.pan((c.size[0] - x0 - x1) / 2, (c.size[1] - 16 - y0 - y1) / 2);
        c.distance *= Math.max((x1 - x0) / Math.max(c.size[0] - 2 * pad, 40), (y1 - y0) / Math.max(c.size[1] - 2 * pad, 40), 0.05);
      }
    };
    c.pan = (dx, dy) => {
      c.target = D.add(D.add(c.target, c.right, -dx * c.perPixel()), c.up, dy * c.perPixel());
    };
    c.zoom = (factor, x, y) => {
      const under = c.lift(x, y, c.target);
      c.distance /= factor;
      c.target = D.add(c.target, D.minus(under, c.lift(x, y, c.target)), 1);
    };
    return c;
  }

  // ---------------------------------------------------------------- loads and traces

  // arrows that lie over everything: a load along its bar would not be seen inside it
  function loadArrows(kit) {
    const made = new Map(), { sheet, root } = kit, layer = new THREE.Group();
    root.add(layer);
    const arrow = (dashed) => {
      const group = new THREE.Group(), material = kit.paint.over(sheet.look.load), shafts = [];
      for (let k = 0; k < (dashed ? 5 : 1); k++) shafts.push(new THREE.Mesh(new THREE.CylinderGeometry(1, 1, 1, 10), material));
      const tip = new THREE.Mesh(new THREE.ConeGeometry(1, 1, 18), material);
      [...shafts, tip].forEach((mesh) => {
        mesh.renderOrder = 10;
        group.add(mesh);
      });
      layer.add(group);
      return { group, shafts, tip };
    };
    return (frame) => {
      const used = new Set(), scale = frame.largest > 0 ? kit.longest / frame.largest : 0, px = kit.unit;
      for (const load of frame.loads || []) {
        const key = `${load.pin}|${load.body}|${load.unique === false}`, length = scale * D.size(load.force);
        if (!(length > TINY * kit.unit)) continue;
        if (!made.has(key)) made.set(key, arrow(load.unique === false));
        used.add(key);
        const { group, shafts, tip } = made.get(key), d = D.unitVector(load.force), head = Math.min(10 * px, 0.5 * length), at = (s) => D.add(load.at, d, s);
        group.visible = true;
        shafts.forEach((mesh, k) => D.stretch(mesh, at(((length - head) * k) / shafts.length), at(((length - head) * (k + (shafts.length > 1 ? 0.6 : 1))) / shafts.length), 0.95 * px));
        D.stretch(tip, at(length - head), at(length), 0.36 * head);
      }
      for (const [key, item] of made) if (!used.has(key)) item.group.visible = false;
      sheet.forceScale(scale / kit.perPixel());
    };
  }

  function pieces(points) {
    const out = /** @type {any[][]} */ ([[]]);
    for (let i = 0; i + 2 < points.length; i += 3) {
      if (isFinite(points[i])) out[out.length - 1].push(new THREE.Vector3(points[i], points[i + 1], points[i + 2]));
      else if (out[out.length - 1].length) out.push([]);
    }
    return out.filter((list) => list.length > 1);
  }

  function traceTubes(kit) {
    const made = new Map();
    const remove = (item) => {
      kit.root.remove(item.group);
      item.group.children.forEach((mesh) => mesh.geometry.dispose());
    };
    return (traces) => {
      const used = new Set();
      for (const t of traces || []) {
        used.add(t.name);
        const known = made.get(t.name);
        if (known && known.points === t.points) continue;
        if (known) remove(known);
        const group = new THREE.Group(), material = kit.paint.plain(kit.sheet.look.dark ? D.mix(t.color, kit.sheet.look.ink, 0.25) : t.color);
        for (const list of pieces(t.points)) group.add(new THREE.Mesh(new THREE.TubeGeometry(new THREE.CatmullRomCurve3(list), Math.min(720, 2 * list.length), 0.14 * kit.radius, 5), material));
        kit.root.add(group);
        made.set(t.name, { group, points: t.points });
      }
      for (const [name, item] of made) {
        if (used.has(name)) continue;
        remove(item);
        made.delete(name);
      }
    };
  }

  // ---------------------------------------------------------------- scales on the sheet

  function furniture(sheet, kit) {
    const { layers, look, DATA } = sheet, [width, height] = sheet.size, small = width < 480, x = small ? 14 : 20, y = height - (small ? 14 : 18);
    const grid = `grid ${D.quantity(DATA, kit.step, "length")}`, from = x + D.textWidth(grid, `12px ${look.font}`) + 28;
    D.text(layers.furniture, look, 12, { x, y: y + 4 }).textContent = grid;
    const force = D.make("g", { visibility: "hidden", class: "lw-force-scale" }, layers.furniture), shaft = D.line(force, look.load, 1.8, "butt");
    const tip = D.make("path", { fill: look.load }, force), label = D.text(force, look, 12, { y: y + 4 }), cross = D.make("g", {}, layers.furniture);
    sheet.forceScale = (scale) => {
      force.setAttribute("visibility", scale > 0 ? "visible" : "hidden");
      if (!(scale > 0)) return;
      const size = D.unit(DATA, "force").size, value = D.nice((small ? 40 : 60) / scale / size) * size, to = from + Math.max(value * scale, 12);
      D.set(shaft, { d: `M${D.short(from)} ${y}H${D.short(to - 8)}` });
      D.set(tip, { d: D.path([[to, y], [to - 8, y - 3.4], [to - 8, y + 3.4]], true) });
      label.setAttribute("x", D.short(to + 8));
      label.textContent = D.quantity(DATA, value, "force");
    };
    sheet.cross = () => {
      const [cx, cy] = [width - (small ? 38 : 46), height - (small ? 34 : 42)];
      cross.replaceChildren();
      [[1, 0, 0], [0, 1, 0], [0, 0, 1]].forEach((axis, i) => {
        const d = sheet.camera.direction(axis), at = (s) => [cx + s * d[0], cy + s * d[1]];
        D.set(D.line(cross, look.ink, 1.4), { d: D.path([[cx, cy], at(22)]) });
        D.text(cross, look, 11.5, { x: at(31)[0], y: at(31)[1] + 4, "text-anchor": "middle" }).textContent = "xyz"[i];
      });
    };
  }

  // ---------------------------------------------------------------- the view

  function rendererFor(canvas) {
    const wishes = { antialias: true, alpha: false, powerPreference: "high-performance" };
    const context = typeof THREE === "undefined" ? null : canvas.getContext("webgl2", wishes);
    return context ? new THREE.WebGLRenderer({ canvas, context, ...wishes }) : null;
  }

  LW.space = (container, DATA, hooks) => {
    const frameBox = document.createElement("div"), canvas = document.createElement("canvas");
    let renderer = null;
    try {
      renderer = rendererFor(canvas);
    } catch (problem) {
      renderer = null; // a context that exists and cannot be used: the same as none
    }
    if (!renderer) return LW.plane(container, DATA, hooks);
    frameBox.className = "lw-space";
    const overlay = D.make("svg", { class: "lw-over", role: "group", "aria-label": `Drawing of ${DATA.name}` });
    frameBox.append(canvas, overlay);
    container.appendChild(frameBox);
    return spaceView(container, frameBox, renderer, overlay, DATA, hooks);
  };

  function spaceView(container, frameBox, renderer, overlay, DATA, hooks) {
    const camera = perspective(DATA), place = D.placer(), lens = new THREE.PerspectiveCamera(), world = new THREE.Scene();
    const sky = new THREE.HemisphereLight(0xffffff, 0xb9c3cc, 2.2), sun = new THREE.DirectionalLight(0xffffff, 1.5);
    const view = /** @type {View} */ (/** @type {unknown} */ ({ hand: null, wheel: true, element: frameBox }));
    /** @type {Sheet} */
    let sheet;
    /** @type {Frame} */
    let frame;
    /** @type {any} */
    let kit = null;
    /** @type {Thing[]} */
    let things = [];
    /** @type {Thing | null} */
    let hovered = null;
    let free = false, places = null, box = DATA.scene.extent, waiting = 0;
    world.add(sky, sun);
    const sizeNow = () => [container.clientWidth || 640, container.clientHeight || 420], poses = () => frame.poses;

    function build() {
      if (!frame) return;
      const size = sizeNow(), look = D.look(container), layers = {}, scene = D.moved(DATA.scene, places);
      renderer.setPixelRatio(Math.min(globalThis.devicePixelRatio || 1, 2));
      renderer.setSize(size[0], size[1]);
      renderer.setClearColor(look.paper, 1);
      D.set(overlay, { width: size[0], height: size[1], viewBox: `0 0 ${size[0]} ${size[1]}` });
      overlay.replaceChildren();
      for (const name of LAYERS) layers[name] = D.make("g", { "data-layer": name }, overlay);
      camera.size = size;
      sheet = { DATA, scene, camera, look, layers, size, width: 12, box, poses: poses(), unit: kit0.unit };
      things = D.things(DATA, scene);
      if (kit) {
        world.remove(kit.root);
        kit.dispose();
      }
      kit = D.meshes(sheet, things);
      Object.assign(kit, { perPixel: camera.perPixel, unit: kit0.unit, longest: kit0.unit * D.longest(size[0], size[1]) });
      world.add(kit.root);
      sheet.eyes = D.makeEyes(sheet, things);
      sheet.eyes.forEach(({ thing, group }) => {
        group.querySelectorAll("circle:not([data-hit]):not(.lw-ring)").forEach((node) => node.remove());
        D.keys(group, () => thing, view, hooks);
      });
      sheet.handles = bodyHandles();
      sheet.names = D.makeNames(sheet, things);
      furniture(sheet, kit);
      Object.assign(sheet, { tip: D.flag(sheet, look.raise, look.ink), stop: D.flag(sheet, look.accent, look.paper), ghost: D.ghost(sheet), traces: traceTubes(kit), loads: loadArrows(kit), applied: D.appliedArrows(sheet), pushes: D.pushMarks(sheet), touched: D.touchMarks(sheet) });
      show();
    }
    const kit0 = { unit: 1 }; // meters per pixel at the target when everything fits: the arrows' scale stays while one zooms

    // bodies have no element of their own over the canvas: a ring in their middle shows the keyboard's place
    function bodyHandles() {
      const list = DATA.bodies.map((_, index) => [index, D.bodyThing(DATA, sheet.scene, index, poses(), camera.pixel)]).filter((x) => x[1]);
      return list.map(([index, first]) => {
        const group = D.make("g", { class: "lw-point", "data-kind": "body", "data-name": first.name, "data-body": first.name, tabindex: 0, role: "button", "aria-label": first.words }, sheet.layers.pins);
        D.make("circle", { r: 10, fill: "none", stroke: sheet.look.accent, "stroke-width": 2, class: "lw-ring", visibility: "hidden" }, group);
        const find = () => D.bodyThing(DATA, sheet.scene, index, poses(), camera.pixel);
        D.keys(group, find, view, hooks);
        group.addEventListener("focus", () => group.matches(":focus-visible") && sheet.tip(first.name, [find().x, find().y]));
        group.addEventListener("blur", () => sheet.tip(""));
        return { group, find };
      });
    }

    function show() {
      sheet.absent = frame.absent || [];
      kit.move(poses());
      sheet.traces(frame.traces);
      sheet.loads(frame);
      render();
    }

    function render() {
      waiting = 0;
      const [w, h] = sheet.size, eye = camera.eye(), radius = D.size(D.minus(box.high, box.low)) || 1;
      Object.assign(lens, { fov: (LENS * 180) / Math.PI, aspect: w / h, near: Math.max(camera.distance - 3 * radius, 0.02 * camera.distance), far: camera.distance + 6 * radius });
      lens.position.set(...eye);
      lens.up.set(...camera.axes[2]);
      lens.lookAt(...camera.target);
      lens.updateProjectionMatrix();
      sky.position.set(...camera.axes[2]);
      sun.position.set(...D.add(D.add(camera.toward, camera.up, 0.9), camera.right, -0.6));
      D.aimThings(things, poses(), camera.pixel);
      highlight(frame.selected);
      renderer.render(world, lens);
      for (const { thing, group } of sheet.eyes) group.setAttribute("transform", `translate(${D.short(thing.x)} ${D.short(thing.y)})`);
      for (const { group, find } of sheet.handles) {
        const thing = find();
        group.setAttribute("transform", `translate(${D.short(thing.x)} ${D.short(thing.y)})`);
      }
      sheet.ghost(frame.ghost);
      sheet.cross();
      sheet.forceScale(frame.largest > 0 && frame.loads ? kit.longest / frame.largest / camera.perPixel() : 0);
      sheet.applied(frame);
      sheet.pushes(frame);
      sheet.touched(frame);
      sheet.stop(frame.label, view.hand || sheet.lastHand || [w / 2, 60]);
      if (view.hand) sheet.lastHand = view.hand;
      settle();
    }
    const renderSoon = () => {
      if (!waiting && sheet) waiting = requestAnimationFrame(render);
    };

    let gliding = 0;
    function settle() {
      cancelAnimationFrame(gliding);
      const segments = view.solids().flatMap((s) => s.segments).concat(things.map((t) => [t.x - 1, t.y, t.x + 1, t.y, 7]));
      if (D.writeNames(sheet, sheet.names, place, segments)) gliding = requestAnimationFrame(settle);
    }

    // what is selected or under the pointer: rings around pins, a brighter rim around bodies
    function highlight(selected) {
      const is = (kind, name, other) => Boolean(other) && other.kind === kind && other.name === name;
      for (const { thing, group } of sheet.eyes) {
        group.classList.toggle("lw-selected", is(thing.kind, thing.name, selected));
        group.classList.toggle("lw-hover", is(thing.kind, thing.name, hovered));
      }
      kit.mark((name) => (is("body", name, selected) ? sheet.look.accent : is("body", name, hovered) ? sheet.look.ink : null));
    }

    // ------------------------------------------------------------ what the hands ask

    Object.assign(view, {
      things: () => things,
      solids: () => (sheet ? D.solidsOnScreen(DATA, sheet.scene, poses(), camera, kit.radius / camera.perPixel() + 1) : []),
      lift: (x, y, through) => camera.lift(x, y, through),
      local: (name, at) => D.local(poses(), DATA.bodies.findIndex((b) => b.name === name), at),
      background(kind, dx, dy) {
        free = true;
        if (kind === "pan") camera.pan(dx, dy);
        else camera.look(camera.azimuth - 0.008 * dx, camera.elevation + 0.008 * dy);
        renderSoon();
      },
      zoom(factor, x, y) {
        free = true;
        camera.zoom(factor, x, y);
        renderSoon();
      },
      hover(thing, x, y) {
        const changed = (thing && thing.name) !== (hovered && hovered.name);
        hovered = thing;
        frameBox.style.cursor = thing ? (thing.moves ? "grab" : "pointer") : "";
        if (!sheet) return;
        sheet.tip(thing && thing.kind === "body" ? thing.name : "", [x, y]);
        if (changed) renderSoon();
      },
      focus(thing) {
        const node = overlay.querySelector(`[data-kind="${thing.kind}"][data-name="${CSS.escape(thing.name)}"]`);
        if (node) node.focus({ preventScroll: true });
      },
    });

    // ------------------------------------------------------------ what the page asks

    // the axonometric drawing from the same side, made for the moment
    function flatCopy(work) {
      const aside = document.createElement("div");
      aside.style.cssText = `position:absolute;inset:0;visibility:hidden;pointer-events:none;width:${sheet.size[0]}px;height:${sheet.size[1]}px`;
      container.appendChild(aside);
      const copy = LW.plane(aside, DATA, hooks, { azimuth: camera.azimuth, elevation: camera.elevation });
      copy.draw({ ...frame, label: "" });
      const text = work(copy);
      aside.remove();
      return text;
    }

    function png(scale) {
      return new Promise((resolve, reject) => {
        const [w, h] = sheet.size, ratio = renderer.getPixelRatio(), out = document.createElement("canvas"), names = new Image();
        const copy = overlay.cloneNode(true);
        copy.querySelectorAll("[data-hit], .lw-ring").forEach((node) => node.remove());
        copy.setAttribute("xmlns", D.SVG);
        [out.width, out.height] = [Math.round(w * scale), Math.round(h * scale)];
        names.onload = () => {
          renderer.setPixelRatio(scale);
          renderer.setSize(w, h);
          renderer.render(world, lens);
          const pen = /** @type {CanvasRenderingContext2D} */ (out.getContext("2d"));
          pen.drawImage(renderer.domElement, 0, 0, out.width, out.height);
          pen.drawImage(names, 0, 0, out.width, out.height);
          renderer.setPixelRatio(ratio);
          renderer.setSize(w, h);
          render();
          out.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture could not be made"))), "image/png");
        };
        names.onerror = () => reject(new Error("the picture could not be made"));
        names.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(new XMLSerializer().serializeToString(copy));
      });
    }

    Object.assign(view, {
      draw(next) {
        const changed = (next.places || null) !== places;
        frame = next;
        places = next.places || null;
        if (!sheet) view.fit();
        else changed ? build() : show();
      },
      fits: (list) => D.within(D.extent(D.moved(DATA.scene, places), list), box),
      fit(list) {
        free = false;
        box = list && list.length ? D.extent(D.moved(DATA.scene, places), list) : list === undefined ? box : DATA.scene.extent;
        camera.size = sizeNow();
        camera.look(D.START.azimuth, D.START.elevation);
        camera.window(box, camera.size[0] < 480 ? 34 : 62);
        kit0.unit = camera.perPixel();
        build();
      },
      resize() {
        const size = sizeNow();
        if (sheet && size[0] === sheet.size[0] && size[1] === sheet.size[1]) return;
        free ? build() : view.fit();
      },
      theme: build,
      moved: () => free,
      screen(at) {
        const b = frameBox.getBoundingClientRect(), p = camera.pixel(at);
        return [b.left + p[0], b.top + p[1]];
      },
      svg: () => flatCopy((copy) => copy.svg()),
      png: (scale) => png(scale || 2),
    });
    renderer.domElement.addEventListener("webglcontextrestored", renderSoon);
    D.hands(frameBox, view, hooks);
    return view;
  }
})();
