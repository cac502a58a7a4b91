// Two designs of one mechanism: the one before is drawn gray, sliders move the other from it to the one after and beyond. A panel with
// both as buttons, a slider between them, the curves of a channel of both, and tables of what changed and which conditions hold.
// DATA.designs: {before, after (names), values (SI, by parameter: those after), channel, header, rows (table of text), model (file after)}
(() => {
  "use strict";
  const SAME = 1e-9; // of the way between the designs: what is nearer is the design itself

  // channels of both designs: drives' efforts first, because they are plotted above, then motion and loads
  const channelsOf = (DATA, e) => {
    const efforts = e.channels.list.filter((c) => DATA.cycle.drives.some((name) => c.name === `${name}.torque` || c.name === `${name}.force`));
    return [...efforts, ...e.channels.list.filter((c) => c.name !== "t" && !efforts.includes(c))];
  };

  // ---------------------------------------------------------------- tables

  const cells = (tag, texts) => texts.map((text, i) => LW.el(tag === "td" && i === 0 ? "th" : tag, tag === "td" && i === 0 ? { scope: "row", text } : { text }));
  const table = (caption, head, rows) =>
    LW.el("section", {}, LW.el("h3", { class: "lw-group", text: caption }),
      LW.el("table", { class: "lw-table" }, LW.el("thead", {}, LW.el("tr", {}, ...cells("th", head))), LW.el("tbody", {}, ...rows.map((row) => LW.el("tr", {}, ...cells("td", row))))));

  const changeText = (from, to) => {
    const share = (to - from) / Math.abs(from);
    return from && Number.isFinite(share) ? `${share < 0 ? "\u2212" : "+"}${LW.number(Math.abs(100 * share), 3)}\u202f%` : "";
  };

  const changedTable = (DATA, names) => {
    const shown = (p, x) => LW.withUnit(LW.typed(x / p.size, 6).replace("-", "\u2212"), p.symbol);
    const rows = DATA.parameters.map((p) => [p.label || p.name, shown(p, p.value), shown(p, DATA.designs.values[p.name]), changeText(p.value, DATA.designs.values[p.name])]);
    return table("What changed", ["", ...names, ""], rows);
  };

  // ---------------------------------------------------------------- the panel

  // LW.designs(container, DATA, app) -> {update(), cursor(s), ghost(s), poses(), start(), open()}; null where the page has one design
  LW.designs = (container, DATA, app) => {
    if (!DATA.designs) return null;
    const { engine: e } = app, given = DATA.designs, names = [given.before, given.after], el = LW.el;
    const ends = [Object.fromEntries(DATA.parameters.map((p) => [p.name, p.value])), given.values];
    const at = (share) => Object.fromEntries(DATA.parameters.map((p) => [p.name, share === 1 ? ends[1][p.name] : p.value + share * (ends[1][p.name] - p.value)]));
    const way = DATA.parameters.map((p) => ends[1][p.name] - p.value), unit = DATA.parameters.map((p) => Math.max(Math.abs(p.value), Math.abs(ends[1][p.name])) || 1);
    // how far along the way the present values are, and how far beside it; in shares of the numbers themselves
    const share = (values) => {
      const off = DATA.parameters.map((p) => (p.name in values ? values[p.name] : p.value) - p.value);
      const dot = (a, b) => a.reduce((sum, x, i) => sum + (x / unit[i]) * (b[i] / unit[i]), 0), long = dot(way, way);
      const s = long > 0 ? dot(off, way) / long : 0, beside = off.map((x, i) => x - s * way[i]);
      return { s, on: long > 0 ? Math.sqrt(dot(beside, beside) / long) < SAME : true };
    };
    const take = (values) => { app.parameters.set(values); app.set(values); };

    const buttons = names.map((text, k) => el("button", { type: "button", "aria-pressed": "false", text, on: { click: () => take(ends[k]) } }));
    const between = el("input", { type: "range", min: 0, max: 1000, step: 1, value: 1000, "aria-label": `From ${names[0]} to ${names[1]}`, on: { input: () => take(at(Number(between.value) / 1000)) } });
    const said = el("output", { class: "share" });
    container.append(el("div", { class: "lw-designs" }, el("div", { class: "segments", role: "group", "aria-label": "Designs" }, ...buttons), between, said));

    const channels = DATA.cycle && e.cycle ? channelsOf(DATA, e) : [];
    const efforts = DATA.loads && DATA.cycle ? DATA.cycle.drives.length : 0; // these are plotted above
    const first = channels.find((c) => c.name === given.channel) || channels[efforts] || channels[0];
    let chosen = first, draw = () => {};
    /** @type {Plot | null} */
    let plot = null;

    const spec = () => {
      const { symbol, size } = LW.unitOf(chosen.kind), same = e.cycle === e.original;
      return {
        title: chosen.name, cursor: true, key: `gray: ${names[0]}`, x: LW.cycleAxis(DATA.cycle, e.cycle.x), y: { label: "", symbol, size },
        curves: [...(same ? [] : [{ name: names[0], values: e.channels.read(chosen.name, e.original), faint: true }]), { name: same ? names[0] : names[1], values: same ? e.channels.read(chosen.name, e.original) : e.channels.read(chosen.name) }],
        onSeek: (x) => app.player.seek(track.sample(sense * x)),
      };
    };
    const sense = e.cycle && e.cycle.x[e.cycle.n - 1] < e.cycle.x[0] ? -1 : 1, track = e.cycle ? LW.player.track(e.cycle.x.map((x) => sense * x), false) : null;
    if (chosen) {
      const select = el("select", { "data-choice": "Channel", on: { change: () => { chosen = channels.find((c) => c.name === select.value); if (plot) plot.update(spec()); } } }, ...channels.map((c) => el("option", { value: c.name, selected: c === chosen, text: c.name })));
      const box = el("div", { class: "lw-designs-plot" });
      container.append(el("label", { class: "lw-choice" }, el("span", { text: "Channel" }), select), box);
      draw = () => { plot = plot || LW.plot(box, spec()); }; // when it is seen: a hidden plot has no width
    }
    container.append(changedTable(DATA, names));
    if (given.rows.length) container.append(table("Goal and conditions", given.header, given.rows));

    // poses of the design before at all samples: kernels have other lengths later
    const still = e.original ? Array.from({ length: e.original.n }, (_, i) => (e.original.placed[i] ? e.original.poses(i) : null)) : [];
    const outline = DATA.scene.pieces.map((p) => ({ body: p.body, points: p.closed ? [...p.points, p.points[0]] : p.points }));
    const links = DATA.scene.lines.map((line) => line.ends);
    const placed = (pose, body, p) => [0, 1, 2].map((i) => pose.p[3 * body + i] + [0, 1, 2].reduce((sum, k) => sum + pose.R[9 * body + 3 * i + k] * p[k], 0));
    const drawnAt = (pose) => [...outline.map((o) => o.points.map((p) => placed(pose, o.body, p))), ...links.map((ends) => ends.map((x) => placed(pose, x.body, x.at)))];

    return {
      // lines (world) of the design before at a real sample number; null where the present design is that one
      ghost(s) {
        if (s === null || !e.changed || !still.length) return null;
        const i = Math.max(0, Math.min(still.length - 1, Math.floor(s))), j = Math.min(still.length - 1, i + 1), x = s - i;
        if (!still[i] || !still[j]) return null;
        const [a, b] = [drawnAt(still[i]), drawnAt(still[j])];
        return a.map((line, n) => line.map((p, k) => p.map((y, m) => (1 - x) * y + x * b[n][k][m])));
      },
      poses: () => still.filter((pose, i) => pose && i % 10 === 0),
      update() {
        const { s, on } = share(app.values);
        buttons.forEach((b, k) => b.setAttribute("aria-pressed", String(on && Math.abs(s - k) < SAME)));
        between.value = Math.round(1000 * Math.max(0, Math.min(1, s)));
        between.style.setProperty("--fill", `${100 * Math.max(0, Math.min(1, s))}%`);
        LW.setText(said, on ? `${LW.number(100 * s, 3)}\u202f%` : "other values");
        if (plot) plot.update(spec());
      },
      cursor(s) { if (plot && track) plot.cursor(s === null ? NaN : sense * track.time(s), e.state.s === null); },
      start: () => take(ends[1]),
      open: () => draw(),
    };
  };

  // LW.draw.ghost(sheet): gray lines of another design under (in space: over) the mechanism
  const D = LW.draw;
  D.ghost = (sheet) => {
    const node = D.make("path", { class: "lw-ghost", fill: "none", stroke: sheet.look.faint, "stroke-width": D.short(Math.max(2.5, 0.45 * sheet.width)), "stroke-linejoin": "round", "stroke-linecap": "round", opacity: 0.55, "pointer-events": "none", visibility: "hidden" }, sheet.layers.ghost);
    return (lines) => D.set(node, lines ? { d: lines.map((line) => D.path(line.map(sheet.camera.pixel))).join(""), visibility: "visible" } : { visibility: "hidden" });
  };
})();
