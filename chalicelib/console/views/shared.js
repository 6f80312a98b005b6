// What a share link shows to a guest without an account: its media, by the player of the console, with their shapes.
import { get, guest, post, request } from "../client.js";
import { html, useEffect, useRef, useState } from "../lib.js";
import { colorOf } from "../store.js";
import { access as words } from "../strings_access.js";
import { text } from "../strings.js";
import { cleared, drawItems } from "../draw/scene.js";
import { Player } from "../player/player.js";
import { Button, TextField } from "../ui/controls.js";
import { Mark } from "../ui/icons.js";
import { Await, Empty, Loading, useAsync } from "../ui/states.js";
import { explain } from "../ui/toast.js";

const URL_SECONDS = 300;

/** @param {{params: Record<string, string>}} props */
export default function Shared({ params }) {
  const [opened, setOpened] = useState(/** @type {any} */ (null));
  const [passphrase, setPassphrase] = useState("");
  const [failure, setFailure] = useState("");
  const [isAsked, setAsked] = useState(false);
  const open = async (/** @type {string} */ given) => {
    try {
      const found = await post("Guest", { token: params.token, ...(given && { passphrase: given }) });
      guest.token = found.token;
      setOpened(found);
    } catch (reason) {
      setAsked(/** @type {any} */ (reason).status === 403);
      setFailure(given || /** @type {any} */ (reason).status !== 403 ? explain(reason) : "");
    }
  };
  useEffect(() => {
    open("");
    return () => {
      guest.token = "";
    };
  }, [params.token]);
  if (opened) return html`<${Gallery} link=${opened} />`;
  if (!isAsked && !failure) return html`<${Loading} />`;
  return html`<div class="page narrow"><header class="row"><${Mark} /><h1>${words.shared}</h1></header>${failure && html`<div class="note bad" role="alert">${failure}</div>`}
    ${
      isAsked &&
      html`<form class="column" onSubmit=${(/** @type {Event} */ event) => {
        event.preventDefault();
        open(passphrase);
      }}><p class="muted">${words.needPassphrase}</p><${TextField} label=${words.passphrase} type="password" autocomplete="off" value=${passphrase} onInput=${setPassphrase} required /><${Button} kind="primary" type="submit">${words.open}<//></form>`
    }</div>`;
}

/** @param {{link: any}} props */
function Gallery({ link }) {
  const [chosen, setChosen] = useState(0);
  const found = useAsync(async () => {
    const [media, types] = await Promise.all([
      get(`Medias/${link.project}`, { presigned: URL_SECONDS, stop: 500 }),
      get(`LocalizationTypes/${link.project}`),
    ]);
    return { media, types };
  }, [link]);
  return html`<div class="page"><header><h1>${link.name || words.shared}</h1></header><${Await} of=${found}>${(
    /** @type {any} */ { media, types },
  ) => {
    if (!media.length) return html`<${Empty} icon="video" title=${words.nothing} />`;
    return html`<nav class="row wrap" aria-label=${words.shared}>${media.map((/** @type {any} */ each, /** @type {number} */ index) => html`<${Button} key=${each.id} small kind=${index === chosen ? "primary" : undefined} onClick=${() => setChosen(index)}>${each.name}<//>`)}</nav>
      <${Watch} key=${media[chosen].id} media=${media[chosen]} types=${types} project=${link.project} />`;
  }}<//></div>`;
}

/** @param {{media: any, types: any[], project: number}} props */
function Watch({ media, types, project }) {
  const picture = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const overlay = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const player = useRef(/** @type {Player | null} */ (null));
  const [frame, setFrame] = useState(0);
  const [isPlaying, setPlaying] = useState(false);
  const [failure, setFailure] = useState("");
  const shapes = useAsync(() => get(`Localizations/${project}`, { media_id: media.id }), [media.id]);
  useEffect(() => {
    const made = new Player(/** @type {HTMLCanvasElement} */ (picture.current), {
      reload: () => get(`Media/${media.id}`, { presigned: URL_SECONDS }),
      fetchFrame: (number, quality) =>
        request("GET", `GetFrame/${media.id}`, {
          query: { frames: number, quality, format: "jpg" },
          as: "blob",
          accept: "*/*",
        }),
    });
    player.current = made;
    made.addEventListener("frame", () => setFrame(made.frame));
    made.addEventListener("state", () => setPlaying(made.isPlaying));
    made.addEventListener("error", (event) => setFailure(explain(/** @type {CustomEvent} */ (event).detail)));
    get(`Media/${media.id}`, { presigned: URL_SECONDS })
      .then((fresh) => made.open(fresh, 0))
      .catch((reason) => setFailure(explain(reason)));
    return () => made.close();
  }, [media.id]);
  useEffect(() => {
    const canvas = overlay.current;
    if (!canvas) return;
    const context = cleared(canvas);
    const rect = { left: 0, top: 0, width: canvas.clientWidth, height: canvas.clientHeight };
    const items = (shapes.value ?? [])
      .filter((/** @type {any} */ row) => row.frame === frame)
      .map((/** @type {any} */ row) => itemOf(row, types));
    drawItems(context, rect, items, items.length <= 40);
  }, [frame, shapes.value]);
  const count = media.num_frames ?? 1;
  const ratio = media.width && media.height ? `${media.width} / ${media.height}` : "16 / 9";
  return html`${failure && html`<div class="note bad" role="alert">${failure}</div>`}<div class="shared-stage" style=${{ aspectRatio: ratio }}><canvas ref=${picture} /><canvas ref=${overlay} aria-hidden="true" /></div>
    ${
      count > 1 &&
      html`<div class="row shared-transport"><${Button} icon="frame_previous" title=${words.back} onClick=${() => player.current?.seek(frame - 1)} /><${Button} icon=${isPlaying ? "pause" : "play"} title=${isPlaying ? words.pause : words.play} onClick=${() => player.current?.toggle()} /><${Button} icon="frame_next" title=${words.on} onClick=${() => player.current?.seek(frame + 1)} />
      <input class="grow" type="range" min="0" max=${count - 1} value=${frame} aria-label=${words.position} onInput=${(/** @type {any} */ event) => player.current?.seek(Number(event.currentTarget.value))} /><span class="number">${words.frame(frame, count)}</span></div>`
    }`;
}

/** @param {any} row a localization @param {any[]} types @returns {import("../draw/scene.js").Item} */
function itemOf(row, types) {
  const type = types.find((each) => each.id === row.type);
  return {
    key: String(row.id),
    kind: type?.dtype ?? "box",
    shape: row,
    color: colorOf(type, row.attributes),
    label: type?.name ?? text.unnamed,
    skeleton: type?.skeleton,
    look: "plain",
  };
}
