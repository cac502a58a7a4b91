// LW.motionPanel(container, pinned, app): curves of the cycle by channel, one plot for each kind of quantity, over the drive, over time or over another channel.
// Plots can be pinned above the tabs, the curves of the file's values are gray beside changed ones, a target comes from a CSV file. Everything
// shown can be saved as CSV (with the positions of joints and points) and as PNG.
(() => {
  "use strict";
  const MOST = 8; // curves
  const FAR = 12; // times the median amount: a curve with a pole may leave the plot there
  /** @type {Record<string, string>} */
  const KINDS = {
    angle: "Angle", length: "Travel", time: "Time", angular_speed: "Angular velocity", speed: "Velocity", angular_acceleration: "Angular acceleration", acceleration: "Acceleration",
    angular_jerk: "Angular jerk", jerk: "Jerk", curvature: "Curvature or advantage", pure_number: "Mechanical advantage", force: "Force", torque: "Torque", power: "Power", energy: "Energy",
  };
  const LOADS = /\.(torque|force|power|load|size)$|\.on\./;
  const PIN = "M7 3h6l-.8 6 2.8 2.5H5L7.800 9zM10 11.500V17";

  // channels that are shown first: travel and velocity of what moves at the end, a slider before a hinge; where no single coordinate is it,
  // position and speed of a point
  /** @type {(e: Engine, DATA: PageData) => string[]} */
  const firstChannels = (e, DATA) => {
    const given = DATA.channels ? DATA.channels.coordinates.filter((x) => !DATA.drives.includes(x.name)) : [];
    const grounded = given.filter((x) => DATA.pins.some((p) => p.name === x.pin && p.grounded)), single = grounded.filter((x) => x.name === x.pin);
    const best = grounded.find((x) => x.kind === "length") || single[single.length - 1], point = DATA.points.length ? DATA.points[0].name : DATA.tips[0];
    const names = best ? [best.name, `${best.name}.v`] : point ? [...Array.from(DATA.planar ? DATA.axes : "xyz", (axis) => `${point}.${axis}`), `${point}.speed`] : [];
    const known = names.filter((name) => e.channels.get(name));
    return known.length ? known : e.channels.list.slice(1, 3).map((x) => x.name);
  };

  /** @type {(values: Float64Array) => number} */
  const median = (values) => {
    const sizes = Array.from(values, Math.abs).filter(Number.isFinite).sort((a, b) => a - b);
    return sizes.length ? sizes[sizes.length >> 1] : 0;
  };

  const icon = (/** @type {string} */ d) => LW.svgEl("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" }, LW.svgEl("path", { d, fill: "none", stroke: "currentColor", "stroke-width": 1.5, "stroke-linejoin": "round", "stroke-linecap": "round" }));

  LW.motionPanel = (container, pinned, app) => {
    const { engine: e, DATA } = app, el = LW.el;
    if (!e.cycle || !e.law || !e.channels.list.length) {
      container.append(el("p", { class: "note", "data-absent": "", text: LW.sentence(DATA.why || "This mechanism has no drive, so there is no cycle to plot. Drag its pins and points by hand.") }));
      return { update() {}, cursor() {}, toggle() {}, shown: () => [], state: () => ({}), restore() {}, csv: () => "", svg: () => "", show() {} };
    }
    const law = e.law, items = e.channels.list.filter((x) => x.name !== "t");
    /** @type {string[]} */
    let chosen = [];
    let over = "", at = /** @type {number | null} */ (0);
    /** @type {TargetCurve[]} */
    let targets = [];
    /** @type {Map<string, MotionPlot>} */
    const plots = new Map();
    const fixed = new Set(); // kinds of the plots that are pinned
    const first = firstChannels(e, DATA);

    // ---------------------------------------------------------------- what is plotted

    const kindOf = (/** @type {string} */ name) => /** @type {EngineChannel} */ (e.channels.get(name)).kind;
    const drawn = () => (chosen.some((name) => name !== over) ? chosen.filter((name) => name !== over) : chosen); // nothing over itself
    const groups = () => [...new Set(drawn().map(kindOf))];
    const ofKind = (/** @type {string} */ kind) => drawn().filter((name) => kindOf(name) === kind);
    const changed = () => e.changed && e.original && e.original !== e.cycle;

    /** @type {() => PlotAxis} */
    const axis = () => {
      const cycle = /** @type {Cycle} */ (e.cycle);
      if (!over || over === law.over.name) return LW.cycleAxis(DATA.cycle, cycle.x);
      const channel = /** @type {EngineChannel} */ (e.channels.get(over)), { symbol, size } = LW.unitOf(channel.kind), values = e.channels.read(over);
      return { values, label: over === "t" ? "time" : channel.label, symbol, size, free: !LW.monotone(values) };
    };

    /** @type {(name: string, values: Float64Array) => ((i: number) => boolean) | undefined} */
    const boundedBy = (name, values) => {
      const cycle = /** @type {Cycle} */ (e.cycle);
      if (LOADS.test(name)) return cycle.singular.some((x) => x.unbounded) ? (i) => !cycle.doubtful(i, /\.(torque|force|power)$/.test(name)) : undefined;
      if (!/\.(advantage|curvature)$/.test(name)) return undefined;
      const most = FAR * median(values);
      return values.some((x) => Math.abs(x) > most) ? (i) => Math.abs(values[i]) <= most : undefined;
    };
    /** @type {(name: string, values: Float64Array) => PlotCurve} */
    const live = (name, values) => {
      const bounded = boundedBy(name, values), found = LW.scale.stats(values, values), beyond = Boolean(bounded && found && !bounded(found.index));
      const why = LOADS.test(name) ? "near a singular position" : /advantage$/.test(name) ? "in a dwell of the output" : "in a dwell of the point";
      return { name, values: values.map((x) => (Number.isFinite(x) ? x : NaN)), bounded, gaps: !LOADS.test(name), stats: beyond ? { doubtful: why } : undefined };
    };
    /** @type {(x: PlotAxis, target: TargetCurve) => PlotCurve} */
    const wanted = (x, target) => ({ name: "target", values: target.values, x: target.s.map((s) => LW.scale.between(x.values, s)), target: true });

    /** @type {(kind: string) => PlotSpec} */
    const spec = (kind) => {
      const names = ofKind(kind), x = axis(), { symbol, size } = LW.unitOf(kind), one = names.length === 1 ? e.channels.get(names[0]) : null;
      const old = changed() ? names.map((name) => ({ name, values: e.channels.read(name, e.original), x: x.free || over ? oldPlaces(x) : undefined, faint: true })) : [];
      const now = names.map((name) => live(name, e.channels.read(name)));
      return {
        title: one ? LW.sentence(one.label).slice(0, -1) : KINDS[kind] || kind, x, y: { label: "", symbol, size }, extremes: true, cursor: true, height: 168,
        key: DATA.designs ? `gray: ${DATA.designs.before}` : undefined,
        curves: [...old, ...now, ...targets.filter((t) => names.includes(t.channel)).map((t) => wanted(x, t))],
        onSeek: (place, sample) => app.player.seek(sample === null || sample === undefined ? sampleAt(x, place) : sample),
      };
    };
    const oldPlaces = (/** @type {PlotAxis} */ x) => (over && over !== law.over.name ? e.channels.read(over, e.original) : Float64Array.from(x.values));
    const sampleAt = (/** @type {PlotAxis} */ x, /** @type {number} */ place) => LW.scale.sampleAt(x.values, place);

    // ---------------------------------------------------------------- elements

    const chips = el("ul", { class: "lw-curves" }), area = el("div", { class: "lw-record-plots" }), problem = el("p", { class: "lw-note problem", role: "status" });
    const select = el("select", { "data-choice": "Over", "aria-label": "Plotted over" });
    const open = el("input", { type: "file", accept: ".csv,.txt,.tsv,text/csv", class: "lw-hidden", "aria-label": "Target curve as CSV" });
    const button = (/** @type {string} */ id, /** @type {string} */ text, /** @type {string} */ title, /** @type {() => void} */ click) => el("button", { id, type: "button", class: "button quiet", text, title, on: { click } });
    const drop = button("motion-clear", "Remove target", "Remove the target curves", () => { targets = []; refresh(); });
    const bar = el("div", { class: "lw-motion-bar" }, el("label", { class: "lw-choice" }, el("span", { text: "Over" }), select),
      button("motion-target", "Target\u2026", "Compare with a curve from a CSV file: columns named like 'A [deg]' and 'C.slide [mm]'", () => open.click()), drop, open,
      button("motion-csv", "CSV", "Save what is shown as numbers, with positions", () => save("csv")), button("motion-png", "PNG", "Save what is shown as a picture", () => save("png")));
    const chooser = LW.channelList(items, { most: MOST, toggle: (/** @type {string} */ name) => panel.toggle([name]), title: "Choose curves" });
    container.append(el("div", { class: "lw-panel lw-motion" }, chips, chooser.element, bar, problem, area));

    const choices = () => {
      const more = items.filter((x) => chosen.includes(x.name) || x.name === over || DATA.drives.includes(x.name));
      const options = [["", law.over.label], ...(law.over.name === "t" ? [] : [["t", "time"]]), ...more.filter((x) => x.name !== law.over.name).map((x) => [x.name, x.name])];
      select.replaceChildren(...options.map(([value, text]) => el("option", { value, text, selected: value === over })));
    };
    select.addEventListener("change", () => { over = select.value; refresh(); app.remember(); });

    const plotOf = (/** @type {string} */ kind) => {
      const name = () => (KINDS[kind] || kind).toLowerCase();
      const pin = el("button", { type: "button", class: "lw-fix", "aria-pressed": "false", "aria-label": `Pin ${name()}`, title: "Pin above the tabs", on: { click: () => { if (!fixed.delete(kind)) fixed.add(kind); refresh(); app.remember(); } } }, icon(PIN));
      const close = el("button", { type: "button", class: "lw-remove", "aria-label": `Remove ${name()}`, text: "\u00d7", on: { click: () => panel.toggle(ofKind(kind), false) } });
      const deviation = el("p", { class: "lw-note lw-deviation" }), node = el("div", { class: "lw-record-plot lw-motion-plot", "data-kind": kind }, pin, close);
      (fixed.has(kind) ? pinned : area).append(node);
      const plot = LW.plot(node, spec(kind));
      node.append(deviation);
      return { plot, node, pin, deviation };
    };

    const deviationText = (/** @type {string} */ kind) => targets.filter((t) => ofKind(kind).includes(t.channel)).map((t) => {
      const d = LW.deviation(t, e.channels.read(t.channel)), { symbol, size } = LW.unitOf(kind), x = axis();
      const shown = (/** @type {number} */ v) => LW.withUnit(LW.number(v / size), symbol), place = LW.withUnit(LW.placeNumber(x, LW.scale.between(x.values, d.s)), x.symbol);
      const left = t.left ? `; ${LW.counted(t.left, "row")} outside the cycle or empty` : "";
      return `Green: ${t.channel} of ${t.file}. Largest deviation ${shown(Math.abs(d.max))} at ${place}, RMS ${shown(d.rms)} over ${LW.counted(d.count, "point")}${left}.`;
    }).join(" ");

    // plots for the kinds that are chosen, where they belong, with the present curves
    const refresh = () => {
      for (const [kind, { node }] of plots) if (!groups().includes(kind)) { node.remove(); plots.delete(kind); fixed.delete(kind); }
      for (const kind of groups()) {
        if (!plots.has(kind)) plots.set(kind, plotOf(kind));
        const made = /** @type {MotionPlot} */ (plots.get(kind)), home = fixed.has(kind) ? pinned : area;
        if (made.node.parentNode !== home) home.append(made.node);
        made.pin.setAttribute("aria-pressed", String(fixed.has(kind)));
        made.plot.update(spec(kind));
        LW.setText(made.deviation, deviationText(kind));
      }
      pinned.hidden = !fixed.size;
      chips.replaceChildren(...chosen.map((name) => el("li", {}, el("span", { text: name, title: /** @type {EngineChannel} */ (e.channels.get(name)).label }),
        el("button", { type: "button", "aria-label": `Remove ${name}`, text: "\u00d7", on: { click: () => panel.toggle([name], false) } }))));
      chooser.show(chosen);
      choices();
      drop.hidden = !targets.length;
      panel.cursor(at);
    };

    // ---------------------------------------------------------------- files

    const take = (/** @type {File} */ file) => file.text().then((text) => {
      try {
        const found = LW.targets(text, file.name, app, chosen[0] || "");
        targets = [...targets.filter((t) => !found.some((x) => x.channel === t.channel)), ...found];
        LW.setText(problem, "");
        panel.toggle(found.map((t) => t.channel), true);
        refresh();
      } catch (wrong) {
        LW.setText(problem, `${file.name}: ${LW.sentence(wrong instanceof Error ? wrong.message : String(wrong))}`);
      }
    });
    open.addEventListener("change", () => { if (open.files.length) take(open.files[0]); open.value = ""; });
    container.addEventListener("dragover", (/** @type {DragEvent} */ event) => { event.preventDefault(); container.classList.add("dropping"); });
    for (const end of ["dragleave", "drop"]) container.addEventListener(end, () => container.classList.remove("dropping"));
    container.addEventListener("drop", (/** @type {DragEvent} */ event) => {
      event.preventDefault();
      const file = event.dataTransfer && event.dataTransfer.files[0];
      if (file) take(file);
    });
    const save = async (/** @type {string} */ what) => {
      const file = [DATA.name.replace(/[^\w.-]+/g, "-"), "motion", LW.changeName(DATA, app.values)].filter(Boolean).join("-");
      try {
        if (what === "csv") LW.share.download(`${file}.csv`, new Blob([panel.csv()], { type: "text/csv" }));
        else { const { text, width, height } = picture(); LW.share.download(`${file}.png`, await LW.draw.raster(text, width, height, 2)); }
      } catch (wrong) { app.fail(wrong, "This could not be saved"); }
    };
    // all plots below each other as one SVG, with what they are of
    const picture = () => {
      const texts = [...plots.values()].map(({ plot }) => plot.svg()), sizes = texts.map((text) => ["width", "height"].map((key) => Number((new RegExp(`<svg[^>]* ${key}="([\\d.]+)"`).exec(text) || ["", "0"])[1])));
      const edge = 16, width = Math.max(...sizes.map((x) => x[0])) + 2 * edge, head = 30; // numbers of an axis may begin left of its plot
      const paper = getComputedStyle(document.documentElement), tone = (/** @type {string} */ key) => paper.getPropertyValue(key).trim();
      const said = [DATA.name, ...LW.changeTexts(DATA, app.values)].join("; ").replace(/&/g, "&amp;").replace(/</g, "&lt;");
      let y = head;
      const parts = texts.map((text, k) => { const placed = text.replace("<svg ", `<svg x="${edge}" y="${y}" overflow="visible" `); y += sizes[k][1] + 8; return placed; });
      const title = `<rect width="${width}" height="${y}" fill="${tone("--paper")}"/><text x="12" y="20" font-family="system-ui, sans-serif" font-size="13" fill="${tone("--ink")}">${said}</text>`;
      return { text: `<svg xmlns="${LW.draw.SVG}" width="${width}" height="${y}" viewBox="0 0 ${width} ${y}">${title}${parts.join("")}</svg>`, width, height: y };
    };

    const panel = {
      // curves are added or taken away; `on` undefined: each the other way round
      toggle(/** @type {string[]} */ names, /** @type {boolean | undefined} */ on = undefined) {
        for (const name of names.filter((x) => e.channels.get(x))) {
          const has = chosen.includes(name);
          if (has && on !== true) chosen = chosen.filter((x) => x !== name);
          else if (!has && on !== false && chosen.length < MOST) chosen = [...chosen, name];
        }
        refresh();
        if (app.remember) app.remember();
      },
      shown: () => chosen,
      update: refresh,
      cursor(/** @type {number | null} */ s) {
        at = s;
        const x = axis();
        for (const { plot } of plots.values()) plot.cursor(s === null ? NaN : LW.scale.between(x.values, s), e.state.s === null, s !== null && x.free ? s : null);
      },
      state: () => ({ curves: chosen.join() === first.join() ? undefined : chosen, over: over || undefined, pinned: fixed.size ? [...fixed] : undefined }),
      restore(/** @type {{curves?: string[], over?: string, pinned?: string[]}} */ given) {
        const known = (given.curves || first).filter((name) => e.channels.get(name)).slice(0, MOST);
        chosen = given.curves && !known.length ? [] : known;
        over = given.over && e.channels.get(given.over) ? given.over : "";
        fixed.clear();
        for (const kind of given.pinned || []) if (groups().includes(kind)) fixed.add(kind);
        refresh();
      },
      csv: () => LW.motionCsv(app, chosen, targets),
      svg: () => picture().text,
    };
    panel.restore({});
    return panel;
  };
})();
