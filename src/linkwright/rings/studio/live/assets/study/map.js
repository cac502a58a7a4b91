// The map of a grid: a measure over two axes as colored cells, the chosen cell outlined; a click or a drag chooses another one.
(() => {
  "use strict";
  // borders half way between values; the outer ones as far out as the inner ones are
  const borders = (values) => {
    const n = values.length;
    const inner = values.slice(1).map((v, i) => (v + values[i]) / 2);
    return [values[0] - (inner[0] - values[0]), ...inner, values[n - 1] + (values[n - 1] - inner[n - 2])];
  };
  const within = (edges, v) => Math.min(edges.length - 2, Math.max(0, edges.findIndex((e) => v < e) < 0 ? edges.length - 2 : edges.findIndex((e) => v < e) - 1));

  LW.gridMap = (container, grid) => {
    const { axes, measures } = LW.study;
    const long = axes.flatMap((a, i) => (a.values.length > 1 ? [i] : []));
    if (long.length < 2) return null;
    const state = { x: long[0], y: long[1], of: 0 };
    const bar = LW.el("div", { class: "st-choose" });
    container.append(bar);
    const picture = LW.picture(container, { label: "Map of a measure over two axes of the grid", height: STUDY.workspace ? 560 : 380 });
    const legend = LW.el("p", { class: "st-legend" });
    if (STUDY.workspace) container.append(legend);
    const cellAt = (i, j) => grid.index(grid.at.map((k, a) => (a === state.x ? i : a === state.y ? j : k)));

    const paint = (context, toX, toY) => {
      const [ex, ey] = [borders(axes[state.x].values), borders(axes[state.y].values)];
      const { values } = measures[state.of];
      const shade = LW.study.shade(measures[state.of]);
      const crosses = [];
      for (let i = 0; i < ex.length - 1; i++) {
        for (let j = 0; j < ey.length - 1; j++) {
          const v = values[cellAt(i, j)];
          const [x0, x1, y0, y1] = [toX(ex[i]), toX(ex[i + 1]), toY(ey[j + 1]), toY(ey[j])].map(Math.round); // no seams between cells
          if (!Number.isFinite(v)) {
            if (STUDY.workspace) continue;
            crosses.push([(x0 + x1) / 2, (y0 + y1) / 2, Math.min(5, 0.3 * Math.min(x1 - x0, y1 - y0))]);
            continue;
          }
          context.fillStyle = shade(v);
          context.fillRect(x0, y0, x1 - x0, y1 - y0);
        }
      }
      context.strokeStyle = picture.ink("--bad");
      context.lineWidth = 1.3;
      context.beginPath();
      for (const [x, y, r] of crosses) LW.cross(context, x, y, r);
      context.stroke();
      if (STUDY.workspace) LW.workspaceCurves(context, toX, toY, { x: state.x, y: state.y, at: grid.at, ink: picture.ink });
    };

    const outline = () => {
      const box = picture.box();
      const [ex, ey] = [borders(axes[state.x].values), borders(axes[state.y].values)];
      const [i, j] = [grid.at[state.x], grid.at[state.y]];
      const [x0, x1, y0, y1] = [box.toX(ex[i]), box.toX(ex[i + 1]), box.toY(ey[j + 1]), box.toY(ey[j])];
      const [w, h] = [Math.max(6, x1 - x0), Math.max(6, y1 - y0)];
      const at = { x: (x0 + x1 - w) / 2, y: (y0 + y1 - h) / 2, width: w, height: h, rx: 1.5 };
      picture.mark(LW.svgEl("rect", { class: "halo", ...at }), LW.svgEl("rect", { class: "cell", ...at }));
    };

    // everything but the two axes shown, the measure and the theme leaves the cells as they are
    let painted = "";
    const render = (again) => {
      const key = JSON.stringify([state, grid.at.map((k, a) => (a === state.x || a === state.y ? -1 : k)), document.documentElement.dataset.theme]);
      if (again || key !== painted) {
        const side = (a) => ({ low: borders(axes[a].values)[0], high: borders(axes[a].values).at(-1), column: axes[a] });
        picture.draw({ x: side(state.x), y: side(state.y), color: measures[state.of], paint, resized: outline, equal: Boolean(STUDY.workspace) && axes[state.x].symbol === axes[state.y].symbol });
        if (STUDY.workspace) legend.replaceChildren(...LW.workspaceLegend({ x: state.x, y: state.y, at: grid.at }));
        painted = key;
      }
      outline();
    };

    const choose = (event) => {
      const [px, py] = picture.at(event);
      const box = picture.box();
      const pick = (a, to, p) => {
        const edges = borders(axes[a].values);
        const [p0, p1] = [to(edges[0]), to(edges.at(-1))];
        return within(edges, edges[0] + ((p - p0) / (p1 - p0)) * (edges.at(-1) - edges[0]));
      };
      const at = grid.at.slice();
      at[state.x] = pick(state.x, box.toX, px);
      at[state.y] = pick(state.y, box.toY, py);
      grid.choose(at);
    };
    picture.canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      picture.canvas.setPointerCapture(event.pointerId);
      choose(event);
    });
    picture.canvas.addEventListener("pointermove", (event) => {
      if (event.buttons & 1) choose(event);
    });
    picture.canvas.addEventListener("keydown", (event) => {
      const moves = { ArrowLeft: [state.x, -1], ArrowRight: [state.x, 1], ArrowDown: [state.y, -1], ArrowUp: [state.y, 1] };
      if (!(event.key in moves)) return;
      event.preventDefault();
      const [axis, step] = moves[event.key];
      grid.step(axis, step);
    });

    const choosers = () => {
      const named = long.map((i) => [i, axes[i].name]);
      const other = (taken) => long.find((i) => i !== taken);
      const parts = [];
      if (measures.length > 1) parts.push(LW.chooser("Map of", measures.map((m, i) => [i, m.name]), state.of, (v) => { state.of = v; render(); }));
      else parts.push(LW.el("span", { text: `Map of ${measures[0].name}` }));
      if (long.length > 2) {
        parts.push(LW.chooser("across", named, state.x, (v) => { if (v === state.y) state.y = state.x === v ? other(v) : state.x; state.x = v; choosers(); render(); }));
        parts.push(LW.chooser("up", named, state.y, (v) => { if (v === state.x) state.x = state.y === v ? other(v) : state.y; state.y = v; choosers(); render(); }));
      }
      bar.replaceChildren(...parts);
    };
    choosers();
    return { render, state, picture, cellAt };
  };
})();
