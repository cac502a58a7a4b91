// LW.checksBadge(container, list): one badge for all checks; it opens the list of what was checked and how well it held.
//   list: [{name, verdict, text, value}]; the worst verdict colors the badge, and unknown is not green
(() => {
  "use strict";

  // what the badge says of a list
  const summary = (list) => {
    /** @param {string} verdict */
    const count = (verdict) => list.filter((check) => check.verdict === verdict).length;
    const [failed, unknown, passed] = ["failed", "unknown", "passed"].map(count);
    if (!list.length) return "no checks";
    if (failed) return `${failed} of ${LW.counted(list.length, "check")} failed${unknown ? `, ${unknown} unknown` : ""}`;
    return `${LW.counted(passed, "check")} passed${unknown ? `, ${unknown} unknown` : ""}`;
  };

  const SIGNS = { passed: "\u2713", unknown: "?", failed: "\u2717" };
  const item = (check) => {
    const el = LW.el, value = Number.isFinite(check.value) ? LW.number(check.value, 2) : "";
    const spoken = el("span", { class: "lw-hidden", text: `: ${check.verdict}. ` });
    const text = check.text ? el("span", { class: "text", text: check.text }) : null;
    return el(
      "li",
      { class: check.verdict },
      el("span", { class: "sign", "aria-hidden": "true", text: SIGNS[check.verdict] }),
      el("span", { class: "what" }, el("b", { text: check.name }), spoken, text),
      value && !check.text ? el("span", { class: "value", text: value }) : null,
    );
  };

  const closeOutside = (box, signal) => {
    document.addEventListener("pointerdown", (event) => {
      if (box.open && !box.contains(event.target)) box.open = false;
    }, { signal });
    box.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !box.open) return;
      event.stopPropagation();
      box.open = false;
      box.firstChild.focus();
    });
  };

  // the list alone, where it needs no badge
  LW.checksList = (list) => LW.el("ul", { class: "lw-check-list" }, ...list.map(item));

  LW.checksBadge = (container, first, signal) => {
    const el = LW.el;
    const text = el("span", { class: "text" });
    const box = el("details", { class: "lw-checks" }, el("summary", {}, el("i", { class: "dot", "aria-hidden": "true" }), text));
    const sheet = el("div", { class: "lw-checks-sheet" });
    box.append(sheet);
    container.append(box);
    closeOutside(box, signal);
    let /** @type {Check[] | null} */ shown = null, /** @type {Check[]} */ computed = [], /** @type {Check[] | null} */ problems = null;
    const badge = {
      /** The checks of the mechanism that the page computes. */
      update(list) {
        computed = list;
        badge.show();
      },
      /** Problems of a text that the page cannot compute, shown in place of the checks until null; [] while it is being read. @param {Check[] | null} list */
      instead(list) {
        problems = list;
        badge.show();
      },
      show() {
        const list = problems || computed;
        if (list === shown) return;
        shown = list;
        LW.setText(text, problems ? (problems.length ? LW.counted(problems.length, "problem") : "checking \u2026") : summary(list));
        const failed = list.some((check) => check.verdict === "failed");
        box.classList.toggle("failed", failed);
        box.classList.toggle("unknown", !failed && list.some((check) => check.verdict === "unknown"));
        sheet.replaceChildren(LW.checksList(list));
      },
    };
    badge.update(first || []);
    return badge;
  };

  LW.checksSummary = summary;
})();
