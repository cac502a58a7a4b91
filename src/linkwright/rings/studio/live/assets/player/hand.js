// The hand: a pin or point is pulled toward the pointer, by the engine's damped steps each frame, until it stands still.
(() => {
  "use strict";

  // on: {taken(), stopped(text), moved()}
  LW.hand = (e, on) => {
    /** @type {{body: string, at: number[], target: number[] | null, still: boolean, distance: number} | null} */
    let grip = null;
    const hand = /** @type {any} */ ({ label: "", busy: () => Boolean(grip && grip.target && !grip.still) });
    hand.take = (body, at) => { grip = { body, at, target: null, still: false, distance: Infinity }; hand.label = ""; on.taken(); };
    hand.pull = (target) => { if (grip) { grip.target = target; grip.still = false; grip.distance = Infinity; on.moved(); } };
    hand.release = () => { grip = null; hand.label = ""; on.moved(); };
    hand.held = () => Boolean(grip);
    // one frame
    hand.advance = () => {
      if (!grip || !grip.target || grip.still) return;
      const result = e.drag(grip.body, grip.at, grip.target), stopped = result.stopped || "";
      const change = Math.abs(grip.distance - result.distance);
      grip.still = !result.moved || change < 1e-6 * result.distance;
      grip.distance = result.distance;
      if (stopped !== hand.label) on.stopped(stopped);
      hand.label = stopped;
    };
    return hand;
  };
})();
