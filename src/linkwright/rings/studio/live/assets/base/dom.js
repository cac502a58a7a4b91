// Small helpers to build elements: LW.el for HTML, LW.svgEl for SVG. Attributes are given by name; "text" is the content,
// "on" an object of listeners. Attributes that are null, undefined or false are left out.
(() => {
  "use strict";
  const SVG = "http:" + "//www.w3.org/2000/svg";

  const fill = (element, attributes, children) => {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name === "text") element.textContent = value;
      else if (name === "on") for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
      else element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  };

  LW.el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  LW.svgEl = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

  // The element of the page with an id: its template has it.
  LW.byId = (id) => document.getElementById(id);

  // Only touches the document when something changed: cheap enough for every frame.
  LW.setText = (element, text) => {
    if (element.textContent !== text) element.textContent = text;
  };
})();
