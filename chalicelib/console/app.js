// The start: session, frame, and the view of the current address.
import { session } from "./client.js";
import { effect, html, render, useEffect, useErrorBoundary, useState } from "./lib.js";
import { link, load, navigate, readAhead, route } from "./router.js";
import { openProject, project, resume, user } from "./store.js";
import { text } from "./strings.js";
import { Questions } from "./ui/dialog.js";
import { Frame } from "./ui/frame.js";
import { Empty, Failure, Loading } from "./ui/states.js";
import { toast, Toasts } from "./ui/toast.js";
import { Button } from "./ui/controls.js";

/** The component of the current view, with the project of its address open. */
function View() {
  const { view, params, query, path } = route.value;
  const [state, setState] = useState(/** @type {any} */ ({}));
  const [failure, forget] = useErrorBoundary();
  useEffect(() => {
    let current = true;
    forget();
    if (!view) {
      setState({ missing: true });
      return undefined;
    }
    const opened = params.project ? openProject(params.project) : Promise.resolve();
    Promise.all([load(view), opened]).then(
      ([module]) => current && setState({ view, component: module.default, params, query }),
      (reason) => current && setState({ view, failure: reason }),
    );
    return () => {
      current = false;
    };
  }, [view, params.project]);
  const isOpen = !params.project || project.value?.id === Number(params.project);
  const isShown = !failure && state.component && state.view === view && isOpen;
  useEffect(() => {
    document.body.dataset.view = isShown || state.missing || state.failure ? path : "";
  });
  if (failure) return html`<${Failure} isPage failure=${failure} again=${() => location.reload()} />`;
  if (state.missing)
    return html`<${Empty} isPage icon="search" title=${text.noView} action=${html`<${Button} href=${link("/")}>${text.toProjects}<//>`}>${path}<//>`;
  if (state.failure && state.view === view)
    return html`<${Failure} isPage failure=${state.failure} again=${() => location.reload()} />`;
  if (!isShown) return html`<${Loading} />`;
  return html`<${state.component} params=${params} query=${query} />`;
}

function App() {
  const view = route.value.view;
  const [ready, setReady] = useState(false);
  const [failure, setFailure] = useState(/** @type {any} */ (null));
  useEffect(() => {
    resumed.then(() => setReady(true), setFailure);
  }, []);
  if (failure) return html`<${Failure} isPage failure=${failure} again=${() => location.reload()} />`;
  if (!ready) return html`<${Loading} />`;
  if (!user.value && !view?.open) return html`<${Loading} />`;
  return html`${view?.frameless ? html`<main class="view" id="main"><${View} /></main>` : html`<${Frame}><${View} /><//>`}<${Questions} /><${Toasts} />`;
}

// without a sign-in every address leads to the sign-in page, and from there back
effect(() => {
  const { view, path, query } = route.value;
  if (!session.value && !view?.open)
    navigate("/sign-in", path === "/" ? {} : { next: link(path, query).slice(1) }, { replace: true });
});

// a file that is dropped beside the place for it would replace the page
addEventListener("dragover", (event) => {
  if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
});
addEventListener("drop", (event) => {
  if (event.defaultPrevented || !event.dataTransfer?.types.includes("Files")) return;
  event.preventDefault();
  const open = project.peek();
  if (open) toast(text.dropElsewhere, { action: text.toUpload, run: () => navigate(`/projects/${open.id}/upload`) });
});

const resumed = resume();
resumed.catch(() => undefined); // told by the first view
// the first view, its project and what it shows are read while the session is
if (session.peek()) {
  const { view, params } = route.peek();
  readAhead();
  // modules last: there are a hundred, and a connection takes six at a time
  Promise.all([params.project && openProject(params.project), view && load(view)]).catch(() => undefined);
}
render(html`<${App} />`, /** @type {HTMLElement} */ (document.getElementById("app")));
