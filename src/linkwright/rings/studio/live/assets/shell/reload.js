// LW.watch(path, ended): asks the address once a second while the page is seen; another version reloads the page where it is.
// After half a minute without an answer it gives up quietly and calls ended. The page of a mechanism and that of an error use it.
(() => {
  "use strict";
  const EVERY = 1000; // milliseconds
  const PATIENCE = 30; // questions without an answer

  LW.watch = (path, ended = () => {}) => {
    const own = /[?&]have=([^&]*)/.exec(path);
    let known = own ? decodeURIComponent(own[1]) : null, misses = 0;
    const ask = async () => {
      if (!document.hidden) {
        try {
          const answer = await fetch(path, { cache: "no-store" });
          if (!answer.ok) throw new Error(answer.statusText); // another server at this port, with another key
          const version = (await answer.text()).trim();
          if (known !== null && version !== known) { location.reload(); return; }
          known = version;
          misses = 0;
        } catch (problem) {
          misses += 1;
        }
      }
      if (misses < PATIENCE) setTimeout(ask, EVERY);
      else ended();
    };
    setTimeout(ask, EVERY);
  };
})();
