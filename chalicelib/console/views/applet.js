// An applet inside the console. It runs in a frame of an origin of its own: it sees neither the token nor this page, and
// learns what it is shown in by a message.
import { get, request } from "../client.js";
import { html, useEffect, useRef, useState } from "../lib.js";
import { link } from "../router.js";
import { project } from "../store.js";
import { text } from "../strings.js";
import { Button } from "../ui/controls.js";
import { Await, Empty, useAsync } from "../ui/states.js";

/** @param {{params: Record<string, string>}} props */
export default function Applet({ params }) {
  const found = useAsync(
    async (signal) => {
      const applet = await get(`Applet/${params.applet}`, {}, { signal });
      const page =
        applet.rendered ??
        (applet.html_file
          ? await request("GET", `/media/${String(applet.html_file).replace(/^\/?(media\/)?/, "")}`, {
              as: "text",
              accept: "*/*",
              signal,
            })
          : "");
      return { applet, page };
    },
    [params.applet],
  );
  return html`<${Await} of=${found}>${(/** @type {any} */ value) => html`<${Shown} key=${params.applet} ...${value} />`}<//>`;
}

/** @param {{applet: any, page: string}} props */
function Shown({ applet, page }) {
  const frame = useRef(/** @type {HTMLIFrameElement | null} */ (null));
  const [isReady, setReady] = useState(false);
  useEffect(() => {
    const hear = (/** @type {MessageEvent} */ event) => {
      if (event.source === frame.current?.contentWindow && event.data === "limn.applet.ready") setReady(true);
    };
    addEventListener("message", hear);
    return () => removeEventListener("message", hear);
  }, []);
  useEffect(() => {
    // a frame of an opaque origin can be addressed by "*" only; the message holds nothing secret
    if (isReady)
      frame.current?.contentWindow?.postMessage(
        { page, context: { project: project.value?.id, applet: applet.id } },
        "*",
      );
  }, [isReady, page]);
  return html`<div class="applet"><div class="applet-bar row"><${Button} kind="quiet" icon="back" title=${text.back} href=${link(`/projects/${applet.project}/manage/applets`)} /><h1>${applet.name}</h1><span class="muted cut">${applet.description}</span></div>
    ${page ? html`<iframe ref=${frame} title=${applet.name} src=${new URL("../applet.html", import.meta.url).href} sandbox="allow-scripts allow-forms allow-modals allow-downloads" referrerpolicy="no-referrer" />` : html`<${Empty} icon="applet" title=${text.emptyApplet} />`}</div>`;
}
