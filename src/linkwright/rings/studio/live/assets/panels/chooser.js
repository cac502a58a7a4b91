// LW.channelList(items, {most, toggle(name)}): channels to choose from, with a search field. items: [{name, label}]; those that are chosen
// are pressed, further ones can be chosen until there are `most`. Used for the cycle (motion.js) and for recorded runs (record.js).
(() => {
  "use strict";
  const LISTED = 60; // channels of the list at a time

  // items whose names or labels hold all the words asked for; those whose name begins with the first come first
  /** @type {(items: ChosenItem[], query: string) => ChosenItem[]} */
  const matching = (items, query) => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = items.filter((x) => words.every((word) => `${x.name} ${x.label || ""}`.toLowerCase().includes(word)));
    /** @param {ChosenItem} x */
    const first = (x) => (words.length && x.name.toLowerCase().startsWith(words[0]) ? 0 : 1);
    return fits.sort((a, b) => first(a) - first(b));
  };

  LW.channelList = (items, { most, toggle, title = "Channels" }) => {
    const el = LW.el, list = el("ul", { class: "lw-channel-list" }), full = el("p", { class: "lw-note", role: "status" });
    const search = el("input", { type: "text", class: "lw-search", "aria-label": "Search channels", autocomplete: "off", spellcheck: "false", placeholder: `Search ${items.length} channels` });
    /** @type {string[]} */
    let chosen = [];
    const chooser = {
      element: el("details", { class: "lw-chooser" }, el("summary", { text: title }), search, list, full),
      /** @param {string[]} names */
      show(names) {
        chosen = names;
        const found = matching(items, search.value), many = chosen.length >= most;
        const rows = found.slice(0, LISTED).map(({ name, label }) => {
          const on = chosen.includes(name);
          const button = el("button", { type: "button", "aria-pressed": String(on), text: name, title: label || null, on: { click: () => toggle(name) } });
          button.disabled = !on && many;
          return el("li", {}, button);
        });
        list.replaceChildren(...rows);
        const rest = found.length - rows.length, hints = [];
        if (many) hints.push(`${most} are shown: remove one to choose another.`);
        if (rest > 0) hints.push(`${rest} more: narrow the search.`);
        if (!found.length) hints.push("No channel has this name.");
        LW.setText(full, hints.join(" "));
      },
    };
    search.addEventListener("input", () => chooser.show(chosen));
    search.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => event.stopPropagation()); // letters are no shortcuts here
    return chooser;
  };

  LW.matchingChannels = (names, query) => matching(names.map((name) => ({ name })), query).map((x) => x.name);
})();
