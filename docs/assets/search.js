/* What a query means to the index: a hyphenated word asks for all of its parts, slider-crank is +slider +crank, and the small words of a
   question ask for nothing. The index completes every word, so "a" would find all words that begin with it. */
"use strict";

(() => {
  const QUERY = 2; // the message to the worker of the search that holds a query
  const SMALL = /\b(?:an?|and|are|can|do|does|for|from|how|i|in|is|it|my|of|on|or|the|to|what|where|which|with)\s+/gi;
  const post = Worker.prototype.postMessage;
  const parts = (word) => word.replace(/^|-/g, " +").trim();
  const meant = (query) => query.replace(SMALL, "").replace(/\w+(?:-\w+)+/g, parts);
  Worker.prototype.postMessage = function (message, ...rest) {
    const isQuery = message?.type === QUERY && typeof message.data === "string";
    return post.call(this, isQuery ? { ...message, data: meant(message.data) } : message, ...rest);
  };
})();
