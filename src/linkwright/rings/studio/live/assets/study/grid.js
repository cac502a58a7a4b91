// A study that is a grid: one slider an axis, the measures of the chosen cell, and their curves along the slider that was moved last.
(() => {
  "use strict";
  const MOST_CURVES = 8;
  const MOST_MARKS = 60;

  LW.gridStudy = () => {
    const { axes, measures } = LW.study;
    const shape = axes.map((a) => a.values.length);
    const strides = shape.map((_, i) => shape.slice(i + 1).reduce((p, n) => p * n, 1));
    const index = (at) => at.reduce((sum, k, i) => sum + k * strides[i], 0);
    const placesOf = (cell) => shape.map((n, i) => Math.floor(cell / strides[i]) % n);
    const long = axes.flatMap((a, i) => (a.values.length > 1 ? [i] : []));
    const grid = { at: shape.map((n) => (n - 1) >> 1), moving: long.length ? long[0] : 0, index, placesOf };

    const read = () => {
      const given = /[#&]at=([\d,]+)/.exec(location.hash);
      const at = given ? given[1].split(",").map(Number) : [];
      if (at.length === shape.length && at.every((k, i) => k < shape[i])) grid.at = at;
    };
    read();

    // sliders
    const controls = LW.byId("controls");
    const sliders = axes.map((axis, i) => {
      const output = LW.el("output");
      const last = axis.values.length - 1;
      const input = LW.el("input", { type: "range", id: `axis-${i}`, min: 0, max: last, step: 1, disabled: last === 0 });
      input.addEventListener("input", () => grid.choose(grid.at.map((k, a) => (a === i ? Number(input.value) : k)), i));
      input.addEventListener("focus", () => { if (last > 0 && grid.moving !== i) grid.choose(grid.at, i); });
      const row = LW.el("div", { class: "st-slider" }, LW.el("label", { for: `axis-${i}`, text: axis.name, title: axis.name }), output, input);
      controls.append(row);
      return { input, output, row, last };
    });

    const showValues = LW.valueTable(LW.byId("values"), measures, (cell) => grid.choose(placesOf(cell)));
    const map = LW.gridMap(LW.byId("map"), grid);

    // curves of the measures along the slider that moves
    const cellsAlong = (i) => axes[i].values.map((_, k) => index(grid.at.map((p, a) => (a === i ? k : p))));
    const spec = (measure) => {
      const axis = axes[grid.moving];
      const cells = cellsAlong(grid.moving);
      const lost = STUDY.workspace ? [] : cells.flatMap((cell, k) => (LW.study.reasonOf(cell) ? [{ x: axis.values[k], text: STUDY.rows[cell] < 0 ? "not computed" : "failed", title: LW.study.reasonOf(cell) }] : []));
      return {
        title: measure.name,
        x: { values: axis.values, label: axis.name, symbol: axis.symbol, size: 1 },
        y: { label: measure.name, symbol: measure.symbol, size: 1 },
        curves: [{ values: cells.map((cell) => measure.values[cell]) }],
        marks: lost.slice(0, MOST_MARKS),
        stats: false,
        onSeek: (x) => {
          const near = axis.values.reduce((best, v, k) => (Math.abs(v - x) < Math.abs(axis.values[best] - x) ? k : best), 0);
          grid.choose(grid.at.map((k, a) => (a === grid.moving ? near : k)), grid.moving);
        },
      };
    };
    const along = LW.byId("along");
    const holder = LW.byId("curves");
    const shown = measures.slice(0, MOST_CURVES);
    const plots = long.length ? shown.map((m) => LW.plot(holder, spec(m))) : [];

    grid.render = () => {
      const cell = index(grid.at);
      sliders.forEach(({ input, output, row, last }, i) => {
        input.value = grid.at[i];
        input.style.setProperty("--fill", `${last ? (100 * grid.at[i]) / last : 0}%`);
        input.setAttribute("aria-valuetext", LW.study.text(axes[i], axes[i].values[grid.at[i]]));
        LW.setText(output, LW.study.text(axes[i], axes[i].values[grid.at[i]]));
        row.classList.toggle("moving", long.length > 1 && i === grid.moving);
      });
      LW.setText(along, long.length ? `Curves along ${axes[grid.moving].name}` : "");
      LW.sayReason(cell);
      showValues(cell);
      plots.forEach((plot, k) => {
        plot.update(spec(shown[k]));
        plot.cursor(axes[grid.moving].values[grid.at[grid.moving]]);
      });
      if (map) map.render();
    };
    grid.choose = (at, moving = grid.moving) => {
      grid.at = at;
      grid.moving = moving;
      history.replaceState(null, "", `#at=${at.join(",")}`);
      grid.render();
    };
    grid.step = (axis, by) => grid.choose(grid.at.map((k, a) => (a === axis ? Math.min(shape[a] - 1, Math.max(0, k + by)) : k)), axis);
    grid.repaint = () => map && map.render(true);
    grid.map = map;
    grid.more = measures.length - shown.length;
    grid.render();
    return grid;
  };
})();
