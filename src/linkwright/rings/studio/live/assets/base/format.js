// Numbers for people: four significant digits, a true minus sign, the units of the model's file. Trailing zeros stay, so that
// a number which changes every frame keeps its width. No DOM; runs in node.
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

  // Sizes of units that may be typed behind a number, in SI, by kind of quantity.
  const TYPED = {
    length: { m: 1, mm: 1e-3, cm: 1e-2, dm: 0.1, km: 1e3, um: 1e-6, "\u00b5m": 1e-6, in: 0.0254, inch: 0.0254, ft: 0.3048 },
    mass: { kg: 1, g: 1e-3, mg: 1e-6, t: 1e3, lb: 0.45359237 },
    angle: { rad: 1, mrad: 1e-3, deg: Math.PI / 180, "\u00b0": Math.PI / 180 },
  };

  // What was typed, in SI, or why it is none: {value} or {problem}. A comma is a decimal comma whatever the browser's language; digits
  // are not grouped, because 1,234 could be either. given: {kind, symbol, size}.
  const parsed = (text, given) => {
    const plain = text.trim().replace(/[\u2212\u2013]/g, "-").replace(/\u00a0|\u202f/g, " ");
    if (plain === "") return { problem: "Enter a number." };
    const found = /^([-+]?(?:\d+[.,]?\d*|[.,]\d+)(?:e[-+]?\d+)?)\s*(\S.*)?$/i.exec(plain);
    if (!found || /^[.,\d]/.test(found[2] || "")) return { problem: `'${text.trim().slice(0, 20)}' is not a number: write 0.5 or 0,5, without separators of thousands.` };
    const number = Number(found[1].replace(",", ".")), symbol = (found[2] || "").trim(), sizes = TYPED[given.kind] || {};
    const own = symbol === "" || symbol === given.symbol || symbol === unit(given.symbol);
    const known = given.symbol && given.symbol !== "-" && Object.prototype.hasOwnProperty.call(sizes, symbol); // a number without a unit has none to convert
    if (!own && !known) return { problem: `The unit '${symbol.slice(0, 12)}' is not known here${given.symbol && given.symbol !== "-" ? `: numbers are in ${given.symbol}` : ""}.` };
    const value = number * (own ? given.size : sizes[symbol]);
    return Number.isFinite(value) ? { value } : { problem: "This number is too large." };
  };

  // a text that begins with a capital letter and ends with a full stop
  const sentence = (text) => text && text[0].toUpperCase() + text.slice(1) + (/[.!]$/.test(text) ? "" : ".");

  // a number with its noun: 1 check, 3 checks
  const counted = (n, noun, plural = `${noun}s`) => `${typeof n === "number" ? n.toLocaleString("en") : n} ${n === 1 ? noun : plural}`;

  const parts = { parsed, sentence, counted, number, fixed, typed, unit, withUnit, prefixed, unitOf, format, raised };
  Object.assign(LW, parts);
})();
