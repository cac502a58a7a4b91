/* The search of the site is a worker. A hyphenated word in a query asks for all of its parts, not for any of them. Pages opened as files
   may not start workers: here a hidden frame runs the script instead. */
"use strict";

const QUERY = 2; // the message that holds a query
const asked = (message) =>
  message?.type === QUERY && typeof message.data === "string"
    ? { ...message, data: message.data.replace(/\w+(?:-\w+)+/g, (word) => word.replace(/^|-/g, " +").trim()) }
    : message;

if (location.protocol !== "file:") {
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message, ...rest) {
    return post.call(this, asked(message), ...rest);
  };
}

if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.documentElement.append(frame);
      this.inside = frame.contentWindow;
      this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = this.inside.document.createElement("script");
      script.src = new URL(url, location.href).href;
      script.onload = () => {
        const waiting = this.waiting;
        this.waiting = null;
        waiting.forEach((data) => this.postMessage(data));
      };
      this.inside.document.documentElement.append(script);
    }

    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data: asked(data) }));
    }
  };
}
