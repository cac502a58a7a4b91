// The object that all scripts of a page add to. This script is the first of them.
var LW = /** @type {Linkwright} */ (Object.assign(globalThis.LW || {}, { draw: {} }));
