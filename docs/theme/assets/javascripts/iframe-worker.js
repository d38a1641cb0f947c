// Browsers start no worker for a page that is a file. There the search runs in a frame that is not shown, and which the theme takes for a worker.
// The name is one that the theme's plugin `offline` looks for: without it, the plugin would fetch such a script from elsewhere.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = inside.document.createElement("script");
      script.src = address;
      script.onload = () => {
        this.loaded = true;
        for (const data of this.waiting) this.postMessage(data);
      };
      inside.document.body.append(script);
    }

    // What comes before the script is there is kept for it.
    postMessage(data) {
      if (this.loaded) this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
      else this.waiting.push(data);
    }
  };
}
