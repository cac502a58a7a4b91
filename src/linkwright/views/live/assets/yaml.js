// Changed parameter values as a fragment of the model's file: merged into it, mapping by mapping, it gives the mechanism the page
// shows. No DOM; runs in node.
var LW = globalThis.LW || (globalThis.LW = {});
(() => {
  "use strict";
  const PLAIN = /^[A-Za-z_][A-Za-z0-9_-]*$/;
  const WORDS = /^(y|n|yes|no|on|off|true|false|null)$/i; // YAML reads these as something else than text
  const NUMBER = /^[-+]?\d+(\.\d*)?$/;

  // a value in its unit, to twelve digits
  const quantity = (parameter, value) => {
    const number = String(Number((value / parameter.size).toPrecision(12)));
    const symbol = parameter.symbol;
    return symbol && symbol !== "-" ? `${number} ${symbol}` : number;
  };

  const isChanged = (parameter, values) => {
    const value = values[parameter.name];
    return Number.isFinite(value) && Math.abs(value - parameter.value) > 1e-12 * Math.max(Math.abs(parameter.value), Math.abs(value));
  };

  // the parameters whose values differ from the file's
  const changed = (data, values) => (data.parameters || []).filter((p) => isChanged(p, values || {}));

  const copied = (value) => (value && typeof value === "object" ? JSON.parse(JSON.stringify(value)) : value);

  // puts a value at a path of keys into nested mappings and lists; what is there already is kept, unless `over`
  const put = (tree, path, value, over) => {
    let place = tree;
    path.slice(0, -1).forEach((key, i) => {
      if (place[key] === undefined || typeof place[key] !== "object") place[key] = typeof path[i + 1] === "number" ? [] : {};
      place = place[key];
    });
    const last = path[path.length - 1];
    if (over || place[last] === undefined) place[last] = copied(value);
  };

  const scalar = (value) => {
    const text = String(value);
    if (NUMBER.test(text)) return text;
    return /^[-+A-Za-z0-9_.][-+A-Za-z0-9_ .^*/()]*$/.test(text) && !WORDS.test(text) ? text : JSON.stringify(text);
  };

  const key = (name) => (PLAIN.test(name) && !WORDS.test(name) ? name : JSON.stringify(String(name)));

  const flow = (value) => {
    if (Array.isArray(value)) return `[${value.map(flow).join(", ")}]`;
    if (value && typeof value === "object")
      return `{${Object.entries(value)
        .map(([k, v]) => `${key(k)}: ${flow(v)}`)
        .join(", ")}}`;
    return scalar(value);
  };

  // two levels of lines, the rest beside each other, as model files are written
  const written = (tree) => {
    const lines = [];
    for (const [name, part] of Object.entries(tree)) {
      if (part && typeof part === "object" && !Array.isArray(part)) {
        lines.push(`${key(name)}:`);
        for (const [inner, value] of Object.entries(part)) lines.push(`  ${key(inner)}: ${flow(value)}`);
      } else lines.push(`${key(name)}: ${flow(part)}`);
    }
    return lines;
  };

  // the fragment as text; "" if nothing differs
  const changedYaml = (data, values) => {
    const list = changed(data, values);
    const tree = {};
    const named = list.filter((p) => p.yaml && p.yaml.length);
    for (const p of named) for (const [path, value] of p.keeps || []) put(tree, path, value, false);
    for (const p of named) put(tree, p.yaml, quantity(p, values[p.name]), true);
    const lines = written(tree);
    for (const p of list)
      if (!p.yaml || !p.yaml.length) lines.push(`# ${p.name}: ${quantity(p, values[p.name])} (the file has no single place for this number)`);
    return lines.length ? `${lines.join("\n")}\n` : "";
  };

  LW.changedYaml = changedYaml;
  LW.changedParameters = changed;
  if (typeof module === "object" && module.exports) module.exports = { changedYaml, changedParameters: changed };
})();
