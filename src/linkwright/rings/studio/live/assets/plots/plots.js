// LW.plot(container, spec): curves over the cycle or over time as SVG. Its cursor moves every frame, a click, a drag or the arrow
// keys seek. A new spec changes one path attribute per curve, and the axes only where their ticks differ.
//   spec: {title, x: {values, label, symbol, size, say(x)}, y: {label, symbol, size, least}, curves: [{name, values, x, color, faint, dashed, target, gaps, stats}],
//          key (words for what is gray), marks: [{x, text, title}], cursor, height, stats, extremes, onSeek(x)}
// A curve may have places `x` of its own (a target). Where x.values go back and forth (x.free: another channel), the cursor is a sample.
// Values are in the units of x.values; shown are value / size.
(() => {
  "use strict";
  const COLORS = ["#3f72a8", "#e06a32", "#4f9d84", "#8b6fb3", "#c79a1e", "#b4566a", "#3d97b4", "#7d9a3b", "#9c7350", "#a8578f"];
  const CHARACTER = 6.3; // pixels of a digit at the size of the tick labels
  const LINE = 14; // distance of labels
  const MANY = 5; // more curves get a legend instead of labels beside them
  const NARROW = 420; // pixels: no room for labels beside the curves
  const TICK = 30; // pixels that a label below the axis needs
  const TURN = 2 * Math.PI;
  const LEVEL = 1e-6; // of the plot's height: a curve that varies less has no extremes
  let count = 0;

  const sizeOf = (axis) => (axis && axis.size) || 1;
  const live = (spec) => spec.curves.filter((c) => !c.faint && !c.target);
  const colorOf = (spec, curve, number) => curve.color || (live(spec).length > 1 ? COLORS[number % COLORS.length] : "var(--accent)");
  const axisName = (axis, exponent = 0) => {
    const unit = (exponent ? `10${LW.raised(exponent)}\u00a0` : "") + LW.unit(axis.symbol);
    return [axis.label, unit].filter((part) => part).join(", ");
  };

  const build = (container) => {
    const el = LW.el;
    const s = LW.svgEl;
    const id = `lw-plot-${++count}`;
    const dom = {
      title: el("h3", { id }),
      unit: el("span", { class: "lw-plot-unit" }),
      stats: el("p", { class: "lw-plot-stats" }),
      legend: el("ul", { class: "lw-plot-legend" }),
      grid: s("path", { class: "grid" }),
      zero: s("path", { class: "zero" }),
      ticks: s("g", { class: "ticks" }),
      marks: s("g", { class: "marks" }),
      curves: s("g", { class: "curves" }),
      peaks: s("g", { class: "peaks" }),
      labels: s("g", { class: "labels" }),
      key: s("g", { class: "key" }, s("path"), s("text")),
      frame: s("rect"),
      line: s("path", { class: "cursor-line" }),
      dots: s("g", { class: "cursor-dots" }),
      tag: s("text", { class: "cursor-tag", y: 11, "text-anchor": "middle" }),
    };
    dom.cursor = s("g", { class: "cursor", visibility: "hidden" }, dom.line, dom.dots, dom.tag);
    const clip = s("clipPath", { id: `${id}-frame` }, dom.frame);
    for (const group of [dom.curves, dom.peaks, dom.dots]) group.setAttribute("clip-path", `url(#${id}-frame)`);
    const parts = [clip, dom.grid, dom.zero, dom.ticks, dom.marks, dom.curves, dom.peaks, dom.labels, dom.key, dom.cursor];
    dom.svg = s("svg", { class: "lw-plot-svg", role: "slider", tabindex: 0, "aria-labelledby": id }, ...parts);
    dom.head = el("div", { class: "lw-plot-head" }, el("div", { class: "lw-plot-title" }, dom.title, dom.unit), dom.stats);
    dom.root = el("div", { class: "lw-plot" }, dom.head, dom.legend, dom.svg);
    container.append(dom.root);
    return dom;
  };

  // keeps as many children as there are items
  const resize = (group, number, make) => {
    while (group.childNodes.length > number) group.lastChild.remove();
    while (group.childNodes.length < number) group.append(make());
    return Array.from(group.childNodes);
  };

  // what the y axis must hold: peaks near a singular position would flatten everything else, so they may leave the plot
  const boundedValues = (curve) => (curve.bounded ? curve.values.map((v, i) => (curve.bounded(i) ? v : NaN)) : curve.values);

  // places of everything for a width: margins by the length of the labels, ticks, linear maps
  const layout = (spec, width) => {
    const height = spec.height || Math.round(Math.min(230, Math.max(176, 0.36 * width)));
    const shownLive = live(spec);
    const beside = shownLive.length > 1 && shownLive.length <= MANY && width >= NARROW;
    const [xLow, xHigh] = LW.scale.extent([spec.x.values, ...spec.curves.flatMap((c) => (c.x && spec.x.free ? [c.x] : []))]) || [0, 1];
    const [yLow, yHigh] = LW.scale.range(spec.curves.map(boundedValues), spec.y.least);
    const sy = sizeOf(spec.y);
    const top = 20;
    const bottom = height - 36;
    const yTicks = LW.scale.ticks(yLow / sy, yHigh / sy, Math.max(2, Math.round((bottom - top) / 28)), spec.y.symbol);
    const left = 10 + CHARACTER * Math.max(2, ...yTicks.labels.map((t) => t.length));
    const longest = Math.max(0, ...shownLive.map((c) => (c.name || "").length));
    const right = width - (beside ? 14 + 6 * (longest + 8) : 12);
    const xTicks = placeTicks(spec.x, xLow, xHigh, right - left);
    const fx = xHigh > xLow ? (right - left) / (xHigh - xLow) : 0;
    const fy = -(bottom - top) / (yHigh - yLow);
    const box = { width, height, left, right, top, bottom, beside, xTicks, yTicks };
    return Object.assign(box, { xLow, xHigh, yLow, yHigh, toX: [left - fx * xLow, fx], toY: [bottom - fy * yLow, fy] });
  };

  const on = ([offset, factor], value) => Math.round((offset + factor * value) * 10) / 10;

  // a place of the x axis as it is said: angles of a full turn from 0 up to 360 degrees
  const said = (axis, x) => (axis.say ? axis.say(x) : x);
  const isWhole = (axis) => Boolean(axis.say) && axis.say(-sizeOf(axis)) !== -sizeOf(axis); // a full turn: -1 is said as 359

  // a place as a number without its unit, all of one axis with the same decimals
  LW.placeNumber = (axis, x, digits = 3) => {
    const { values } = axis, size = sizeOf(axis), whole = isWhole(axis);
    const ends = axis.free ? LW.scale.extent([values]) || [0, 0] : [values[0], values[values.length - 1]];
    const reference = whole ? TURN / size : Math.max(Math.abs(ends[0]), Math.abs(ends[1])) / size;
    const shown = LW.fixed(said(axis, x) / size, reference, digits);
    return whole && shown === LW.fixed(reference, reference, digits) ? LW.fixed(0, reference, digits) : shown; // 359.97 is 0
  };

  // ticks of the x axis; those of a full turn are said within it, and its beginning and end are labeled
  const placeTicks = (axis, low, high, wide) => {
    const size = sizeOf(axis), sign = axis.symbol === "deg" ? "\u00b0" : "";
    const found = LW.scale.ticks(low / size, high / size, Math.max(2, Math.floor(wide / 58)), axis.symbol, true);
    if (!isWhole(axis)) return { ...found, labels: found.labels.map((text) => text + sign) };
    const room = (TICK / wide) * ((high - low) / size), ends = [low / size, high / size];
    const inner = found.values.filter((v) => v - ends[0] > room && ends[1] - v > room);
    const named = (v) => (axis.symbol === "rad" ? LW.scale.partOfPi(said(axis, v * size)) : LW.placeNumber(axis, v * size));
    const exact = (v) => found.values.some((x) => Math.abs(x - v) < 1e-6 * (high - low) / size);
    const label = (v) => (exact(v) ? named(v) : LW.placeNumber(axis, v * size)) + sign;
    const values = [ends[0], ...inner, ends[1]];
    return { ...found, values, labels: values.map(label) };
  };

  const drawAxes = (dom, spec, box) => {
    const { left, right, top, bottom, xTicks, yTicks } = box;
    const key = JSON.stringify([box.width, box.height, left, right, xTicks, yTicks, spec.x.label, spec.x.symbol]);
    if (dom.axes === key && dom.maps === `${box.toX}|${box.toY}`) return;
    dom.axes = key;
    dom.maps = `${box.toX}|${box.toY}`;
    dom.svg.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
    dom.svg.setAttribute("height", box.height);
    const xs = xTicks.values.map((v) => on(box.toX, v * sizeOf(spec.x)));
    const ys = yTicks.values.map((v) => on(box.toY, v * sizeOf(spec.y)));
    const margin = 6; // line widths and dots at the ends
    for (const [name, value] of Object.entries({ x: left - margin, y: top - margin, width: right - left + 2 * margin, height: bottom - top + 2 * margin })) dom.frame.setAttribute(name, value);
    const across = ys.map((y) => `M${left} ${y}H${right}`);
    dom.grid.setAttribute("d", [...across, ...xs.map((x) => `M${x} ${bottom}v4`), `M${left} ${bottom}H${right}`].join(""));
    dom.zero.setAttribute("d", box.yLow <= 0 && box.yHigh >= 0 ? `M${left} ${on(box.toY, 0)}H${right}` : "");
    const texts = [
      ...xs.map((x, i) => [x, bottom + 16, "middle", xTicks.labels[i]]),
      ...ys.map((y, i) => [left - 7, y + 3.5, "end", yTicks.labels[i]]),
      [right, bottom + 32, "end", axisName(spec.x.symbol === "deg" ? { label: spec.x.label } : spec.x, xTicks.exponent)],
    ];
    resize(dom.ticks, texts.length, () => LW.svgEl("text")).forEach((node, i) => {
      const [x, y, anchor, text] = texts[i];
      node.setAttribute("x", x);
      node.setAttribute("y", y);
      node.setAttribute("text-anchor", anchor);
      LW.setText(node, text);
    });
  };

  const drawCurves = (dom, spec, box) => {
    const order = [...spec.curves.keys()].sort((a, b) => (spec.curves[b].faint ? 1 : 0) - (spec.curves[a].faint ? 1 : 0));
    const shownLive = live(spec);
    const paths = resize(dom.curves, order.length, () => LW.svgEl("path"));
    order.forEach((which, k) => {
      const curve = spec.curves[which];
      const path = paths[k];
      const number = curve.faint ? spec.curves.filter((c) => c.faint).indexOf(curve) : shownLive.indexOf(curve);
      path.setAttribute("class", `curve${curve.faint ? " faint" : ""}${curve.target ? " target" : ""}${curve.dashed ? " dashed" : ""}`);
      path.style.stroke = curve.target || (curve.faint && !curve.color && shownLive.length < 2) ? "" : colorOf(spec, curve, number);
      path.setAttribute("d", LW.scale.path(curve.x || spec.x.values, curve.gaps ? boundedValues(curve) : curve.values, box.toX, box.toY, box.right - box.left));
    });
  };

  // {max, x, rms} of every curve: what is given with it, else over the axis
  const statsOf = (spec) => {
    const given = (c) => Object.fromEntries(Object.entries(c.stats || {}).filter(([, value]) => Number.isFinite(value) || typeof value === "boolean" || typeof value === "string"));
    return live(spec).map((c) => Object.assign({}, LW.scale.stats(spec.x.values, c.values), given(c)));
  };

  // the largest values as dots, and in words
  const drawStats = (dom, spec, box) => {
    const curves = spec.stats === false ? [] : live(spec);
    const all = curves.length ? statsOf(spec) : [];
    const found = all.filter((s) => Number.isFinite(s.max) && Number.isFinite(s.x));
    const few = curves.length <= 2 && found.length === curves.length ? found.map((s, i) => ({ x: s.x, y: s.max, curve: i })) : [];
    const level = (c) => { const ends = LW.scale.ends(c.values); return ends.length < 2 || ends[1].value - ends[0].value <= LEVEL * (box.yHigh - box.yLow); };
    const marked = spec.extremes ? curves.flatMap((c, i) => (level(c) ? [] : LW.scale.ends(c.values)).map((end) => ({ x: LW.scale.between(spec.x.values, end.s), y: end.value, curve: i }))) : few;
    resize(dom.peaks, marked.length, () => LW.svgEl("circle", { r: 3 }, LW.svgEl("title"))).forEach((dot, i) => {
      dot.setAttribute("cx", on(box.toX, marked[i].x));
      dot.setAttribute("cy", on(box.toY, marked[i].y));
      dot.style.stroke = colorOf(spec, curves[marked[i].curve], marked[i].curve);
      LW.setText(dot.firstChild, `${valueText(spec, marked[i].y)} at ${placeText(spec, marked[i].x)}`);
    });
    LW.setText(dom.stats, found.length !== 1 ? "" : spec.extremes ? endsText(spec, curves[0], found[0]) : statsText(spec, found[0]));
    dom.stats.classList.toggle("doubtful", found.length === 1 && Boolean(found[0].doubtful));
  };

  const placeText = (spec, x, digits) => LW.withUnit(LW.placeNumber(spec.x, x, digits), spec.x.symbol);

  // the value of largest amount: of a curve below zero that is its minimum
  const extreme = (found) => (found.max < 0 ? "min" : "max");

  // what samples leave open about an extreme, in brackets
  const openText = (spec, value, error) => { const text = LW.samplingText(value, error || 0, (v) => valueText(spec, v)); return text ? ` (${text})` : ""; };

  const valueText = (spec, v) => LW.withUnit(LW.number(v / sizeOf(spec.y)), spec.y.symbol);

  // the least and the greatest value of a curve and where they are; of one that grows without bound only that it does
  const endsText = (spec, curve, found) => {
    if (found.doubtful) return statsText(spec, found);
    const [low, high] = LW.scale.ends(curve.values);
    if (high === undefined) return low === undefined ? "" : `${valueText(spec, low.value)} throughout`;
    const extremeAt = (word, end) => `${word} ${valueText(spec, end.value)} at ${placeText(spec, LW.scale.between(spec.x.values, end.s))}${openText(spec, end.value, end.error)}`;
    return `${extremeAt("min", low)} \u00a0\u00b7\u00a0 ${extremeAt("max", high)}`;
  };

  const statsText = (spec, found) => {
    const value = (v) => valueText(spec, v);
    if (Math.abs(found.max) <= (spec.y.least || 0) / 2) return "zero over the whole cycle";
    // a root mean square over a peak without bound has none either
    if (found.doubtful) return `${value(found.max)} at ${placeText(spec, found.x)}, ${typeof found.doubtful === "string" ? found.doubtful : "near a singular position"}: depends on the sample distance`;
    return `${extreme(found)} ${value(found.max)} at ${placeText(spec, found.x)}${openText(spec, found.max, found.error)} \u00a0\u00b7\u00a0 RMS\u00a0${value(found.rms)}`;
  };

  const drawMarks = (dom, spec, box) => {
    const marks = (spec.marks || []).filter((m) => m.x >= box.xLow && m.x <= box.xHigh);
    const groups = resize(dom.marks, marks.length, () => LW.svgEl("g", {}, LW.svgEl("path"), LW.svgEl("text"), LW.svgEl("title")));
    let free = -Infinity; // text only where the one before leaves room; the title always tells
    marks.forEach((mark, i) => {
      const [line, text, title] = groups[i].childNodes;
      const x = on(box.toX, mark.x);
      const wide = 5.4 * mark.text.length;
      const flip = x + wide + 6 > box.right;
      const start = flip ? x - wide - 4 : x + 4;
      const shown = start > free && start > box.left;
      if (shown) free = start + wide + 8;
      line.setAttribute("d", `M${x} ${box.top}V${box.bottom}`);
      text.setAttribute("x", flip ? x - 4 : x + 4);
      text.setAttribute("y", box.bottom - 5);
      text.setAttribute("text-anchor", flip ? "end" : "start");
      LW.setText(text, shown ? mark.text : "");
      LW.setText(title, mark.title || mark.text);
    });
  };

  // names beside the ends of the curves, or a legend above; both show the values at the cursor
  const drawNames = (dom, spec, box) => {
    const curves = live(spec);
    const ends = curves.map((c) => {
      let i = c.values.length - 1;
      while (i > 0 && !Number.isFinite(c.values[i])) i--;
      const y = on(box.toY, c.values[i]);
      return Number.isFinite(y) ? y : box.bottom;
    });
    const places = LW.scale.spread(ends, LINE, box.top + 2, box.bottom - 2);
    dom.values = resize(dom.labels, box.beside ? curves.length : 0, () => LW.svgEl("text"));
    dom.values.forEach((node, i) => {
      node.setAttribute("x", box.right + 8);
      node.setAttribute("y", places[i] + 3.5);
      node.style.fill = colorOf(spec, curves[i], i);
      node.textContent = curves[i].name || "";
    });
    drawLegend(dom, spec, box);
    // below the axis, where it moves nothing when it comes and goes
    dom.key.setAttribute("visibility", spec.curves.some((c) => c.faint) ? "visible" : "hidden");
    LW.setText(dom.key.lastChild, spec.key || "gray: original file");
    dom.key.firstChild.setAttribute("d", `M${box.left} ${box.bottom + 28}h16`);
    dom.key.lastChild.setAttribute("x", box.left + 22);
    dom.key.lastChild.setAttribute("y", box.bottom + 32);
  };

  // one item for each of several curves: its name and value at the cursor, unless they are beside it, and its largest value and root
  // mean square where they are given with it; numbers are in the unit beside the title
  const drawLegend = (dom, spec, box) => {
    const curves = live(spec);
    const withStats = curves.length > 1 && spec.stats !== false && curves.some((c) => c.stats);
    const listed = curves.length > 1 && (withStats || !box.beside) ? curves.filter((c) => c.name) : [];
    const found = withStats ? statsOf(spec) : [];
    const unit = sizeOf(spec.y) * 10 ** box.yTicks.exponent;
    const shown = (v) => LW.number(v / unit);
    const parts = () => ["i", "span", "output", "small", "small"].map((tag) => LW.el(tag));
    dom.items = resize(dom.legend, listed.length, () => LW.el("li", {}, ...parts()));
    dom.legend.hidden = !listed.length;
    dom.legend.classList.toggle("with-stats", withStats);
    dom.legend.classList.toggle("beside", box.beside);
    dom.items.forEach((item, i) => {
      const [swatch, name, value, max, rms] = item.childNodes;
      const number = curves.indexOf(listed[i]);
      const stats = found[number] && Number.isFinite(found[number].max) ? found[number] : null;
      swatch.style.background = colorOf(spec, listed[i], number);
      LW.setText(name, listed[i].name);
      value.hidden = box.beside;
      const doubtful = Boolean(stats && stats.doubtful);
      LW.setText(max, stats ? `${extreme(stats)}\u00a0${shown(stats.max)}${doubtful ? "*" : ""}` : "");
      max.title = stats ? `largest amount at ${placeText(spec, stats.x)}${doubtful ? ", near a singular position: depends on the sample distance" : openText(spec, stats.max, stats.error)}` : "";
      LW.setText(rms, stats && !doubtful ? `RMS\u00a0${shown(stats.rms)}` : "");
      item.dataset.curve = number;
    });
  };

  const drawHead = (dom, spec, box) => {
    LW.setText(dom.title, spec.title || "");
    LW.setText(dom.unit, axisName({ label: spec.y.label === spec.title ? "" : spec.y.label, symbol: spec.y.symbol }, box.yTicks.exponent));
    dom.head.hidden = !spec.title && !dom.stats.textContent;
    if (!spec.title) dom.svg.setAttribute("aria-label", spec.y.label || "plot");
    dom.svg.setAttribute("aria-valuemin", LW.typed(box.xLow / sizeOf(spec.x), 6));
    dom.svg.setAttribute("aria-valuemax", LW.typed(box.xHigh / sizeOf(spec.x), 6));
  };

  // aside: the curves do not tell what is now at x, only what is there in the cycle
  const drawCursor = (dom, spec, box, x, aside, along) => {
    dom.root.classList.toggle("aside", Boolean(aside));
    if (!Number.isFinite(x) || spec.cursor === false) return dom.cursor.setAttribute("visibility", "hidden");
    const inside = Math.min(box.xHigh, Math.max(box.xLow, x));
    const sample = along === null ? LW.scale.sampleAt(spec.x.values, inside) : along;
    const px = on(box.toX, inside);
    const curves = live(spec);
    const most = Math.max(Math.abs(box.yLow), Math.abs(box.yHigh)) / sizeOf(spec.y);
    const values = curves.map((c) => LW.scale.between(c.values, sample));
    const shown = values.map((v) => LW.fixed(v / sizeOf(spec.y), most));
    const unit = 10 ** box.yTicks.exponent; // the numbers beside names are in the unit that stands beside the title
    const listed = unit === 1 ? shown : values.map((v) => LW.fixed(v / sizeOf(spec.y) / unit, most / unit));
    dom.cursor.setAttribute("visibility", "visible");
    dom.line.setAttribute("d", `M${px} ${box.top - 4}V${box.bottom}`);
    resize(dom.dots, curves.length, () => LW.svgEl("circle", { r: 3.6 })).forEach((dot, i) => {
      dot.setAttribute("visibility", Number.isFinite(values[i]) ? "inherit" : "hidden");
      dot.setAttribute("cx", px);
      dot.setAttribute("cy", Number.isFinite(values[i]) ? on(box.toY, values[i]) : 0);
      dot.style.fill = colorOf(spec, curves[i], i);
    });
    const where = placeText(spec, inside, 4);
    const text = curves.length === 1 ? `${where}  \u2192  ${LW.withUnit(shown[0], spec.y.symbol)}` : where;
    const tag = aside ? `${text} in the cycle` : text;
    const half = (CHARACTER * tag.length) / 2;
    dom.tag.setAttribute("x", Math.min(box.right - half, Math.max(box.left + half, px)));
    LW.setText(dom.tag, tag);
    dom.values.forEach((node, i) => LW.setText(node, `${curves[i].name || ""}  ${listed[i]}`));
    dom.items.forEach((item) => LW.setText(item.childNodes[2], listed[item.dataset.curve]));
    dom.svg.setAttribute("aria-valuenow", LW.typed(inside / sizeOf(spec.x), 6));
    dom.svg.setAttribute("aria-valuetext", `${where}: ${curves.map((c, i) => `${c.name || ""} ${LW.withUnit(shown[i], spec.y.symbol)}`).join(", ")}`);
    return undefined;
  };

  LW.plot = (container, first) => {
    const dom = build(container);
    let given = Object.assign({ curves: [], y: {}, x: { values: [] } }, first);
    let spec = given; // as shown: its y axis may have a prefix
    let box = layout({ curves: [], y: {}, x: { values: [] } }, 640);
    let at = NaN;
    let aside = false;
    /** @type {number | null} */
    let along = null;
    let width = 0; // kept: asking the page for it after every change would cost a layout
    const measure = () => (width = Math.max(240, Math.round(dom.root.clientWidth || container.clientWidth || 640)));
    const draw = () => {
      const [low, high] = LW.scale.extent(given.curves.map(boundedValues)) || [0, 0];
      spec = Object.assign({}, given, { y: Object.assign({}, given.y, LW.prefixed(given.y, Math.max(-low, high))) });
      box = layout(spec, width || measure());
      for (const part of [drawAxes, drawCurves, drawStats, drawMarks, drawNames, drawHead]) part(dom, spec, box);
      drawCursor(dom, spec, box, along === null ? at : LW.scale.between(spec.x.values, along), aside, along);
    };
    /** @type {Plot} */
    const plot = {
      update(changes) {
        given = Object.assign({}, given, changes);
        draw();
      },
      // at a place, or at a real sample number where the places go back and forth
      cursor(x, beside = false, sample = null) {
        at = sample === null ? x : LW.scale.between(spec.x.values, sample);
        along = sample;
        aside = beside;
        drawCursor(dom, spec, box, at, aside, along);
      },
      svg: () => LW.standaloneSvg(dom.svg, [spec.title || spec.y.label || "", dom.unit.textContent, dom.stats.textContent], live(spec).length > 1 ? live(spec).map((c, i) => [c.name || "", dom.curves.querySelectorAll("path:not(.faint):not(.target)")[i]]) : []),
      element: dom.root,
    };
    LW.plotSeeking(dom.svg, {
      get: () => ({ spec, box, at, along }),
      seek: (x, sample = null) => {
        plot.cursor(x, false, sample);
        if (spec.onSeek) spec.onSeek(x, sample);
      },
    });
    draw();
    // in the next frame: what is drawn may make a scroll bar come or go, which is another change of width
    new ResizeObserver(() => requestAnimationFrame(() => {
      if (dom.root.clientWidth && box.width !== measure()) draw();
    })).observe(dom.root);
    return plot;
  };
  LW.placeTicks = placeTicks;
})();
