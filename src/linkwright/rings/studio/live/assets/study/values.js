// The table of measures: the value of the chosen design, and the extremes of all designs on the page, which can be clicked.
(() => {
  "use strict";
  LW.valueTable = (container, columns, go) => {
    const rows = columns.map((c) => {
      const ends = LW.study.extremes(c);
      const end = (i, word) => {
        if (!ends) return LW.el("td", { text: "\u2013" });
        const title = `${word} of ${c.name}: show this ${LW.study.thing}`;
        return LW.el("td", {}, LW.el("button", { type: "button", title, "aria-label": `${LW.study.number(c, c.values[i])}, ${title}`, text: LW.study.number(c, c.values[i]), on: { click: () => go(i) } }));
      };
      const here = LW.el("td", { class: "here" });
      const unit = LW.unit(c.symbol);
      const name = LW.el("th", { scope: "row", text: c.name }, unit ? LW.el("small", { text: ` ${unit}` }) : null);
      const row = LW.el("tr", {}, name, here, end(ends && ends.low, "least"), end(ends && ends.high, "greatest"));
      return { c, here, row };
    });
    const head = LW.el("tr", {}, ...["", "here", "min", "max"].map((text) => LW.el("th", { scope: "col", text })));
    const caption = LW.el("caption");
    container.append(LW.el("table", { class: "numbers" }, caption, LW.el("thead", {}, head), LW.el("tbody", {}, ...rows.map((r) => r.row))));
    return (i) => {
      LW.setText(caption, STUDY.workspace ? "Pose" : i === null ? "No design chosen" : STUDY.rows[i] < 0 ? "Design not computed" : `Design of row ${STUDY.rows[i].toLocaleString("en")}`);
      for (const { c, here } of rows) LW.setText(here, i === null ? "\u2013" : LW.study.number(c, c.values[i]));
    };
  };

  // why the chosen design has no values, or which of its checks are unknown
  LW.sayReason = (i) => {
    const box = LW.byId("reason");
    const why = i === null ? "" : LW.study.reasonOf(i);
    const unknown = i === null || why ? "" : LW.study.unknownOf(i);
    box.hidden = !why && !unknown;
    if (unknown) return LW.setText(box, `This design has unknown checks: ${unknown.replace(/\.$/, "")}.`);
    const failed = STUDY.workspace ? "This pose is" : "This design failed:";
    LW.setText(box, why === "not computed" ? `This ${LW.study.thing} is not computed yet.` : why ? `${failed} ${why.replace(/\.$/, "")}.` : "");
  };
})();
