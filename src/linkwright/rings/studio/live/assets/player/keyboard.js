// Keys of the page and the overlay that lists them. Keys typed into a field, or that a focused control uses itself, are left alone.
(() => {
  "use strict";
  /** @type {[string[], string][]} */
  const KEYS = [
    [["Space"], "play, pause"],
    [["←", "→"], "one sample back or forward, with Shift ten"],
    [["↑", "↓"], "faster, slower"],
    [["Home", "End"], "to the beginning, to the end"],
    [["t"], "play the cycle of the drive"],
    [["s"], "free swing from here"],
    [["m"], "internals: cuts, loops, multipliers, singular values"],
    [["p"], "parameters"],
    [["r"], "parameters back to the file's values"],
    [["f"], "fit the drawing"],
    [["d"], "light, dark"],
    [["Esc"], "close what is open"],
    [["?"], "this list"],
  ];

  const typing = (target) => target.closest("input:not([type=range]), select, textarea, [contenteditable]");
  const ownArrows = (target) => target.closest("input[type=range]:not(#slider), [role=slider], [role=tab], #stage [tabindex]");
  const ownSpace = (target) => target.closest("button, a, summary, input:not([type=range]), select");

  // app: commands by name, see main.js
  LW.keyboard = (app) => {
    const plain = {
      m: () => app.tab(app.state.tab === "machinery" ? "pins" : "machinery"), p: () => app.tab("parameters"), s: () => app.mode("swing"), t: () => app.mode("turn"),
      r: () => app.reset(), f: () => app.fit(), d: () => app.toggleTheme(), "?": () => app.help(),
    };
    const arrows = {
      ArrowLeft: (step) => app.player.step(-step), ArrowRight: (step) => app.player.step(step),
      ArrowUp: () => app.speed(app.player.speed * 1.25), ArrowDown: () => app.speed(app.player.speed / 1.25),
      Home: () => app.player.seek(0), End: () => app.player.track() && app.player.seek(app.player.track().last),
    };
    document.addEventListener("keydown", (event) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (document.querySelector("dialog[open]")) return; // it closes itself, and nothing behind it
      if (event.key === "Escape") { app.escape(); return; }
      if (typing(event.target)) return;
      if (event.key === " " && !ownSpace(event.target)) app.player.toggle();
      else if (arrows[event.key] && !ownArrows(event.target)) arrows[event.key](event.shiftKey ? 10 : 1);
      else if (plain[event.key]) plain[event.key]();
      else return;
      event.preventDefault();
    }, { signal: app.ending });
  };

  const HAND = "Drag any pin or point to move the mechanism by hand. ";
  const HELP = "Click a pin for its load over the cycle, a body for its free-body diagram, a marked point for its trace. Click into a plot to go there. Everything is computed in this page.";

  // rigid: a structure, in which nothing can be dragged
  LW.helpDialog = (dialog, rigid) => {
    const close = () => dialog.close();
    const rows = KEYS.flatMap(([keys, words]) => [LW.el("dt", {}, ...keys.flatMap((key) => [LW.el("kbd", { text: key }), " "])), LW.el("dd", { text: words })]);
    dialog.replaceChildren(
      LW.el("header", {}, LW.el("h2", { id: "keys-title", text: "How to use this page" }), LW.el("button", { class: "button", type: "button", text: "Close", on: { click: close } })),
      LW.el("p", { class: "note", text: rigid ? HELP : HAND + HELP }),
      LW.el("dl", {}, ...rows),
    );
    dialog.addEventListener("click", (event) => { if (event.target === dialog) close(); });
  };
})();
