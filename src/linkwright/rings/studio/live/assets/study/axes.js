// A picture with two axes: a canvas for its content, an SVG above it for ticks, names, the color bar and the chosen place.
//   LW.picture(container, {label, height}) -> {draw({x, y, color, paint}), place(x, y), element}
//   x, y: {low, high, column}; color: a column or null; paint(context, toX, toY, box) draws in CSS pixels
(() => {
  "use strict";
  const CHARACTER = 6.3; // pixels of a digit of a tick
  const BAR = 12; // width of the color bar

  const axisTicks = (axis, pixels, room) => LW.scale.ticks(axis.low, axis.high, Math.max(2, Math.floor(pixels / room)), axis.column.symbol);
  const shownName = (axis, ticks) => (ticks.exponent ? `${LW.study.label(axis.column)} \u00d7 10${LW.raised(ticks.exponent)}` : LW.study.label(axis.column));

  LW.picture = (container, { label, height }) => {
    const canvas = LW.el("canvas", { role: "img", "aria-label": label, tabindex: 0 });
    const svg = LW.svgEl("svg", { "aria-hidden": "true" });
    const element = LW.el("div", { class: "st-picture", style: `height:${height}px` }, canvas, svg);
    container.append(element);
    /** @type {any} */
    let spec = null;
    /** @type {any} */
    let box = null;

    const lay = () => {
      const width = Math.max(260, element.clientWidth);
      const bottom = height - 40;
      let top = 26;
      const yTicks = axisTicks(spec.y, bottom - top, 40);
      const left = 14 + CHARACTER * Math.max(2, ...yTicks.labels.map((t) => t.length));
      let right = width - (spec.color ? 92 : 16);
      if (spec.equal) {
        // one scale for both axes, as large as there is room
        const sides = (spec.x.high - spec.x.low) / (spec.y.high - spec.y.low);
        const wanted = (bottom - top) * sides;
        if (wanted <= right - left) right = left + wanted;
        else top = bottom - (right - left) / sides;
      }
      const xTicks = axisTicks(spec.x, right - left, 70);
      const scale = (axis, from, to) => (v) => from + ((v - axis.low) / (axis.high - axis.low || 1)) * (to - from);
      box = { width, left, right, top, bottom, xTicks, yTicks, toX: scale(spec.x, left, right), toY: scale(spec.y, bottom, top) };
    };

    const texts = () => {
      const out = [];
      const text = (x, y, anchor, content) => out.push(LW.svgEl("text", { x, y, "text-anchor": anchor, text: content }));
      const lines = [`M${box.left} ${box.bottom}H${box.right}`, `M${box.left} ${box.top}V${box.bottom}`];
      box.xTicks.values.forEach((v, i) => {
        lines.push(`M${box.toX(v)} ${box.bottom}v4`);
        text(box.toX(v), box.bottom + 16, "middle", box.xTicks.labels[i]);
      });
      box.yTicks.values.forEach((v, i) => {
        lines.push(`M${box.left} ${box.toY(v)}h-4`);
        text(box.left - 7, box.toY(v) + 3.5, "end", box.yTicks.labels[i]);
      });
      text(box.right, box.bottom + 33, "end", shownName(spec.x, box.xTicks));
      text(2, 12, "start", shownName(spec.y, box.yTicks));
      return [LW.svgEl("path", { class: "axis", d: lines.join("") }), ...out];
    };

    const bar = () => {
      if (!spec.color) return [];
      const { low, high, middle: half } = LW.study.range(spec.color);
      const x = box.right + 16;
      const [from, to] = [box.bottom, box.top];
      const parts = Array.from({ length: 40 }, (_, i) => LW.svgEl("rect", { x, width: BAR, y: to + ((from - to) * i) / 40, height: (from - to) / 40 + 0.6, fill: LW.study.color(1 - (i + 0.5) / 40) }));
      const named = (y, v) => LW.svgEl("text", { x: x + BAR + 5, y, text: LW.study.number(spec.color, v) });
      const name = LW.svgEl("text", { x: box.right + 76, y: 12, "text-anchor": "end", text: LW.study.label(spec.color), class: "bar-name" });
      const middle = high > low ? [named((from + to) / 2 + 3.5, half), named(to + 8, high)] : [];
      return [...parts, named(from, low), ...middle, name];
    };

    const chosen = LW.svgEl("g", { class: "chosen" });
    const draw = (given) => {
      spec = given || spec;
      if (!spec) return;
      lay();
      const ratio = globalThis.devicePixelRatio || 1;
      canvas.width = Math.round(box.width * ratio);
      canvas.height = Math.round(height * ratio);
      const context = canvas.getContext("2d");
      context.scale(ratio, ratio);
      spec.paint(context, box.toX, box.toY, box);
      svg.setAttribute("viewBox", `0 0 ${box.width} ${height}`);
      svg.replaceChildren(...texts(), ...bar(), chosen);
    };
    const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    new ResizeObserver(() => {
      if (box && Math.max(260, element.clientWidth) !== box.width) {
        draw();
        if (spec.resized) spec.resized();
      }
    }).observe(element);
    // the place of a pointer event in CSS pixels of the picture
    const at = (event) => {
      const frame = canvas.getBoundingClientRect();
      return [((event.clientX - frame.left) / frame.width) * box.width, ((event.clientY - frame.top) / frame.height) * height];
    };
    return { draw, at, ink, canvas, element, box: () => box, mark: (...nodes) => chosen.replaceChildren(...nodes) };
  };

  // a cross of a failed design
  LW.cross = (context, x, y, r) => {
    context.moveTo(x - r, y - r);
    context.lineTo(x + r, y + r);
    context.moveTo(x + r, y - r);
    context.lineTo(x - r, y + r);
  };

  LW.chooser = (name, options, chosen, changed) => {
    const select = LW.el("select", { on: { change: () => changed(Number(select.value)) } });
    options.forEach(([value, text]) => select.append(LW.el("option", { value, text, selected: value === chosen })));
    return LW.el("label", {}, LW.el("span", { text: name }), select);
  };
})();
