/* Equations of a page, drawn by KaTeX. Pages without equations load nothing. */
"use strict";

(() => {
  const equations = [...document.querySelectorAll(".arithmatex")];
  if (!equations.length) return;
  const folder = new URL("katex/", document.currentScript.src);
  const style = document.createElement("link");
  style.rel = "stylesheet";
  style.href = new URL("katex.min.css", folder).href;
  const script = document.createElement("script");
  script.src = new URL("katex.min.js", folder).href;
  script.onload = () => {
    for (const place of equations) {
      const text = place.textContent.trim();
      katex.render(text.slice(2, -2), place, { displayMode: text.startsWith("\\["), throwOnError: false });
    }
    document.documentElement.dataset.equations = String(equations.length);
  };
  document.head.append(style, script);
})();
