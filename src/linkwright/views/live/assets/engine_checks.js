// What speaks for the numbers in the page, measured while it runs: closed loops, forward against inverse dynamics, the energy balance,
// and at the file's values Python's own efforts.
var LW = globalThis.LW || (globalThis.LW = {});
(() => {
  "use strict";
  const CLOSED = 1e-9, SAME = 1e-9, BALANCED = 1e-3;
  const FORWARD = 1e-6; // accelerations given back, relative to the largest: forward dynamics is conditioned worse near dead centres
  const LOOKS = 24; // samples at which forward dynamics is asked

  const said = (x) => (x === 0 ? "0" : x.toExponential(1));

  LW.engineChecks = (e) => {
    const { core, mechanism, data, law } = e, { nq, nv, nd, nn } = core;
    let last = null, list = [];

    e.checks = () => {
      if (last === e.cycle && last) return list;
      last = e.cycle;
      list = e.cycle ? [closed(), ...(data.loads ? [forward(), energy(), reference()] : [])].filter((x) => x) : [];
      return list;
    };

    const closed = () => {
      const c = e.cycle, placed = c.placed.reduce((s, x) => s + x, 0), gaps = c.n - c.ok.reduce((s, x) => s + x, 0);
      const text = `loops closed to ${said(c.residual)} of the mechanism's size at ${placed} of ${c.n} positions`;
      const singular = gaps && gaps <= 0.05 * c.n ? `; ${gaps} singular position${gaps > 1 ? "s" : ""} left out` : "";
      return { name: "loops closed", ok: placed > 0 && c.residual < CLOSED, value: c.residual, text: text + singular };
    };

    // the drives' efforts in the tree's coordinates
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

    const forward = () => {
      const c = e.cycle, f = core.kernel.forward;
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
      const text = `forward dynamics under these efforts gives back the accelerations to ${said(value)} (${asked} positions)`;
      return { name: "forward and inverse agree", ok: value < FORWARD, value, text };
    };
    const idle = new Set(data.idle || []);

    // change of energy against the work of drives and other forces, over the longest stretch without gaps, by Simpson's rule
    const energy = () => {
      const c = e.cycle, f = core.kernel.energy, flow = core.kernel.flow;
      if (!f || law.still) return null;
      let from = 0, count = 0;
      for (let i = 0, start = 0; i <= c.n; i++) {
        if (i < c.n && c.ok[i]) continue;
        if (i - start > count) [from, count] = [start, i - start];
        start = i + 1;
      }
      count -= 1 - (count % 2);
      if (count < 3) return null;
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
      const resolved = (3 * Math.abs(work - plain)) / scale; // near dead centres the samples are too coarse for the power's peaks
      return { name: "energy balance", ok: value < Math.max(BALANCED, resolved), value, text: `change of energy and work of drives and loads differ by ${said(value)} of the energy turned over` };
    };

    const reference = () => {
      const c = e.cycle;
      if (e.changed || !law.reference.u) return null;
      let worst = 0, largest = 0, compared = 0;
      law.reference.at.forEach((i, m) => {
        if (!c.ok[i]) return;
        compared++;
        for (let k = 0; k < nd; k++) {
          const right = law.reference.u[m * nd + k];
          worst = Math.max(worst, Math.abs(c.u[k][i] - right));
          largest = Math.max(largest, Math.abs(right));
        }
      });
      if (!compared) return null;
      for (const s of c.stats) largest = Math.max(largest, s.max);
      const value = largest > 0 ? worst / largest : worst;
      return { name: "equal to Python", ok: value < SAME, value, text: `the drives' efforts equal those of Python to ${said(value)} (${compared} positions)` };
    };
  };
  if (typeof module === "object" && module.exports) module.exports = LW;
})();
