// The page's main program: makes the engine, the drawing and the panels, lets them know of each other, and runs the frames.
// Reads the globals `mechanism` (kernels) and `DATA`; tests find everything under LW.app. LW.run starts the page, and starts it again with
// another mechanism: the elements are then as new, and listeners of the document have gone with `app.ending`.
LW.run = (mechanism, DATA) => {
  "use strict";
  const element = LW.byId;
  const ending = new AbortController(), { signal } = ending;
  if (!LW.blank) LW.blank = ["head", "first", "keys"].map((id) => /** @type {HTMLElement} */ (element(id).cloneNode(true)));
  else for (const part of LW.blank) element(part.id).replaceWith(part.cloneNode(true));
  if (LW.app) LW.app.end();
  LW.app = undefined;
  const rigid = Boolean(DATA.topology && DATA.topology.mobility === 0); // a structure
  const LOOKS = 60; // samples of a run that are looked at for its window
  const MANY_TRACES = 3; // marked points beyond these have no trace until they are clicked
  const app = /** @type {App} */ ({ mechanism, DATA, ending: signal, picked: null, axes: "", traces: new Map(), values: {}, state: { frames: 0, tab: "", s: 0 } });

  // ------------------------------------------------------------ messages
  app.say = LW.messages(element("message"));
  app.fail = LW.failures(app.say);
  window.addEventListener("error", (event) => app.fail(event.error || event.message), { signal });
  window.addEventListener("unhandledrejection", (event) => app.fail(event.reason), { signal });
  const guarded = (work) => (...args) => {
    try { return work(...args); } catch (problem) { app.fail(problem); return undefined; }
  };

  // -------------------------------------------------------------- frames
  let scheduled = 0, before = 0, dirty = true;
  const wake = () => { if (!scheduled) scheduled = requestAnimationFrame(frame); };
  app.redraw = () => { dirty = true; wake(); };

  // place on the cycle's axis: of the player, or the nearest one when something else moves the mechanism
  const placeNow = () => {
    const { player, engine } = app;
    if (!player.track()) return null;
    if (player.mode === "turn" || player.mode === "run") return player.s;
    return engine.cycle ? LW.nearest(engine, DATA, player.s) : null;
  };
  const isEye = (pin) => (DATA.eyes || []).some((eye) => eye.pin === pin); // of a rod, spring or cylinder: no pin of the drawing
  const pinForce = (pin, body) => {
    const { engine, mechanism } = app;
    if (!engine.state.loads || !mechanism.on || isEye(pin)) return NaN;
    const wrench = mechanism.on(engine.state.loads, pin, body);
    return Math.hypot(wrench[3], wrench[4], wrench[5]);
  };
  // what is drawn; a scale of forces only where there are forces
  app.frame = () => { const now = app.frames.now(); return now.loads ? now : Object.assign(now, { largest: 0 }); };
  const draw = () => {
    const { player, view } = app, s = placeNow();
    app.state.s = s;
    view.draw(app.frame());
    if (resized) refitted();
    app.transport.show(s);
    if (player.mode === "run") app.record.cursor(player.s);
    else app.torque.cursor(s);
    if (app.state.tab === "motion" || !element("pinned").hidden) app.motion.cursor(player.mode === "run" ? null : s);
    if (app.designs && app.state.tab === "compare") app.designs.cursor(s);
    if (app.state.tab === "pins") app.pins.now(player.mode === "turn" ? s : pinForce);
    if (app.state.tab === "machinery" && app.machinery) app.machinery.update();
    app.cards.update();
    app.state.frames += 1;
  };
  app.end = () => ending.abort();
  const frame = guarded((now) => {
    scheduled = 0;
    if (signal.aborted) return;
    const seconds = before ? (now - before) / 1000 : 0, { player, hand } = app;
    const moving = player.moving() || hand.busy();
    before = moving ? now : 0;
    if (moving) wake();
    try {
      player.advance(seconds);
      hand.advance();
      if (moving || dirty) { dirty = false; draw(); }
    } catch (problem) {
      player.playing = false; // one sentence, not one per frame; the page stays usable
      app.transport.update();
      throw problem;
    }
  });

  // ------------------------------------------------------------ commands
  const changed = () => {
    if (!app.transport) return;
    app.transport.update();
    check();
    app.remember();
    app.redraw();
  };
  app.mode = guarded((name) => {
    if (!app.player.can(name)) { app.say(element("modes").querySelector(`[data-mode=${name}]`).title); return; }
    app.say("");
    const same = app.player.mode === name;
    if (same && name === "swing") { app.player.toggle(); return; }
    app.player.enter(name);
    refit();
    if (name === "turn" || name === "run") app.player.play();
    if (name === "drag" && !same && !rigid) app.say("Drag any pin or point.");
    if (name === "run") app.tab("channels");
  });
  let resized = false; // lengths were changed since the last frame
  // a mechanism that has outgrown the window, or shrunk in it, gets a new one, unless the view was moved by hand
  const refitted = () => {
    const { cycle } = app.engine, poses = [];
    resized = false;
    for (let i = 0; cycle && i < cycle.n; i += 10) if (cycle.ok[i]) poses.push(cycle.poses(i));
    if (poses.length && !app.view.moved() && app.player.mode !== "run" && !app.view.fits(poses)) app.fit();
  };
  let fitted = "turn"; // what the window was made for
  // the whole motion in the window: the recorded run where that is shown, else the cycle
  app.fit = guarded(() => {
    const { cycle } = app.engine, recorded = app.player.mode === "run", poses = [];
    if (recorded) poses.push(...runPoses());
    else for (let i = 0; !atFile() && cycle && i < cycle.n; i += 10) if (cycle.ok[i]) poses.push(cycle.poses(i));
    if (poses.length && app.designs) poses.push(...app.designs.poses());
    fitted = recorded ? "run" : "turn";
    if (poses.length) app.view.fit(poses);
    else app.view.fit(null);
    app.redraw();
  });
  const runPoses = () => {
    const { last } = /** @type {Track} */ (app.player.track()), step = Math.max(1, Math.floor(last / LOOKS)), poses = [];
    for (let i = 0; i <= last; i += step) { app.engine.play(i); poses.push(app.engine.poses()); }
    app.player.again();
    return poses;
  };
  // a run and a cycle may fill different windows; a view that was moved by hand is left alone
  const refit = () => { if ((app.player.mode === "run") !== (fitted === "run") && !app.view.moved()) app.fit(); };
  app.speed = (value) => app.player.setSpeed(value);
  app.toggleTheme = () => { app.theme.toggle(); app.remember(); };
  app.help = () => { const keys = element("keys"); if (keys.open) keys.close(); else keys.showModal(); };
  app.escape = () => {
    if (app.menu.open()) { app.menu.close(); element("menu").focus(); } else if (app.picked) app.unpick();
  };

  app.pointOf = (name) => {
    const marked = DATA.points.find((p) => p.name === name);
    if (marked) return marked;
    const [body, ...rest] = name.split("."), owner = DATA.bodies.find((b) => b.name === body), point = owner && (owner.points || []).find((p) => p.name === rest.join("."));
    return point ? { name, body, at: point.at } : null;
  };
  app.toggleTrace = (name, on = !app.traces.has(name)) => {
    const point = app.pointOf(name);
    if (!on) app.traces.delete(name);
    else if (point && !app.traces.has(name)) app.traces.set(name, { body: point.body, at: point.at, color: app.frames.color() });
    app.frames.forget();
    changed();
  };
  // the name of a point as DATA.points has it; focus goes to the card when the table it came from is covered by it
  const named = (what) => (what.kind === "point" && what.body && !app.pointOf(what.name) ? Object.assign({}, what, { name: `${what.body}.${what.name}` }) : what);
  /** @type {HTMLElement | null} */
  let opener = null;
  app.pick = guarded((given) => {
    const what = given === app.picked ? given : named(given);
    const again = app.picked && what.kind === "point" && what.name === app.picked.name && app.picked.kind === "point" && what !== app.picked;
    if (!app.cards.known(what)) return;
    if (what.kind === "point" && what !== app.picked) app.toggleTrace(what.name, again ? !app.traces.has(what.name) : true);
    if (!app.picked) opener = /** @type {HTMLElement | null} */ (document.activeElement);
    app.picked = what;
    element("detail").classList.add("has-card");
    app.cards.show(what);
    if (opener && opener.closest(".panel:not(#card)")) element("card").focus({ preventScroll: true });
    changed();
  });
  app.unpick = guarded(() => {
    const within = element("card").contains(document.activeElement);
    app.picked = null;
    element("detail").classList.remove("has-card");
    app.cards.show(null);
    if (within && opener && opener.isConnected) opener.focus({ preventScroll: true });
    opener = null;
    changed();
  });
  app.tab = guarded((name) => {
    if (app.picked) app.unpick();
    app.choose(name);
  });
  const opened = (name) => {
    app.state.tab = name;
    if (name === "machinery" && !app.machinery) app.machinery = LW.machinery(element("machinery"), DATA, app.engine);
    if (name === "compare" && app.designs) app.designs.open();
    if (name === "pins" && app.pins) app.pins.update(app.engine.cycle, app.engine.original);
    if (name === "motion") app.motion.update();
    if (name === "drive") app.drive.update();
    if (app.remember) changed();
  };

  // ---------------------------------------------------------- parameters
  const atFile = () => DATA.parameters.every((p) => !(p.name in app.values) || app.values[p.name] === p.value);
  let toldOfRun = false, troubled = false;
  // a recorded run stays as it was computed; said once until all is back at the file's values
  const tellOfRun = () => {
    if (atFile()) toldOfRun = false;
    if (app.player.mode !== "run") return;
    app.player.again();
    if (troubled) return;
    if (!atFile() && !toldOfRun) app.say("The recorded run was computed with the file's values and stays as it is: parameters change the cycle only.");
    toldOfRun = !atFile();
  };
  // the checks of what is shown: those of a recorded run, or of the present design
  const check = () => app.checks.update(app.player.mode === "run" && DATA.run && DATA.run.checks.length ? DATA.run.checks : app.engine.checks());
  app.set = guarded((values) => {
    const result = app.engine.set(values);
    app.values = Object.assign({}, app.engine.values || values);
    const trouble = result && result.ok === false ? LW.sentence(result.why) : "";
    if (trouble || troubled) app.say(trouble, "warn");
    troubled = Boolean(trouble);
    tellOfRun();
    app.torque.update();
    if (app.designs) app.designs.update();
    if (app.state.tab === "pins") app.pins.update(app.engine.cycle, app.engine.original);
    if (app.state.tab === "motion" || !element("pinned").hidden) app.motion.update();
    if (app.state.tab === "drive") app.drive.update();
    app.frames.forget();
    resized = true;
    app.cards.show(app.picked);
    element("tab-parameters").querySelector(".mark").hidden = element("report-changed").hidden = atFile();
    element("report-changed").textContent = `Changed in the page, not in this report: ${LW.changeTexts(DATA, app.values).join("; ")}.`;
    changed();
  });
  app.reset = guarded(() => {
    const values = {};
    for (const p of DATA.parameters) values[p.name] = p.value;
    if (!DATA.parameters.length) return;
    app.parameters.set(values);
    app.set(values);
  });

  // ------------------------------------------------------ address, state
  const changes = () => Object.fromEntries(DATA.parameters.filter((p) => p.name in app.values && app.values[p.name] !== p.value).map((p) => [p.name, app.values[p.name]]));
  const sameTraces = () => app.traces.size === app.firstTraces.length && app.firstTraces.every((name) => app.traces.has(name));
  app.fragment = () => {
    const { player } = app, still = !player.playing && (player.mode === "turn" || player.mode === "run");
    return LW.share.write({
      mode: player.mode === app.firstMode || player.mode === "swing" || player.mode === "drag" ? undefined : player.mode,
      s: still ? player.s : player.mode === "drag" && app.state.s !== null ? app.state.s : undefined, play: player.playing ? undefined : false, speed: player.speed, values: changes(), pick: app.picked, axes: app.axes,
      traces: sameTraces() ? undefined : Array.from(app.traces.keys()), tab: app.state.tab === app.firstTab ? undefined : app.state.tab, theme: app.theme.chosen() || undefined, ...app.motion.state(),
    });
  };
  app.restore = guarded((fragment) => {
    const given = LW.share.read(fragment), calm = matchMedia("(prefers-reduced-motion: reduce)").matches, { player } = app;
    if (given.theme) app.theme.set(given.theme);
    const allowed = (name) => !LW.allowedValue || LW.allowedValue(DATA, name, given.values[name]);
    const known = Object.keys(given.values).filter((name) => DATA.parameters.some((p) => p.name === name) && allowed(name));
    if (known.length || Object.keys(changes()).length) {
      const values = Object.fromEntries(DATA.parameters.map((p) => [p.name, p.value]));
      for (const name of known) values[name] = given.values[name];
      app.parameters.set(values);
      app.set(values);
    } else if (app.designs && !LW.app) app.designs.start();
    app.motion.restore(given);
    app.traces.clear();
    for (const name of given.traces || app.firstTraces) app.toggleTrace(name, true);
    player.setSpeed(given.speed || 1);
    const mode = given.mode && player.can(given.mode) ? given.mode : app.firstMode, go = given.play === undefined ? !calm : given.play;
    player.enter(mode === "turn" || mode === "run" ? mode : app.firstMode);
    if (given.s !== undefined || !LW.app) player.seek(given.s || 0);
    player.enter(mode);
    refit();
    if (go && mode !== "drag") player.play();
    else player.pause();
    app.choose(given.tab && !element(given.tab).querySelector("[data-absent]") && (given.tab !== "channels" || DATA.run) && (given.tab !== "compare" || app.designs) ? given.tab : app.firstTab);
    app.axes = given.axes === undefined ? "" : given.axes;
    if (given.pick && app.cards.known(given.pick)) { app.picked = given.pick; app.pick(app.picked); } else app.unpick();
  });

  // --------------------------------------------------------------- start
  const makeView = () => {
    const hooks = {
      pick: (what) => app.pick(what), dragStart: guarded((body, at) => app.hand.take(body, at)),
      drag: guarded((target) => app.hand.pull(target)), dragEnd: guarded(() => app.hand.release()),
    };
    if (!DATA.planar && LW.space) {
      try { return LW.space(element("stage"), DATA, hooks); } catch (problem) { element("stage").replaceChildren(); }
    }
    return LW.plane(element("stage"), DATA, hooks);
  };
  const makeHand = () => LW.hand(app.engine, {
    taken: () => { app.player.enter("drag"); changed(); },
    moved: () => app.redraw(),
    stopped: (text) => app.say(text, "warn"),
  });
  const makePanels = () => {
    const { engine: e } = app, seek = (s) => app.player.seek(s);
    app.torque = LW.torque(element("torque"), DATA, e, { changed: () => !atFile(), seek });
    app.pins = LW.pinTable(element("pins"), DATA, { pick: (name, body) => app.pick(isEye(name) ? { kind: "body", name: body, body } : { kind: "pin", name, body }) });
    app.pins.update(e.cycle, e.original);
    app.motion = LW.motionPanel(element("motion"), element("pinned"), app);
    app.drive = LW.drivePanel(element("drive"), app);
    app.parameters = LW.parameters(element("parameters"), DATA, { change: (values) => app.set(values) });
    app.checks = LW.checksBadge(element("checks"), [], signal);
    app.record = DATA.run ? LW.record(element("channels"), DATA.run, { seek }) : { cursor() {} };
    app.designs = LW.designs(element("compare"), DATA, app);
    element("tab-compare").hidden = !app.designs;
    element("tab-parameters").append(LW.el("span", { class: "mark", hidden: true, title: "changed" }));
    element("tab-channels").hidden = !DATA.run;
  };
  const bind = () => {
    element("theme").addEventListener("click", app.toggleTheme);
    element("help").addEventListener("click", app.help);
    element("to-report").hidden = !app.reported;
    if (rigid) element("hand").title = "Nothing can move: the joints leave no degree of freedom.";
    element("to-report").addEventListener("click", () => element("report").scrollIntoView({ behavior: "smooth" }));
    element("fit").addEventListener("click", app.fit);
    window.addEventListener("hashchange", () => app.restore(location.hash), { signal });
    const sized = new ResizeObserver(guarded(() => { app.view.resize(); app.redraw(); }));
    sized.observe(element("stage-frame"));
    signal.addEventListener("abort", () => sized.disconnect());
    LW.helpDialog(element("keys"), rigid);
    LW.keyboard(app);
    LW.printing(app, element("print-figure"));
    if (DATA.reload) LW.watch(DATA.reload);
  };
  const start = guarded(() => {
    element("name").textContent = DATA.name;
    element("about").textContent = DATA.about || "";
    element("about").title = DATA.about || "";
    element("name").title = DATA.name;
    element("name").classList.toggle("alone", !DATA.about);
    app.reported = Boolean(element("report").querySelector(".rp"));
    document.body.classList.toggle("reported", app.reported);
    document.body.classList.toggle("spatial", !DATA.planar);
    document.body.classList.toggle("recorded", Boolean(DATA.run));
    app.engine = LW.engine(app.mechanism, DATA);
    app.theme = LW.theme(() => { app.view.theme(); app.redraw(); }, signal);
    app.player = LW.player(app.engine, DATA, { say: (text, kind) => app.say(LW.sentence(text), kind), changed });
    app.hand = makeHand();
    app.frames = LW.frames(app);
    app.view = makeView();
    makePanels();
    app.transport = LW.transport(element, app);
    app.overText = app.transport.placeText;
    app.cards = LW.cards(element("card"), app);
    app.choose = LW.tabs(element("tabs"), opened);
    app.menu = LW.menu(element("menu"), element("menu-list"), app);
    app.remember = LW.share.address(app.fragment, signal);
    app.firstMode = DATA.run ? "run" : app.player.mode;
    app.firstTab = DATA.run ? "channels" : app.designs ? "compare" : app.motion.shown().length ? "motion" : "pins";
    const traced = DATA.points.length ? DATA.points.map((p) => p.name) : DATA.tips;
    app.firstTraces = app.engine.cycle || DATA.run ? traced.slice(0, MANY_TRACES) : [];
    app.state = Object.defineProperties(app.state, {
      mode: { get: () => app.player.mode }, playing: { get: () => app.player.playing }, speed: { get: () => app.player.speed },
      picked: { get: () => app.picked }, values: { get: () => app.values },
    });
    bind();
    app.restore(location.hash);
    changed();
    LW.app = app;
    if (DATA.host) LW.host(app, DATA.host);
  });
  start();
};
if (DATA.edit) LW.edit.start(DATA);
else LW.run(mechanism, DATA);
