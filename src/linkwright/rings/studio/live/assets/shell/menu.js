// The menu of things to take away: picture, drawing, numbers, model, link, print.
(() => {
  "use strict";
  const text = (content, type) => new Blob([content], { type });

  // things on offer: {id, label, small, file, type, make() -> Blob or a promise of it}
  const things = (app) => {
    const { DATA, view, engine } = app, name = (DATA.name || "mechanism").replace(/[^\w.-]+/g, "-");
    // a recorded run is shown with the file's values, whatever the sliders say
    const shown = () => (app.player.mode === "run" ? {} : app.values);
    const file = (values, ending) => [name, LW.changeName(DATA, values)].filter(Boolean).join("-") + ending;
    const offered = [
      { id: "png", label: "Picture", small: "PNG", file: () => file(shown(), ".png"), type: "image/png", make: () => view.png(2) },
      { id: "svg", label: "Drawing", small: "SVG", file: () => file(shown(), ".svg"), type: "text/plain", make: () => text(described(view.svg(), LW.changeTexts(DATA, shown())), "image/svg+xml") },
    ];
    if (engine.cycle && engine.csv) offered.push({ id: "csv", label: "Cycle and loads", small: "CSV", file: () => file(app.values, ".csv"), type: "text/plain", make: () => text(engine.csv(), "text/csv") });
    const model = () => LW.changedModel(DATA, app.values);
    offered.push({ id: "model", label: "Model", small: "YAML", file: () => model().file, type: "text/plain", make: () => text(model().text, "text/plain") });
    return offered;
  };

  // a drawing that says which values were changed
  const described = (svg, changes) => {
    const escaped = changes.join("; ").replace(/&/g, "&amp;").replace(/</g, "&lt;");
    return changes.length ? svg.replace(/<svg[^>]*>/, (tag) => `${tag}<desc>changed: ${escaped}</desc>`) : svg;
  };

  const row = (label, small, ...buttons) => LW.el("div", { class: "menu-row" }, LW.el("span", { text: label }, small ? LW.el("small", { text: small }) : null), ...buttons);
  const button = (id, label, aria, click) => LW.el("button", { id, class: "button quiet", type: "button", text: label, "aria-label": aria, on: { click } });

  // of a page by itself; the editor's says where edits go
  const ALONE = "Runs entirely in your browser. Nothing is sent.";
  const EDITED = "The motion is computed in your browser. Every edit is sent to the Linkwright program that serves this page, which writes it to the file.";

  LW.menu = (opener, list, app) => {
    const close = () => { list.hidden = true; opener.setAttribute("aria-expanded", "false"); };
    const tell = (words) => { app.say(words); close(); };
    const guarded = (work) => async () => {
      try { await work(); } catch (problem) { app.fail(problem, "This could not be exported"); }
    };
    const build = () => {
      const { DATA } = app;
      const rows = things(app).map((what) => row(what.label, what.small,
        button(`copy-${what.id}`, "Copy", `Copy ${what.label} as ${what.small}`, guarded(() => LW.share.hand(what, tell))),
        button(`save-${what.id}`, "Save", `Save ${what.label} as ${what.small}`, guarded(async () => { LW.share.download(what.file(), await what.make()); close(); }))));
      const link = { label: "Link", file: () => "link.txt", type: "text/plain", make: () => text(`${location.href.split("#")[0]}#${app.fragment()}`, "text/plain") };
      rows.push(LW.el("hr"), row("Link to this view", "", button("copy-link", "Copy", "Copy a link to this view", guarded(() => LW.share.hand(link, tell)))));
      rows.push(row(app.reported ? "Report" : "This page", "", button("print", "Print", "Print", () => { close(); window.print(); })));
      rows.push(LW.el("p", { class: "foot", text: `Made by Linkwright ${DATA.version || ""}. ${LW.menu.whereItRuns()}` }));
      list.replaceChildren(...rows);
    };
    build();
    opener.addEventListener("click", () => {
      list.hidden = !list.hidden;
      opener.setAttribute("aria-expanded", String(!list.hidden));
      if (!list.hidden) list.querySelector("button").focus({ preventScroll: true });
    });
    document.addEventListener("pointerdown", (event) => { if (!list.hidden && !(event.target instanceof Element && event.target.closest(".popup"))) close(); }, { signal: app.ending });
    return { close, open: () => !list.hidden };
  };
  LW.menu.whereItRuns = () => (LW.editor ? EDITED : ALONE);
})();
