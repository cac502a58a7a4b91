// LW.touchStates(container, run, {seek(time)}): the strip under the time bar of a run with touches. One row for each touch: a line while it
// is open, a thick one while it sticks, a thinner one while it slips, a tick for each impact. A row says its states in words under
// the pointer; a click goes to that time.
(() => {
  "use strict";
  const WIDE = 1000, HIGH = 12; // of the picture of a row; its width follows the bar
  const NEAR = 0.006; // of the width: an impact so near to the pointer is named
  const WORDS = /** @type {const} */ (["open", "sticks", "slips"]);

  // stretches of one touch: {state, from, to}, times of the run
  const stretchesOf = (t, states, touch, count) => {
    const out = /** @type {{state: number, from: number, to: number}[]} */ ([]);
    for (let k = 0; k < t.length - 1; k++) {
      const state = states[k * count + touch], last = out[out.length - 1];
      if (!(t[k + 1] > t[k])) continue; // both sides of an event
      if (last && last.state === state) last.to = t[k + 1];
      else out.push({ state, from: t[k], to: t[k + 1] });
    }
    return out;
  };

  const pathOf = (pieces) => pieces.map(([x, X]) => `M${x.toFixed(2)} ${HIGH / 2}H${X.toFixed(2)}`).join("");
  const picture = (...paths) => LW.svgEl("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: "none", "aria-hidden": "true" }, ...paths);
  const tick = (x) => `M${x.toFixed(2)} 0V${HIGH}`;

  const secondsOf = (t) => { const { symbol, size } = LW.unitOf("time"); return LW.withUnit(String(Number((t / size).toPrecision(4))), symbol); };

  // "step: sticks from 0.2 s to 0.5 s", with the impact that lies there
  const wordsAt = (row, t, near) => {
    const x = row.stretches.find((one) => t < one.to) || row.stretches[row.stretches.length - 1];
    const hit = row.impacts.find((one) => Math.abs(one.t - t) <= near);
    const said = x ? `${row.name}: ${WORDS[x.state]} from ${secondsOf(x.from)} to ${secondsOf(x.to)}` : row.name;
    return hit ? `${said}; impact at ${secondsOf(hit.t)}, ${LW.format(hit.lost, "energy")} lost` : said;
  };

  // a touch over the whole run, for those who do not see the row
  const summary = (row) => {
    const shares = WORDS.map((word, state) => [word, row.stretches.filter((x) => x.state === state).reduce((sum, x) => sum + x.to - x.from, 0)]);
    const told = shares.filter(([, time]) => time > 0).map(([word, time]) => `${word} for ${secondsOf(time)}`);
    return `${row.name}: ${[...told, LW.counted(row.impacts.length, "impact")].join(", ")}`;
  };

  const rowElement = (row, first, duration, seek) => {
    const place = (t) => (WIDE * (t - first)) / duration;
    const paths = WORDS.map((word, state) => LW.svgEl("path", { class: word, d: pathOf(row.stretches.filter((x) => x.state === state).map((x) => [place(x.from), place(x.to)])) }));
    paths.push(LW.svgEl("path", { class: "impact", d: row.impacts.map((x) => tick(place(x.t))).join("") }));
    const node = LW.el("div", { class: "state-row", "data-touch": row.name, role: "img", "aria-label": summary(row) }, picture(...paths), LW.el("span", { text: row.name }));
    const timeAt = (event) => {
      const frame = node.querySelector("svg").getBoundingClientRect();
      return first + duration * Math.max(0, Math.min(1, (event.clientX - frame.left) / frame.width));
    };
    node.addEventListener("pointermove", (event) => { node.title = wordsAt(row, timeAt(event), NEAR * duration); });
    node.addEventListener("click", (event) => seek(timeAt(event)));
    return node;
  };

  const sample = (name, text) => LW.el("span", {}, picture(LW.svgEl("path", { class: name, d: name === "impact" ? tick(WIDE / 2) : pathOf([[0, WIDE]]) })), text);

  LW.touchStates = (container, run, { seek }) => {
    if (!run || !run.touches) return;
    const t = LW.decode(run.t).data, { names, impacts, state } = run.touches, states = LW.decode(state).data;
    const first = t[0], duration = t[t.length - 1] - first;
    if (!(duration > 0)) return;
    const rows = names.map((name, i) => ({ name, stretches: stretchesOf(t, states, i, names.length), impacts: impacts.filter((x) => x.touch === i) }));
    container.append(
      LW.el("div", { class: "rows" }, ...rows.map((row) => rowElement(row, first, duration, seek))),
      LW.el("div", { class: "legend" }, ...WORDS.map((word) => sample(word, word)), sample("impact", "impact")),
    );
    container.hidden = false;
  };
})();
