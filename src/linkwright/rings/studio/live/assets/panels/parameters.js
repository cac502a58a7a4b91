// LW.parameters(container, DATA, {change(values)}): a slider and a number field for every parameter, in the file's units. Every
// movement hands the values of all parameters (SI) to `change`. Changed ones are marked, can be reset one by one or all at once,
// and copied as YAML for the model's file.
(() => {
  "use strict";
  const FIRST = 6; // parameters shown before "all" is asked for
  const FAR = 1e4; // times the file's value or the end of its slider: more is not taken from the keyboard
  const STEPS = 200; // of a slider, about
  const GROUPS = ["Dimensions", "Masses", "Others"];
  let count = 0;

  const groupOf = (parameter) => {
    if (parameter.what === "point" || parameter.kind === "length" || parameter.kind === "angle") return 0;
    return parameter.what === "mass" || parameter.kind === "mass" || parameter.kind === "inertia" ? 1 : 2;
  };

  // [low, high] of what may be typed, SI: far beyond the slider, short of where arithmetic drowns; lengths, masses and the like (`positive`)
  // are above zero
  const limitsOf = (parameter) => {
    const size = Math.max(...[parameter.value, parameter.low, parameter.high].map((x) => Math.abs(x) || 0)) || parameter.size;
    return [parameter.positive && parameter.value > 0 ? size / FAR : -FAR * size, FAR * size];
  };

  const allowed = (parameter, value) => {
    const [low, high] = limitsOf(parameter);
    return value === parameter.value || (Number.isFinite(value) && value >= low && value <= high);
  };

  // whether a parameter of this name may have this value (SI)
  LW.allowedValue = (data, name, value) => (data.parameters || []).some((p) => p.name === name && allowed(p, value));

  // what is wrong with a value (SI), in a sentence; "" if nothing is
  const refusal = (parameter, value) => {
    if (allowed(parameter, value)) return "";
    const [low, high] = limitsOf(parameter), shown = (x) => LW.withUnit(LW.number(x / parameter.size, 2), parameter.symbol);
    if (value <= 0 && low > 0) return `${parameter.label || parameter.name} must be greater than zero.`;
    return `Allowed here: ${shown(low)} to ${shown(high)}.`;
  };

  // {value} or {problem} of a typed text
  LW.typedValue = (parameter, text) => {
    const found = LW.parsed(text, parameter), problem = found.problem || refusal(parameter, found.value);
    return problem ? { problem } : found;
  };

  // a slider's grid: round steps that meet the file's value exactly, within [low, high]; all in shown units
  const gridOf = (parameter) => {
    const [value, low, high] = [parameter.value, parameter.low, parameter.high].map((x) => x / parameter.size);
    const step = high > low ? LW.scale.niceStep(high - low, STEPS) : 1;
    const below = Math.floor((value - low) / step + 1e-6);
    const above = Math.floor((high - value) / step + 1e-6);
    return { value, step, below: Math.max(0, below), above: Math.max(0, above) };
  };

  // the shown value k steps from the file's, without the dust of floating point
  const gridValue = (grid, k) => (k === 0 ? grid.value : Number((grid.value + k * grid.step).toPrecision(12)));

  const copyText = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch (refused) {
      const area = LW.el("textarea", { class: "lw-hidden", "aria-hidden": "true" });
      area.value = text;
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy"); // pages in frames may not use the clipboard otherwise
      area.remove();
      return done;
    }
  };

  const buildRow = (parameter, moved) => {
    const el = LW.el;
    const grid = gridOf(parameter);
    const label = parameter.label || parameter.name;
    const short = groupOf(parameter) === 1 ? label.replace(/^mass of /, "") : label; // the group's heading says the rest
    const row = { parameter, grid };
    row.range = el("input", { type: "range", min: -grid.below, max: grid.above, step: 1, value: 0, "aria-label": `${label}, slider` });
    row.field = el("input", { type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false", "aria-label": `${label}${parameter.symbol ? ` in ${parameter.symbol}` : ""}` });
    row.back = el("button", { type: "button", class: "lw-back", "aria-label": `Reset ${label}`, text: "\u21ba" });
    row.was = el("small", { class: "was" });
    row.problem = el("small", { class: "problem", id: `lw-problem-${++count}`, role: "status" });
    row.field.setAttribute("aria-describedby", row.problem.id);
    row.node = el(
      "div",
      { class: "lw-parameter", role: "group", "aria-label": label },
      el("span", { class: "label", title: parameter.name, text: short }),
      el("span", { class: "track" }, row.range),
      el("span", { class: "field" }, row.field, el("span", { class: "unit", text: LW.unit(parameter.symbol) })),
      row.back,
      row.was,
      row.problem,
    );
    const total = grid.below + grid.above;
    row.node.style.setProperty("--home", total ? grid.below / total : 0.5);
    row.range.addEventListener("input", () => moved(row, gridValue(grid, Number(row.range.value)) * parameter.size, row.range));
    row.field.addEventListener("input", () => {
      const { value, problem = "" } = LW.typedValue(parameter, row.field.value);
      row.field.setAttribute("aria-invalid", problem !== "");
      if (!problem) moved(row, value, row.field);
      else LW.setText(row.problem, problem);
    });
    row.field.addEventListener("change", () => {
      const problem = row.problem.textContent;
      showRow(row, row.value, null);
      // stays when the value goes back, to say why it did
      if (problem) LW.setText(row.problem, `${problem} Back to ${LW.withUnit(row.field.value, parameter.symbol)}.`);
    });
    row.field.addEventListener("keydown", (event) => {
      const way = { ArrowUp: 1, ArrowDown: -1 }[event.key];
      if (!way || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      const next = Number((row.value / parameter.size + way * grid.step).toPrecision(12)) * parameter.size;
      if (allowed(parameter, next)) moved(row, next, null);
    });
    row.back.addEventListener("click", () => moved(row, parameter.value, null));
    return row;
  };

  const isHome = (row) => LW.changedParameters({ parameters: [row.parameter] }, { [row.parameter.name]: row.value }).length === 0;

  // the row at a value; `source` is the input the hand is on, which keeps its text
  const showRow = (row, value, source) => {
    const { parameter, grid } = row;
    row.value = value;
    const shown = value / parameter.size;
    const place = Math.round((shown - grid.value) / grid.step);
    if (source !== row.range) row.range.value = Math.max(-grid.below, Math.min(grid.above, place));
    if (source !== row.field) row.field.value = LW.typed(shown, 6);
    if (source !== row.field) row.field.removeAttribute("aria-invalid");
    LW.setText(row.problem, "");
    const home = isHome(row);
    const total = grid.below + grid.above;
    row.node.style.setProperty("--at", total ? (Number(row.range.value) + grid.below) / total : 0.5);
    row.range.setAttribute("aria-valuetext", LW.withUnit(LW.typed(shown, 6), parameter.symbol));
    row.node.classList.toggle("changed", !home);
    row.back.disabled = home;
    LW.setText(row.was, home ? "" : `${parameter.was || "file"}: ${LW.withUnit(LW.typed(grid.value, 6).replace("-", "\u2212"), parameter.symbol)}`);
  };

  const buildFoot = () => {
    const el = LW.el;
    const foot = {
      all: el("button", { type: "button", class: "button", "aria-expanded": "false" }),
      reset: el("button", { type: "button", class: "button", text: "Reset all" }),
      copy: el("button", { type: "button", class: "button primary", id: "copy-yaml", text: "Copy changed values" }),
      done: el("span", { class: "done", role: "status" }),
      yaml: el("pre", { class: "lw-yaml", tabindex: 0, "aria-label": "Changed values as YAML" }),
    };
    foot.more = el("details", { class: "lw-yaml-box", open: true }, el("summary", { text: "YAML to paste into the model file" }), foot.yaml);
    foot.node = el("div", { class: "lw-parameter-foot" }, foot.copy, foot.reset, foot.done);
    return foot;
  };

  // rows under the headings of their groups; the first few, or all
  const arrange = (list, rows, whole) => {
    list.replaceChildren();
    const order = GROUPS.map((_, g) => rows.filter((row) => groupOf(row.parameter) === g));
    const chosen = new Set(rows.filter((row) => row.node.classList.contains("changed")));
    for (const row of order.flat()) if (whole || chosen.size < FIRST) chosen.add(row);
    const used = order.filter((group) => group.some((row) => chosen.has(row)));
    order.forEach((group, g) => {
      const shown = group.filter((row) => chosen.has(row));
      if (!shown.length) return;
      if (used.length > 1 || g === 1) list.append(LW.el("h3", { class: "lw-group", text: GROUPS[g] }));
      list.append(...shown.map((row) => row.node));
    });
  };

  const none = (container) => {
    container.append(LW.el("p", { class: "lw-note", text: "This mechanism has no parameters to change here." }));
    return { set() {}, changed: () => [] };
  };

  LW.parameters = (container, all, hooks = {}) => {
    const data = { ...all, parameters: (all.parameters || []).filter((p) => !p.hidden) };
    if (!data.parameters.length) return none(container);
    const list = LW.el("div", { class: "lw-parameter-list" });
    const foot = buildFoot();
    let whole = false;
    const values = () => Object.fromEntries(rows.map((row) => [row.parameter.name, row.value]));
    const refresh = () => {
      const yaml = LW.changedYaml(data, values());
      LW.setText(foot.yaml, yaml);
      foot.more.hidden = foot.node.hidden = yaml === "";
      LW.setText(foot.done, "");
    };
    const moved = (row, value, source) => {
      showRow(row, value, source);
      refresh();
      if (hooks.change) hooks.change(values());
    };
    const rows = data.parameters.map((parameter) => buildRow(parameter, moved));
    const expand = () => {
      arrange(list, rows, whole);
      foot.all.hidden = rows.length <= FIRST;
      foot.all.setAttribute("aria-expanded", String(whole));
      LW.setText(foot.all, whole ? "Show fewer" : `Show all ${rows.length}`);
    };
    foot.all.addEventListener("click", () => {
      whole = !whole;
      expand();
    });
    foot.reset.addEventListener("click", () => {
      for (const row of rows) showRow(row, row.parameter.value, null);
      refresh();
      if (hooks.change) hooks.change(values());
    });
    foot.copy.addEventListener("click", async () => {
      const done = await copyText(LW.changedYaml(data, values()));
      LW.setText(foot.done, done ? "Copied" : "The browser refuses. Select the text below.");
    });
    const panel = {
      set(given) {
        for (const row of rows) {
          const value = given && given[row.parameter.name];
          showRow(row, allowed(row.parameter, value) ? value : row.parameter.value, null);
        }
        refresh();
        if (!whole) expand();
      },
      changed: () => LW.changedParameters(data, values()).map((p) => p.name),
    };
    container.append(LW.el("div", { class: "lw-panel" }, list, foot.all, foot.node, foot.more));
    panel.set({});
    expand();
    return panel;
  };
})();
