// The motion of what is drawn: kernels come from the server when a mechanism is complete, and the page of the mechanism is started again with
// them. While the drawing is reshaped, kernels that still suit it get the new dimensions and the paths of points follow at once.
(() => {
  "use strict";
  const E = LW.edit || (LW.edit = {});
  const CALM = 350; // ms without an edit before kernels are asked for
  /** @type {Check[]} */
  const WAITING = [];
  const NOT_COMPUTED = { name: "motion", verdict: /** @type {const} */ ("unknown"), text: "not computed for this drawing" };
  const SLOW = 40; // ms of new dimensions beyond which they wait for that as well

  /** @param {Editor} ed */
  E.motion = (ed) => {
    // `have`: kernels in the page; `exact`: version of the text they were made from; `adapted`: the version whose dimensions they have
    let have = "", exact = "", adapted = "", asked = "", refused = "", timer = 0, cost = 0;
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
      [have, exact, adapted, cost] = [found.id, version, version, 0];
      motion.started += 1;
      ed.started();
    };
    const fetchNow = async (fresh) => {
      const k = wanted(), version = ed.answer.version;
      if (!k || asked === version) return;
      asked = version;
      const found = await ed.server.get(`edit/kernels?id=${encodeURIComponent(k.id)}${fresh ? "&fresh=1" : ""}`);
      if (asked !== version) return; // a newer one has been asked for
      asked = "";
      if (!found) return; // the server has stopped; the banner says so
      if (found.kind === "kernels") start(found, version);
      else { refused = version; if (ed.mode === "move") ed.say(found.text, "warn"); }
      ed.refresh();
    };
    const suits = () => { const k = wanted(); return Boolean(k && k.id === have && k.values && LW.app); };
    // the dimensions of the drawing for the kernels that are here already, and the paths of points with them
    const adapt = () => {
      const k = wanted(), began = performance.now();
      if (!k || !suits()) return;
      const known = LW.app.DATA.parameters.map((p) => p.name), values = Object.fromEntries(Object.entries(k.values || {}).filter(([name]) => known.includes(name)));
      if (Object.keys(values).length) LW.app.set(values);
      adapted = ed.answer.version;
      cost = performance.now() - began;
      ed.sheet.traces(motion.traces());
      ed.refresh();
    };

    return Object.assign(motion, {
      pending: () => Boolean(wanted()) && exact !== ed.answer.version && refused !== ed.answer.version && !(ed.mode === "draw" && adapted === ed.answer.version),
      there: () => Boolean(LW.app),
      /** The badge of the page: its checks where they are those of this text; else the problems of the text, [] while kernels are made. */
      judged() {
        if (!LW.app) return;
        const found = ed.answer.messages.filter((m) => m.level === "error" || m.level === "missing");
        const current = exact === ed.answer.version || adapted === ed.answer.version;
        if (!found.length && current) LW.app.checks.instead(null);
        else if (found.length || !wanted() || refused === ed.answer.version) LW.app.checks.instead(found.length ? found.map((m) => ({ name: m.level === "error" ? "problem" : "missing", verdict: /** @type {const} */ ("failed"), text: m.text })) : [NOT_COMPUTED]);
        else LW.app.checks.instead(WAITING);
      },
      /** A new answer has come. Its drawing is shown first; Move has kernels made from just this text, Draw those that suit. */
      update() {
        clearTimeout(timer);
        if (!wanted() || exact === ed.answer.version) return;
        if (ed.mode === "move") timer = window.setTimeout(() => fetchNow(suits()), 0);
        else if (suits()) timer = window.setTimeout(adapt, cost > SLOW ? CALM : 0);
        else timer = window.setTimeout(() => fetchNow(false), CALM);
      },
      /** Paths of marked points over the cycle, where the kernels have the dimensions of the drawing. */
      traces: () => (adapted === ed.answer.version && LW.app && LW.app.engine.cycle ? LW.app.frames.traces() : []),
    });
  };
})();
