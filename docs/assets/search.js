/* A hyphenated word in a query asks for all of its parts, not for any of them: slider-crank is +slider +crank. */
"use strict";

(() => {
  const QUERY = 2; // the message to the worker of the search that holds a query
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message, ...rest) {
    const isQuery = message?.type === QUERY && typeof message.data === "string";
    const parts = (word) => word.replace(/^|-/g, " +").trim();
    const asked = isQuery ? { ...message, data: message.data.replace(/\w+(?:-\w+)+/g, parts) } : message;
    return post.call(this, asked, ...rest);
  };
})();
