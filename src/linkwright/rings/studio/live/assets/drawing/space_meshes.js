// Surfaces of bodies as three.js meshes: flat triangles with a dark rim, the same surface a little fatter and seen from the inside.
// A surface that is open or inside out has a rim only while its body is selected.
(() => {
  "use strict";
  const D = LW.draw;
  const RIM = 0.14; // of a bar's radius

  function numbers(text) {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    return new Uint16Array(bytes.buffer);
  }

  function geometry(mesh) {
    const steps = numbers(mesh.vertices), places = new Float32Array(steps.length);
    for (let i = 0; i < steps.length; i++) places[i] = mesh.low[i % 3] + mesh.step[i % 3] * steps[i];
    const made = new THREE.BufferGeometry();
    made.setAttribute("position", new THREE.BufferAttribute(places, 3));
    made.setIndex(new THREE.BufferAttribute(numbers(mesh.faces), 1));
    made.computeVertexNormals();
    return made;
  }

  function fatter(thin, by) {
    const made = thin.clone(), at = made.attributes.position, normal = made.attributes.normal;
    for (let i = 0; i < at.count; i++) at.setXYZ(i, at.getX(i) + by * normal.getX(i), at.getY(i) + by * normal.getY(i), at.getZ(i) + by * normal.getZ(i));
    return made;
  }

  // a color that is seen against the page
  function visible(color, look) {
    const light = [1, 3, 5].reduce((sum, i, k) => sum + [0.3, 0.6, 0.1][k] * parseInt(color.slice(i, i + 2), 16), 0) / 255;
    return !look.dark && light > 0.8 ? D.mix(color, look.ink, 0.16) : look.dark && light < 0.2 ? D.mix(color, look.ink, 0.2) : color;
  }

  function surfaces(kit) {
    const { scene, DATA, look } = kit.sheet;
    for (const mesh of scene.meshes || []) {
      if (!mesh.faces) continue;
      const body = DATA.bodies[mesh.body], color = visible(mesh.color || (mesh.body ? body.color : look.faint), look), shape = geometry(mesh);
      const solid = new THREE.Mesh(shape, kit.paint.faceted(color)), rim = new THREE.Mesh(fatter(shape, RIM * kit.radius), mesh.rim ? kit.paint.behind(color) : kit.paint.unseen());
      Object.assign(solid.userData, { solid: true, surface: body.name });
      Object.assign(rim.userData, { rim: body.name, usual: rim.material });
      kit.groups[mesh.body].add(solid, rim);
    }
  }

  Object.assign(D, { surfaces });
})();
