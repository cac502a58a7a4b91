// Kernels with arrays of their own. Exported scripts and pages alike call them through this.

/**
 * A kernel with its arrays: `put` fills an input, `run` computes, results are in y at the places `to`. Nothing is allocated by a call.
 * @param {Mechanism} m
 * @param {string} name
 * @returns {BoundKernel | null} null if the mechanism has no such kernel
 */
const boundKernel = (m, name) => {
  const f = m.kernels[name];
  if (!f) return null;
  /** @param {Blocks} blocks */
  const end = (blocks) => Object.keys(blocks).reduce((n, k) => Math.max(n, blocks[k][0] + blocks[k][1]), 0);
  const x = new Float64Array(end(f.inputs)), y = new Float64Array(end(f.outputs));
  const { parameters, near, t } = f.inputs;
  return {
    x, y, to: f.outputs, from: f.inputs,
    put(key, a, first = 0) {
      const block = f.inputs[key];
      if (!block) return;
      const start = block[0], n = block[1];
      for (let i = 0; i < n; i++) x[start + i] = a[first + i];
    },
    zero(key) {
      const block = f.inputs[key];
      if (block) x.fill(0, block[0], block[0] + block[1]);
    },
    // references of cut joints (those of the mechanism if not given), parameters and the time of the mechanism
    run(turns = m.near, first = 0) {
      if (parameters) for (let i = 0; i < parameters[1]; i++) x[parameters[0] + i] = m.parameters[i];
      if (near) for (let i = 0; i < near[1]; i++) x[near[0] + i] = turns[first + i];
      if (t) x[t[0]] = m.t;
      return f(x, y);
    },
    get: (key) => y.slice(f.outputs[key][0], f.outputs[key][0] + f.outputs[key][1]),
  };
};

/**
 * A kernel as a function of whole arrays, in this order (undefined: zeros, a number: an array of one), which checks their lengths.
 * @param {Mechanism} m
 * @param {string} name
 * @param {...string} order
 * @returns {KernelCall}
 */
const kernelCall = (m, name, ...order) => {
  const kernel = /** @type {BoundKernel} */ (boundKernel(m, name)), { to, get } = kernel;
  /** @type {KernelCall} */
  const call = {
    kernel, get,
    fill(...arrays) {
      for (let k = 0; k < order.length; k++) {
        const key = order[k], block = kernel.from[key], given = arrays[k];
        if (!block) continue;
        if (given === undefined) {
          kernel.zero(key);
          continue;
        }
        const a = typeof given === "number" ? [given] : given;
        if (a.length !== block[1]) throw new RangeError(`${name}: ${key} needs ${block[1]} numbers, not ${a.length}`);
        kernel.put(key, a);
      }
    },
    run(...arrays) {
      call.fill(...arrays);
      return kernel.run();
    },
    all(status) {
      /** @type {Answer} */
      const r = { ok: !status };
      for (const k in to) if (k !== "margin") r[k] = get(k);
      return r;
    },
  };
  return call;
};
