// LW.machinery(container, DATA, engine): how the mechanism is computed. Cuts, subsystems, loops and their order, the block pattern
// of the generalized inertia constraint matrix, and for the present position the multipliers and the singular values of the loops.
(() => {
  "use strict";
  const COLORS = ["#3f72a8", "#4f9d84", "#8b6fb3", "#c79a1e", "#b4566a", "#3d97b4", "#7d9a3b", "#9c7350", "#62708f", "#a8578f"];
  const SINGULAR = 1e-9; // of a dimensionless singular value: lost
  const CLOSE = 1e-2;
  const SMALL = 0.1;
  const DECADES = 6; // shown of the singular values
  const SMALLEST = 8; // singular values listed
  const MOST = 24; // multipliers listed

  const section = (title, explanation, ...content) => {
    const el = LW.el;
    return el("section", { class: "lw-machine" }, el("h3", { text: title }), el("p", { class: "lw-note", text: explanation }), ...content);
  };

  const chips = (names, color) =>
    LW.el("ul", { class: "lw-chips" }, ...names.map((name) => LW.el("li", { text: name, style: color ? `--tone: ${color}` : null })));

  const plural = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;

  // loop equations that repeat others
  const redundantCount = (topology) => (topology.rows || []).filter((row) => row.redundant).length;

  // of so many singular values those that are zero everywhere: a matrix of more rows than columns has fewer of them than rows to spare
  const spareCount = (topology, values) => Math.max(0, values - ((topology.rows || []).length - redundantCount(topology)));

  const factsText = (topology) => {
    const freedoms = topology.freedoms === undefined ? topology.mobility : topology.freedoms;
    const idle = topology.mobility - freedoms;
    const parts = [`${plural(freedoms, "degree")} of freedom` + (idle > 0 ? ` and ${idle} idle` : "")];
    parts.push(plural((topology.loops || []).length, "loop"), plural((topology.cuts || []).length, "cut"));
    parts.push(redundantCount(topology) ? plural(redundantCount(topology), "redundant constraint") : "no redundant constraint");
    return parts.join(" \u00b7 ");
  };

  const subsystemList = (topology) => {
    const groups = (topology.subsystems || []).map((bodies, i) => {
      const color = COLORS[i % COLORS.length];
      return LW.el("li", { style: `--tone: ${color}` }, LW.el("b", { text: i + 1 }), chips(bodies, color));
    });
    return LW.el("ul", { class: "lw-groups" }, ...groups);
  };

  const numbersOf = ({ subsystems }) => (subsystems || []).map((s) => s + 1).join(", ");

  const loopTable = (topology) => {
    const el = LW.el;
    const row = (loop) => {
      const circuit = el("td", { class: "wrap", text: (loop.joints || []).join(" \u2013 ") });
      return el("tr", {}, el("th", { scope: "row", text: loop.name }), el("td", { text: loop.kind }), circuit, el("td", { text: numbersOf(loop) }));
    };
    const head = ["Loop", "Kind", "Joints", "Subsystems"].map((text) => el("th", { scope: "col", text }));
    return el("div", { class: "lw-scroll" }, el("table", { class: "lw-table" }, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...topology.loops.map(row))));
  };

  const stepText = ({ subsystems, unknowns, size, determinate }) => {
    const which = numbersOf({ subsystems });
    const small = `${size[0]}\u2009\u00d7\u2009${size[1]}`;
    const found = unknowns.join(", ") || "no unknowns left";
    return [`${subsystems.length > 1 ? "Subsystems" : "Subsystem"} ${which}: ${found}`, `${small}${determinate ? "" : ", not square"}`];
  };

  const orderList = (topology) => {
    const item = (step) => {
      const [text, small] = stepText(step);
      return LW.el("li", { text }, LW.el("small", { text: small }));
    };
    return LW.el("ol", { class: "lw-order" }, ...topology.order.map(item));
  };

  // filled cells where blocks couple, names on both sides
  const patternPicture = ({ labels, cells }) => {
    const s = LW.svgEl;
    const n = labels.length;
    const cell = Math.max(9, Math.min(26, 260 / n));
    const named = cell >= 11;
    const margin = named ? 8 + 6.2 * Math.max(...labels.map((l) => l.length)) : 4;
    const size = margin + n * cell + 2;
    const count = cells.flat().filter(Boolean).length;
    const title = `Block pattern: ${count} of ${n * n} blocks are not zero`;
    const svg = s("svg", { class: "lw-pattern", viewBox: `0 0 ${size} ${size}`, width: size, height: size, role: "img", "aria-label": title });
    cells.forEach((row, i) =>
      row.forEach((full, j) => {
        const place = { x: margin + j * cell + 1, y: margin + i * cell + 1, width: cell - 2, height: cell - 2, rx: Math.min(3, cell / 5) };
        const [kind, words] = !full ? ["empty", "zero"] : i === j ? ["own", "own block"] : ["coupled", "coupled"];
        svg.append(s("rect", Object.assign(place, { class: kind }), s("title", { text: `${labels[i]}, ${labels[j]}: ${words}` })));
      }),
    );
    if (named)
      labels.forEach((label, i) => {
        const middle = margin + (i + 0.5) * cell;
        svg.append(s("text", { x: margin - 6, y: middle + 3.5, "text-anchor": "end", text: label }));
        svg.append(s("text", { x: 0, y: 0, transform: `translate(${middle + 3.5} ${margin - 6}) rotate(-90)`, text: label }));
      });
    return LW.el("div", { class: "lw-scroll" }, svg);
  };

  // what the smallest singular value says of the position
  const singularText = (values, spare = 0) => {
    const finite = values.filter((v) => Number.isFinite(v));
    if (!finite.length) return "There are no loop equations here.";
    const lost = finite.filter((v) => v < SINGULAR).length;
    const kept = finite.filter((v) => v >= SINGULAR);
    const smallest = kept.length ? Math.min(...kept) : 0;
    const shown = LW.number(smallest, 2);
    const beside = spare ? ` ${plural(spare, "value is", "values are")} zero everywhere: redundant constraints.` : "";
    if (lost > spare) return `${plural(lost - spare, "value", "values")} lost: this position is singular, branches may meet here.${beside}`;
    if (smallest < CLOSE) return `${shown}: close to a singular position, such as a dead center. Multipliers grow large here.${beside}`;
    if (smallest < SMALL) return `${shown}: not close to a singular position.${beside}`;
    return `${shown}: far from any singular position.${beside}`;
  };

  // part of a bar on a scale of decades below 1, or below the largest if that is larger
  const decadePart = (value, largest) => {
    const top = Math.max(0, Math.log10(Math.max(largest, 1)));
    const part = (Math.log10(Math.max(value, 1e-300)) + DECADES) / (DECADES + top);
    return Math.max(0, Math.min(1, part));
  };

  // a table of names, bars and numbers whose rows are made once
  const barTable = (caption) => {
    const el = LW.el;
    const body = el("tbody");
    const table = el("table", { class: "lw-table lw-bars" }, el("caption", { class: "lw-hidden", text: caption }), body);
    const rest = el("p", { class: "lw-quiet" });
    const rows = [];
    const make = () => {
      const row = { name: el("th", { scope: "row" }), bar: el("i"), value: el("td", { class: "number" }) };
      row.node = el("tr", {}, row.name, el("td", { class: "bar-cell", "aria-hidden": "true" }, el("span", { class: "bar" }, row.bar)), row.value);
      body.append(row.node);
      rows.push(row);
    };
    const update = (items, remark) => {
      LW.setText(rest, remark);
      while (rows.length < items.length) make();
      while (rows.length > items.length) rows.pop().node.remove();
      items.forEach((item, i) => {
        const row = rows[i];
        LW.setText(row.name, item.name);
        LW.setText(row.value, item.text);
        row.node.className = item.mark || "";
        row.bar.className = item.negative ? "negative" : "";
        row.bar.style.transform = `scaleX(${item.part.toFixed(4)})`;
      });
    };
    return { elements: [table, rest], update };
  };

  // equations along an axis have forces, those about an axis moments, the rest (gears, mixed ones) no unit of their own
  const kindOf = (name) => (/\.t[xyz]$/.test(name) ? "force" : /\.r[xyz]$/.test(name) ? "torque" : "");

  // bars are relative to the largest of their kind
  const multiplierItems = (list) => {
    const largest = {};
    for (const m of list) largest[kindOf(m.name)] = Math.max(largest[kindOf(m.name)] || 0, Math.abs(m.value));
    return list.slice(0, MOST).map((m) => {
      const kind = kindOf(m.name);
      const { symbol, size } = LW.unitOf(kind);
      const text = LW.withUnit(LW.fixed(m.value / size, largest[kind] / size), symbol);
      return { name: m.name, text, part: largest[kind] > 0 ? Math.abs(m.value) / largest[kind] : 0, negative: m.value < 0 };
    });
  };

  // the smallest first; zeros of redundant equations are no sign of anything
  const singularItems = (values, spare) => {
    const largest = Math.max(0, ...values);
    return values.slice(0, spare + SMALLEST).map((value, i) => {
      const mark = i < spare ? "spare" : value < SINGULAR ? "lost" : value < CLOSE ? "close" : i === spare ? "smallest" : "";
      const text = i < spare ? "redundant" : value < SINGULAR ? "0" : LW.number(value, 3);
      return { name: String(i + 1), text, part: decadePart(value, largest), mark };
    });
  };

  const redundantText = (topology) => {
    const rows = (topology.rows || []).filter((row) => row.redundant);
    if (!rows.length) return [LW.el("p", { class: "lw-quiet", text: "None: every loop equation is needed." })];
    const why = (Array.isArray(topology.redundant) ? topology.redundant : []).map((text) => LW.el("p", { class: "lw-quiet", text }));
    return [chips(rows.map((row) => row.label)), ...why];
  };

  const WORDS = {
    cuts: "Cut joints are taken out, so that the rest is a spanning tree. Loop equations close them again.",
    subsystems: "Branches of the spanning tree. Each has its own block of the mass matrix.",
    loops: "Closed circuits of joints. Each has equations that hold at all times.",
    order: "Inverse dynamics needs no large matrix: the loads at the cuts and the drives follow step by step.",
    pattern: "Of the generalized inertia constraint matrix: a filled block means that a force closing one cut accelerates the gap at the other.",
    redundant: "Constraints that follow from the others. The loads they carry are statically indeterminate.",
    singular: "Singular values of the dimensionless loop Jacobian, on a logarithmic scale. Zero means a singular position.",
    multipliers: "Constraint forces and moments at the cuts, one for each loop equation.",
  };

  // the parts that do not move
  const still = (topology) => {
    const { cuts = [], subsystems = [], loops = [], order = [], pattern, reason } = topology;
    const parts = [LW.el("p", { class: "lw-facts", text: factsText(topology) })];
    const chosen = reason ? LW.el("p", { class: "lw-quiet", text: `Chosen ${reason}.` }) : null;
    if (cuts.length) parts.push(section("Cuts", WORDS.cuts, chips(cuts), chosen));
    if (subsystems.length) parts.push(section("Subsystems", WORDS.subsystems, subsystemList(topology)));
    if (loops.length) parts.push(section("Loops", WORDS.loops, loopTable(topology)));
    if (order.length) parts.push(section("Solve order", WORDS.order, orderList(topology)));
    if (pattern && pattern.labels.length) parts.push(section("Block pattern", WORDS.pattern, patternPicture(pattern)));
    if (cuts.length) parts.push(section("Redundant constraints", WORDS.redundant, ...redundantText(topology)));
    return parts;
  };

  LW.machinery = (container, data, engine) => {
    const topology = data.topology || { mobility: 0 };
    const singular = barTable("Singular values of the loop equations now");
    const multipliers = barTable("Multipliers now");
    const sentence = LW.el("p", { class: "lw-sentence", role: "note" });
    const root = LW.el("div", { class: "lw-panel lw-machinery" }, ...still(topology));
    const places = {
      singular: section("Singular values now", WORDS.singular, sentence, ...singular.elements),
      multipliers: section("Multipliers now", WORDS.multipliers, ...multipliers.elements),
    };
    root.firstChild.after(places.singular, places.multipliers);
    container.append(root);
    const panel = {
      update() {
        const found = (topology.cuts || []).length ? engine.singular() : null;
        places.singular.hidden = !found || !found.values.length;
        if (!places.singular.hidden) {
          const values = Array.from(found.values);
          const spare = spareCount(topology, values.length);
          const items = singularItems(values, spare);
          const more = values.length - items.length;
          LW.setText(sentence, singularText(values, spare));
          singular.update(items, more > 0 ? `and ${more} larger ones, up to ${LW.number(values[values.length - 1], 3)}` : "");
        }
        const list = (engine.multipliers() || []).filter((m) => Number.isFinite(m.value));
        places.multipliers.hidden = !list.length;
        multipliers.update(multiplierItems(list), list.length > MOST ? `and ${list.length - MOST} more` : "");
      },
    };
    panel.update();
    return panel;
  };

  LW.singularText = singularText;
})();
