// LW.drivePanel(container, app): figures of every drive over the cycle that is shown: largest and root mean square effort, largest speed, power, work and
// energy to brake; buttons that show their curves.
(() => {
  "use strict";

  const DUST = 1e-9; // of the energy that goes to and fro: less is round-off

  // integrals of power over time by trapezoids: {work, brake}; gaps are left out
  /** @type {(t: Float64Array, power: Float64Array) => {work: number, brake: number}} */
  const integrals = (t, power) => {
    let work = 0, brake = 0, turned = 0;
    for (let i = 1; i < t.length; i++) {
      const [a, b] = [power[i - 1], power[i]], h = t[i] - t[i - 1];
      if (!Number.isFinite(a + b)) continue;
      work += 0.5 * h * (a + b);
      turned += 0.5 * h * (Math.abs(a) + Math.abs(b));
      brake -= 0.5 * h * (Math.min(a, 0) + Math.min(b, 0));
    }
    return { work: Math.abs(work) > DUST * turned ? work : 0, brake: brake > DUST * turned ? brake : 0 };
  };

  LW.drivePanel = (container, app) => {
    const { engine: e, DATA } = app, el = LW.el, law = e.law;
    if (!law || !DATA.loads || !e.cycle) {
      const why = DATA.why || (law ? "The drive torque needs the masses of the bodies, and this model gives none." : "This mechanism has no drive.");
      container.append(el("p", { class: "note", "data-absent": "", text: LW.sentence(why) }));
      return { update() {} };
    }
    const still = law.still;
    const parts = law.drives.map((name, k) => {
      const effort = law.kinds[k] === "angle" ? "torque" : "force", speed = law.kinds[k] === "angle" ? "angular_speed" : "speed";
      const names = [`${name}.${effort}`, ...(still ? [] : [`${name}.power`, `${name}.v`])].filter((x) => e.channels.get(x));
      const body = el("tbody"), curves = el("button", { type: "button", class: "button quiet", text: "Show curves", "aria-label": `Show curves of ${name}`, on: { click: () => { app.motion.toggle(names, true); app.tab("motion"); } } });
      container.append(el("section", { class: "lw-panel lw-drive" }, el("div", { class: "lw-drive-head" }, el("h3", { text: name }), curves), el("table", { class: "lw-table" }, body)));
      return { name, k, effort, speed, body };
    });
    const note = el("p", { class: "lw-note" });
    container.append(note);
    const place = (/** @type {number} */ i) => app.overText(i, 3);

    const update = () => {
      const cycle = /** @type {Cycle} */ (e.cycle);
      for (const { name, k, effort, speed, body } of parts) {
        const s = cycle.stats[k], power = e.channels.read(`${name}.power`), rate = e.channels.read(`${name}.v`), { work, brake } = integrals(cycle.t, power);
        const ends = LW.scale.ends(power), most = LW.scale.stats(cycle.t, rate), high = ends[ends.length - 1], low = ends[0];
        /** @type {(value: number, error: number, kind: string) => string} */
        const open = (value, error, kind) => { const text = LW.samplingText(value, error, (v) => LW.format(v, kind)); return text ? `, ${text}` : ""; };
        const rows = [[`Largest ${effort}`, s.s < 0 ? "\u2013" : LW.format(s.value, effort), s.s < 0 ? "" : `at ${place(s.s)}${s.doubtful ? "*" : open(s.value, s.error, effort)}`], [`RMS ${effort}`, s.doubtful ? "\u2013" : LW.format(s.rms, effort), ""]];
        if (!still && most) {
          rows.push(["Largest speed", LW.format(most.max, speed), LW.scale.ends(rate).length > 1 ? `at ${place(most.s)}${open(most.max, most.error, speed)}` : "constant"]);
          if (high !== undefined) rows.push(["Largest power", LW.format(high.value, "power"), `at ${place(high.s)}${open(high.value, high.error, "power")}`]);
          if (low !== undefined && low.value < 0) rows.push(["Largest braking power", LW.format(-low.value, "power"), `at ${place(low.s)}${open(low.value, low.error, "power")}`]);
          rows.push(["Work in one cycle", LW.format(work, "energy"), ""], ["Energy to brake", LW.format(brake, "energy"), ""]);
        }
        body.replaceChildren(...rows.map(([label, value, where]) => el("tr", {}, el("th", { scope: "row", text: label }), el("td", { text: value }), el("td", { class: "soft", text: where }))));
      }
      const doubtful = cycle.stats.some((s) => s.doubtful);
      LW.setText(note, [still ? "Static analysis: inertia forces are ignored." : "", doubtful ? "* near a singular position: depends on the sample distance." : ""].filter(Boolean).join(" "));
    };
    return { update };
  };
})();
