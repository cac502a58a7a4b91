// The checks of the page, by the names of Python's `c.checks()` (DATA.checks), each passed, failed or unknown. At the file's values Python's
// verdicts are shown, or the page's own where they are worse; of a changed design those that the page computes, and unknown for all others.
(() => {
  "use strict";
  const CLOSED = 1e-9, SAME = 1e-9, BALANCED = 1e-3;
  const BEYOND = 1e-6, NO_FORCE = 1e-9; // of element_limits.py: so far beyond a limit is at the limit
  const FORWARD = 1e-6; // accelerations given back, relative to the largest: forward dynamics is conditioned worse near dead centers
  const LOOKS = 24; // samples at which forward dynamics is asked
  const LOOKED = [0.03, 0.21, 0.47, 0.68, 0.89]; // shares of the cycle at which the rank is taken: the largest is the generic one
  const SLIGHT = 1e-3; // of the loads at the mechanism's size: smaller efforts are compared with this
  const RANK = 1e-9; // of the largest singular value: round-off of the Jacobian

  /** @param {number} x */
  const said = (x) => (x === 0 ? "0" : x.toExponential(1));

  LW.engineChecks = (e) => {
    const { core, mechanism, data } = e, { nq, nv, nd, nn } = core, law = /** @type {Law} */ (e.law);
    const shown = () => /** @type {Cycle} */ (e.cycle); // of checks that need one
    /** @type {Cycle | null} */
    let last = null;
    /** @type {Check[]} */
    let list = [];

    // [{name, verdict, text, value}], all of the design that is shown
    e.checks = () => {
      if (last === e.cycle && last) return list;
      last = e.cycle;
      const found = structure(), first = found ? [mobility(found)] : [];
      if (!e.cycle) list = /** @type {Check[]} */ ([...first, assembled(), stopped()].filter((x) => x));
      else {
        const at = placed(), live = [...first, motion(), ...(at ? [closed(), velocities(), singular(), ...limits()] : []), ...(data.loads && at ? [dynamics(), ...(found ? [determinate(found)] : [])] : []), inputs()];
        list = joined(/** @type {Check[]} */ (live.filter((x) => x)));
      }
      return list;
    };

    const RANKS = ["passed", "unknown", "failed"];
    // Python's list with the page's own verdicts
    /** @param {Check[]} live @returns {Check[]} */
    const joined = (live) => {
      const own = new Map(live.map((x) => [x.name, x])), python = reference();
      const out = data.checks.map(/** @param {Check} given @returns {Check} */ (given) => {
        const mine = own.get(given.name);
        own.delete(given.name);
        if (!e.changed) return mine && RANKS.indexOf(mine.verdict) > RANKS.indexOf(given.verdict) ? mine : given;
        return mine || { name: given.name, verdict: "unknown", text: "not computed for the changed values. Save the model and check it again" };
      });
      return [...out, ...own.values(), ...(python ? [python] : [])];
    };

    /** @param {string} name @param {boolean} passed @param {string} text @param {number} [value] @returns {Check} */
    const judged = (name, passed, text, value) => ({ name, verdict: passed ? "passed" : "failed", text, ...(value === undefined ? {} : { value }) });

    // ------------------------------------------------------------------ structure, from the loop Jacobian of the present design

    // {rank, rows}: the largest rank of the dimensionless loop Jacobian at some positions of the cycle, or at the present one; null where
    // the mechanism cannot be assembled
    const structure = () => {
      const f = core.loops, rows = mechanism.names.lam.length, c = e.cycle;
      if (!f || !rows || !nv) return { rank: 0, rows };
      if (c ? !c.placed.some((x) => x) : !e.state.ok) return null;
      /** @param {Float64Array} q @param {Float64Array} near */
      const rankAt = (q, near) => {
        const s = core.singularValues(q, near);
        return s.filter((x) => x > RANK * s[s.length - 1]).length;
      };
      const there = c ? Array.from(c.placed.keys()).filter((i) => c.placed[i]) : [];
      const some = there.length ? LOOKED.map((x) => there[Math.round(x * (there.length - 1))]) : [];
      const ranks = c ? some.map((i) => rankAt(c.q.slice(i * nq, (i + 1) * nq), c.near.slice(i * nn, (i + 1) * nn))) : [];
      return { rank: Math.max(0, ...(ranks.length ? ranks : [rankAt(e.state.q, e.state.near)])), rows };
    };

    /** @param {number} n @param {string} what */
    const plural = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;

    // rows that depend on others are counted as in the file; a design that changes either count moves or carries otherwise
    const redundantRows = () => (data.topology.rows || []).filter((/** @type {{redundant: boolean}} */ row) => row.redundant).length;

    /** @param {{rank: number, rows: number}} found */
    const mobility = ({ rank, rows }) => {
      const found = nv - rank, { mobility: wanted, freedoms, counted } = data.topology, lazy = wanted - freedoms;
      const text = found - lazy ? plural(found - lazy, "degree") + " of freedom" + (lazy ? ` and ${lazy} idle` : "") : "a structure: nothing can move";
      const count = counted === wanted ? "" : `; the Gr\u00fcbler count gives ${counted}`, more = rows - rank, redundant = more ? `; ${plural(more, "redundant constraint")}` : "";
      if (found !== wanted) return judged("mobility", false, `${text}, the file's design has ${freedoms}`);
      return judged("mobility", more === redundantRows(), text + count + redundant + (more === redundantRows() ? "" : `, the file's design has ${redundantRows()}`));
    };

    /** @param {{rank: number, rows: number}} found @returns {Check} */
    const determinate = ({ rank, rows }) => {
      const meshes = data.meshes.map((x) => x.coupling), bare = new Set(data.meshes.map((x) => x.pin));
      const loose = data.pins.filter((pin) => !bare.has(pin.name) && Object.values(pin.unique || {}).includes(false)).map((pin) => pin.name);
      /** @param {string} text @returns {Check} */
      const unknown = (text) => ({ name: "loads", verdict: "unknown", text });
      if (rows - rank !== redundantRows()) return unknown("the number of redundant constraints has changed: loads may not be unique");
      if (meshes.length) return unknown(`the force in the mesh of ${[...new Set(meshes)].join(", ")} is not modeled, so the loads of ${[...bare].join(", ")} are not known (the torque is)`);
      return loose.length ? unknown(`the loads of ${loose.join(", ")} are statically indeterminate. The least-norm solution is shown`) : judged("loads", true, "all loads are statically determinate");
    };

    // ------------------------------------------------------------------ the cycle

    const placed = () => shown().placed.reduce((s, x) => s + x, 0);

    const motion = () => {
      const c = shown(), lead = Math.max(0, law.drives.indexOf(law.drive)), unit = data.units[law.kinds[lead]];
      if (c.why) return judged("motion", false, c.why + (placed() ? `; ${placed()} of ${c.n} positions are reached` : ""));
      let low = Infinity, high = -Infinity;
      for (let i = 0; i < c.n; i++) [low, high] = [Math.min(low, law.value[i * nd + lead]), Math.max(high, law.value[i * nd + lead])];
      /** @param {number} x */
      const number = (x) => String(Number((x / unit.size).toPrecision(4))).replace("-", "\u2212");
      const range = law.full_turn ? `${law.drive} makes a full turn` : `${law.drive} moves between ${number(low)} and ${number(high)} ${unit.symbol}`;
      const notes = e.changed ? [] : law.notes.filter((note) => !/without bound|slides|swings|singular/.test(note)); // said by the range and by the next check
      return judged("motion", true, [range, ...notes].join("; "));
    };

    // a peak near a singular position says how close the nearest sample is, not what the machine must carry
    const singular = () => {
      const name = "singularities", c = shown(), list = c.singular.filter((x) => x.unbounded || !data.topology.redundant.length);
      if (!list.length) return judged(name, true, "no singular position in this motion");
      const loads = data.loads ? "loads" : "speeds", say = (/** @type {SingularPlace} */ x) => `${LW.singularPlace(law, data, x)}${x.geometry ? `: ${x.geometry}` : ""}`;
      /** @param {SingularPlace[]} some */
      const placesOf = (some) => `${some.slice(0, 4).map(say).join(some.some((x) => x.geometry) ? "; " : ", ")}${some.length > 4 ? ", ..." : ""}`;
      const unbounded = list.filter((x) => x.unbounded), ends = unbounded.filter((x) => x.ends), passed = unbounded.filter((x) => !x.ends);
      if (!unbounded.length) return judged(name, true, `passed at ${placesOf(list)}; ${loads} stay finite`);
      const where = [passed.length && `passed at ${placesOf(passed)}`, ends.length && `dead center at ${placesOf(ends)}`].filter(Boolean).join("; ");
      return /** @type {Check} */ ({ name, verdict: "unknown", text: `${where}. ${loads[0].toUpperCase() + loads.slice(1)} grow without bound there: peak values depend on the sample distance` });
    };

    const closed = () => {
      const c = shown(), found = placed(), gaps = found - c.ok.reduce((s, x) => s + x, 0);
      const text = `closed to ${said(c.residual)} of the mechanism's size at ${found} of ${c.n} positions`;
      const without = gaps ? `; no speeds or loads at ${plural(gaps, "singular position")}` : "";
      return judged("loops", found === c.n && c.residual < CLOSED, text + without, c.residual);
    };

    // without a cycle: the position that is shown
    const assembled = () => judged("loops", e.state.ok, e.state.ok ? "closed in the position shown" : "the mechanism cannot be assembled with these dimensions");

    // without a cycle because the drives lead to a dead center, or further than the links reach
    const stopped = () => (data.stopped ? judged("motion", false, data.stopped) : null);

    // J v of the loops at some positions, over the largest speed
    const velocities = () => {
      const c = shown(), f = core.loops, rows = mechanism.names.lam.length, { columns, rows: scale } = data.scale;
      if (!f || !rows) return null;
      let worst = 0, speed = 1;
      for (let m = 0; m < LOOKS; m++) {
        const i = Math.round(((m + 0.5) / LOOKS) * (c.n - 1));
        if (!c.ok[i]) continue;
        f.put("q", c.q, i * nq);
        f.zero("v");
        f.run(c.near.subarray(i * nn, (i + 1) * nn));
        for (let j = 0; j < nv; j++) speed = Math.max(speed, Math.abs(c.v[i * nv + j] / columns[j]));
        for (let k = 0; k < rows; k++) {
          let gap = 0;
          for (let j = 0; j < nv; j++) gap += f.y[f.to.J[0] + k * nv + j] * c.v[i * nv + j];
          worst = Math.max(worst, Math.abs(gap / scale[k]));
        }
      }
      return judged("velocities", worst / speed < CLOSED, `satisfy the loops to ${said(worst / speed)}`, worst / speed);
    };

    // reach, contact, limits of drives: channels between the ends that elements set (DATA.limits)
    const limits = () => [...new Set(data.limits.map((x) => x.check))].map((check) => {
      const c = shown(), mine = data.limits.filter((x) => x.check === check), wrong = [], open = [], rough = [], held = [];
      for (const x of mine) {
        if (!e.channels.get(x.channel) || (e.changed && x.owner && changedNames().some((name) => name === x.owner || name.startsWith(`${x.owner}.`)))) { open.push(x.element); continue; }
        const found = LW.extremes(e.channels.read(x.channel, c), c.t), unit = data.units[x.dimension];
        if (!found) { open.push(x.element); continue; }
        const { low, high, errorLow, errorHigh } = found, size = Math.max(Math.abs(low), Math.abs(high)), small = x.dimension === "angle" ? BEYOND : x.dimension === "length" ? BEYOND * Math.max(high - low, 1e-3) : NO_FORCE * size;
        const under = x.low !== null && x.low - low > small, over = x.high !== null && high - x.high > small;
        /** @param {number} y */
        const number = (y) => `${Number((y / unit.size).toPrecision(4))} ${unit.symbol}`;
        const unsure = (x.low !== null && x.low - (low - errorLow) > small) || (x.high !== null && high + errorHigh - x.high > small);
        if (unsure && !under && !over) { rough.push(x.element); continue; }
        if (under || over) wrong.push(`${x.element} ${under ? x.below : x.above} ${number(under && x.low === 0 && x.dimension === "force" ? -low : under ? low : high)}`);
        else held.push(`${x.element} ${number(low)} .. ${number(high)}`);
      }
      if (wrong.length) return judged(check, false, wrong.join("; "));
      if (open.length) return /** @type {Check} */ ({ name: check, verdict: "unknown", text: `${open.join(", ")}: not computed for the values shown` });
      // at the file's values Python has looked closer
      if (rough.length) return e.changed ? /** @type {Check} */ ({ name: check, verdict: "unknown", text: `${rough.join(", ")}: the samples do not show whether the limit is passed between them` }) : null;
      return e.changed && check === "drives" && data.motors ? null : judged(check, true, held.join("; "));
    });
    const changedNames = () => (e.changed ? Object.keys(e.values).filter((name) => e.values[name] !== /** @type {Record<string, number>} */ (fileValues)[name]) : []);
    const fileValues = Object.fromEntries(data.parameters.map((p) => [p.name, p.value]));

    // the numbers of the file were looked at by Python; a slider moves them within its range
    const inputs = () => {
      const given = data.checks.find((x) => x.name === "inputs");
      return given ? { ...given, text: e.changed ? `of the file: ${given.text}` : given.text } : null;
    };

    // the drives' efforts in the tree's coordinates
    /** @param {Float64Array} q @param {Float64Array} near @param {Float64Array} u @param {Float64Array} tau */
    const efforts = (q, near, u, tau) => {
      const f = core.kernel.efforts;
      tau.fill(0);
      if (f) {
        f.put("q", q);
        f.put("u", u);
        f.run(near);
        for (let i = 0; i < nv; i++) tau[i] = f.y[f.to.tau[0] + i];
      } else mechanism.names.drives.forEach((name, k) => (tau[mechanism.names.v.indexOf(name)] = u[k]));
      return tau;
    };

    // forward against inverse dynamics, and the energy balance: the worse of them
    const dynamics = () => {
      const found = /** @type {Check[]} */ ([forward(), energy()].filter((x) => x));
      if (!found.length) return null;
      const [first] = [...found].sort((a, b) => RANKS.indexOf(b.verdict) - RANKS.indexOf(a.verdict));
      return { ...first, text: found.map((x) => x.text).join("; ") };
    };

    const forward = () => {
      const c = shown(), f = core.kernel.forward;
      if (!f) return null;
      const tau = new Float64Array(nv), u = new Float64Array(nd), { columns } = data.scale;
      let worst = 0, largest = 0, asked = 0;
      for (let m = 0; m < LOOKS; m++) {
        const i = Math.round(((m + 0.5) / LOOKS) * (c.n - 1));
        if (!c.ok[i]) continue;
        const q = c.q.subarray(i * nq, (i + 1) * nq), near = c.near.subarray(i * nn, (i + 1) * nn);
        for (let k = 0; k < nd; k++) u[k] = c.u[k][i];
        f.put("q", q);
        f.put("v", c.v, i * nv);
        f.put("tau", efforts(q, near, u, tau));
        mechanism.t = c.t[i];
        if (f.run(near)) continue;
        asked++;
        for (let k = 0; k < nv; k++) {
          if (idle.has(k)) continue;
          const a = c.a[i * nv + k] / columns[k];
          worst = Math.max(worst, Math.abs(f.y[f.to.a[0] + k] / columns[k] - a));
          largest = Math.max(largest, Math.abs(a), Math.abs(c.v[i * nv + k] / columns[k]) ** 2);
        }
      }
      mechanism.t = e.state.t;
      if (!asked) return null;
      const value = worst / Math.max(largest, 1);
      return judged("dynamics", value < FORWARD, `forward dynamics gives back the motion (error ${said(value)}, ${asked} positions)`, value);
    };
    const idle = new Set(data.idle || []);

    // change of energy against the work of drives and other forces, over the longest stretch without gaps, by Simpson's rule
    const energy = () => {
      const c = shown(), f = core.kernel.energy, flow = core.kernel.flow;
      if (!f || law.still) return null;
      let from = 0, count = 0;
      for (let i = 0, start = 0; i <= c.n; i++) {
        if (i < c.n && c.ok[i]) continue;
        if (i - start > count) [from, count] = [start, i - start];
        start = i + 1;
      }
      count -= 1 - (count % 2);
      if (count < 3) return null;
      /** @param {BoundKernel} kernel @param {number} i */
      const at = (kernel, i) => {
        kernel.put("q", c.q, i * nq);
        kernel.put("v", c.v, i * nv);
        mechanism.t = c.t[i];
        kernel.run(c.near, i * nn);
        return kernel.y;
      };
      let work = 0, plain = 0, turned = 0, low = Infinity, high = -Infinity;
      const energies = [0, 0], h = (c.t[c.n - 1] - c.t[0]) / (c.n - 1);
      for (let m = 0; m < count; m++) {
        const i = from + m, y = at(f, i), K = y[f.to.kinetic[0]], total = K + y[f.to.potential[0]];
        if (m === 0) energies[0] = total;
        energies[1] = total;
        low = Math.min(low, total);
        high = Math.max(high, total);
        let power = c.power[i];
        if (flow) {
          const p = at(flow, i), o = flow.to.power[0];
          power += p[o] - p[o + 1];
        }
        const weight = (m === 0 || m === count - 1 ? 1 : m % 2 ? 4 : 2) * (h / 3);
        work += weight * power;
        plain += (m === 0 || m === count - 1 ? 0.5 : 1) * h * power;
        turned += weight * (Math.abs(c.power[i]) + Math.abs(power));
      }
      mechanism.t = e.state.t;
      const scale = Math.max(turned, high - low, 1e-300), value = Math.abs(energies[1] - energies[0] - work) / scale;
      const resolved = (3 * Math.abs(work - plain)) / scale; // near dead centers the samples are too coarse for the power's peaks
      const text = `change of energy and work of drives and loads differ by ${said(value)} relative to the energy exchanged in one cycle`;
      const coarse = value >= BALANCED && value < resolved;
      if (coarse) return null; // the samples do not resolve the peaks of the power, which the check of singularities says
      return judged("dynamics", value < BALANCED, text, value);
    };

    const reference = () => {
      const c = shown();
      const given = law.reference.u;
      if (e.changed || !given) return null;
      const width = c.wrench.length / c.n;
      let worst = 0, largest = 0, compared = 0, forces = 0;
      law.reference.at.forEach((i, m) => {
        if (!c.ok[i] || c.doubtful(i)) return; // beside a dead center round-off grows like the loads
        compared++;
        for (let k = i * width; k < (i + 1) * width; k++) forces = Math.max(forces, Math.abs(c.wrench[k]));
        for (let k = 0; k < nd; k++) {
          const right = given[m * nd + k];
          worst = Math.max(worst, Math.abs(c.u[k][i] - right));
          largest = Math.max(largest, Math.abs(right));
        }
      });
      if (!compared) return null;
      for (const s of c.stats) largest = Math.max(largest, s.max);
      largest = Math.max(largest, SLIGHT * forces * Math.min(1, core.kappa)); // a drive that only balances has efforts of round-off
      const value = largest > 0 ? worst / largest : worst;
      return judged("page", value < SAME, `drive torques and forces ${value < SAME ? "agree with the Python solver to" : "differ from the Python solver by"} ${said(value)} (${compared} positions)`, value);
    };
  };
})();
