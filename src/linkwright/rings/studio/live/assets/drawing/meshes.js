// Surfaces of bodies: filled outlines in a plane, and where they are on the screen. A body with a surface is not drawn as bars.
(() => {
  "use strict";
  const D = LW.draw;

  // bodies (by number) that their surfaces show
  const covered = (scene) => new Set((scene.meshes || []).map((m) => m.body));

  // the outlines of a body in its own group, which a matrix moves: lines first, then the fills, so that shapes of one body grow together
  function outlines(sheet, index, group) {
    const { scene, look, DATA, camera } = sheet, shapes = scene.meshes.filter((m) => m.body === index);
    const made = shapes.map((m) => {
      const d = m.lines.map((line) => D.path(line.map((p) => [camera.scale * p[0], -camera.scale * p[1]]), true)).join("");
      const color = m.color || (index ? DATA.bodies[index].color : look.faint);
      return { d, color };
    });
    for (const { d, color } of made) D.make("path", { d, fill: "none", stroke: look.edge(color), "stroke-width": 2.2, "stroke-linejoin": "round", class: "lw-edge" }, group);
    for (const { d, color } of made) D.make("path", { d, fill: index ? look.fill(color) : D.mix(color, look.paper, 0.45), "fill-rule": "nonzero", "data-mesh": index }, group);
  }

  // corners of the convex outline of points on the screen, in order
  function hull(points) {
    const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]), half = (list) => {
      const out = [];
      for (const p of list) {
        while (out.length > 1) {
          const [a, b] = out.slice(-2);
          if ((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) > 0) break;
          out.pop();
        }
        out.push(p);
      }
      return out.slice(0, -1);
    };
    return [...half(sorted), ...half(sorted.reverse())];
  }

  // the polygon of one surface on the screen: its outline in a plane, else the convex one of its corners
  function onScreen(mesh, poses, pixel) {
    const place = (p) => pixel(D.placed(poses, mesh.body, p));
    return mesh.lines ? mesh.lines[0].map(place) : hull(mesh.corners.map(place));
  }

  Object.assign(D, { covered, outlines, hull, onScreen });
})();
