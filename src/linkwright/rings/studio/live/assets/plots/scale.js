// Axes of plots: the range of curves, readable ticks (steps of 1, 2, 5; angles in quarters of a turn), and the path of a curve.
// Also the largest value and the root mean square of a curve. No DOM; runs in node.
(() => {
  "use strict";
  const DEGREES = [1, 2, 5, 10, 15, 30, 45, 90, 180, 360];
  const ROUND = 1e-9; // of a span: ticks this close to the ends still count

  // the step 1, 2 or 5 times a power of ten that comes nearest to `count` intervals (in ratio)
  const niceStep = (span, count) => {
    const raw = span / Math.max(1, count);
    const power = 10 ** Math.floor(Math.log10(raw));
    const part = raw / power;
    const factor = part >= Math.sqrt(50) ? 10 : part >= Math.sqrt(10) ? 5 : part >= Math.SQRT2 ? 2 : 1;
    return factor * power;
  };

  const degreeStep = (span, count) => {
    const found = DEGREES.find((s) => span / s <= count * (1 + ROUND));
    if (span < 30) return niceStep(span, count);
    return found || 360 * Math.ceil(span / 360 / count);
  };

  const multiples = (low, high, step) => {
    const found = [];
    const slack = ROUND * (high - low);
    for (let k = Math.ceil((low - slack) / step); k * step <= high + slack; k++) found.push(k === 0 ? 0 : k * step);
    return found;
  };

  const decimals = (step) => {
    for (let n = 0; n < 12; n++) {
      const scaled = step * 10 ** n;
      if (Math.abs(scaled - Math.round(scaled)) < 1e-6 * scaled) return n;
    }
    return 12;
  };

  // quarters, halves and whole multiples of pi: "π/2", "3π/4", "2π"
  const partOfPi = (value) => {
    const quarters = Math.round((4 * value) / Math.PI);
    if (quarters === 0) return "0";
    const [top, bottom] = quarters % 4 === 0 ? [quarters / 4, 1] : quarters % 2 === 0 ? [quarters / 2, 2] : [quarters, 4];
    const sign = top < 0 ? "\u2212" : "";
    const factor = Math.abs(top) === 1 ? "" : String(Math.abs(top));
    return `${sign}${factor}\u03c0${bottom === 1 ? "" : `/${bottom}`}`;
  };

  const piTicks = (low, high, count) => {
    const quarter = Math.PI / 4;
    const step = [1, 2, 4, 8, 16, 32, 64].map((k) => k * quarter).find((s) => (high - low) / s <= count * (1 + ROUND)) || 128 * quarter;
    const values = multiples(low, high, step);
    return { step, values, labels: values.map(partOfPi), exponent: 0 };
  };

  // {values, labels, step, exponent}: at most about `count` ticks of [low, high]; labels are values / 10^exponent
  const ticks = (low, high, count, symbol = "", angular = false) => {
    const span = high - low;
    if (!(span > 0) || !Number.isFinite(span)) return { values: [], labels: [], step: 0, exponent: 0 };
    if (angular && symbol === "rad" && span >= 0.9 * Math.PI) return piTicks(low, high, count);
    const step = symbol === "deg" ? degreeStep(span, count) : niceStep(span, count);
    const values = multiples(low, high, step);
    const size = Math.max(Math.abs(low), Math.abs(high));
    const power = Math.floor(Math.log10(size) + ROUND);
    const exponent = power >= 5 || power <= -3 ? 3 * Math.floor(power / 3) : 0;
    const unit = 10 ** exponent;
    const places = decimals(step / unit);
    const labels = values.map((v) => (v / unit).toFixed(places).replace("-", "\u2212"));
    return { values, labels, step, exponent };
  };

  // [low, high] of finite values of arrays
  /** @type {Scale["extent"]} */
  const extent = (arrays) => {
    let low = Infinity;
    let high = -Infinity;
    for (const values of arrays)
      for (let i = 0; i < values.length; i++) {
        const v = values[i];
        if (v < low && v > -Infinity) low = v;
        if (v > high && v < Infinity) high = v;
      }
    return low <= high ? [low, high] : null;
  };

  // the range an axis of these values shows: zero belongs to it unless it is far away; never narrower than `least`
  /** @type {Scale["range"]} */
  const range = (arrays, least = 0) => {
    const found = extent(arrays);
    if (!found) return [-1, 1];
    let [low, high] = found;
    const size = Math.max(Math.abs(low), Math.abs(high));
    if (low > 0 && low < 0.5 * high) low = 0;
    if (high < 0 && high > 0.5 * low) high = 0;
    const narrow = Math.max(least, 1e-9 * size); // narrower would show round-off
    if (high - low <= narrow) {
      const half = Math.max(least / 2, 0.1 * size) || 1;
      const middle = size <= least ? 0 : (low + high) / 2;
      return [middle - half, middle + half];
    }
    const room = 0.07 * (high - low);
    return [low === 0 ? 0 : low - room, high === 0 ? 0 : high + room];
  };

  // {max, x, s, index, error, rms}: the value of largest amount with its sign, located between samples, where (s: real sample number, index:
  // the sample next to it), how far the curve may go beyond, and the root mean square over x (trapezoids)
  const stats = (x, values) => {
    let area = 0;
    let width = 0;
    for (let i = 0; i < values.length; i++) {
      const v = values[i];
      if (!Number.isFinite(v)) continue;
      if (i > 0 && Number.isFinite(values[i - 1])) {
        const step = Math.abs(x[i] - x[i - 1]);
        area += (step * (v * v + values[i - 1] * values[i - 1])) / 2;
        width += step;
      }
    }
    const found = LW.extremes(values);
    if (!found) return null;
    const { value: max, s, error } = peak(found);
    return { max, x: between(x, s), s, index: Math.round(s), error, rms: width > 0 ? Math.sqrt(area / width) : Math.abs(max) };
  };

  // {value, s, error} of the extreme of largest amount
  const peak = (found) => (Math.abs(found.low) > Math.abs(found.high) ? lowest(found) : highest(found));
  const lowest = (found) => ({ value: found.low, s: found.sLow, error: found.errorLow });
  const highest = (found) => ({ value: found.high, s: found.sHigh, error: found.errorHigh });

  // [{value, s, error}] of the least and the greatest value, between samples; only one where all values are the same
  const ends = (values) => {
    const found = LW.extremes(values);
    if (!found) return [];
    const level = found.high - found.low <= 1e-9 * Math.max(Math.abs(found.low), Math.abs(found.high));
    return level ? [lowest(found)] : [lowest(found), highest(found)];
  };

  // real sample number of a place on a rising or falling axis, clamped to it
  const sampleAt = (x, place) => {
    const last = x.length - 1;
    if (last < 1) return 0;
    const rising = x[last] >= x[0];
    let low = 0;
    let high = last;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (x[middle] <= place === rising) low = middle;
      else high = middle;
    }
    const step = x[high] - x[low];
    const part = step === 0 ? 0 : (place - x[low]) / step;
    return low + Math.min(1, Math.max(0, part));
  };

  // a value between samples; NaN next to a gap
  const between = (values, sample) => {
    const i = Math.min(values.length - 1, Math.floor(sample));
    const part = sample - i;
    return part === 0 || i + 1 >= values.length ? values[i] : values[i] + part * (values[i + 1] - values[i]);
  };

  // samples worth drawing on so many pixels: all, or the lowest and highest of every bin in their order
  const thinned = (values, pixels) => {
    const n = values.length;
    const bins = Math.max(1, Math.ceil(pixels));
    if (n <= 4 * bins) return null;
    const kept = [0];
    for (let b = 0; b < bins; b++) {
      const from = Math.floor((b * n) / bins);
      const to = Math.floor(((b + 1) * n) / bins);
      let low = from;
      let high = from;
      for (let i = from; i < to; i++) {
        if (!(values[i] >= values[low])) low = i; // a gap is kept too
        if (values[i] > values[high]) high = i;
      }
      kept.push(Math.min(low, high), Math.max(low, high));
    }
    kept.push(n - 1);
    return kept;
  };

  // the path of a curve: place = offset + factor * value on both axes, gaps where a value is not finite
  const path = (x, values, [x0, fx], [y0, fy], pixels) => {
    const kept = thinned(values, pixels);
    const count = kept ? kept.length : values.length;
    const parts = [];
    let pen = "M";
    for (let k = 0; k < count; k++) {
      const i = kept ? kept[k] : k;
      const v = values[i];
      if (!(v - v === 0)) {
        pen = "M";
        continue;
      }
      parts.push(pen + Math.round((x0 + fx * x[i]) * 10) / 10 + " " + Math.round((y0 + fy * v) * 10) / 10);
      pen = "L";
    }
    return parts.join("");
  };

  // places of labels beside each other: as near to their own as a distance of `gap` allows, within [low, high]
  const spread = (wanted, gap, low, high) => {
    const order = wanted.map((_, i) => i).sort((a, b) => wanted[a] - wanted[b]);
    const placed = wanted.slice();
    let edge = low;
    for (const i of order) edge = (placed[i] = Math.max(wanted[i], edge)) + gap;
    edge = high;
    for (const i of order.reverse()) edge = (placed[i] = Math.min(placed[i], edge)) - gap;
    return placed;
  };

  LW.scale = { niceStep, partOfPi, ticks, extent, range, stats, ends, peak, sampleAt, between, thinned, path, spread };
})();
