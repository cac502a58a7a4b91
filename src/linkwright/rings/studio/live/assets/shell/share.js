// The state of the page as the fragment of its address (read and written without a document, so that it runs in node), and handing
// out pictures and numbers: by clipboard where the browser allows it, else as a file.
(() => {
  "use strict";
  const MODES = ["turn", "drag", "swing", "run"], TABS = ["compare", "motion", "pins", "drive", "parameters", "machinery", "channels"], KINDS = ["pin", "body", "point"];

  const finite = (text) => (text !== null && text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : undefined);
  const oneOf = (text, allowed) => (allowed.includes(text) ? text : undefined);
  const short = (value) => String(Number(value.toPrecision(12)));

  // Lists keep their separators as they are and encode those within their parts, so they are taken apart before they are decoded;
  // a list without a separator may have been encoded as a whole on its way.
  const raw = (fragment, key) => (new RegExp(`(?:^#?|&)${key}=([^&]*)`).exec(fragment) || ["", ""])[1].replace(/\+/g, " ");
  const decoded = (text) => {
    try { return decodeURIComponent(text); } catch (problem) { return ""; }
  };
  const parts = (text, separator) => (text.includes(separator) || separator === "," ? text.split(separator).map(decoded) : decoded(text).split(separator));
  const joined = (list, separator) => list.map(encodeURIComponent).join(separator);

  // "#s=120.5&p.L1=0.35" -> {s, play, speed, mode, tab, theme, axes, pick, traces, curves, over, pinned, values}; what is missing or wrong is undefined
  const read = (fragment) => {
    const given = new URLSearchParams(fragment.replace(/^#/, "")), get = (key) => given.get(key);
    const values = {};
    for (const [key, text] of given) if (key.startsWith("p.") && key.length > 2 && finite(text) !== undefined) values[key.slice(2)] = finite(text);
    const [kind, name, body] = parts(raw(fragment, "pick"), ":");
    const speed = finite(get("speed"));
    return {
      s: finite(get("s")),
      play: { 0: false, 1: true }[get("play")],
      speed: speed !== undefined && speed > 0 ? speed : undefined,
      mode: oneOf(get("mode"), MODES),
      tab: get("machinery") === "1" ? "machinery" : oneOf(get("tab"), TABS),
      theme: oneOf(get("theme"), ["light", "dark"]),
      axes: given.has("axes") ? (get("axes") === "world" ? "" : get("axes")) : undefined,
      pick: KINDS.includes(kind) && name ? { kind, name, body: body || "" } : undefined,
      traces: given.has("trace") ? parts(raw(fragment, "trace"), ",").filter(Boolean) : undefined,
      curves: given.has("curves") ? parts(raw(fragment, "curves"), ",").filter(Boolean) : undefined,
      over: get("over") || undefined,
      pinned: given.has("pinned") ? parts(raw(fragment, "pinned"), ",").filter(Boolean) : undefined,
      values,
    };
  };

  // the other way; what is undefined is left out
  const write = (state) => {
    const out = [], add = (key, value) => { if (value !== undefined && value !== null) out.push(`${key}=${encodeURIComponent(value)}`); };
    if (state.mode && state.mode !== "turn") add("mode", state.mode);
    if (state.s !== undefined) add("s", String(Number(state.s.toFixed(3))));
    if (state.play === false) add("play", "0");
    if (state.speed !== undefined && state.speed !== 1) add("speed", short(state.speed));
    for (const name of Object.keys(state.values || {})) out.push(`p.${encodeURIComponent(name)}=${short(state.values[name])}`);
    if (state.pick) out.push(`pick=${joined([state.pick.kind, state.pick.name, state.pick.body].filter(Boolean), ":")}`);
    if (state.axes) add("axes", state.axes);
    if (state.traces) out.push(`trace=${joined(state.traces, ",")}`);
    if (state.curves) out.push(`curves=${joined(state.curves, ",")}`);
    if (state.over) add("over", state.over);
    if (state.pinned) out.push(`pinned=${joined(state.pinned, ",")}`);
    if (state.tab === "machinery") add("machinery", "1");
    else add("tab", state.tab);
    add("theme", state.theme);
    return out.join("&");
  };

  // The address bar, at most twice a second; pages inside a frame without an address of their own are left alone.
  const WAIT = 500;
  const address = (current, signal) => {
    let timer = 0, last = null;
    const put = () => {
      timer = 0;
      if (signal && signal.aborted) return;
      const text = current();
      if (text === last) return;
      last = text;
      try {
        history.replaceState(history.state, "", text ? `#${text}` : location.href.split("#")[0]);
      } catch (problem) {
        last = text; // a frame made from text has no address to change
      }
    };
    return () => { if (!timer && location.protocol !== "about:") timer = setTimeout(put, WAIT); };
  };

  const download = (name, blob) => {
    const url = URL.createObjectURL(blob), link = LW.el("a", { href: url, download: name, hidden: true });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  };

  // Copies a promise of a blob (the clipboard wants to be asked within the click); answers whether it worked.
  const copy = async (blob, type) => {
    try {
      if (type.startsWith("text/")) {
        await navigator.clipboard.writeText(await (await blob).text());
        return true;
      }
      await navigator.clipboard.write([new ClipboardItem({ [type]: blob })]);
      return true;
    } catch (problem) {
      return false;
    }
  };

  // Copies, or downloads where copying is not allowed; says which.
  const hand = async (what, say) => {
    const made = Promise.resolve(what.make());
    if (navigator.clipboard && await copy(made, what.type)) { say(`${what.label} copied.`); return "copied"; }
    const file = what.file();
    download(file, await made);
    say(`This page may not use the clipboard, so ${file} was saved instead.`);
    return "saved";
  };

  LW.share = { read, write, address, download, hand };
})();
