// Where a cycle ends or degenerates: dead centers that stop the drive (gaps between the samples, or the ends of its range) and
// singular positions that it passes, found by the sign of the branch determinant. Each is located between the samples, and the
// loads are compared at two distances from it: where they grow, peak values depend on the sample distance. The text about the links there
// is that of Python at the values of the file; for other lengths it looks at the pins alone.
(() => {
  "use strict";
  const FINEST = 1e-7, TRIALS = 90; // of one step, to locate a dead center
  // of a step: pairs of distances at which loads are compared, the first that can be computed; 1/d grows fourfold, 1/sqrt(d) twofold
  const DISTANCES = [[0.2, 0.05], [0.8, 0.2]];
  const GROWS = 1.5; // times: a smooth load changes by far less over a part of a step
  const BESIDE = 4; // samples: a peak so close to an unbounded place belongs to it
  const IN_LINE = 5e-3; // sine of the angle between two links, whose square is proportional to the distance from the dead center
  const DIPS = 0.2; // of a neighbor: a double zero between samples leaves at most 0.25 / 2.25
  const TOUCHES = 1e-4; // of the neighbors: and this at the place found
  const GOLDEN = (Math.sqrt(5) - 1) / 2, SECTIONS = 24; // to 1e-5 of a step
  const TURN = 2 * Math.PI;
  const ROUND_OFF = 1e-6; // of the largest load, times the mechanism's size
  const SAME = 1e-3; // radians, or of the size: a place of Python is the same
  const DUST = 1e-6; // radians, or meters: far less than a dead center is printed with

  // place of a drive value within the revolution, 0 to 360 deg, where the drive turns fully
  /** @param {Law} law @param {number} lead @param {number} value */
  const within = (law, lead, value) => {
    const x = law.full_turn && law.kinds[lead] === "angle" ? value - Math.floor(value / TURN + DUST) * TURN : value;
    return Math.abs(x) < DUST ? 0 : x;
  };

  // follows the branch between and beyond samples by the drives' straight way from sample `from` toward sample `to`
  /** @param {Core} core @param {Law} law @param {Cycle} c */
  const between = (core, law, c) => {
    const { nq, nn, nd } = core, q = new Float64Array(nq), near = new Float64Array(nn), drive = new Float64Array(nd);
    const speed = new Float64Array(nd), acceleration = new Float64Array(nd);
    // position a share x (also beyond 1 or below 0) of the step, begun at the sample `from`; the answer of core.solve, q and near
    return (/** @type {number} */ from, /** @type {number} */ to, /** @type {number} */ x, /** @type {Float64Array | null} */ start) => {
      const mixed = !start && c.placed[to]; // both ends are on the branch
      for (let k = 0; k < nq; k++) q[k] = start ? start[k] : c.q[from * nq + k] + (mixed ? x * (c.q[to * nq + k] - c.q[from * nq + k]) : 0);
      core.normalized(q);
      for (let k = 0; k < nn; k++) near[k] = c.near[from * nn + k];
      for (let k = 0; k < nd; k++) {
        /** @param {Float64Array} a */
        const mix = (a) => a[from * nd + k] + x * (a[to * nd + k] - a[from * nd + k]);
        drive[k] = mix(law.value);
        speed[k] = mix(law.speed);
        acceleration[k] = mix(law.acceleration);
      }
      core.setTime(law.t[from] + x * (law.t[to] - law.t[from]));
      const r = core.solve(q, near, drive, speed, acceleration);
      return { closed: r.closed, ok: r.ok, r, q, near, drive };
    };
  };

  // how far beyond sample `from` toward `to` the branch goes: a share of the step and the position there; null if it goes all the way
  /** @param {Core} core @param {ReturnType<typeof between>} at @param {number} from @param {number} to @param {Cycle} c */
  const reach = (core, at, from, to, c) => {
    const side = core.side(c.q.subarray(from * core.nq, (from + 1) * core.nq), c.near.subarray(from * core.nn, (from + 1) * core.nn));
    /** @param {number} x @param {Float64Array | null} start */
    const on = (x, start) => {
      const p = at(from, to, x, start);
      return p.closed && p.r.determinant * side >= 0 ? Float64Array.from(p.q) : null;
    };
    if (on(1, null)) return null;
    // Newton's way fails before the branch ends: a failure halves the step, and only a tiny step that fails is the end
    let x = 0, q = c.q.slice(from * core.nq, (from + 1) * core.nq), step = 0.5;
    for (let k = 0; k < TRIALS && step > FINEST; k++) {
      const found = on(x + step, q);
      if (found) { x += step; q = found; } else step /= 2;
    }
    return { x, q };
  };

  // the place within a step of sample i at which the determinant is smallest, by golden section: {x, det, q}, null where it is not known
  /** @param {Core} core @param {ReturnType<typeof between>} at @param {number} i @param {Cycle} c */
  const lowest = (core, at, i, c) => {
    /** @param {number} x */
    const find = (x) => {
      const p = at(i, x < 0 ? i - 1 : i + 1, Math.abs(x), null);
      return p.closed ? { x, det: Math.abs(p.r.determinant), q: Float64Array.from(p.q) } : { x, det: 0, q: null };
    };
    let [a, b] = [-1, 1], [left, right] = [find(b - GOLDEN * (b - a)), find(a + GOLDEN * (b - a))];
    for (let k = 0; k < SECTIONS; k++) {
      if (left.det < right.det) { b = right.x; right = left; left = find(b - GOLDEN * (b - a)); }
      else { a = left.x; left = right; right = find(a + GOLDEN * (b - a)); }
    }
    const best = left.det < right.det ? left : right;
    return { ...best, q: best.q || c.q.slice(i * core.nq, (i + 1) * core.nq) };
  };

  // pins that are in line at a position: "B, C and D in line (folded)"; "" where no two links are stretched or folded
  /** @param {Core} core @param {PageData} DATA @param {Float64Array} q */
  const inLine = (core, DATA, q) => {
    if (!DATA.planar) return "";
    const place = new Map(DATA.pins.map((pin) => [pin.name, core.place(pin.at.body, core.moved(pin.at.body, pin.at.at), q)]));
    const ground = DATA.bodies[0].name, turning = DATA.pins.filter((pin) => pin.hinge);
    let best = IN_LINE, found = "";
    for (const pin of turning) {
      const links = pin.bodies.filter((b) => b !== ground);
      for (let i = 0; i < links.length; i++) for (let j = i + 1; j < links.length; j++) {
        for (const a of turning) for (const b of turning) {
          if (a === pin || b === pin || a === b || !a.bodies.includes(links[i]) || !b.bodies.includes(links[j])) continue;
          const [p, x, y] = [pin, a, b].map((one) => /** @type {number[]} */ (place.get(one.name))), u = [x[0] - p[0], x[1] - p[1]], v = [y[0] - p[0], y[1] - p[1]];
          const sine = Math.abs(u[0] * v[1] - u[1] * v[0]) / (Math.hypot(...u) * Math.hypot(...v));
          if (sine < best) { best = sine; found = `${a.name}, ${pin.name} and ${b.name} in line (${u[0] * v[0] + u[1] * v[1] < 0 ? "stretched" : "folded"})`; }
        }
      }
    }
    return found;
  };

  // the largest effort and pin force of a solved position: what may grow
  /** @param {Core} core @param {ReturnType<ReturnType<typeof between>>} p */
  const sizes = (core, p) => {
    const loads = core.kernel.loads;
    loads.put("q", p.q);
    loads.put("v", p.r.v);
    loads.put("a", p.r.a);
    if (loads.run(p.near)) return null;
    /** @param {string} key */
    const most = (key) => loads.get(key).reduce((m, x) => Math.max(m, Math.abs(x)), 0);
    return [most("u"), most("wrench")];
  };

  // [largest effort, largest load] a share x of the step from `from` to `to`; speeds where there are no masses; null where none are known
  /** @param {Core} core @param {ReturnType<typeof between>} at @param {number} from @param {number} to @param {number} x */
  const beside = (core, at, from, to, x) => {
    const p = at(from, to, x, null);
    if (!p.ok) return null;
    return core.kernel.loads ? sizes(core, p) : [Math.max(...p.r.v.map(Math.abs))];
  };

  // which of them grow toward the place a share x of that step; it counts as growth where nothing can be computed around it. A passage on a
  // smooth motion has finite efforts, by the power balance, beside loads without bound.
  /** @param {Core} core @param {ReturnType<typeof between>} at @param {number} from @param {number} to @param {number} x */
  const grows = (core, at, from, to, x) => {
    for (const [far, near] of DISTANCES) {
      const before = beside(core, at, from, to, x - far), after = beside(core, at, from, to, x - near);
      if (!before || !after) continue;
      const least = ROUND_OFF * Math.max(...after) * Math.min(1, core.kappa); // growth of round-off is none
      return grown(after.map((s, k) => s > GROWS * before[k] && s > least));
    }
    return grown([true]);
  };
  /** @param {boolean[]} list */
  const grown = (list) => ({ unbounded: list.some(Boolean), efforts: list[0] });

  // c.singular: [{s: real sample number, value: of the leading drive, ends: it stops the drive, unbounded: something grows, efforts: those
  // of the drives do, geometry}]; c.doubtful(i, efforts): whether loads, or only the drives' efforts, at sample i are peaks of such a place.
  // known: places that Python described for these lengths
  LW.engineSingular = (core, law, c, DATA, known) => {
    const { nq, nn, nd } = core, n = c.n, lead = Math.max(0, law.drives.indexOf(law.drive));
    const at = between(core, law, c), time = core.mechanism.t;
    /** @param {number} from @param {number} to @param {number} x */
    const value = (from, to, x) => law.value[from * nd + lead] + x * (law.value[to * nd + lead] - law.value[from * nd + lead]);
    /** @param {number} from @param {number} to @param {number} x @param {Float64Array} q @param {Pick<SingularPlace, "ends" | "inside" | "unbounded" | "efforts">} more */
    const add = (from, to, x, q, more) => {
      const at = within(law, lead, value(from, to, x)), same = SAME * (law.kinds[lead] === "angle" ? 1 : core.kappa);
      const told = known.find((k) => Math.abs(within(law, lead, k.value) - at) < same);
      c.singular.push({ s: from + x * (to - from), value: at, geometry: told ? told.geometry : inLine(core, DATA, q), ...more });
    };
    const det = c.determinant;
    c.singular = [];

    /** @param {number} from @param {number} to */
    const stopped = (from, to) => {
      const r = reach(core, at, from, to, c);
      const x = r ? r.x : 1, q = r ? r.q : c.q.subarray(from * nq, (from + 1) * nq);
      add(from, to, x, q, { ends: true, inside: true, ...grown([true]) });
    };
    /** @param {number} i */
    const lone = (i) => i > 0 && i + 1 < n && !c.placed[i] && c.placed[i - 1] && c.placed[i + 1]; // the branch goes on behind it
    for (let i = 0; i + 1 < n; i++) {
      if (lone(i)) add(i, i, 0, c.q.subarray((i - 1) * nq, i * nq), { ends: false, inside: true, ...grown([true]) });
      else if (lone(i + 1)) continue;
      else if (c.placed[i] && !c.placed[i + 1]) stopped(i, i + 1);
      else if (!c.placed[i] && c.placed[i + 1]) stopped(i + 1, i);
      else if (det[i] * det[i + 1] < 0) {
        const x = Math.abs(det[i]) / (Math.abs(det[i]) + Math.abs(det[i + 1])), [from, to, s] = x < 0.5 ? [i + 1, i, 1 - x] : [i, i + 1, x];
        add(i, i + 1, x, c.q.subarray((i + (x > 0.5 ? 1 : 0)) * nq, (i + (x > 0.5 ? 2 : 1)) * nq), { ends: false, inside: true, ...grows(core, at, from, to, s) });
      }
    }
    // samples in a singular position itself
    for (let i = 1; i + 1 < n; i++) {
      if (!c.placed[i] || (det[i] !== 0 && c.ok[i]) || c.singular.some((x) => Math.abs(x.s - i) < 0.5)) continue;
      const sides = [i - 1, i + 1].filter((from) => c.placed[from]).map((from) => grows(core, at, from, i, 1)), either = (/** @type {"unbounded" | "efforts"} */ key) => sides.some((x) => x[key]);
      add(i, i, 0, c.q.subarray(i * nq, (i + 1) * nq), { ends: false, inside: true, unbounded: either("unbounded"), efforts: either("efforts") });
    }
    // the determinant touches zero without a change of sign, as in a scissor whose arms stand upright
    for (let i = 1; i + 1 < n; i++) {
      const here = Math.abs(det[i]), most = Math.max(Math.abs(det[i - 1]), Math.abs(det[i + 1]));
      if (!(here <= Math.abs(det[i - 1]) && here <= Math.abs(det[i + 1]) && here < DIPS * most) || c.singular.some((x) => Math.abs(x.s - i) < 1)) continue;
      const x = lowest(core, at, i, c), touched = x !== null && x.det < TOUCHES * most;
      if (!touched) continue;
      const side = x.x < 0 ? -1 : 1;
      add(i, i + side, Math.abs(x.x), x.q, { ends: false, inside: true, ...grows(core, at, i, i + side, Math.abs(x.x)) });
    }
    // the ends of a range that is no whole turn: one step further
    if (!law.full_turn && !law.closed && n > 2) {
      for (const [from, back] of [[0, 1], [n - 1, n - 2]]) {
        if (!c.placed[from] || law.value[from * nd + lead] === law.value[back * nd + lead]) continue;
        /** @param {number} f @param {number} t @param {number} x @param {Float64Array | null} start */
        const further = (f, t, x, start) => at(f, t, -x, start), r = reach(core, further, from, back, c);
        if (r) add(from, back, -r.x, r.q, { ends: true, inside: false, ...grown([true]) });
      }
    }
    core.setTime(time);
    c.singular.sort((a, b) => a.s - b.s);
    c.doubtful = (i, efforts) => i >= 0 && c.singular.some((x) => (efforts ? x.efforts : x.unbounded) && Math.abs(x.s - i) <= BESIDE);
    return c;
  };

  // "152.9 deg"
  LW.singularPlace = (law, DATA, x) => {
    const unit = DATA.units[law.kinds[Math.max(0, law.drives.indexOf(law.drive))]];
    return `${String(Number((x.value / unit.size).toPrecision(4))).replace("-", "\u2212")} ${unit.symbol}`;
  };
})();
