// The menu of things to take away: picture, drawing, numbers, model, link, print.
var LW = globalThis.LW || (globalThis.LW = {});
(() => {
  "use strict";
  const text = (content, type) => new Blob([content], { type });

  // things on offer: {id, label, small, file, type, make() -> Blob or a promise of it}
  const things = (app) => {
    const { DATA, view, engine } = app, name = (DATA.name || "mechanism").replace(/[^\w.-]+/g, "-");
    const offered = [
      { id: "png", label: "Picture", small: "PNG", file: `${name}.png`, type: "image/png", make: () => view.png(2) },
      { id: "svg", label: "Drawing", small: "SVG", file: `${name}.svg`, type: "text/plain", make: () => text(view.svg(), "image/svg+xml") },
    ];
    if (engine.cycle && engine.csv) offered.push({ id: "csv", label: "Cycle and loads", small: "CSV", file: `${name}.csv`, type: "text/plain", make: () => text(engine.csv(), "text/csv") });
    return offered;
  };

  const row = (label, small, ...buttons) => LW.el("div", { class: "menu-row" }, LW.el("span", { text: label }, small ? LW.el("small", { text: small }) : null), ...buttons);
  const button = (id, label, aria, click) => LW.el("button", { id, class: "button quiet", type: "button", text: label, "aria-label": aria, on: { click } });

  LW.menu = (opener, list, app) => {
    const close = () => { list.hidden = true; opener.setAttribute("aria-expanded", "false"); };
    const tell = (words) => { app.say(words); close(); };
    const guarded = (work) => async () => {
      try { await work(); } catch (problem) { app.fail(problem, "This could not be exported"); }
    };
    const build = () => {
      const { DATA } = app, model = DATA.model || { text: "", file: "model.yaml" };
      const rows = things(app).map((what) => row(what.label, what.small,
        button(`copy-${what.id}`, "Copy", `Copy ${what.label} as ${what.small}`, guarded(() => LW.share.hand(what, tell))),
        button(`save-${what.id}`, "Save", `Save ${what.label} as ${what.small}`, guarded(async () => { LW.share.download(what.file, await what.make()); close(); }))));
      const yaml = { label: "Model", file: model.file, type: "text/plain", make: () => text(model.text, "text/plain") };
      rows.push(row("Model", model.file,
        button("copy-model", "Copy", "Copy the model file", guarded(() => LW.share.hand(yaml, tell))),
        button("download-model", "Save", "Save the model file", () => { LW.share.download(model.file, yaml.make()); close(); })));
      const link = { label: "Link", file: "link.txt", type: "text/plain", make: () => text(`${location.href.split("#")[0]}#${app.fragment()}`, "text/plain") };
      rows.push(LW.el("hr"), row("Link to what is shown", "", button("copy-link", "Copy", "Copy a link to what is shown", guarded(() => LW.share.hand(link, tell)))));
      rows.push(row(app.reported ? "Report on paper" : "This page on paper", "", button("print", "Print", "Print", () => { close(); window.print(); })));
      rows.push(LW.el("p", { class: "foot", text: `Made by Linkwright ${DATA.version || ""}. Computes in this page, sends nothing.` }));
      list.replaceChildren(...rows);
    };
    build();
    opener.addEventListener("click", () => {
      list.hidden = !list.hidden;
      opener.setAttribute("aria-expanded", String(!list.hidden));
      if (!list.hidden) list.querySelector("button").focus({ preventScroll: true });
    });
    document.addEventListener("pointerdown", (event) => { if (!list.hidden && !event.target.closest(".popup")) close(); });
    return { close, open: () => !list.hidden };
  };
})();
