// The site's search runs in a worker, which browsers do not start for pages that are opened as files: a hidden frame runs its script then.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      this.scope = frame.contentWindow;
      const load = (source) =>
        new Promise((done, failed) => {
          const script = this.scope.document.createElement("script");
          script.src = source;
          script.onload = done;
          script.onerror = () => failed(new Error(`cannot load ${source}`));
          this.scope.document.body.appendChild(script);
        });
      this.scope.importScripts = (...sources) => sources.reduce((before, source) => before.then(() => load(source)), Promise.resolve());
      this.scope.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.scope.__index = window.__index;
      this.ready = load(url);
    }

    postMessage(data) {
      this.ready.then(() => this.scope.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
