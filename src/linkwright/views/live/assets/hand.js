// The hand: a pin or point is pulled towards the pointer, one or a few damped steps of the engine per frame, until it stands still.
var LW = globalThis.LW || (globalThis.LW = {});
(() => {
  "use strict";
  const STEPS = 6; // of the engine per frame at most

  // on: {taken(), stopped(text), moved()}
  LW.hand = (e, on) => {
    let grip = null;
    const hand = { label: "", busy: () => Boolean(grip && grip.target && !grip.still) };
    hand.take = (body, at) => { grip = { body, at, target: null, still: false }; hand.label = ""; on.taken(); };
    hand.pull = (target) => { if (grip) { grip.target = target; grip.still = false; on.moved(); } };
    hand.release = () => { grip = null; hand.label = ""; on.moved(); };
    hand.held = () => Boolean(grip);
    // one frame
    hand.advance = () => {
      if (!hand.busy()) return;
      let stopped = "";
      let last = Infinity;
      for (let k = 0; k < STEPS; k++) {
        const result = e.drag(grip.body, grip.at, grip.target);
        stopped = result.stopped || "";
        grip.still = !result.moved || Math.abs(last - result.distance) < 1e-6 * (result.distance + 1e-9);
        last = result.distance;
        if (grip.still || stopped) break;
      }
      if (stopped !== hand.label) on.stopped(stopped);
      hand.label = stopped;
    };
    return hand;
  };
})();
