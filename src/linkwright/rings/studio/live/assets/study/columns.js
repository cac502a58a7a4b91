// Columns of the study: numbers with the digits that their spread needs, their extremes, and the colors of a map.
//   column: {name, symbol, values}; values are in the unit shown, NaN where a design has none
(() => {
  "use strict";
  const study = {};
  const numbered = (c) => Object.assign({}, c, { values: c.values.map((v) => (v === null ? NaN : v)) });

  study.axes = STUDY.axes.map(numbered);
  study.variables = STUDY.variables.map(numbered);
  study.measures = STUDY.measures.map(numbered);
  study.count = STUDY.rows.length;
  study.reasonOf = (i) => (STUDY.rows[i] < 0 ? "not computed" : i in STUDY.failed ? STUDY.reasons[STUDY.failed[i]] : "");
  study.unknownOf = (i) => (STUDY.unknown && i in STUDY.unknown ? STUDY.reasons[STUDY.unknown[i]] : "");

  // digits that show a thousandth of the spread: 200.013 of 200 +- 0.1
  const digitsOf = (c) => {
    const [low, high] = LW.scale.extent([c.values]) || [0, 0];
    const most = Math.max(Math.abs(low), Math.abs(high));
    if (!(high > low)) return { digits: 0, most };
    return { digits: Math.min(12, Math.max(4, Math.ceil(Math.log10(most / (high - low))) + 3)), most };
  };
  const cached = new Map();
  study.number = (c, value) => {
    if (STUDY.workspace && Number.isFinite(value)) return LW.number(value, 4);
    if (!cached.has(c)) cached.set(c, digitsOf(c));
    const { digits, most } = cached.get(c);
    return digits || !Number.isFinite(value) ? LW.fixed(value, most, digits || 4) : LW.number(value, 6).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
  };
  study.text = (c, value) => (Number.isFinite(value) ? LW.withUnit(study.number(c, value), c.symbol) : "\u2013");
  study.label = (c) => {
    const unit = LW.unit(c.symbol);
    return unit ? `${c.name}, ${unit}` : c.name;
  };

  // places of the least and greatest value; null where there is none
  study.extremes = (c) => {
    let low = -1;
    let high = -1;
    c.values.forEach((v, i) => {
      if (!Number.isFinite(v)) return;
      if (low < 0 || v < c.values[low]) low = i;
      if (high < 0 || v > c.values[high]) high = i;
    });
    return low < 0 ? null : { low, high };
  };

  const parts = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  const RAMP = STUDY.ramp.map(parts);
  // the color of a share from 0 to 1
  study.color = (share) => {
    const x = Math.min(1, Math.max(0, share)) * (RAMP.length - 1);
    const i = Math.min(RAMP.length - 2, Math.floor(x));
    return `rgb(${RAMP[i].map((a, k) => Math.round(a + (x - i) * (RAMP[i + 1][k] - a))).join(",")})`;
  };
  // ends of the colors of a column: those of its values, or given ones; logarithmic where it says so
  study.range = (c) => {
    const [low, high] = c.range || LW.scale.extent([c.values]) || [0, 0];
    const size = c.log ? Math.log : (v) => v;
    const [a, b] = [size(low), size(high)];
    return { low, high, middle: c.log ? Math.sqrt(low * high) : (low + high) / 2, share: (v) => (high > low ? (size(v) - a) / (b - a) : 0.5) };
  };
  study.shade = (c) => {
    const { share } = study.range(c);
    return (v) => study.color(share(v));
  };
  const many = (n, one, several) => `${n.toLocaleString("en")} ${n === 1 ? one : several}`;
  study.thing = STUDY.workspace ? "pose" : "design";
  study.designs = (n) => many(n, study.thing, `${study.thing}s`);

  LW.study = study;
})();
