// Numbers as people type them while they draw: "120", "120,5", "12 cm", "120<30" (length and direction), "120; 50" (a place).
// A decimal comma is a decimal point; the components of a place are therefore separated by a semicolon or a space.
(() => {
  "use strict";
  const E = LW.edit || (LW.edit = {});
  const NUMBER = String.raw`[-+−]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:e[-+]?\d+)?`;
  const ONE = new RegExp(`^(${NUMBER})\\s*([^\\d\\s;<,.+-].*)?$`, "i");
  const PAIR = new RegExp(`^(${NUMBER})\\s*(?:;\\s*|\\s+)(${NUMBER})$`, "i");
  const SIZES = /** @type {Record<string, number>} */ ({
    m: 1, mm: 1e-3, cm: 1e-2, dm: 0.1, km: 1e3, um: 1e-6, in: 0.0254, ft: 0.3048, N: 1, mN: 1e-3, kN: 1e3, MN: 1e6, lbf: 4.4482216152605,
    kg: 1, g: 1e-3, t: 1e3, lb: 0.45359237, rad: 1, deg: Math.PI / 180, "°": Math.PI / 180, rpm: Math.PI / 30, "rad/s": 1, "mm/s": 1e-3, "m/s": 1,
  });

  const value = (text) => Number(text.replace(",", ".").replace("−", "-"));

  /** A decimal comma as a point, so that every program reads it. @param {string} text */
  E.pointed = (text) => text.trim().replace("−", "-").replace(/(\d),(?=\d)|^([-+]?),(?=\d)/g, "$1$2.");

  /** The SI value of a text with or without a unit, of a unit {symbol, size}; NaN for what is no number. @param {string} text @param {{size: number}} unit */
  E.quantity = (text, unit) => {
    const found = ONE.exec(text.trim());
    if (!found) return NaN;
    const size = found[2] === undefined ? unit.size : SIZES[found[2].trim()];
    return size === undefined ? NaN : value(found[1]) * size;
  };

  /** What was typed: {size}, {size, angle}, {at}, all in SI and radians, or {problem}. `length` is the unit of plain numbers. @param {string} text @param {{size: number, symbol: string}} length */
  E.typed = (text, length) => {
    const given = text.trim(), pair = PAIR.exec(given), parts = given.split("<");
    if (pair) return { at: [value(pair[1]) * length.size, value(pair[2]) * length.size] };
    if (parts.length === 2) {
      const size = E.quantity(parts[0], length), angle = E.quantity(parts[1], { size: Math.PI / 180 });
      if (Number.isFinite(size) && Number.isFinite(angle)) return { size, angle, written: E.pointed(parts[0]) };
    }
    const size = E.quantity(given, length);
    if (Number.isFinite(size)) return { size, written: E.pointed(given) };
    return { problem: `“${given}” is not a dimension. Type 120, 120<30 (length and direction) or 120; 50 (a place), in ${length.symbol}.` };
  };

  /** A number for people in a unit, with five significant digits. @param {number} x @param {{size: number}} unit */
  E.shown = (x, unit) => String(Number(Number((x / unit.size).toFixed(9)).toPrecision(5)) + 0).replace("-", "−");

  /** The same for a field, or with more digits for a file. @param {number} x @param {{size: number}} unit */
  E.plain = (x, unit, digits = 7) => String(Number(Number((x / unit.size).toFixed(12)).toPrecision(digits)) + 0);

  /** A typed angle with its unit: degrees unless it has one. @param {string} text */
  E.degreesText = (text) => (/[a-z°]/i.test(text) ? E.pointed(text) : `${E.pointed(text)} deg`);

  /** Degrees of a direction, from the first axis, counter-clockwise. @param {number[]} d */
  E.degrees = (d) => (Math.atan2(d[1], d[0]) * 180) / Math.PI;
})();
