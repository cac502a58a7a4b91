// Starts the page of a study: its heading, what it holds, and the grid or the points. Light or dark is the browser's choice.
(() => {
  "use strict";
  const { study } = LW;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  root.dataset.theme = dark.matches ? "dark" : "light";

  const PLANS = { grid: "Grid", workspace: "Workspace", "one at a time": "One variable at a time", sobol: "Sobol sequence", latin: "Latin hypercube", random: "Random draws", saltelli: "Saltelli sequence", rows: "Given designs" };
  const isGrid = STUDY.axes.length > 0;
  const computed = STUDY.rows.filter((row) => row >= 0).length;
  const failed = Object.keys(STUDY.failed).length;
  const several = study.axes.filter((a) => a.values.length > 1);
  const shape = several.length > 1 ? ` of ${several.map((a) => a.values.length).join(" \u00d7 ")}` : "";
  const lost = STUDY.workspace ? "not in reach" : "failed";
  const counts = [`${PLANS[STUDY.plan] || "Study"}${isGrid ? shape : ""}`, study.designs(study.count), failed ? `${failed.toLocaleString("en")} ${lost}` : `none ${lost}`];
  const unknown = STUDY.unknown ? Object.keys(STUDY.unknown).length : 0;
  if (unknown) counts.push(`${unknown.toLocaleString("en")} unknown`);
  LW.setText(LW.byId("what"), counts.join(" \u00b7 "));

  const app = isGrid ? LW.gridStudy() : LW.pointStudy();

  // what the page does not hold
  const notes = [];
  const fewer = study.axes.filter((a) => a.values.length < a.of).map((a) => `${a.values.length} of ${a.of.toLocaleString("en")} values of ${a.name}`);
  if (fewer.length) notes.push(`The page holds ${computed.toLocaleString("en")} of ${study.designs(STUDY.done)}: ${fewer.join(", ")}.`);
  else if (!isGrid && study.count < STUDY.done) notes.push(`The page holds a sample of ${study.count.toLocaleString("en")} of ${study.designs(STUDY.done)}.`);
  if (STUDY.done < STUDY.total) notes.push(`${STUDY.done.toLocaleString("en")} of ${study.designs(STUDY.total)} are computed.`);
  // reasons that differ only in their numbers are one
  const reasons = (places, head) => {
    const tally = new Map();
    for (const k of Object.values(places)) {
      const text = STUDY.reasons[k].replace(/-?\d+(\.\d+)?(e[-+]?\d+)?/g, "\u2026");
      tally.set(text, (tally.get(text) || 0) + 1);
    }
    const sorted = [...tally].sort((a, b) => b[1] - a[1]);
    const listed = sorted.slice(0, 3).map(([text, n]) => `${n.toLocaleString("en")}: ${text}`);
    notes.push(`${head} on this page: ${listed.join("; ")}${sorted.length > 3 ? `; and ${sorted.length - 3} other reasons` : ""}.`);
  };
  if (failed) reasons(STUDY.failed, STUDY.workspace ? "Poses that are not in reach" : "Failed designs");
  if (unknown) reasons(STUDY.unknown, "Designs with unknown checks");
  if (STUDY.notChecked && STUDY.notChecked.length) notes.push(`Not checked: ${STUDY.notChecked.join(", ")}.`);
  if (app.more > 0) notes.push(`Curves of the first measures are drawn. ${app.more} more are in the table.`);
  if (STUDY.workspace) notes.push(...STUDY.workspace.notes);
  LW.setText(LW.byId("notes"), notes.join(" "));

  dark.addEventListener("change", () => {
    root.dataset.theme = dark.matches ? "dark" : "light";
    app.repaint();
  });
  LW.app = app;
})();
