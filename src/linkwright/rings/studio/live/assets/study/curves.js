// Located curves of a workspace on its map: ends of the reach, lost control and limits in the slice that the sliders choose.
(() => {
  "use strict";
  const LINES = { "type I": ["--ink", 1.6, []], "type II": ["--bad", 2, []], limit: ["--ink", 1.3, [5, 3]] };
  const NAMES = { "type I": "type I: end of the reach", "type II": "type II: drives lose control", limit: "limit of a joint" };

  // curves lie in slices of the first two axes
  const inSlice = (view) => {
    const turned = view.x === 1 && view.y === 0;
    if (!turned && !(view.x === 0 && view.y === 1)) return [];
    return (STUDY.workspace ? STUDY.workspace.curves : []).filter((c) => c.at.every((k, i) => k === view.at[i + 2]));
  };

  LW.workspaceCurves = (context, toX, toY, view) => {
    for (const curve of inSlice(view)) {
      const [ink, width, dash] = LINES[curve.kind];
      context.strokeStyle = view.ink(ink);
      context.lineWidth = width;
      context.setLineDash(dash);
      context.beginPath();
      curve.points.forEach(([u, v], i) => {
        const [x, y] = view.x === 0 ? [toX(u), toY(v)] : [toX(v), toY(u)];
        if (i) context.lineTo(x, y);
        else context.moveTo(x, y);
      });
      context.stroke();
    }
    context.setLineDash([]);
  };

  LW.workspaceLegend = (view) => {
    const say = (text) => [LW.el("span", { text })];
    if (view.x > 1 || view.y > 1) return say("Curves are drawn over the first two axes.");
    const shown = inSlice(view);
    const found = Object.keys(NAMES).flatMap((kind) => {
      const n = shown.filter((c) => c.kind === kind).reduce((sum, c) => sum + c.points.length, 0);
      const line = LW.el("i", { class: `st-line ${kind.replace(" ", "-")}` });
      return n ? [LW.el("span", {}, line, LW.el("span", { text: `${NAMES[kind]} (${LW.counted(n, "point")})` }))] : [];
    });
    return found.length ? found : say("No singular pose and no limit in this slice.");
  };
})();
