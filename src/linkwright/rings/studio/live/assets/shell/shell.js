// The frame around the mechanism: messages, light and dark, tabs, printing.
(() => {
  "use strict";
  const SHORT = 4000, LONG = 9000; // milliseconds a message stays: longer if it warns or takes time to read
  const MUCH = 70; // characters

  // say(text, kind): one sentence under the drawing; kind "", "warn" or "error". An empty text takes it away.
  LW.messages = (element) => {
    let timer = 0;
    const clear = () => { element.hidden = true; element.textContent = ""; };
    return (text, kind = "") => {
      clearTimeout(timer);
      if (!text) { clear(); return; }
      element.dataset.kind = kind;
      element.hidden = false;
      LW.setText(element, text);
      timer = setTimeout(clear, kind || text.length > MUCH ? LONG : SHORT);
    };
  };

  // What went wrong, as one sentence; the same one is not repeated every frame.
  LW.failures = (say) => {
    let last = "";
    return (problem, what = "Something in this page went wrong") => {
      const reason = String((problem && problem.message) || problem || "").replace(/\s+/g, " ").replace(/[.\s]+$/, "");
      const sentence = reason ? `${what}: ${reason}.` : `${what}.`;
      if (sentence !== last) console.error(problem);
      last = sentence;
      say(sentence, "error");
    };
  };

  // Light and dark: the system's choice until the reader makes one.
  LW.theme = (changed, signal) => {
    const root = document.documentElement, system = matchMedia("(prefers-color-scheme: dark)");
    let chosen = null;
    const show = (name) => { if (root.dataset.theme !== name) { root.dataset.theme = name; changed(); } };
    system.addEventListener("change", () => { if (!chosen) show(system.matches ? "dark" : "light"); }, { signal });
    return {
      chosen: () => chosen,
      set(name) { chosen = name; show(name || (system.matches ? "dark" : "light")); },
      toggle() { this.set(root.dataset.theme === "dark" ? "light" : "dark"); },
    };
  };

  // Tabs with arrow keys; choose(name) shows a panel, calls opened(name).
  LW.tabs = (list, opened) => {
    const buttons = () => Array.from(list.querySelectorAll("[role=tab]")).filter((b) => !b.hidden);
    const choose = (name) => {
      for (const b of list.querySelectorAll("[role=tab]")) {
        const on = b.dataset.tab === name, panel = LW.byId(b.getAttribute("aria-controls"));
        b.setAttribute("aria-selected", String(on));
        b.tabIndex = on ? 0 : -1;
        panel.hidden = !on;
        panel.classList.toggle("shown", on);
      }
      opened(name);
    };
    list.addEventListener("click", (event) => { const b = event.target.closest("[role=tab]"); if (b) choose(b.dataset.tab); });
    list.addEventListener("keydown", (event) => {
      const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!way) return;
      const all = buttons(), next = all[(all.indexOf(document.activeElement) + way + all.length) % all.length];
      event.preventDefault();
      next.focus();
      choose(next.dataset.tab);
    });
    return choose;
  };

  // Prints in light colors, the mechanism as a drawing that fits the paper, whatever the window's size.
  LW.printing = (app, figure) => {
    let before = "";
    window.addEventListener("beforeprint", () => {
      const root = document.documentElement;
      before = root.dataset.theme || "";
      root.dataset.theme = "light";
      app.view.theme();
      app.view.draw(app.frame());
      const drawing = new DOMParser().parseFromString(app.view.svg(), "image/svg+xml").documentElement;
      figure.replaceChildren(document.importNode(drawing, true));
      document.body.classList.add("on-paper");
    }, { signal: app.ending });
    window.addEventListener("afterprint", () => {
      document.documentElement.dataset.theme = before;
      document.body.classList.remove("on-paper");
      figure.replaceChildren();
      app.view.theme();
      app.redraw();
    }, { signal: app.ending });
  };
})();
