// What a plot can do besides drawing: seeking by pointer, touch and keyboard, and its picture as a file that stands alone.
(() => {
  "use strict";
  const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "stroke-linecap", "paint-order", "opacity"];

  // where a key moves the cursor: single samples, tenths, the ends; null for other keys
  const stepped = (key, values, at) => {
    const last = values.length - 1;
    const sample = Number.isFinite(at) ? LW.scale.sampleAt(values, at) : 0;
    const tenth = Math.max(1, Math.round(last / 10));
    const moves = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: tenth, PageDown: -tenth, Home: -Infinity, End: Infinity };
    if (!(key in moves)) return null;
    const target = Math.round(sample) + moves[key];
    return values[Math.min(last, Math.max(0, target))];
  };

  // the sample whose point on a curve is the nearest to a pixel, -1 where there is none
  const nearest = (spec, box, px, py) => {
    let best = -1, least = Infinity;
    for (const curve of spec.curves.filter((c) => !c.faint && !c.target)) for (let i = 0; i < curve.values.length; i++) {
      const d = (box.toX[0] + box.toX[1] * spec.x.values[i] - px) ** 2 + (box.toY[0] + box.toY[1] * curve.values[i] - py) ** 2;
      if (d < least) [best, least] = [i, d];
    }
    return best;
  };

  // plot: {get() -> {spec, box, at, along}, seek(x, sample)}
  LW.plotSeeking = (svg, plot) => {
    let held = false;
    const seek = (event) => {
      const { box, spec } = plot.get();
      const frame = svg.getBoundingClientRect();
      const px = ((event.clientX - frame.left) / frame.width) * box.width;
      const x = (px - box.toX[0]) / box.toX[1];
      if (spec.x.free) {
        const sample = nearest(spec, box, px, ((event.clientY - frame.top) / frame.height) * box.height);
        if (sample >= 0) plot.seek(spec.x.values[sample], sample);
      } else if (Number.isFinite(x)) plot.seek(Math.min(box.xHigh, Math.max(box.xLow, x)));
    };
    svg.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || plot.get().spec.cursor === false) return;
      held = true;
      svg.setPointerCapture(event.pointerId);
      seek(event);
    });
    svg.addEventListener("pointermove", (event) => held && seek(event));
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) svg.addEventListener(end, () => (held = false));
    svg.addEventListener("keydown", (event) => {
      const { spec, at, along } = plot.get();
      if (event.ctrlKey || event.metaKey || event.altKey || spec.cursor === false || spec.x.values.length < 2) return;
      const numbers = spec.x.free ? Array.from(spec.x.values.keys()) : null, x = stepped(event.key, numbers || spec.x.values, numbers ? along || 0 : at);
      if (x === null) return;
      event.preventDefault();
      event.stopPropagation(); // the page's own keys mean something else
      if (numbers) plot.seek(spec.x.values[x], x);
      else plot.seek(x);
    });
  };

  // the element with explicit colors instead of the page's style sheet
  const styled = (element) => {
    const copy = element.cloneNode(true);
    const originals = [element, ...element.querySelectorAll("*")];
    [copy, ...copy.querySelectorAll("*")].forEach((node, i) => {
      const style = getComputedStyle(originals[i]);
      node.removeAttribute("style");
      node.removeAttribute("class");
      if (/^(svg|g|title|clipPath|rect)$/i.test(node.tagName)) return;
      if (style.visibility === "hidden") return node.setAttribute("visibility", "hidden");
      for (const name of /^text$/i.test(node.tagName) ? [...STYLES, "font-size", "font-weight"] : STYLES) {
        const value = style.getPropertyValue(name);
        if (value && value !== "none" && value !== "normal" && !(name === "opacity" && value === "1")) node.setAttribute(name, value.replace(/px/g, ""));
        else if (name === "fill" || name === "stroke") node.setAttribute(name, "none");
      }
      return undefined;
    });
    for (const name of copy.getAttributeNames()) if (/^(role|tabindex|aria-.*)$/.test(name)) copy.removeAttribute(name);
    return copy;
  };

  const LETTER = 6; // pixels of a character of a remark

  // an SVG file as text: lines = [title, unit, remarks] above the picture, remarks below the title where there is no room beside it;
  // names = [[name, its path]] of several curves
  LW.standaloneSvg = (svg, lines, names = []) => {
    const copy = styled(svg);
    const [, , width, height] = (svg.getAttribute("viewBox") || "0 0 0 0").split(" ").map(Number);
    const page = getComputedStyle(document.documentElement);
    const color = (name, otherwise) => page.getPropertyValue(name).trim() || otherwise;
    const said = lines[2] || names.map(([name]) => name).join("   "), below = LETTER * (said.length + 1.3 * (lines[0].length + lines[1].length)) > width - 30;
    const head = below ? 42 : 26;
    const line = (x, anchor, size, fill, weight, text) =>
      LW.svgEl("text", { x, y: below && anchor === "start" ? -25 : -9, "text-anchor": anchor, "font-size": size, fill, "font-weight": weight, text });
    const title = line(12, "start", 13, color("--ink", "#22303c"), 600, lines[0]);
    title.append(LW.svgEl("tspan", { dx: 8, "font-size": 11, "font-weight": 400, fill: color("--soft", "#566470"), text: lines[1] }));
    const remark = line(width - 12, "end", 11, color("--soft", "#566470"), 400, lines[2]);
    if (below) for (const [key, value] of [["x", "12"], ["text-anchor", "start"]]) remark.setAttribute(key, value);
    for (const [name, path] of lines[2] ? [] : names) remark.append(LW.svgEl("tspan", { dx: 10, fill: getComputedStyle(path).stroke, "font-weight": 500, text: name }));
    copy.prepend(LW.svgEl("rect", { x: 0, y: -head, width, height: height + head, fill: color("--paper", "#ffffff") }), title, remark);
    copy.setAttribute("viewBox", `0 ${-head} ${width} ${height + head}`);
    copy.setAttribute("width", width);
    copy.setAttribute("height", height + head);
    copy.setAttribute("font-family", "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif");
    return new XMLSerializer().serializeToString(copy);
  };

  LW.plotStep = stepped;
})();
