// What moves the mechanism as time passes: the cycle of the drives, a free swing, a recorded run or the hand. The player owns the
// mode, the position and the pace; it asks the engine for states and never touches the document.
(() => {
  "use strict";
  const SLOWEST = 0.1, FASTEST = 4;
  const COMFORTABLE = [1, 15]; // seconds a cycle may last on the screen; others are shown slowed down or hastened
  const PAUSE = 0.8; // seconds at the end of a motion that does not close, before it starts again

  // Times of samples, looked up both ways with real sample numbers.
  /** @type {(times: Float64Array, loop: boolean) => Track} */
  const track = (times, loop) => {
    const n = times.length, first = times[0], duration = times[n - 1] - first;
    const time = (s) => {
      const i = Math.max(0, Math.min(n - 2, Math.floor(s)));
      return n < 2 ? first : times[i] + (s - i) * (times[i + 1] - times[i]);
    };
    const sample = (t) => {
      let low = 0, high = n - 1;
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (times[middle] <= t) low = middle;
        else high = middle;
      }
      const width = times[high] - times[low];
      return width > 0 ? Math.min(high, Math.max(low, low + (t - times[low]) / width)) : low;
    };
    return { n, first, duration, loop, last: n - 1, time, sample };
  };

  // Seconds of the mechanism per second on the screen at speed 1.
  const comfortable = (duration) => {
    const [shortest, longest] = COMFORTABLE;
    if (!(duration > 0)) return 1;
    if (duration < shortest) return duration / (2.5 * shortest);
    return duration > longest ? duration / (0.8 * longest) : 1;
  };

  // "real time" as a designer says it: 1/24 real time, 0.5 x real time.
  const paceText = (ratio) => {
    if (Math.abs(ratio - 1) < 0.005) return "real time";
    if (ratio >= 0.095) return `${Number(ratio.toPrecision(2))}× real time`;
    const slower = 1 / ratio;
    return `1/${slower < 100 ? Math.round(slower) : Number(slower.toPrecision(2))} real time`;
  };

  // e: engine; DATA: the page's data; on: {say(text, kind), changed()}
  LW.player = (e, DATA, on) => {
    /** @type {{turn: Track | null, run: Track | null}} */
    const tracks = { turn: null, run: null };
    if (DATA.cycle && e.cycle) tracks.turn = track(e.cycle.t, DATA.cycle.closed);
    if (DATA.run) tracks.run = track(LW.decode(DATA.run.t).data, false);
    const player = /** @type {Player} */ ({ mode: tracks.turn ? "turn" : "drag", playing: false, s: 0, speed: 1, swing: null, tracks, blend: null });
    const positions = { turn: 0, run: 0 };
    let waited = 0, swingPace = 1, reached = true;
    /** @type {((seconds: number) => Poses | null) | null} */
    let glide = null;

    player.track = () => tracks[player.mode === "run" ? "run" : "turn"];
    player.can = (mode) => (mode === "turn" || mode === "run" ? Boolean(tracks[mode]) : mode === "swing" ? Boolean(DATA.swing && e.swing) : mode === "drag");
    player.pace = () => {
      const along = player.track();
      return player.speed * (player.mode === "swing" ? swingPace : along ? comfortable(along.duration) : 1);
    };
    player.paceText = () => paceText(player.pace());
    player.moving = () => player.playing || Boolean(glide);

    const place = (s) => {
      const along = player.track();
      if (!along) return;
      player.s = Math.max(0, Math.min(along.last, s));
      positions[player.mode] = player.s;
      if (player.mode === "run") e.play(player.s);
      else reach(e.go(player.s).ok);
    };
    const reach = (ok) => {
      if (!ok) on.say("The mechanism cannot be assembled in this position with these dimensions.", "warn");
      else if (!reached) on.say("");
      reached = ok;
    };

    const glideTo = (s) => {
      glide = LW.glide(e, DATA, s, () => { glide = null; player.blend = null; });
      player.s = s;
      positions.turn = s;
    };

    // to the mode, from wherever the mechanism is now
    player.enter = (mode) => {
      if (mode === player.mode) return true;
      if (!player.can(mode)) return false;
      const from = player.mode, running = player.playing, turning = from === "turn" || from === "run";
      glide = null;
      player.blend = null;
      player.mode = mode;
      player.swing = null;
      if (mode === "turn") glideTo(from === "run" ? positions.turn : LW.nearest(e, DATA, positions.turn));
      else if (mode === "run") place(positions.run);
      else if (mode === "swing") {
        const inMotion = turning && running;
        swingPace = inMotion ? Math.min(1, comfortable((tracks[from] || { duration: 0 }).duration)) : 1;
        player.playing = e.swing.start(inMotion ? e.state.v : new Float64Array(e.state.v.length)) !== false;
        player.swing = { energy: NaN, drift: 0 };
        if (!player.playing) on.say(e.swing.why, "warn");
      } else player.playing = false;
      on.changed();
      return true;
    };

    player.play = () => {
      if (player.mode === "drag" && tracks.turn) player.enter("turn");
      if (player.mode === "drag") return;
      const along = player.track(), part = player.mode === "swing" || !along ? null : limited(along);
      if (along && part && part.s >= part.to) placeWithin(along, part.from);
      else if (player.mode !== "swing" && along && !along.loop && player.s >= along.last) place(0);
      player.playing = true;
      on.changed();
    };
    player.pause = () => { player.playing = false; on.changed(); };
    player.toggle = () => (player.playing ? player.pause() : player.play());

    // slider, plots, keys: a position of the cycle or of the run
    player.seek = (s) => {
      if (player.mode === "drag" || player.mode === "swing") {
        if (!tracks.turn) return;
        player.mode = "turn";
        player.swing = null;
      }
      glide = null;
      player.blend = null;
      player.playing = false;
      place(s);
      on.changed();
    };
    // the recorded run where it stands, after something else has touched the engine
    player.again = () => { if (player.mode === "run") e.play(player.s); };
    player.step = (samples) => {
      const along = player.track();
      if (!along) return;
      const from = player.mode === "drag" || player.mode === "swing" ? LW.nearest(e, DATA, positions.turn) : player.s;
      const to = Math.round(from) + samples;
      player.seek(along.loop ? (to + along.last) % along.last : to);
    };
    player.setSpeed = (speed) => { player.speed = Math.max(SLOWEST, Math.min(FASTEST, speed)); on.changed(); };

    // where the cycle has positions that cannot be reached: {from, to, s}, counted beyond the last sample where the motion does so
    const limited = (along) => {
      const stretch = player.mode === "turn" ? e.stretch(player.s) : null;
      return stretch && { ...stretch, s: player.s >= stretch.from ? player.s : stretch.to > along.last ? player.s + along.last : stretch.from };
    };

    // such a motion ends at the last position that can be reached
    const advanceStretch = (along, { to, s }, seconds) => {
      const next = s + (seconds * player.pace() * along.last) / along.duration; // samples of a cycle are evenly spread over time
      placeWithin(along, Math.min(next, to));
      if (next < to) return;
      player.playing = false;
      on.say(e.cycle.why, "warn");
      on.changed();
    };
    const placeWithin = (along, s) => place(s > along.last ? s - along.last : s);

    const advanceTrack = (seconds) => {
      const along = player.track();
      if (!along) return;
      const end = along.first + along.duration, part = limited(along);
      if (part) { advanceStretch(along, part, seconds); return; }
      let t = along.time(player.s) + seconds * player.pace();
      if (t >= end && along.loop) t = along.first + ((t - along.first) % along.duration);
      else if (t >= end) {
        t = end;
        waited += seconds;
        if (waited > PAUSE) { t = along.first; waited = 0; }
      }
      place(along.sample(t));
    };

    const advanceSwing = (seconds) => {
      const result = e.swing.step(Math.min(seconds, 1 / 20) * player.pace());
      if (result.ok) { player.swing = result; return; }
      player.playing = false;
      on.say(`The free swing ends here: ${e.swing.why}`, "warn");
      on.changed();
    };

    // one frame; seconds since the last one
    player.advance = (seconds) => {
      const dt = Math.min(seconds, 0.1); // a page that was hidden goes on where it was
      if (glide) { player.blend = glide(dt); return; }
      if (!player.playing) return;
      if (player.mode === "swing") advanceSwing(dt);
      else if (player.mode !== "drag") advanceTrack(dt);
    };

    player.seconds = () => {
      const along = player.track();
      return player.mode === "swing" ? e.swing.t : along ? along.time(player.s) : 0;
    };
    return player;
  };
  LW.player.track = track;
  LW.player.comfortable = comfortable;
  LW.player.paceText = paceText;
  LW.player.limits = [SLOWEST, FASTEST];
})();
