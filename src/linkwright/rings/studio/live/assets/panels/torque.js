// The efforts of the drives over the cycle: one plot for torques, one for forces of cylinders; the curves of the file's values stay
// faint beside changed ones. Where there is nothing to plot a sentence says why.
(() => {
  "use strict";
  const KINDS = { angle: "torque", length: "force" };
  const titleOf = (DATA, unit) => `${DATA.cycle && DATA.cycle.still ? "Holding" : "Drive"} ${unit}`; // without speeds it is statics

  const SLIGHT = 1e-7; // of the largest load, times the mechanism's size: efforts below are round-off
  const largestLoad = (cycle) => Object.values(cycle.pins || {}).reduce((most, pin) => Math.max(most, pin.doubtful ? 0 : pin.max), 0);
  const missing = (DATA, e) => LW.sentence(reason(DATA, e));
  const reason = (DATA, e) => {
    if (!DATA.cycle || !e.cycle) return DATA.why || "This mechanism has no drive, so there is no cycle to plot. Drag its pins and points by hand.";
    return DATA.why || e.cycle.why || "The drive torque needs the masses of the bodies, and this model gives none.";
  };

  // LW.torque(container, DATA, e, {changed() -> bool, seek(s)}) -> {update(), cursor(s)}
  LW.torque = (container, DATA, e, hooks) => {
    if (!DATA.cycle || !e.cycle || !e.cycle.u || !DATA.loads) {
      container.replaceChildren(LW.el("h2", { text: titleOf(DATA, "torque") }), LW.el("p", { class: "note", text: missing(DATA, e) }));
      return { update() {}, cursor() {}, svg: () => "" };
    }
    const names = DATA.cycle.drives;
    const groups = Object.keys(KINDS).map((kind) => ({ kind, drives: names.map((_, k) => k).filter((k) => DATA.cycle.kinds[k] === kind) })).filter((g) => g.drives.length);

    // real sample number of a place on the x axis, which runs backwards where the drive does, and the place of a sample
    const sense = e.cycle.x[e.cycle.n - 1] < e.cycle.x[0] ? -1 : 1, along = LW.player.track(e.cycle.x.map((x) => sense * x), false);
    const sampleAt = (x) => along.sample(sense * x), placeOf = (s) => sense * along.time(s);

    const known = (cycle, k) => (cycle.ok.every((x) => x) ? cycle.u[k] : cycle.u[k].map((u, i) => (cycle.ok[i] ? u : NaN)));
    // the root mean square is one over time, whatever the axis
    const peakOf = ({ value, rms, at, s, error, doubtful }) => (s >= 0 ? { max: value, rms, x: at, error, doubtful } : undefined);
    const bounded = (cycle, k) => (cycle.stats[k].doubtful ? (i) => !cycle.doubtful(i, true) : undefined);
    const curves = (cycle, drives, faint) => drives.map((k) => ({ name: names[k], values: known(cycle, k), faint, stats: peakOf(cycle.stats[k]), bounded: bounded(cycle, k) }));
    const spec = ({ kind, drives }) => {
      const unit = KINDS[kind], { symbol, size } = LW.unitOf(unit);
      const old = hooks.changed() && e.original ? curves(e.original, drives, true) : [];
      return {
        title: titleOf(DATA, unit), cursor: true, key: DATA.designs ? `gray: ${DATA.designs.before}` : undefined,
        x: LW.cycleAxis(DATA.cycle, e.cycle.x),
        y: { label: "", symbol, size, least: SLIGHT * largestLoad(e.cycle) * (kind === "angle" ? DATA.scale.kappa : 1) },
        curves: [...old, ...curves(e.cycle, drives, false)],
        onSeek: (x) => hooks.seek(sampleAt(x)),
      };
    };

    container.replaceChildren();
    const plots = groups.map((group) => ({ group, plot: LW.plot(container, spec(group)) }));
    for (const text of DATA.notes) container.append(LW.el("p", { class: "note", text: LW.sentence(text) }));
    return {
      update() { for (const { group, plot } of plots) plot.update(spec(group)); },
      // by hand and in free swing the mechanism is next to its cycle, which has this effort only nearby
      cursor(s) { for (const { plot } of plots) plot.cursor(s === null ? NaN : placeOf(s), e.state.s === null); },
    };
  };
})();
