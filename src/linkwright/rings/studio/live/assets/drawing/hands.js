// Hands on a drawing: pointers (mouse, pen, touch) and keys, the same for the plane and for space. A press on a pin, point or body
// that moves is a drag, one that does not is a pick; presses beside everything move the view.
//
// hands(surface, view, hooks): `view` gives things() [{kind, name, body, at, moves, x, y, place}], solids() for hits on bodies,
// lift(x, y, through), local(body, place), background(kind, dx, dy), zoom(factor, x, y), fit(), hover(thing or null, x, y), focus(thing);
// `wheel`: the view takes the wheel and single fingers for itself (space); else they scroll the page.
(() => {
  "use strict";
  const D = LW.draw;
  const REACH = { mouse: 14, pen: 16, touch: 24 }; // pixels around a pin that still hit it
  const BODY_REACH = { mouse: 4, pen: 6, touch: 12 };
  const SLACK = { mouse: 4, pen: 6, touch: 8 }; // pixels a click may wander
  const KEY_STEP = 7; // pixels per arrow key
  const KEY_PAUSE = 180; // ms

  function distanceToSegment(x, y, s) {
    const dx = s[2] - s[0], dy = s[3] - s[1], n = dx * dx + dy * dy;
    const t = n > 0 ? Math.max(0, Math.min(1, ((x - s[0]) * dx + (y - s[1]) * dy) / n)) : 0;
    return Math.hypot(x - s[0] - t * dx, y - s[1] - t * dy) - s[4];
  }

  // the world place of a segment nearest to a pixel
  function along(x, y, s) {
    const dx = s[2] - s[0], dy = s[3] - s[1], n = dx * dx + dy * dy;
    const t = n > 0 ? Math.max(0, Math.min(1, ((x - s[0]) * dx + (y - s[1]) * dy) / n)) : 0;
    return D.add(s[5], D.minus(s[6], s[5]), t);
  }

  function within(x, y, polygon) {
    let odd = false;
    for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i++) {
      const [a, b] = [polygon[i], polygon[j]];
      if (a[1] > y !== b[1] > y && x < ((b[0] - a[0]) * (y - a[1])) / (b[1] - a[1]) + a[0]) odd = !odd;
    }
    return odd;
  }

  // the pin or point nearest to a pixel, else the body under it, else null
  function hit(view, x, y, kind) {
    let best = null, nearest = REACH[kind] || REACH.mouse;
    for (const thing of view.things()) {
      const d = Math.hypot(x - thing.x, y - thing.y) + (thing.kind === "point" ? 2 : 0);
      if (d < nearest) [best, nearest] = [thing, d];
    }
    if (best) return best;
    nearest = BODY_REACH[kind] || BODY_REACH.mouse;
    for (const solid of view.solids()) {
      const gaps = solid.segments.map((s) => distanceToSegment(x, y, s)), d = Math.min(...gaps);
      const plate = solid.polygons.some((p) => within(x, y, p));
      if (!plate && d > nearest) continue;
      nearest = plate ? 0 : Math.max(d, 0); // of two that lie over each other the upper one, which comes later
      best = { ...solid, through: plate && d > 0 ? solid.through : along(x, y, solid.segments[gaps.indexOf(d)]) };
    }
    return best;
  }

  const bare = (thing) => ({ kind: thing.kind, name: thing.name, body: thing.body });

  function hands(surface, view, hooks) {
    const pointers = new Map(); // id: [x, y]
    /** @type {Press | null} */
    let press = null;
    /** @type {{x: number, y: number, d: number} | null} */
    let pinch = null;
    const at = (event) => {
      const box = surface.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };

    function begin(event) {
      if (event.target.closest && event.target.closest("[data-control]")) return;
      const [x, y] = at(event), kind = event.pointerType || "mouse";
      pointers.set(event.pointerId, [x, y]);
      if (pointers.size === 2) {
        if (press && press.held) hooks.dragEnd();
        press = null;
        pinch = spread();
        return;
      }
      const thing = event.button === 0 ? hit(view, x, y, kind) : null;
      press = { id: event.pointerId, x, y, lastX: x, lastY: y, kind, thing, button: event.button, shift: event.shiftKey, held: false, far: false };
      if (surface.setPointerCapture && event.isTrusted) surface.setPointerCapture(event.pointerId);
      if (thing) event.preventDefault();
    }

    function spread() {
      const [a, b] = [...pointers.values()];
      return { x: (a[0] + b[0]) / 2, y: (a[1] + b[1]) / 2, d: Math.hypot(a[0] - b[0], a[1] - b[1]) || 1 };
    }

    /** @type {(press: Press, thing: Thing, x: number, y: number) => void} */
    function take(press, thing, x, y) {
      press.place = thing.place || view.lift(x, y, thing.through);
      press.offset = D.minus(press.place, view.lift(press.x, press.y, press.place));
      press.held = true;
      hooks.dragStart(thing.body, thing.at || view.local(thing.body, press.place));
    }

    function move(event) {
      const [x, y] = at(event), kind = event.pointerType || "mouse";
      if (pointers.has(event.pointerId)) pointers.set(event.pointerId, [x, y]);
      if (pinch && pointers.size === 2) {
        const now = spread();
        view.background("pan", now.x - pinch.x, now.y - pinch.y);
        view.zoom(now.d / pinch.d, now.x, now.y);
        pinch = now;
        return;
      }
      if (!press || press.id !== event.pointerId) {
        if (kind !== "touch") view.hover(hit(view, x, y, kind), x, y);
        return;
      }
      if (!press.far && Math.hypot(x - press.x, y - press.y) < SLACK[press.kind]) return;
      press.far = true;
      view.hover(null);
      if (press.thing) {
        if (!press.held && press.thing.moves) take(press, press.thing, press.x, press.y);
        if (press.held) {
          view.hand = [x, y];
          hooks.drag(D.add(view.lift(x, y, press.place), press.offset, 1));
        }
      } else if (press.kind !== "touch" || view.wheel) view.background(press.button === 2 || press.shift ? "pan" : "turn", x - press.lastX, y - press.lastY);
      [press.lastX, press.lastY] = [x, y];
    }

    function end(event) {
      pointers.delete(event.pointerId);
      if (pinch) {
        if (pointers.size < 2) pinch = null;
        return;
      }
      if (!press || press.id !== event.pointerId) return;
      const done = press;
      press = null;
      view.hand = null;
      if (done.held) hooks.dragEnd();
      else if (!done.far && done.thing && event.type === "pointerup") {
        view.focus(done.thing);
        hooks.pick(bare(done.thing));
      }
    }

    surface.addEventListener("pointerdown", begin);
    surface.addEventListener("pointermove", move);
    surface.addEventListener("pointerup", end);
    surface.addEventListener("pointercancel", end);
    surface.addEventListener("pointerleave", () => view.hover(null));
    surface.addEventListener("contextmenu", (event) => event.preventDefault());
    surface.addEventListener("dblclick", (event) => hit(view, ...at(event), "mouse") || view.fit());
    // a finger on a pin must not scroll the page; beside everything it may (unless the view itself turns)
    surface.addEventListener("touchstart", (event) => {
      const [x, y] = at(event.touches[0]);
      if (event.touches.length > 1 || hit(view, x, y, "touch")) event.preventDefault();
    }, { passive: false });
    surface.addEventListener("wheel", (event) => {
      if (!view.wheel && !event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const [x, y] = at(event), step = event.deltaMode === 1 ? 16 * event.deltaY : event.deltaY;
      view.zoom(Math.exp(-Math.max(-200, Math.min(200, step)) * (event.ctrlKey ? 0.008 : 0.0015)), x, y);
    }, { passive: false });
    return { held: () => Boolean(press && press.held) };
  }

  // keys on a focused thing: Enter or space picks it, arrows pull it by small steps until the key goes up
  function keys(element, find, view, hooks) {
    let held = false;
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    element.addEventListener("keydown", (event) => {
      const thing = find();
      if (!thing || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Enter" || event.key === " ") hooks.pick(bare(thing));
      else if (step[event.key] && thing.moves) {
        const [dx, dy] = step[event.key], far = KEY_STEP * (event.shiftKey ? 4 : 1);
        if (!held) hooks.dragStart(thing.body, thing.at);
        held = true;
        view.hand = [thing.x + dx * far, thing.y + dy * far];
        hooks.drag(view.lift(view.hand[0], view.hand[1], thing.place));
      } else return;
      event.preventDefault();
      event.stopPropagation();
    });
    let later = 0;
    const leave = () => {
      if (held) hooks.dragEnd();
      held = false;
      view.hand = null;
    };
    // the mechanism follows over the next frames: let go when it has had time for the last step
    element.addEventListener("keyup", (event) => {
      clearTimeout(later);
      if (step[event.key]) later = setTimeout(leave, KEY_PAUSE);
    });
    element.addEventListener("keydown", () => clearTimeout(later), true);
    element.addEventListener("blur", leave);
  }

  Object.assign(D, { hands, keys, hit });
})();
