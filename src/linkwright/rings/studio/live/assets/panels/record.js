// LW.record(container, run, {seek(sample)}): a recorded run. Up to four plots with a common cursor, channels chosen from a list that
// can be searched, events and singular passages marked, the checks of the run below. cursor(sample) follows the player.
(() => {
  "use strict";
  const PLOTS = 4;
  // names of the components of a vector: those of the plane first
  const axisNames = () => Array.from(typeof DATA === "undefined" ? "xyz" : DATA.axes || "xyz");

  // the columns of a channel: one array, or one for each component of a vector
  const columnsOf = (channel) => {
    const { data, shape } = LW.decode(channel.values);
    const width = shape.length > 1 ? shape[1] : 1;
    if (width === 1) return [data];
    return Array.from({ length: width }, (_, k) => Float64Array.from({ length: shape[0] }, (_, i) => data[i * width + k]));
  };

  // "t = 0.42 s: J loses 1 row: branches meet (smallest singular values 1e-14)" is too long for a plot; its title tells all
  const shortText = (text) => text.replace(/^t = [^:]*: /, "").replace(/\s*\([^)]*\)$/, "").replace(/^.*: (?=branches)/, "");

  const marksOf = (run) => {
    const marks = [...(run.events || []), ...(run.passages || [])].map((mark) => ({ x: mark.t, text: shortText(mark.text), title: mark.text }));
    return marks.sort((a, b) => a.x - b.x);
  };

  const firstChannels = (run) => {
    const known = new Set(run.channels.map((c) => c.name));
    const wanted = (run.main || []).filter((name) => known.has(name));
    return (wanted.length ? wanted : run.channels.map((c) => c.name)).slice(0, PLOTS);
  };

  const specOf = (run, channel, t, marks) => {
    const columns = columnsOf(channel), axes = axisNames();
    const curves = columns.map((values, k) => ({ name: columns.length > 1 ? axes[k] || String(k + 1) : "", values }));
    const time = LW.unitOf("time");
    return {
      title: channel.name,
      x: { values: t, label: "time", symbol: time.symbol || "s", size: time.size },
      y: { label: "", symbol: channel.symbol, size: channel.size || 1 },
      curves,
      marks,
      height: 150,
    };
  };

  const checks = (run) => {
    const list = run.checks || [];
    if (!list.length) return null;
    const summary = LW.el("summary", { text: `Checks: ${LW.checksSummary(list)}` });
    return LW.el("details", { class: "lw-run-checks", open: list.some((check) => check.verdict !== "passed") }, summary, LW.checksList(list));
  };

  LW.record = (container, run, hooks = {}) => {
    const el = LW.el;
    const t = LW.decode(run.t).data;
    const marks = marksOf(run);
    const shown = new Map(); // name -> {plot, node}
    const plots = el("div", { class: "lw-record-plots" });
    let at = 0;
    const seek = (x) => {
      const sample = LW.scale.sampleAt(t, x);
      record.cursor(sample);
      if (hooks.seek) hooks.seek(sample);
    };
    const remove = (name) => {
      shown.get(name).node.remove();
      shown.delete(name);
    };
    const add = (name) => {
      const channel = run.channels.find((c) => c.name === name);
      if (!channel || shown.size >= PLOTS) return;
      const close = el("button", { type: "button", class: "lw-remove", "aria-label": `Remove ${name}`, text: "\u00d7" });
      close.addEventListener("click", () => toggle(name));
      const node = el("div", { class: "lw-record-plot" }, close);
      plots.append(node);
      const plot = LW.plot(node, Object.assign(specOf(run, channel, t, marks), { onSeek: seek }));
      plot.cursor(LW.scale.between(t, at));
      shown.set(name, { plot, node });
    };
    const toggle = (name) => {
      if (shown.has(name)) remove(name);
      else add(name);
      chooser.show([...shown.keys()]);
    };
    const chooser = LW.channelList(run.channels, { most: PLOTS, toggle });
    const title = run.title ? el("p", { class: "lw-facts", text: run.title }) : null;
    container.append(el("div", { class: "lw-panel lw-record" }, title, chooser.element, plots, checks(run)));
    const record = {
      cursor(sample) {
        at = sample;
        const time = LW.scale.between(t, sample);
        for (const { plot } of shown.values()) plot.cursor(time);
      },
      show(names) {
        for (const name of [...shown.keys()]) remove(name);
        for (const name of names) add(name);
        chooser.show([...shown.keys()]);
      },
      shown: () => [...shown.keys()],
    };
    record.show(firstChannels(run));
    return record;
  };
})();
