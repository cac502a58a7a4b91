// The bar under the drawing: play, position, what moves it, pace. Shows the player's state each frame and hands clicks to it.
(() => {
  "use strict";
  const TURN = 2 * Math.PI;
  const WHILE = 0.6, GAP = 0.4; // seconds a pace is measured over; between frames of a page that was hidden
  const LAGS = 0.9; // of the wanted pace: a slower one is reported
  const NO_TRACK = "Drag any pin or point: there is no cycle.", RIGID = "Nothing can move: the joints leave no degree of freedom.";

  // An angle of a full turn from 0 up to 360 degrees; other places of the cycle's axis as they are. SI.
  LW.withinTurn = (x, cycle) => {
    if (!cycle || !cycle.full_turn || cycle.kinds[cycle.drives.indexOf(cycle.over.name)] !== "angle") return x;
    const whole = Math.floor(x / TURN + 1e-12) * TURN;
    return Math.max(0, x - whole);
  };

  // the axis of a cycle with these values, for plots and for places in words
  LW.cycleAxis = (cycle, values) => ({ values, label: cycle.over.label, symbol: cycle.over.symbol, size: cycle.over.size, say: (x) => LW.withinTurn(x, cycle) });

  // text of a place of the cycle, in the file's units: 124.0°
  const overText = (DATA, e) => {
    if (!DATA.cycle || !e.cycle) return () => "";
    const axis = LW.cycleAxis(DATA.cycle, e.cycle.x), along = LW.player.track(e.cycle.x, false);
    return (s, digits = 4) => LW.withUnit(LW.placeNumber(axis, along.time(s), digits), axis.symbol);
  };

  // text of a time, SI, to the hundredth of a second or three digits
  const secondsText = ({ symbol, size }) => (t) => LW.withUnit(LW.fixed(t / size, Math.max(1, t) / size, 3), symbol);

  // Mechanism seconds per second on the clock of something that should keep a pace: measured over a while, null until then and where
  // frames were missing, because the page was hidden.
  const paceMeter = () => {
    /** @type {{t: number, clock: number} | null} */
    let since = null;
    /** @type {number | null} */
    let found = null;
    let before = 0;
    return (t, clock) => {
      if (!since || t < since.t || clock - before > GAP) { since = { t, clock }; found = null; }
      before = clock;
      if (clock - since.clock >= WHILE) {
        found = (t - since.t) / (clock - since.clock);
        since = { t, clock };
      }
      return found;
    };
  };

  // element(id) -> node; app: {DATA, engine, player, mode(name), speed(value)}
  LW.transport = (element, app) => {
    const { DATA, engine: e, player } = app;
    const slider = element("slider"), speed = element("speed"), play = element("play"), readout = element("readout"), pace = element("pace");
    const main = LW.el("b"), small = LW.el("small"), seconds = secondsText(LW.unitOf("time"));
    const timeless = DATA.cycle && (DATA.cycle.still || DATA.cycle.over.name === "t"), rigid = DATA.topology && DATA.topology.mobility === 0;
    const placeText = overText(DATA, e);
    LW.touchStates(element("states"), DATA.run, { seek: (t) => player.seek(player.track().sample(t)) });
    let meter = paceMeter(), measured = /** @type {number | null} */ (null);
    const modes = Array.from(element("modes").querySelectorAll("button"));
    readout.append(main, small);

    for (const button of modes) {
      const name = button.dataset.mode;
      if (name === "run") button.hidden = !player.can("run");
      else if (!player.can(name)) button.disabled = true;
      if (name === "swing" && button.disabled) button.title = DATA.why || "Free swing needs the masses of the bodies.";
      if (name === "turn" && button.disabled) button.title = "No drive turns this mechanism.";
      button.addEventListener("click", () => app.mode(name));
    }
    play.addEventListener("click", () => player.toggle());
    slider.addEventListener("input", () => player.seek(fromSlider(Number(slider.value))));
    speed.addEventListener("input", () => app.speed(10 ** Number(speed.value)));

    // In a recorded run the slider is time, because samples need not be evenly spread.
    const toSlider = (s) => (player.mode === "run" ? player.track().time(s) : s);
    const fromSlider = (value) => (player.mode === "run" ? player.track().sample(value) : value);

    const words = (s) => {
      if (player.mode === "swing") {
        const { energy, drift } = player.swing || {}; // no drift where friction, dampers or loads change the energy
        const parts = [Number.isFinite(energy) && `energy ${LW.format(energy, "energy")}`, Number.isFinite(energy) && Number.isFinite(drift) && `drift ${LW.number(100 * drift, 2)} % of the energy exchanged${Math.abs(drift) > 1e-2 ? ": not reliable, a load switches faster than the steps of the page; use linkwright simulate" : ""}`];
        return [seconds(player.seconds()), parts.filter(Boolean).join(", ")];
      }
      if (player.mode === "run") return [seconds(player.seconds()), ""];
      if (s === null) return ["", rigid ? RIGID : NO_TRACK];
      if (player.mode === "drag") return [placeText(s), "by hand"];
      return [placeText(s), timeless ? "" : seconds(player.seconds())];
    };

    const limits = () => {
      const along = player.track();
      if (!along) return;
      const [low, high] = player.mode === "run" ? [along.first, along.first + along.duration] : [0, along.last];
      if (Number(slider.max) !== high || Number(slider.min) !== low) { slider.min = low; slider.max = high; }
    };

    // the pace that is wanted, or the one that is reached where a free swing takes longer to compute
    const paceText = () => (measured !== null && measured < LAGS * player.pace() ? LW.player.paceText(measured) : player.paceText());
    const showPace = () => {
      LW.setText(pace, paceText());
      speed.setAttribute("aria-valuetext", paceText());
    };
    const watchPace = () => {
      const free = player.mode === "swing" && player.playing, found = free ? meter(player.seconds(), performance.now() / 1000) : null;
      if (!free) meter = paceMeter();
      if (found === measured) return;
      measured = found;
      showPace();
    };

    return {
      placeText,
      // every frame; s: the place of the cycle or run, null if there is none
      show(s) {
        const [first, second] = words(s);
        LW.setText(main, first);
        LW.setText(small, second);
        watchPace();
        if (s === null) return;
        limits();
        const value = toSlider(s), share = (value - slider.min) / (slider.max - slider.min || 1);
        slider.value = value;
        slider.style.setProperty("--fill", `${(100 * share).toFixed(2)}%`);
        slider.setAttribute("aria-valuetext", [first, second].filter(Boolean).join(", "));
      },
      // after a change of mode, pace or playing
      update() {
        document.body.classList.toggle("playing", player.playing);
        document.body.classList.toggle("mode-run", player.mode === "run");
        document.body.classList.toggle("mode-drag", player.mode === "drag");
        document.body.classList.toggle("trackless", !player.track());
        play.setAttribute("aria-label", player.playing ? "Pause" : "Play");
        play.title = `${player.playing ? "Pause" : "Play"} (space)`;
        for (const button of modes) button.setAttribute("aria-pressed", String(button.dataset.mode === player.mode));
        slider.disabled = !player.track();
        speed.value = Math.log10(player.speed);
        measured = null;
        meter = paceMeter(); // at another pace from now on
        showPace();
      },
    };
  };
  LW.transport.secondsText = secondsText;
  LW.transport.paceMeter = paceMeter;
})();
