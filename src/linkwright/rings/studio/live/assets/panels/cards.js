// The card of what is picked: a pin with its hodograph, a body with its free-body diagram, a point with its trace. Built once when
// something is picked, then only its numbers and figure change from frame to frame.
(() => {
  "use strict";
  const DUST = 1e-9; // of a vector's length: components below are round-off
  const ICON = "M5 5l10 10M15 5L5 15";

  const closeButton = (close) => LW.el("button", { class: "button quiet square", type: "button", "aria-label": "Close", title: "Close (Esc)", on: { click: close } },
    LW.svgEl("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" }, LW.svgEl("path", { d: ICON, stroke: "currentColor", "stroke-width": 1.7, "stroke-linecap": "round" })));

  const head = (title, small, close) => LW.el("div", { class: "head" }, LW.el("h2", { text: title }, small ? LW.el("small", { text: small }) : null), closeButton(close));

  // A labeled choice. items: [[value, text], ..]
  const choice = (label, items, value, choose) => {
    const options = items.map(([key, text]) => LW.el("option", { value: key, selected: key === value, text }));
    return LW.el("label", {}, LW.el("span", { text: label }), LW.el("select", { "data-choice": label, on: { change: (event) => choose(event.target.value) } }, ...options));
  };

  // A table of live numbers: rows [[key, label], ..] -> {element, set(key, text)}
  const numbers = (rows) => {
    const cells = new Map(rows.map(([key]) => [key, LW.el("td")]));
    return {
      element: LW.el("table", { class: "numbers" }, LW.el("tbody", {}, ...rows.map(([key, label]) => LW.el("tr", {}, LW.el("th", { scope: "row", text: label }), cells.get(key))))),
      set: (key, text) => LW.setText(cells.get(key), text),
    };
  };

  // [title, type]: "Pin C", "Slider guide"; of other joints their type
  const nameOf = (pin) => (pin.hinge ? [`Pin ${pin.name}`, ""] : pin.type === "prismatic" ? [`Slider ${pin.name}`, ""] : [`Joint ${pin.name}`, pin.type]);
  const length = (a) => Math.hypot(a[0], a[1], a[2]);
  // a vector with the names of its axes; in the planes xz and yz, too, the first two numbers are those along the plane
  const components = (DATA, a, kind) => {
    const size = length(a), clean = (x) => (Math.abs(x) > DUST * size ? x : 0);
    return Array.from(DATA.planar ? DATA.axes : "xyz", (axis, k) => `${axis} ${LW.format(clean(a[k]), kind)}`).join(", ");
  };

  const note = (text = "") => LW.el("p", { class: "note", hidden: !text, text });
  const show = (element, text) => { element.hidden = !text; LW.setText(element, text); };

  // what a channel of the recorded run has at a real sample number, NaN where the page has no such channel
  const recorded = (run, name) => {
    const channel = run && run.channels.find((c) => c.name === name), values = channel ? LW.decode(channel.values).data : null;
    return (s) => (values ? LW.scale.between(values, s) : NaN);
  };

  // buttons for the curves of what is picked: the ones with a short name first; the rest behind "more"
  const FEW = 8;
  const LATER = /\.on\..*\.[xyz]$|\.load$|\.j[xyz]$/; // components of loads and jerks
  const curveButtons = (app, picked) => {
    const every = app.engine.channels.of(picked), found = [...every.filter((c) => !LATER.test(c.name)), ...every.filter((c) => LATER.test(c.name))];
    if (!found.length) return null;
    const box = LW.el("div", { class: "lw-card-curves" }, LW.el("span", { class: "label", text: "Curves" })), list = LW.el("ul", { class: "lw-channel-list" });
    let all = found.length <= FEW + 1;
    const show = () => {
      const short = (c) => c.label.replace(` of ${picked.name}`, "");
      const rows = (all ? found : found.slice(0, FEW)).map((c) => LW.el("li", {}, LW.el("button", { type: "button", title: c.name, text: short(c), "aria-pressed": String(app.motion.shown().includes(c.name)), "aria-label": `${short(c)}: curve of ${c.name}`,
        on: { click: () => { app.motion.toggle([c.name]); show(); app.say(app.motion.shown().includes(c.name) ? `${LW.sentence(c.label)} It is in the tab Motion.` : ""); } } })));
      if (!all) rows.push(LW.el("li", {}, LW.el("button", { type: "button", class: "more", text: `${found.length - FEW} more`, on: { click: () => { all = true; show(); } } })));
      list.replaceChildren(...rows);
    };
    show();
    box.append(list);
    return box;
  };

  // app: {engine, DATA, player, picked, axes, pick(what), unpick(), traces, toggleTrace(name), overText(s)}
  LW.cards = (container, app) => {
    const { engine: e, DATA } = app;
    const inRun = () => app.player.mode === "run";
    /** @type {(() => void) | null} */
    let refresh = null;

    const pinCard = (picked) => {
      const pin = DATA.pins.find((p) => p.name === picked.name);
      const body = pin.bodies.includes(picked.body) ? picked.body : pin.bodies.find((name) => name !== "ground") || pin.bodies[0];
      const frames = [["", "world"], ...pin.bodies.filter((name) => name !== "ground").map((name) => [name, name])];
      const axes = frames.some(([key]) => key === app.axes) ? app.axes : "";
      const figure = LW.el("div", { class: "figure" }), key = LW.el("p", { class: "key" }), origin = note();
      const table = numbers([["recorded", "In the recorded run now"], ["parts", "Now"], ["moment", "Largest moment"]]), row = (k) => table.element.querySelectorAll("tr")[k];
      const entry = e.cycle && e.cycle.pins && e.cycle.pins[`${pin.name}|${body}`];
      container.replaceChildren(
        head(...nameOf(pin), app.unpick),
        LW.el("div", { class: "choice" }, choice("Force on", pin.bodies.map((name) => [name, name]), body, (name) => app.pick({ kind: "pin", name: pin.name, body: name })),
          choice("in axes of", frames, axes, (name) => { app.axes = name; app.pick(app.picked); })),
      );
      const size = recorded(DATA.run, `${pin.name}.on.${body}.magnitude`);
      if (!DATA.loads || !entry) return unloaded(size);
      container.append(origin, key, figure, table.element);
      const mesh = LW.meshOf(pin.name, DATA);
      if (mesh) container.append(note(`This load is ${mesh}. Shown is the load without this force.`));
      else if (pin.unique && pin.unique[body] === false) container.append(note("This load is statically indeterminate: the mechanism is over-constrained. The least-norm solution is shown."));
      const most = LW.magnitudes(entry.moment, e.cycle.t).max || 0;
      row(2).hidden = !(most > 1e-9 * entry.max);
      table.set("moment", LW.format(most, "torque"));
      const rough = LW.samplingText(entry.max, entry.error, (v) => LW.format(v, "force"));
      const top = `largest ${LW.format(entry.max, "force")} at ${app.overText(entry.s, 3)}${entry.doubtful ? " (near a singular position: depends on the sample distance)" : rough ? ` (${rough})` : ""}`;
      return () => {
        const curve = e.hodograph(pin.name, body, axes), known = Boolean(e.state.loads), force = inRun() ? size(app.player.s) : NaN;
        show(origin, inRun() ? "From the cycle, not from the recorded run." : "");
        row(0).hidden = !Number.isFinite(force);
        row(1).hidden = inRun();
        table.set("recorded", LW.format(force, "force"));
        LW.figures.hodograph(figure, DATA, curve, { title: `${pin.name} on ${body}`, frame: axes });
        LW.setText(key, known ? `now ${LW.format(length(curve.now), "force")} \u00b7 ${top}` : top);
        table.set("parts", known ? components(DATA, curve.now, "force") : "\u2013");
      };
    };
    // a pin without a load over the cycle: why, and what the recorded run has
    const unloaded = (size) => {
      const table = numbers([["recorded", "In the recorded run now"]]), without = DATA.loads && !e.cycle ? "No drive turns this mechanism, so there is no cycle to show this load over." : "Loads need the masses of the bodies.";
      container.append(note(DATA.why || without), table.element);
      return () => {
        const force = inRun() ? size(app.player.s) : NaN;
        table.element.hidden = !Number.isFinite(force);
        table.set("recorded", LW.format(force, "force"));
      };
    };
    const bodyCard = (picked) => {
      const body = DATA.bodies.find((b) => b.name === picked.name);
      const figure = LW.el("div", { class: "figure" }), table = LW.el("table", { class: "numbers" }), unknown = note();
      const title = head(`Body ${body.name}`, body.mass ? LW.withUnit(LW.typed(body.mass / LW.unitOf("mass").size, 4), LW.unitOf("mass").symbol) : "", app.unpick);
      title.querySelector("h2").prepend(LW.el("span", { class: "swatch", style: `background:${body.color}` }));
      container.replaceChildren(title);
      if (body.ground) { container.append(note("The ground is fixed and carries the reactions of its pins. Pick a pin to see its load.")); return null; }
      if (!DATA.loads) { container.append(note(DATA.why || "A free-body diagram needs the masses of the bodies.")); return null; }
      container.append(unknown, figure, table);
      return () => {
        const loads = Boolean(e.state.loads);
        show(unknown, inRun() ? "This page has only the magnitudes of the loads of a recorded run, so it has no free-body diagram of the run. The cycle has one." : loads ? "" : "No loads are known in this position.");
        for (const part of [figure, table]) {
          part.hidden = inRun();
          part.classList.toggle("unknown", !loads);
        }
        if (!loads) return;
        const diagram = e.freeBody(body.name);
        LW.figures.freeBody(figure, DATA, diagram);
        const rows = diagram.actions.map((a) => LW.el("tr", {}, LW.el("th", { scope: "row", text: a.unique === false ? `${a.name} (one of many)` : a.name }),
          LW.el("td", { text: LW.format(length(a.force), "force") }), LW.el("td", { text: length(a.moment) > 0 ? LW.format(length(a.moment), "torque") : "" })));
        table.replaceChildren(LW.el("tbody", {}, ...rows));
      };
    };

    const pointCard = (picked) => {
      const point = app.pointOf(picked.name);
      const table = numbers([["place", "Place"], ["speed", "Speed"]]), on = app.traces.has(picked.name);
      container.replaceChildren(
        head(`Point ${picked.name}`, `of ${point.body}`, app.unpick),
        LW.el("div", { class: "choice" }, LW.el("button", { class: "button", type: "button", text: on ? "Remove its trace" : "Show its trace", on: { click: () => { app.toggleTrace(picked.name); app.pick(app.picked); } } })),
        table.element,
      );
      return () => {
        table.set("place", components(DATA, e.place(point.body, point.at), "length"));
        table.set("speed", e.velocity ? LW.format(length(e.velocity(point.body, point.at)), "speed") : "");
      };
    };

    const known = (picked) => ({ pin: () => DATA.pins.some((p) => p.name === picked.name), body: () => DATA.bodies.some((b) => b.name === picked.name), point: () => Boolean(app.pointOf(picked.name)) })[picked.kind];
    return {
      known: (picked) => Boolean(picked && known(picked) && known(picked)()),
      show(picked) {
        const chosen = document.activeElement && container.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement).dataset.choice : undefined;
        container.hidden = !picked;
        refresh = null;
        if (!picked) { container.replaceChildren(); return; }
        const shown = { pin: pinCard, body: bodyCard, point: pointCard }[picked.kind](picked), curves = curveButtons(app, picked);
        if (curves) container.append(curves);
        refresh = shown;
        if (shown) shown();
        const again = chosen && container.querySelector(`[data-choice="${CSS.escape(chosen)}"]`);
        if (again) again.focus({ preventScroll: true });
      },
      update() { if (refresh) refresh(); },
    };
  };
  LW.cards.components = components;
})();
