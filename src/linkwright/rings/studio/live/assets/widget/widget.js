// The notebook's side of a widget (an ES module of anywidget): the page in a frame, parameters and selection both ways by messages
// that carry the key of this widget.
/** @param {{model: any, el: HTMLElement}} given */
function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.title = "Linkwright: mechanism that can be moved, dragged and changed";
  frame.setAttribute("sandbox", model.get("_sandbox"));
  frame.setAttribute("allowfullscreen", "");
  frame.style.cssText = `width:100%;border:0;border-radius:6px;background:transparent;height:${model.get("_height")}px`;
  let hearing = false; // what comes from the page is not sent back to it
  const send = () => {
    if (hearing || !frame.contentWindow) return;
    frame.contentWindow.postMessage({ linkwright: model.get("_key"), values: model.get("values"), pick: model.get("picked") }, "*");
  };
  const heard = (/** @type {MessageEvent} */ event) => {
    const said = event.data;
    if (event.source !== frame.contentWindow || !said || said.linkwright !== model.get("_key")) return;
    if (said.ready) { send(); return; }
    hearing = true;
    model.set("values", said.values);
    model.set("picked", said.pick);
    hearing = false;
    model.save_changes();
  };
  window.addEventListener("message", heard);
  model.on("change:values", send);
  model.on("change:picked", send);
  frame.srcdoc = model.get("_page");
  el.append(frame);
  return () => {
    window.removeEventListener("message", heard);
    model.off("change:values", send);
    model.off("change:picked", send);
  };
}
export default { render };
