// A target curve from a CSV file: LW.table(text) reads it, LW.targets(text, file, app, chosen, axis) finds out which channels are meant. Columns are named
// as the page names them, "C.slide [mm]", the first is the place; without a header there are two columns, in the units that are shown.
(() => {
  "use strict";
  const TURN = 2 * Math.PI;
  const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;

  // {names, units, columns} of comma, semicolon or tab separated numbers; a decimal comma where the comma does not separate
  /** @type {Linkwright["table"]} */
  LW.table = (text) => {
    const lines = text.replace(/^\ufeff/, "").split(/\r?\n/).map((line) => line.trim()).filter((line) => line && !line.startsWith("#"));
    if (!lines.length) throw new Error("the file is empty");
    const mark = lines[0].includes("\t") ? "\t" : lines.some((line) => line.includes(";")) ? ";" : ",";
    /** @param {string} cell */
    const plain = (cell) => { const bare = cell.trim().replace(/^"(.*)"$/, "$1").replace(/[\u2212\u2013]/g, "-"); return mark === "," ? bare : bare.replace(",", "."); };
    const rows = lines.map((line) => line.split(mark).map(plain)), width = rows[0].length;
    if (width < 2) throw new Error("the file has one column. A target needs a place and a value in every row");
    const headed = rows[0].some((cell) => cell !== "" && !NUMBER.test(cell));
    const head = headed ? lines[0].split(mark).map((cell) => cell.trim().replace(/^"(.*)"$/, "$1").replace(/^'/, "")) : rows[0].map(() => "");
    const found = head.map((cell) => /^(.*?)\s*[[(](.*)[\])]$/.exec(cell) || [cell, cell, ""]);
    const columns = rows[0].map(() => /** @type {number[]} */ ([]));
    rows.slice(headed ? 1 : 0).forEach((row, k) => {
      const line = k + (headed ? 2 : 1);
      if (row.length !== width) throw new Error(`line ${line} has ${row.length} cells, the first line ${width}`);
      row.forEach((cell, i) => {
        if (cell !== "" && !NUMBER.test(cell)) throw new Error(`line ${line}: '${cell.slice(0, 20)}' is not a number`);
        columns[i].push(cell === "" ? NaN : Number(cell));
      });
    });
    return { names: found.map((x) => x[1].trim()), units: found.map((x) => x[2].trim()), columns };
  };

  // size in SI of a unit that was written for a kind of quantity; the shown one where none was
  /** @type {(kind: string, symbol: string) => number} */
  const sizeOf = (kind, symbol) => {
    const own = LW.unitOf(kind), found = LW.parsed(`1 ${symbol}`, { kind, symbol: own.symbol, size: own.size });
    if (found.value === undefined) throw new Error(`the unit '${symbol}' is not allowed for this column. It can be ${own.symbol || "without a unit"}`);
    return found.value;
  };

  // [{channel, s (real sample numbers, rising), values (SI), file}] and what was left out; `chosen` is meant where there are no names
  /** @type {Linkwright["targets"]} */
  LW.targets = (text, file, app, chosen) => {
    const { engine: e } = app, law = /** @type {Law} */ (e.law), { names, units, columns } = LW.table(text), { channels } = e;
    const over = names[0] === "time" ? "t" : names[0] || law.over.name, along = over === "t" || over === law.over.name ? over : "";
    if (!along && !channels.get(over)) throw new Error(`the header names the first column '${names[0]}'. It is the place along the cycle. Name it '${law.over.name} [${LW.unitOf((channels.get(law.over.name) || { kind: "angle" }).kind).symbol}]' or 't [s]'`);
    const first = channels.get(over), kind = first ? first.kind : "time", size = sizeOf(kind, units[0]);
    const places = over === law.over.name ? law.x : channels.read(over), low = Math.min(places[0], places[places.length - 1]), high = Math.max(places[0], places[places.length - 1]);
    if (!LW.monotone(places)) throw new Error(`${over} moves back and forth over the cycle. A target is given over ${law.over.name} or t`);
    const slack = 1e-9 * (high - low);
    // angles of a full turn may be given from 0 or from the start
    /** @param {number} x */
    const within = (x) => (law.full_turn && kind === "angle" && !(x >= low - slack && x <= high + slack) ? x - TURN * Math.floor((x - low + slack) / TURN) : x);
    const at = columns[0].map((x) => within(x * size)), inside = at.map((x) => x >= low - slack && x <= high + slack);
    /** @type {TargetCurve[]} */
    const out = [];
    for (let i = 1; i < columns.length; i++) {
      const name = names[i] || chosen;
      if (!name) throw new Error("choose a channel first: the file does not name one");
      const channel = channels.get(name);
      if (!channel) throw new Error(`there is no channel '${name}'. Name the column as in the list of channels, for example '${chosen || channels.list[1].name}'`);
      const unit = sizeOf(channel.kind, units[i]);
      const points = at.map((x, k) => /** @type {[number, number]} */ ([LW.scale.sampleAt(places, x), columns[i][k] * unit])).filter(([s, y], k) => inside[k] && Number.isFinite(s + y));
      points.sort((a, b) => a[0] - b[0]);
      if (points.length < 2) throw new Error(`fewer than two of its places are within the cycle, ${LW.number(low / LW.unitOf(kind).size)} to ${LW.number(high / LW.unitOf(kind).size)} ${LW.unitOf(kind).symbol}`);
      out.push({ channel: name, s: Float64Array.from(points, (p) => p[0]), values: Float64Array.from(points, (p) => p[1]), file, left: columns[0].length - points.length });
    }
    return out;
  };

  LW.monotone = (values) => {
    const sign = Math.sign(values[values.length - 1] - values[0]);
    for (let i = 1; i < values.length; i++) if (!((values[i] - values[i - 1]) * sign > 0)) return false;
    return true;
  };

  // {max, rms, s}: how far a curve is from its target at the places of that
  /** @type {Linkwright["deviation"]} */
  LW.deviation = (target, values) => {
    let max = 0, s = NaN, sum = 0, count = 0;
    target.s.forEach((place, k) => {
      const d = LW.scale.between(values, place) - target.values[k];
      if (!Number.isFinite(d)) return;
      if (!(Math.abs(d) <= Math.abs(max)) || count === 0) [max, s] = [d, place];
      sum += d * d;
      count++;
    });
    return { max, s, rms: count ? Math.sqrt(sum / count) : NaN, count };
  };
})();
