// Numbers for people: four significant digits, a true minus sign, the units of the model's file. Trailing zeros stay, so that
// a number which changes every frame keeps its width. No DOM; runs in node.
var LW = globalThis.LW || (globalThis.LW = {});
(() => {
  "use strict";
  const MINUS = "\u2212";
  const NARROW = "\u202f"; // no-break space between number and unit
  const NONE = "\u2013";
  const DIGITS = "-0123456789";
  const RAISED = "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079";

  const raised = (text) => Array.from(String(text), (c) => RAISED[DIGITS.indexOf(c)] || c).join("");
  const signed = (text) => (/^-[0.]*$/.test(text) ? text.slice(1) : text.replace("-", MINUS));

  // the decimal exponent of a number as it is printed with so many digits: 9.9996 counts as 10
  const exponentOf = (value, digits) => Number(Math.abs(value).toExponential(digits - 1).split("e")[1]);

  const powered = (value, digits) => {
    const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
    return `${signed(mantissa)}\u00b710${raised(Number(exponent))}`;
  };

  // a number to so many significant digits: 12.30, 0.001234, 12340, 1.234·10⁷
  const number = (value, digits = 4) => {
    if (!Number.isFinite(value)) return NONE;
    if (value === 0) return "0";
    const exponent = exponentOf(value, digits);
    if (exponent < -4 || exponent > 5) return powered(value, digits);
    return signed(exponent >= digits ? String(Number(value.toPrecision(digits))) : value.toFixed(digits - 1 - exponent));
  };

  // a number with the decimals that give `reference` its significant digits: numbers of one column, or of one curve
  const fixed = (value, reference, digits = 4) => {
    if (!Number.isFinite(value)) return NONE;
    const size = Math.abs(reference);
    if (!(size > 0) || !Number.isFinite(size)) return number(value, digits);
    const exponent = exponentOf(size, digits);
    if (exponent < -4 || exponent > 5) {
      const scaled = (value / 10 ** exponent).toFixed(digits - 1);
      return Number(scaled) === 0 ? "0" : `${signed(scaled)}\u00b710${raised(exponent)}`;
    }
    return signed(value.toFixed(Math.max(0, digits - 1 - exponent)));
  };

  // a number as one would type it: no trailing zeros, an ordinary minus sign, at most `digits` significant digits
  const typed = (value, digits = 12) => String(Number(value.toPrecision(digits)));

  // a unit as people write it: "m/s^2" becomes m/s², "deg" the sign; "-" and "" are no unit
  const unit = (symbol) => {
    if (!symbol || symbol === "-" || symbol === "1") return "";
    if (symbol === "deg") return "\u00b0";
    return symbol
      .replace(/\^\(?(-?\d+)\)?/g, (_, power) => raised(power))
      .replace(/\*/g, "\u00b7")
      .replace(/ /g, "\u00a0");
  };

  const withUnit = (text, symbol) => {
    const shown = unit(symbol);
    return shown === "" || shown === "\u00b0" ? text + shown : text + NARROW + shown;
  };

  // a unit with a prefix if values of this amount would be long: excavators have kN; reference is in the units of the value
  const prefixed = (given, reference) => {
    const size = given.size || 1;
    const amount = Math.abs(reference) / size;
    if (!/^(N|N m|W|J)$/.test(given.symbol || "") || !(amount >= 1e4)) return { symbol: given.symbol, size };
    return amount >= 1e7 ? { symbol: `M${given.symbol}`, size: 1e6 * size } : { symbol: `k${given.symbol}`, size: 1e3 * size };
  };

  const unitsNow = () => (LW.units || (typeof DATA === "undefined" ? null : DATA.units)) || {};

  // {symbol, size} of a kind of quantity ("force", "length" ...) in the file's units
  const unitOf = (kind) => unitsNow()[kind] || { symbol: "", size: 1 };

  // an SI value of a kind with the file's unit
  const format = (value, kind, digits = 4) => {
    const { symbol, size } = prefixed(unitOf(kind), value);
    return withUnit(number(value / size, digits), symbol);
  };

  const parts = { number, fixed, typed, unit, withUnit, prefixed, unitOf, format, raised };
  Object.assign(LW, parts);
  if (typeof module === "object" && module.exports) module.exports = parts;
})();
