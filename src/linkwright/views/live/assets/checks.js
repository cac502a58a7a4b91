// LW.checksBadge(container, list): one badge for all checks; it opens the list of what was checked and how well it held.
//   list: [{name, ok, text, value}]
var LW = globalThis.LW || (globalThis.LW = {});
(() => {
  "use strict";

  // what the badge says of a list
  const summary = (list) => {
    const failed = list.filter((check) => !check.ok).length;
    const plural = (n) => (n === 1 ? "1 check" : `${n} checks`);
    if (!list.length) return "no checks";
    return failed ? `${failed} of ${plural(list.length)} failed` : `${plural(list.length)} fine`;
  };

  const item = (check) => {
    const el = LW.el;
    const value = Number.isFinite(check.value) ? LW.number(check.value, 2) : "";
    const spoken = el("span", { class: "lw-hidden", text: check.ok ? ": fine. " : ": failed. " });
    const text = check.text ? el("span", { class: "text", text: check.text }) : null;
    return el(
      "li",
      { class: check.ok ? "ok" : "failed" },
      el("span", { class: "sign", "aria-hidden": "true", text: check.ok ? "\u2713" : "\u2717" }),
      el("span", { class: "what" }, el("b", { text: check.name }), spoken, text),
      value && !(check.text || "").includes(value) ? el("span", { class: "value", text: value }) : null,
    );
  };

  const closeOutside = (box) => {
    document.addEventListener("pointerdown", (event) => {
      if (box.open && !box.contains(event.target)) box.open = false;
    });
    box.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !box.open) return;
      event.stopPropagation();
      box.open = false;
      box.firstChild.focus();
    });
  };

  // the list alone, where it needs no badge
  LW.checksList = (list) => LW.el("ul", { class: "lw-check-list" }, ...list.map(item));

  LW.checksBadge = (container, first) => {
    const el = LW.el;
    const text = el("span", { class: "text" });
    const box = el("details", { class: "lw-checks" }, el("summary", {}, el("i", { class: "dot", "aria-hidden": "true" }), text));
    const sheet = el("div", { class: "lw-checks-sheet" });
    box.append(sheet);
    container.append(box);
    closeOutside(box);
    const badge = {
      update(list) {
        LW.setText(text, summary(list));
        box.classList.toggle("failed", list.some((check) => !check.ok));
        sheet.replaceChildren(LW.checksList(list));
      },
    };
    badge.update(first || []);
    return badge;
  };

  LW.checksSummary = summary;
  if (typeof module === "object" && module.exports) module.exports = { summary };
})();
