// Changed parameter values as a fragment of the model's file: merged into it, mapping by mapping, it gives the mechanism the page
// shows. No DOM; runs in node.
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

  // {whole, own}: the fragment as nested mappings and lists, and the part of it that are changed values themselves
  const fragment = (list, values) => {
    const placed = list.filter((p) => p.yaml && p.yaml.length).sort((a, b) => Number(b.yaml[0] === "parameters") - Number(a.yaml[0] === "parameters"));
    const whole = {}, own = {};
    for (const p of placed) for (const tree of [whole, own]) put(tree, p.yaml, quantity(p, values[p.name]));
    for (const p of placed) for (const [path, value] of p.keeps || []) keep(whole, path, value);
    return { whole, own };
  };

  // the fragment as text; "" if nothing differs
  const changedYaml = (data, values) => {
    const list = changed(data, values);
    const lines = written(fragment(list, values).whole);
    for (const p of list)
      if (!p.yaml || !p.yaml.length) lines.push(`# ${p.name}: ${quantity(p, values[p.name])} (the file has no single place for this number)`);
    return lines.length ? `${lines.join("\n")}\n` : "";
  };

  // ------------------------------------------------------------------ the model's file with the changed values

  // places: the tree of the file's values with their spans, see source.py; gathers {at: [start, end], text}, false where a change does
  // not fit the way the file is written
  const gather = (text, node, whole, own, edits) =>
    Object.entries(whole).every(([name, value]) => {
      const here = node.entries[name], mine = isTree(own) ? own[name] : undefined;
      if (!here) return insert(text, node, name, value, edits);
      if (isTree(value) && !Array.isArray(value) && here.entries) return gather(text, here, value, mine, edits);
      if (Array.isArray(value) && isTree(mine) && here.items) {
        if (here.items.length !== value.length) return false;
        return mine.every((x, i) => x === undefined || replace(text, here.items[i], x, edits));
      }
      return replace(text, here, value, edits);
    });

  // a number without a unit stays one: it is in the file's unit, as the value's is
  const replace = (text, node, value, edits) => {
    const before = text.slice(...node.at), unitless = NUMBER.test(before.trim()) && !isTree(value);
    const after = unitless ? String(value).split(" ")[0] : flow(value);
    edits.push({ at: node.at, text: before === "" && text[node.at[0] - 1] !== " " ? ` ${after}` : after });
    return node.flow || !(node.entries || node.items); // where a block ends is not known exactly
  };

  // a new entry at the end of a mapping: before its bracket, or in a line of its own below the last one
  const insert = (text, node, name, value, edits) => {
    const entry = `${key(name)}: ${flow(value)}`;
    if (node.flow) {
      const end = node.at[1] - 1, first = /[{,]$/.test(text.slice(0, end).trimEnd()) && !edits.some(({ at: [start] }) => start === end);
      edits.push({ at: [end, end], text: first ? entry : `, ${entry}` });
      return true;
    }
    const line = text.indexOf("\n", lastOf(node)), newline = text.includes("\r\n") ? "\r\n" : "\n", end = line < 0 ? text.length : line - newline.length + 1;
    edits.push({ at: [end, end], text: `${newline}${" ".repeat(node.column)}${entry}` });
    return Object.keys(node.entries).length > 0;
  };

  // where the last value of a node ends: the end of a block is only known by what follows it
  const lastOf = (node) => {
    const inner = node.entries ? Object.values(node.entries) : node.items || [];
    return node.flow || !inner.length ? node.at[1] : Math.max(...inner.map(lastOf));
  };

  const applied = (text, edits) => {
    const order = edits.map((edit, i) => ({ ...edit, i })).sort((a, b) => b.at[0] - a.at[0] || b.i - a.i);
    return order.reduce((out, { at: [start, end], text: put }) => out.slice(0, start) + put + out.slice(end), text);
  };

  // the changed values in the model written out, where some have no single place in the file; null where that cannot be either
  const inPlain = (plain, list, values) => {
    const sums = new Map();
    for (const p of list) {
      const edits = plain && plain.edits[p.name];
      if (!edits) return null;
      for (const [start, end, number, slope] of edits) {
        const known = sums.get(start) || { at: [start, end], value: number };
        known.value += slope * (values[p.name] - p.value);
        sums.set(start, known);
      }
    }
    return applied(plain.text, Array.from(sums.values(), ({ at: span, value }) => ({ at: span, text: String(Number(value.toPrecision(14))) })));
  };

  // "coupler 150 -> 160 mm" of every changed value
  const changeTexts = (data, values) =>
    changed(data, values).map((p) => `${p.label || p.name} ${quantity(p, p.value).split(" ")[0]} -> ${quantity(p, values[p.name])}`);

  // "coupler-160mm": what a file's name says of the changes
  const changeName = (data, values) => {
    const list = changed(data, values), plain = (text) => text.replace(/[^\w.-]+/g, "-");
    if (!list.length) return "";
    return list.length > 2 ? `${list.length}-changes` : list.map((p) => plain(`${p.label || p.name}-${quantity(p, Number(values[p.name].toPrecision(6))).replace(/ /g, "")}`)).join("-");
  };

  // {text, file}: the model's file of the design that is shown: the user's own text with the changed numbers in place
  const changedModel = (data, values) => {
    const { text, file, places, plain } = data.model, list = changed(data, values);
    if (!list.length) return { text, file };
    // the design after, as Python writes it: with everything that follows from its numbers
    const { model: exact, values: ends = {} } = data.designs || {};
    if (exact && data.parameters.every((p) => values[p.name] === ends[p.name])) return { text: exact, file: file.replace(/(\.ya?ml)?$/, (ending) => `-${data.designs.after.toLowerCase().replace(/[^\w.-]+/g, "-")}${ending || ".yaml"}`) };
    const edits = [], { whole, own } = fragment(list, values), head = [`Changed in the page: ${changeTexts(data, values).join("; ")}.`];
    const fits = places && list.every((p) => p.yaml && p.yaml.length) && gather(text, places, whole, own, edits);
    const made = fits ? applied(text, edits) : inPlain(plain, list, values);
    if (made === null) throw new Error("some changed values cannot be written into the model's file. Copy them instead");
    if (!fits && places) head.push(`Written out from ${file}, which has no single place for these numbers.`);
    const name = file.replace(/(\.ya?ml)?$/, (ending) => `-${changeName(data, values)}${ending || ".yaml"}`);
    const newline = text.includes("\r\n") ? "\r\n" : "\n";
    return { text: `${head.map((x) => `# ${x.replace(/[\r\n]+/g, " ")}${newline}`).join("")}${made}`, file: name };
  };

  const made = { changedYaml, changedParameters: changed, changedModel, changeTexts, changeName };
  Object.assign(LW, made);
})();
