// The bar under the drawing: play, position, what moves it, pace. Shows the player's state each frame and hands clicks to it.
var LW = globalThis.LW || (globalThis.LW = {});
(() => {
  "use strict";
  const TURN = 2 * Math.PI;

  // An angle of a full turn as one says it, from 0 to 360 degrees; other places of the cycle's axis as they are. SI.
  LW.withinTurn = (x, cycle) => {
    if (!cycle || !cycle.full_turn || cycle.kinds[cycle.drives.indexOf(cycle.over.name)] !== "angle") return x;
    const whole = Math.floor(x / TURN + 1e-12) * TURN;
    return Math.max(0, x - whole);
  };

  // text of a place of the cycle, in the file's units: 124.0°
  const overText = (DATA, e) => {
    if (!DATA.cycle || !e.cycle) return () => "";
    const over = DATA.cycle.over, x = e.cycle.x, along = LW.player.track(x, false);
    const reference = Math.max(Math.abs(x[0]), Math.abs(x[x.length - 1])) / over.size;
    return (s) => LW.withUnit(LW.fixed(LW.withinTurn(along.time(s), DATA.cycle) / over.size, reference), over.symbol);
  };

  // element(id) -> node; app: {DATA, engine, player, mode(name), speed(value)}
  LW.transport = (element, app) => {
    const { DATA, engine: e, player } = app;
    const slider = element("slider"), speed = element("speed"), play = element("play"), readout = element("readout"), pace = element("pace");
    const main = LW.el("b"), small = LW.el("small"), seconds = (t) => LW.withUnit(LW.fixed(t / LW.unitOf("time").size, Math.max(1, t), 3), LW.unitOf("time").symbol);
    const placeText = overText(DATA, e), overTime = DATA.cycle && DATA.cycle.over.name === "t";
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
        const { energy, drift } = player.swing || {};
        return [seconds(player.seconds()), Number.isFinite(energy) ? `energy ${LW.format(energy, "energy")}, drift ${LW.number(drift, 2)}` : ""];
      }
      if (player.mode === "run") return [seconds(player.seconds()), ""];
      if (s === null) return ["", "Drag any pin or point: no drive turns this model."];
      if (player.mode === "drag") return [placeText(s), "by hand"];
      return [placeText(s), overTime ? "" : seconds(player.seconds())];
    };

    const limits = () => {
      const along = player.track();
      if (!along) return;
      const [low, high] = player.mode === "run" ? [along.first, along.first + along.duration] : [0, along.last];
      if (Number(slider.max) !== high || Number(slider.min) !== low) { slider.min = low; slider.max = high; }
    };

    return {
      placeText,
      // every frame; s: the place of the cycle or run, null if there is none
      show(s) {
        const [first, second] = words(s);
        LW.setText(main, first);
        LW.setText(small, second);
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
        LW.setText(pace, player.paceText());
        speed.setAttribute("aria-valuetext", player.paceText());
      },
    };
  };
})();
