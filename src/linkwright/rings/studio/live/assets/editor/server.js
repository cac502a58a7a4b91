// The way to the server: edits one after the other, each with the version it was made for; the file is asked for changes a few times
// a second. Edits of one drag are sent as fast as they are answered, and only the newest waits.
(() => {
  "use strict";
  const E = LW.edit || (LW.edit = {});
  const EVERY = 400; // ms between questions for the version
  const STOPPED = "The Linkwright server has stopped. Restart it to continue.";

  // a request fails by a TypeError, an answer that is cut off by an AbortError
  const lost = (/** @type {any} */ problem) => problem instanceof TypeError || problem.name === "AbortError";

  const post = async (path, body) => {
    const raw = body instanceof Blob, type = raw ? "application/octet-stream" : "application/json";
    const answer = await fetch(path, { method: "POST", cache: "no-store", headers: { "Content-Type": type }, body: raw ? body : JSON.stringify(body) });
    return read(answer);
  };
  const read = async (answer) => {
    const text = await answer.text();
    try { return JSON.parse(text); } catch (problem) { return { kind: "refused", text: text || answer.statusText }; }
  };

  /**
   * on: answer(a, own), ask(questions, again), refused(text, answer), conflict(a), file(state of the file), offline(text or "")
   * @param {any} first the first answer, or null @param {any} on
   */
  E.server = (first, on) => {
    const server = { version: first ? first.version : "", busy: false, latency: 0 };
    /** @type {any[]} */
    const queue = [];
    let offline = false, asking = 0;

    const state = (off) => {
      if (off !== offline) on.offline(off ? STOPPED : "");
      offline = off;
    };
    const take = (a, job) => {
      if (a.version) server.version = a.version;
      if (a.kind === "answer") on.answer(a, Boolean(job));
      else if (a.kind === "ask") on.ask(a.questions, (answers) => send({ ...job, body: { ...job.body, answers: { ...job.body.answers, ...answers } } }));
      else if (a.kind === "conflict") on.conflict(a);
      else if (a.kind === "refused") on.refused(a.text, a, job);
      if (job && job.done) job.done(a);
      return a;
    };
    const work = async () => {
      if (server.busy) return;
      server.busy = true;
      while (queue.length) {
        const job = queue.shift(), began = performance.now();
        try {
          const a = await post(job.path, job.plain ? job.body : { base: server.version, ...job.body });
          state(false);
          server.latency = performance.now() - began;
          take(a, job);
        } catch (problem) {
          if (!lost(problem)) { server.busy = false; throw problem; }
          state(true);
          if (job.done) job.done(null);
          on.refused(STOPPED, null, job);
          queue.length = 0;
        }
      }
      server.busy = false;
    };
    const send = (job) => new Promise((resolve) => {
      const waiting = job.body.drag ? queue.findIndex((other) => other.body.drag === job.body.drag) : -1;
      if (waiting >= 0) queue.splice(waiting, 1)[0].done(null);
      queue.push({ ...job, done: resolve });
      work();
    });

    /** One or several operations as one step of undo. @param {any} ops @param {any} [more] {drag, label} */
    const edit = (ops, more = {}) => send({ path: "edit/do", body: { ...(Array.isArray(ops) ? { ops } : { op: ops }), ...more } });
    const load = async () => take(await read(await fetch("edit/state", { cache: "no-store" })), null);
    const watch = async () => {
      if (!document.hidden && !server.busy) {
        try {
          const before = server.version, v = await read(await fetch("edit/version", { cache: "no-store" }));
          state(false);
          if (server.version === before && !server.busy) {
            if (v.version && (v.version !== before || v.conflict)) await load();
            else if (v.file) on.file(v.file);
          }
        } catch (problem) {
          if (!lost(problem)) throw problem;
          state(true);
        }
      }
      asking = window.setTimeout(watch, EVERY);
    };
    return Object.assign(server, {
      edit, load,
      undo: () => send({ path: "edit/undo", body: {} }),
      redo: () => send({ path: "edit/redo", body: {} }),
      resolve: (choose) => send({ path: "edit/resolve", plain: true, body: { choose } }),
      save: (name) => send({ path: "edit/save", plain: true, body: name ? { name } : {} }),
      upload: (file) => send({ path: `edit/upload?name=${encodeURIComponent(file.name)}`, plain: true, body: file }),
      /** An answer outside the order of edits; null if the server has stopped. @param {string} path */
      async get(path) {
        try { return await read(await fetch(path, { cache: "no-store" })); } catch (problem) {
          if (!lost(problem)) throw problem;
          state(true);
          return null;
        }
      },
      start: () => { asking = window.setTimeout(watch, EVERY); },
      stop: () => clearTimeout(asking),
      waiting: () => server.busy || queue.length > 0,
    });
  };
})();
