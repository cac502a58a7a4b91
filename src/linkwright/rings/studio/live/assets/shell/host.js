// LW.host(app, key): a page inside a notebook's widget tells the frame around it which parameters were changed and what is selected, and
// takes both from there. Messages carry the key of the widget; those of others are ignored.
(() => {
  "use strict";
  LW.host = (app, key) => {
    const { DATA } = app, known = (name) => DATA.parameters.find((p) => p.name === name);
    const state = () => {
      const values = {};
      for (const p of DATA.parameters) if (p.name in app.values && app.values[p.name] !== p.value) values[p.name] = app.values[p.name];
      const { kind = "", name = "", body = "" } = app.picked || {};
      return { values, pick: kind ? { kind, name, body: body || "" } : {} };
    };
    let last = JSON.stringify(state()), timer = 0;
    const tell = () => {
      timer = 0;
      const now = state(), text = JSON.stringify(now);
      if (text === last) return;
      last = text;
      window.parent.postMessage(Object.assign({ linkwright: key }, now), "*");
    };
    const take = (said) => {
      const values = Object.fromEntries(DATA.parameters.map((p) => [p.name, p.value])), given = said.values || {};
      for (const name of Object.keys(given)) if (known(name) && LW.allowedValue(DATA, name, given[name])) values[name] = given[name];
      if (DATA.parameters.some((p) => values[p.name] !== (p.name in app.values ? app.values[p.name] : p.value))) {
        app.parameters.set(values);
        app.set(values);
      }
      const { pick } = said, now = state().pick;
      if (pick && pick.kind && (pick.kind !== now.kind || pick.name !== now.name || (pick.body || "") !== now.body)) app.pick({ kind: pick.kind, name: pick.name, body: pick.body || "" });
      else if (pick && !pick.kind && app.picked) app.unpick();
      last = JSON.stringify(state());
    };
    window.addEventListener("message", (event) => {
      if (event.source === window.parent && event.data && event.data.linkwright === key) take(event.data);
    });
    const before = app.remember;
    app.remember = () => { before(); if (!timer) timer = setTimeout(tell, 50); };
    window.parent.postMessage({ linkwright: key, ready: true }, "*");
  };
})();
