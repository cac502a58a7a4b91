// Rigid stops and strokes: which coordinate a position puts beyond its end. Coordinates are entries of q, or distances of two places.
(() => {
  "use strict";
  const AT = 1e-9; // radians, or multiples of the mechanism's size: nearer to an end than this is at the end

  // (q, before) -> name of a coordinate that is beyond its end at q, and farther than at `before`; "" if there is none
  LW.engineStops = (core, DATA) => {
    const stops = DATA.stops || [];
    /** @type {(s: PageData["stops"][number], q: ArrayLike<number>) => number} */
    const value = (s, q) => {
      if (!s.ends) return q[s.index];
      const [a, b] = s.ends.map((e) => core.place(e.body, core.moved(e.body, e.at), q));
      return Math.hypot(b[0] - a[0], b[1] - a[1], b[2] - a[2]);
    };
    /** @type {(s: PageData["stops"][number], q: ArrayLike<number>) => number} */
    const beyond = (s, q) => {
      const x = value(s, q);
      return Math.max(s.low === null ? -Infinity : s.low - x, s.high === null ? -Infinity : x - s.high);
    };
    return (q, before) => {
      for (const s of stops) {
        const far = beyond(s, q);
        if (far > AT * (s.slides ? core.kappa : 1) && far > beyond(s, before)) return s.name;
      }
      return "";
    };
  };
})();
