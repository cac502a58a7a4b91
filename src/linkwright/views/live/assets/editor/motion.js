// The motion of what is drawn: kernels come from the server when a mechanism is complete, and the page of the mechanism is started again with
// them. While the drawing is reshaped, kernels that still suit it get the new dimensions and the paths of points follow at once.
(() => {
  "use strict";
  const E = LW.edit || (LW.edit = {});
  const CALM = 350; // ms without an edit before kernels are asked for

  /** @param {Editor} ed */
  E.motion = (ed) => {
    let have = "", exact = "", timer = 0, asked = "", refused = "";
    const motion = { started: 0 };
    const wanted = () => ed.answer && ed.answer.kernels;

    // new kernels: the page of the mechanism begins again; `version` is the text they were made from
    const start = (found, version) => {
      const script = document.createElement("script");
      script.textContent = found.script;
      document.head.append(script);
      script.remove();
      // what is shown stays, but for values: those of the file hold
      const kept = LW.app ? LW.share.write({ ...LW.share.read(`#${LW.app.fragment()}`), values: {} }) : "";
      history.replaceState(history.state, "", kept ? `#${kept}` : location.href.split("#")[0]);
      globalThis.DATA = found.data;
      LW.run(globalThis.mechanism, found.data);
      [have, exact, asked] = [found.id, version, ""];
      motion.started += 1;
      ed.started();
    };
    const fetchNow = async (fresh) => {
      const k = wanted(), version = ed.answer.version;
      if (!k || asked === version) return;
      asked = version;
      const found = await ed.server.get(`edit/kernels?id=${encodeURIComponent(k.id)}${fresh ? "&fresh=1" : ""}`);
      if (!found) { asked = ""; return; } // the server has stopped; the banner says so
      if (asked !== version) return; // a newer one has been asked for
      asked = "";
      if (found.kind === "kernels") start(found, version);
      else { refused = version; if (ed.mode === "move") ed.say(found.text, "warn"); }
      ed.refresh();
    };
    // dimensions of the kernels that are here already
    const adapt = () => {
      const k = wanted(), known = LW.app ? LW.app.DATA.parameters.map((p) => p.name) : [];
      if (!k || k.id !== have || !LW.app || !k.values) return false;
      const values = Object.fromEntries(Object.entries(k.values).filter(([name]) => known.includes(name)));
      if (Object.keys(values).length) LW.app.set(values);
      return true;
    };

    return Object.assign(motion, {
      pending: () => Boolean(wanted()) && exact !== ed.answer.version && refused !== ed.answer.version,
      there: () => Boolean(LW.app),
      /** A new answer has come. */
      update() {
        clearTimeout(timer);
        if (!wanted() || exact === ed.answer.version) return;
        const suits = adapt();
        timer = window.setTimeout(() => fetchNow(suits), ed.mode === "move" ? 0 : CALM);
      },
      /** Paths of marked points over the cycle, where the kernels suit the drawing. */
      traces() {
        const k = wanted(), app = LW.app, suits = k && (k.id === have || exact === ed.answer.version);
        return suits && app && app.engine.cycle ? app.frames.traces() : [];
      },
    });
  };
})();
