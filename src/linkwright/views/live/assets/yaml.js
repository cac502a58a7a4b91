// Changed parameter values as a fragment of the model's file: merged into it, mapping by mapping, it gives the mechanism the page
// shows. No DOM; runs in node.
var LW = globalThis.LW || (globalThis.LW = {});
(() => {
  "use strict";
  const PLAIN = /^[A-Za-z_][A-Za-z0-9_-]*$/;
  const WORDS = /^(y|n|yes|no|on|off|true|false|null)$/i; // YAML reads these as something else than text
  const WIDTH = 56; // characters of a line
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

  const isTree = (value) => value !== null && typeof value === "object";

  // what lies at a path of keys in nested mappings and lists, made on the way
  const at = (tree, path, leaf) => {
    let place = tree;
    path.slice(0, -1).forEach((key, i) => {
      if (!isTree(place[key])) place[key] = typeof path[i + 1] === "number" ? [] : {};
      place = place[key];
    });
    return leaf(place, path[path.length - 1]);
  };

  const put = (tree, path, value) => at(tree, path, (place, key) => (place[key] = value));

  // fills in a value, or the parts of it that are not there yet
  const keep = (tree, path, value) =>
    at(tree, path, (place, key) => {
      if (!isTree(value)) {
        if (place[key] === undefined) place[key] = value;
        return;
      }
      if (place[key] === undefined) place[key] = Array.isArray(value) ? [] : {};
      const keys = Array.isArray(value) ? value.map((_, i) => i) : Object.keys(value);
      for (const inner of keys) keep(place[key], [inner], value[inner]);
    });

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

  // mappings beside each other where they fit in a line, as model files are written, else line by line
  const written = (tree, indent = "") => {
    const lines = [];
    for (const [name, part] of Object.entries(tree)) {
      const line = `${indent}${key(name)}: ${flow(part)}`;
      const mapping = isTree(part) && !Array.isArray(part);
      if (mapping && (indent === "" || line.length > WIDTH)) lines.push(`${indent}${key(name)}:`, ...written(part, `${indent}  `));
      else lines.push(line);
    }
    return lines;
  };

  // the fragment as text; "" if nothing differs
  const changedYaml = (data, values) => {
    const list = changed(data, values);
    const placed = list.filter((p) => p.yaml && p.yaml.length).sort((a, b) => (b.yaml[0] === "parameters") - (a.yaml[0] === "parameters"));
    const tree = {};
    for (const p of placed) put(tree, p.yaml, quantity(p, values[p.name]));
    for (const p of placed) for (const [path, value] of p.keeps || []) keep(tree, path, value);
    const lines = written(tree);
    for (const p of list)
      if (!p.yaml || !p.yaml.length) lines.push(`# ${p.name}: ${quantity(p, values[p.name])} (the file has no single place for this number)`);
    return lines.length ? `${lines.join("\n")}\n` : "";
  };

  LW.changedYaml = changedYaml;
  LW.changedParameters = changed;
  if (typeof module === "object" && module.exports) module.exports = { changedYaml, changedParameters: changed };
})();
