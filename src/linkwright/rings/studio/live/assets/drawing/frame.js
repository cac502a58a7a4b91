// What the drawing shows in one frame: where the bodies are, the loads of the pins as arrows, traces of points, the selection.
(() => {
  "use strict";
  const COLORS = ["#3f72a8", "#4f9d84", "#8b6fb3", "#c79a1e", "#b4566a", "#3d97b4"];
  const MANY = 1500;
  const USUAL = 0.95; // of the cycle
  const LOOKS = 60; // samples of it for which a drawing leaves room

  const vector = (a, from) => [a[from], a[from + 1], a[from + 2]];

  // The body whose eye of a pin gets the arrow: the picked one, else that of the table; where a pin joins more than two, the one
  // with the largest load of the cycle.
  const shownBody = (pin, picked, DATA, cycle) => {
    if (picked && picked.kind === "pin" && picked.name === pin.name && picked.body) return picked.body;
    if (picked && picked.kind === "body" && pin.bodies.includes(picked.name)) return picked.name;
    const usual = LW.loadedBody(pin, DATA), most = (body) => cycle.pins[`${pin.name}|${body}`].max;
    if (pin.bodies.length < 3 || !cycle || !cycle.pins) return usual;
    return pin.bodies.reduce((best, body) => (most(body) > most(best) ? body : best), usual);
  };

  // what a pin's force stays below most of the cycle, with some room
  const usual = (cycle, pin) => {
    const sizes = [];
    for (let i = 0; i < cycle.n; i++) if (cycle.ok[i]) sizes.push(Math.hypot(pin.force[3 * i], pin.force[3 * i + 1], pin.force[3 * i + 2]));
    sizes.sort((a, b) => a - b);
    return sizes.length ? Math.min(sizes[sizes.length - 1], 1.3 * sizes[Math.floor(USUAL * (sizes.length - 1))]) : 0;
  };

  // app: {engine, mechanism, DATA, player, hand, picked, traces: Map name -> {body, at, color}}
  LW.frames = (app) => {
    const { engine: e, mechanism, DATA } = app;
    const cache = new Map(); // traces of the cycle, computed once per set of values
    const frames = {};

    const loads = (picked) => {
      if (!e.state.loads || !mechanism.on) return null;
      return DATA.pins.map((pin) => {
        const body = shownBody(pin, picked, DATA, e.cycle), wrench = mechanism.on(e.state.loads, pin.name, body);
        return { pin: pin.name, body, at: e.place(pin.at.body, pin.at.at), moment: vector(wrench, 0), force: vector(wrench, 3), unique: !pin.unique || pin.unique[body] !== false };
      });
    };

    // The force whose arrow is the longest by design. Peaks of a few samples, as beside a singular position, may be longer than
    // that, so that they do not make all other arrows vanish.
    /** @type {Cycle | null} */
    let scaled = null;
    let largest = 0;
    frames.largest = () => {
      const cycle = e.cycle;
      if (!cycle || !cycle.pins) return 0;
      if (scaled !== cycle) {
        scaled = cycle;
        largest = Object.keys(cycle.pins).reduce((most, key) => Math.max(most, usual(cycle, cycle.pins[key])), 0);
      }
      return largest;
    };
    // [place, force] of the arrows at samples spread over the cycle and at every pin's largest load: what a drawing leaves room for
    let looked = null, room = [];
    frames.room = () => {
      if (!e.cycle || !DATA.loads || recorded()) return [];
      if (looked !== e.cycle) {
        const c = looked = e.cycle, step = Math.max(1, Math.floor(c.n / LOOKS));
        room = [];
        for (const pin of DATA.pins) {
          const load = c.pins[`${pin.name}|${shownBody(pin, null, DATA, c)}`], places = e.trace(pin.at.body, pin.at.at);
          for (let i = 0; i < c.n; i++) if (c.ok[i] && c.placed[i] && (i % step === 0 || i === load.index)) room.push([vector(places, 3 * i), vector(load.force, 3 * i)]);
        }
      }
      return room;
    };
    // largest force and moment of the applied loads: over the cycle of the file, or of what was met since
    let most = DATA.applied;
    const largestApplied = (now) => (most = now.reduce((m, x) => [Math.max(m[0], Math.hypot(...x.force)), Math.max(m[1], Math.hypot(...x.moment))], most));
    frames.forget = () => cache.clear();
    const recorded = () => app.player.mode === "run";
    // the path of a point in the recorded run, at most MANY places of it
    const runTrace = ({ body, at }) => {
      const last = app.player.track().last, step = Math.max(1, Math.ceil(last / MANY)), out = [];
      for (let i = 0; i <= last; i += step) { e.play(i); out.push(...e.place(body, at)); }
      e.play(app.player.s);
      return Float64Array.from(out);
    };
    frames.trace = (name) => {
      const point = app.traces.get(name), key = recorded() ? `recorded ${name}` : name;
      if (!cache.has(key)) cache.set(key, recorded() ? runTrace(point) : e.trace(point.body, point.at));
      return cache.get(key);
    };
    frames.traces = () => (e.cycle || recorded() ? Array.from(app.traces.keys(), (name) => ({ name, points: frames.trace(name), color: app.traces.get(name).color })) : []);
    frames.now = () => {
      const between = Boolean(app.player.blend), applied = between ? [] : e.applied();
      return {
        poses: app.player.blend || e.poses(),
        places: e.places || null,
        absent: e.absent(),
        touches: e.touched(),
        largestTouch: DATA.run && DATA.run.touches ? DATA.run.touches.largest : 0,
        loads: between ? null : loads(app.picked),
        largest: frames.largest(),
        room: frames.room(),
        applied,
        largestApplied: largestApplied(applied),
        pushes: between ? {} : e.pushes(),
        traces: frames.traces(),
        ghost: app.designs && app.player.mode !== "run" ? app.designs.ghost(app.state.s) : null,
        label: app.hand.label,
        selected: app.picked && { kind: app.picked.kind, name: app.picked.name, body: app.picked.body },
      };
    };
    frames.color = () => COLORS.find((c) => !Array.from(app.traces.values()).some((t) => t.color === c)) || COLORS[app.traces.size % COLORS.length];
    return frames;
  };
})();
