// Pointers on the sheet: what lies under a pixel, clicks and drags for the tool in use, and the window moved by wheel, middle or right
// button, space bar or two fingers. The same for mouse, pen and touch; fingers have a larger reach.
(() => {
  "use strict";
  const E = LW.edit || (LW.edit = {});
  const D = LW.draw;
  const LINE = { mouse: 7, pen: 9, touch: 16 }; // pixels beside a line that still hit it
  const MARK = { mouse: 10, pen: 12, touch: 16 }; // pixels around the middle of a mark in a joint
  const SLACK = { mouse: 4, pen: 6, touch: 9 }; // pixels a click may wander

  const toSegment = (x, y, a, b) => {
    const dx = b[0] - a[0], dy = b[1] - a[1], n = dx * dx + dy * dy, t = n > 0 ? Math.max(0, Math.min(1, ((x - a[0]) * dx + (y - a[1]) * dy) / n)) : 0;
    return Math.hypot(x - a[0] - t * dx, y - a[1] - t * dy);
  };

  // things with an outline of their own: elements between two points or at one, wheels, blocks without a pin
  const lineHit = (ed, pixel, reach) => {
    const d = ed.drawing(), { sheet } = ed, [x, y] = pixel;
    let best = "", nearest = reach;
    const take = (id, gap) => { if (gap < nearest) [best, nearest] = [id, gap]; };
    for (const item of E.lines(d)) take(item.id, toSegment(x, y, sheet.pixel(item.ends[0].at), sheet.pixel(item.ends[1].at)) - 3);
    for (const item of ed.loadMarks) take(item.id, toSegment(x, y, item.tail, item.tip));
    for (const gap of d.touches) take(gap.id, toSegment(x, y, sheet.pixel(gap.ends[0]), sheet.pixel(gap.ends[1])) - 2);
    for (const s of d.surfaces) {
      const points = s.closed ? [...s.points, s.points[0]] : s.points;
      take(s.id, 4 + Math.min(...points.slice(1).map((b, i) => toSegment(x, y, sheet.pixel(points[i]), sheet.pixel(b))))); // bodies below come first
    }
    for (const w of E.wheels(d)) { const p = sheet.pixel(w.at); take(w.id, Math.abs(Math.hypot(x - p[0], y - p[1]) - w.radius * sheet.scale()) + 2); }
    for (const j of d.joints.filter((one) => (one.kind === "slider" || one.kind === "slot") && one.at)) {
      const p = sheet.pixel(j.at), gap = Math.hypot(x - p[0], y - p[1]);
      take(j.id, gap < 14 ? 4 : gap - 8);
    }
    return best;
  };

  // the mark of an element in a joint; tools that draw mean the joint itself
  const markHit = (ed, pixel, kind) => {
    const far = (m) => Math.hypot(m.at[0] - pixel[0], m.at[1] - pixel[1]), [nearest] = [...ed.jointMarks].sort((a, b) => far(a) - far(b));
    return ed.tool.id === "select" && nearest && far(nearest) < (MARK[kind] || MARK.mouse) ? nearest : null;
  };

  /** What lies under a pixel: {id, point, body, joint}. Marks of joints first, which lie over everything, then points, lines and bodies. */
  E.under = (ed, pixel, kind) => {
    const mark = markHit(ed, pixel, kind);
    if (mark) return { id: mark.id, point: null, body: null, joint: null };
    const d = ed.drawing(), { sheet } = ed, point = E.nearPoint(d.points, pixel, sheet.pixel, kind);
    if (point) return { id: point.id, point: point.name, body: point.bodies[0] || null, joint: null };
    const line = lineHit(ed, pixel, LINE[kind] || LINE.mouse);
    const solid = D.hit({ things: () => [], solids: sheet.solids }, pixel[0], pixel[1], kind);
    if (line) return { id: line, point: null, body: solid ? solid.name : null, joint: line.startsWith("joint:") || d.elements.some((x) => x.coordinate && x.id === line) ? line.replace(/^\w+:/, "") : null };
    return solid ? { id: `body:${solid.name}`, point: null, body: solid.name, joint: null } : { id: null, point: null, body: null, joint: null };
  };

  /** @param {Editor} ed */
  E.pointing = (ed) => {
    const { sheet } = ed, surface = sheet.element, pointers = new Map();
    /** @type {EditPress | null} */
    let press = null;
    /** @type {{x: number, y: number, d: number} | null} */
    let pinch = null;
    let space = false;
    const pixelOf = (event) => { const box = surface.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    const kindOf = (event) => event.pointerType || "mouse";
    const pair = () => { const [a, b] = [...pointers.values()]; return { x: (a[0] + b[0]) / 2, y: (a[1] + b[1]) / 2, d: Math.hypot(a[0] - b[0], a[1] - b[1]) || 1 }; };

    // the place that is meant, with what lies under it
    const place = (event, without) => {
      const pixel = pixelOf(event), tool = ed.tool, under = E.under(ed, pixel, kindOf(event));
      const snapped = E.snap({ at: sheet.place(pixel), pixel, points: ed.drawing().points, toPixel: sheet.pixel, scale: sheet.scale(), unit: ed.units().length, kind: kindOf(event),
        from: tool.from ? tool.from() : null, off: !ed.snapping || event.altKey || event.ctrlKey || Boolean(tool.unsnapped), without });
      const link = tool.onLinks && !snapped.point && snapped.kind !== "free" && under.body && !(tool.turned && tool.turned()) ? E.onLink(ed.drawing(), under.body, sheet.place(pixel), sheet.step()) : null;
      if (link) Object.assign(snapped, { at: link.at, kind: "link", text: `on ${under.body}, ${E.shown(link.far, ed.units().length)} ${ed.units().length.symbol} from ${link.from}` });
      return { ...snapped, pixel, under, body: under.body, joint: snapped.point ? null : under.joint, shift: event.shiftKey };
    };
    const begin = (event) => {
      const pixel = pixelOf(event), kind = kindOf(event);
      pointers.set(event.pointerId, pixel);
      surface.setPointerCapture(event.pointerId);
      event.preventDefault();
      surface.focus({ preventScroll: true });
      if (pointers.size === 2) {
        if (press) ed.tool.cancelDrag && ed.tool.cancelDrag();
        [press, pinch] = [null, pair()];
        return;
      }
      press = { id: event.pointerId, pixel, last: pixel, kind, far: false, pan: event.button === 1 || space, right: event.button === 2, place: place(event) };
      if (!press.pan && !press.right && ed.tool.down) ed.tool.down(press.place);
      ed.hover(press.place);
    };
    const move = (event) => {
      const pixel = pixelOf(event);
      if (pointers.has(event.pointerId)) pointers.set(event.pointerId, pixel);
      if (pinch && pointers.size === 2) {
        const now = pair();
        sheet.pan(now.x - pinch.x, now.y - pinch.y);
        sheet.zoom(now.d / pinch.d, now.x, now.y);
        pinch = now;
        return;
      }
      if (!press) { ed.hover(place(event)); return; }
      if (press.id !== event.pointerId) return;
      press.far = press.far || Math.hypot(pixel[0] - press.pixel[0], pixel[1] - press.pixel[1]) > (SLACK[press.kind] || SLACK.mouse);
      if (press.far && (press.pan || press.right || (ed.tool.pans && ed.tool.pans(press)))) {
        press.panned = true;
        sheet.pan(pixel[0] - press.last[0], pixel[1] - press.last[1]);
      } else if (press.far && ed.tool.drag) ed.tool.drag(place(event, ed.tool.moving ? ed.tool.moving() : []), press);
      else {
        // a link dragged from pin to pin
        if (press.far && ed.tool.many && !ed.tool.busy()) { press.drawn = true; ed.tool.click(press.place); }
        ed.hover(place(event));
      }
      press.last = pixel;
    };
    const end = (event) => {
      pointers.delete(event.pointerId);
      if (pinch) { if (pointers.size < 2) pinch = null; return; }
      if (!press || press.id !== event.pointerId) return;
      const done = press, { tool } = ed;
      press = null;
      if (event.type === "pointercancel") { tool.cancelDrag ? tool.cancelDrag() : tool.clear(); return; }
      if (done.right && !done.far) { tool.finish && tool.finish(); return; }
      if (done.panned || done.pan || done.right) return;
      const now = place(event, tool.moving ? tool.moving() : []);
      if (tool.up) tool.up(now, done);
      else if (!done.far) tool.click(done.place);
      else tool.click(now); // a finger searches with the place under it
      if (done.drawn) tool.finish();
      if (kindOf(event) === "touch") ed.hover(null);
    };
    surface.addEventListener("pointerdown", begin);
    surface.addEventListener("pointermove", move);
    surface.addEventListener("pointerup", end);
    surface.addEventListener("pointercancel", end);
    surface.addEventListener("pointerleave", () => { if (!press) ed.hover(null); });
    surface.addEventListener("contextmenu", (event) => event.preventDefault());
    surface.addEventListener("wheel", (event) => {
      event.preventDefault();
      const [x, y] = pixelOf(event), step = event.deltaMode === 1 ? 16 * event.deltaY : event.deltaY;
      sheet.zoom(Math.exp(-Math.max(-200, Math.min(200, step)) * 0.0016), x, y);
    }, { passive: false });
    document.addEventListener("keyup", (event) => { if (event.key === " ") space = false; });
    return { space(on) { space = on; } };
  };
})();
