// A study that is no grid: designs as points over two columns, colored by a third; the table shows the design under the pointer.
(() => {
  "use strict";
  const NEAR = 24; // pixels: farther points are not meant
  const NONE = -1;

  const axisOf = (column) => {
    const [low, high] = LW.scale.extent([column.values]) || [0, 1];
    const room = 0.04 * (high - low || Math.abs(high) || 1);
    return { low: low - room, high: high + room, column };
  };

  LW.pointStudy = () => {
    const { variables, measures } = LW.study;
    const columns = [...variables, ...measures];
    const varying = variables.flatMap((v, i) => ((([low, high]) => high > low)(LW.scale.extent([v.values]) || [0, 0]) ? [i] : []));
    const first = varying.length ? varying[0] : 0;
    const state = { x: first, y: varying.length > 1 ? varying[1] : variables.length, color: varying.length > 1 ? variables.length : NONE };
    const points = /** @type {any} */ ({ at: null, pinned: false, state, columns });

    const showValues = LW.valueTable(LW.byId("values"), columns, (i) => points.choose(i, true));
    const bar = LW.el("div", { class: "st-choose" });
    const holder = LW.byId("map");
    holder.append(bar);
    const picture = LW.picture(holder, { label: "Designs over two columns", height: 460 });
    const hint = LW.el("p", { class: "lw-note" });
    holder.append(hint);

    const places = () => {
      const { toX, toY } = picture.box();
      const [x, y] = [columns[state.x].values, columns[state.y].values];
      return x.map((v, i) => [toX(v), toY(y[i])]);
    };
    let where = [];

    const paint = (context) => {
      where = places();
      const color = state.color === NONE ? null : columns[state.color];
      const shade = color && LW.study.shade(color);
      const plain = picture.ink("--accent");
      const radius = where.length > 4000 ? 1.6 : where.length > 600 ? 2.3 : 3.4;
      context.globalAlpha = where.length > 600 ? 0.75 : 0.9;
      const lost = [];
      where.forEach(([x, y], i) => {
        if (!Number.isFinite(x + y)) return;
        if (LW.study.reasonOf(i)) return lost.push([x, y]);
        context.fillStyle = color ? (Number.isFinite(color.values[i]) ? shade(color.values[i]) : picture.ink("--faint")) : plain;
        context.beginPath();
        context.arc(x, y, radius, 0, 2 * Math.PI);
        context.fill();
        return undefined;
      });
      context.strokeStyle = picture.ink("--bad");
      context.lineWidth = 1.4;
      context.beginPath();
      for (const [x, y] of lost) LW.cross(context, x, y, radius + 0.6);
      context.stroke();
    };

    const ring = () => {
      const at = points.at === null ? null : where[points.at];
      if (!at || !Number.isFinite(at[0] + at[1])) return picture.mark();
      const circle = { cx: at[0], cy: at[1], r: 7 };
      return picture.mark(LW.svgEl("circle", { class: "halo", ...circle }), LW.svgEl("circle", { class: "cell", ...circle }));
    };

    points.render = () => {
      const color = state.color === NONE ? null : columns[state.color];
      picture.draw({ x: axisOf(columns[state.x]), y: axisOf(columns[state.y]), color, paint, resized: ring });
      ring();
      const unseen = where.filter(([x, y]) => !Number.isFinite(x + y)).length;
      const crosses = where.filter(([x, y], i) => Number.isFinite(x + y) && LW.study.reasonOf(i)).length;
      const said = [unseen ? `${LW.study.designs(unseen)} without a value here ${unseen === 1 ? "is" : "are"} not shown.` : "", crosses ? `Crosses: ${LW.study.designs(crosses)} that failed.` : ""];
      LW.setText(hint, ["Move the pointer over a point to read its numbers, click to hold it.", ...said].filter((t) => t).join(" "));
    };
    points.choose = (i, pinned = points.pinned) => {
      points.at = i;
      points.pinned = pinned;
      LW.sayReason(i);
      showValues(i);
      ring();
    };
    points.repaint = points.render;

    const nearest = (event) => {
      const [px, py] = picture.at(event);
      /** @type {number | null} */
      let best = null;
      let least = NEAR * NEAR;
      where.forEach(([x, y], i) => {
        const d = (x - px) ** 2 + (y - py) ** 2;
        if (d < least) [best, least] = [i, d];
      });
      return best;
    };
    picture.canvas.addEventListener("pointermove", (event) => {
      if (points.pinned) return;
      const i = nearest(event);
      if (i !== null && i !== points.at) points.choose(i);
    });
    picture.canvas.addEventListener("pointerdown", (event) => {
      const i = nearest(event);
      points.choose(i === null ? points.at : i, i !== null && !(points.pinned && i === points.at));
    });
    picture.canvas.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const order = where.map((_, i) => i).filter((i) => Number.isFinite(where[i][0] + where[i][1])).sort((a, b) => where[a][0] - where[b][0]);
      const now = order.indexOf(points.at);
      points.choose(order[Math.min(order.length - 1, Math.max(0, now + step))], true);
    });

    const named = columns.map((c, i) => [i, c.name]);
    const set = (key) => (v) => { state[key] = v; points.render(); };
    bar.append(
      LW.chooser("Across", named, state.x, set("x")),
      LW.chooser("up", named, state.y, set("y")),
      LW.chooser("color", [[NONE, "none"], ...named], state.color, set("color")),
    );
    points.picture = picture;
    points.places = () => where;
    points.render();
    points.choose(STUDY.rows.findIndex((_, i) => !LW.study.reasonOf(i)) >= 0 ? STUDY.rows.findIndex((_, i) => !LW.study.reasonOf(i)) : 0, false);
    return points;
  };
})();
