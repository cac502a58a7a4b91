// LW.checksBadge(container, list): one badge for all checks; it opens the list of what was checked and how well it held.
//   list: [{name, ok, warn, text, value}]; a warning is a check that passed with a reservation
(() => {
  "use strict";

  // what the badge says of a list
  const summary = (list) => {
    const failed = list.filter((check) => !check.ok).length, warned = list.filter((check) => check.ok && check.warn).length;
    if (!list.length) return "no checks";
    if (failed) return `${failed} of ${LW.counted(list.length, "check")} failed`;
    return warned ? `${LW.counted(list.length - warned, "check")} passed, ${LW.counted(warned, "warning")}` : `${LW.counted(list.length, "check")} passed`;
  };

  const item = (check) => {
    const el = LW.el, state = !check.ok ? "failed" : check.warn ? "warned" : "ok";
    const value = Number.isFinite(check.value) ? LW.number(check.value, 2) : "";
    const spoken = el("span", { class: "lw-hidden", text: { ok: ": passed. ", warned: ": warning. ", failed: ": failed. " }[state] });
    const text = check.text ? el("span", { class: "text", text: check.text }) : null;
    return el(
      "li",
      { class: state },
      el("span", { class: "sign", "aria-hidden": "true", text: { ok: "\u2713", warned: "!", failed: "\u2717" }[state] }),
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
        const failed = list.some((check) => !check.ok);
        box.classList.toggle("failed", failed);
        box.classList.toggle("warned", !failed && list.some((check) => check.warn));
        sheet.replaceChildren(LW.checksList(list));
      },
    };
    badge.update(first || []);
    return badge;
  };

  LW.checksSummary = summary;
})();
