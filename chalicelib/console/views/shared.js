// What a share link shows to a guest without an account: its media, by the player of the console, with their shapes.
import { get, guest, post, request } from "../client.js";
import { html, useEffect, useRef, useState } from "../lib.js";
import { colorOf } from "../store.js";
import { access as words } from "../strings_access.js";
import { text } from "../strings.js";
import { cleared, drawItems } from "../draw/scene.js";
import { Player } from "../player/player.js";
import { CommentText } from "../ui/comment_text.js";
import { Button, TextField } from "../ui/controls.js";
import { ago } from "../ui/format.js";
import { Mark } from "../ui/icons.js";
import { Await, Empty, Loading, useAsync } from "../ui/states.js";
import { explain } from "../ui/toast.js";

const URL_SECONDS = 300;
const PAGE = 100;

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
  return html`<div class="page narrow"><header><h1 class="row wordmark"><${Mark} /><span>${words.shared}</span></h1></header>${failure && html`<div class="note bad" role="alert">${failure}</div>`}
    ${
      isAsked &&
      html`<form class="column" onSubmit=${(/** @type {Event} */ event) => {
        event.preventDefault();
        open(passphrase);
      }}><p class="muted">${words.needPassphrase}</p><${TextField} label=${words.passphrase} type="password" autocomplete="off" value=${passphrase} onInput=${setPassphrase} required /><${Button} kind="primary" type="submit">${words.open}<//></form>`
    }</div>`;
}

/** @param {{link: any}} props `link` is what a share link shows, or a public project */
export function Gallery({ link }) {
  const [chosen, setChosen] = useState(0);
  const [count, setCount] = useState(PAGE);
  const found = useAsync(async () => {
    const [media, types, comments] = await Promise.all([
      get(`Medias/${link.project}`, { stop: count + 1 }),
      get(`LocalizationTypes/${link.project}`),
      link.comment ? get(`Comments/${link.project}`) : [],
    ]);
    return { media: media.slice(0, count), types, comments, isMore: media.length > count };
  }, [link, count]);
  return html`<div class="page"><header class="row"><h1 class="grow">${link.name || words.shared}</h1></header><${Await} of=${found}>${(
    /** @type {any} */ { media, types, comments, isMore },
  ) => {
    if (!media.length) return html`<${Empty} icon="video" title=${words.nothing} />`;
    return html`<nav class="row wrap" aria-label=${words.shared}>${media.map((/** @type {any} */ each, /** @type {number} */ index) => html`<${Button} key=${each.id} small kind=${index === chosen ? "primary" : undefined} onClick=${() => setChosen(index)}>${each.name}<//>`)}${isMore && html`<${Button} small kind="quiet" onClick=${() => setCount(count + PAGE)}>${words.more}<//>`}</nav>
      ${comments.map((/** @type {any} */ each) => html`<article class="card panel" key=${each.id}><span class="muted small">${ago(each.created_datetime)}</span><${CommentText} text=${each.text} /></article>`)}
      <${Watch} key=${media[chosen].id} media=${media[chosen]} types=${types} link=${link} />`;
  }}<//></div>`;
}

/** @param {{media: any, types: any[], link: any}} props */
function Watch({ media, types, link }) {
  const picture = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const overlay = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const player = useRef(/** @type {Player | null} */ (null));
  const [frame, setFrame] = useState(0);
  const [isPlaying, setPlaying] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const [failure, setFailure] = useState("");
  const isFile = !link.frames;
  const [first, last] = isFile ? [0, (media.num_frames ?? 1) - 1] : [link.frames.start, link.frames.stop - 1];
  const within = (/** @type {number} */ number) => Math.max(first, Math.min(last, number));
  const shapes = useAsync(
    () =>
      link.dataset
        ? get(`DatasetRows/${link.dataset}`, { media_id: media.id })
        : get(`Localizations/${link.project}`, { media_id: media.id }),
    [media.id],
  );
  const original = media.media_files?.archival?.[0];
  const load = async () => {
    const fresh = await get(`Media/${media.id}`, { presigned: URL_SECONDS });
    Object.assign(document.createElement("a"), {
      href: fresh.media_files.archival[0].path,
      download: media.name,
    }).click();
  };
  useEffect(() => {
    const made = new Player(/** @type {HTMLCanvasElement} */ (picture.current), {
      reload: () => get(`Media/${media.id}`, { presigned: URL_SECONDS }),
      fetchFrame: (number, quality) =>
        request("GET", `GetFrame/${media.id}`, {
          query: { frames: within(number), quality, format: "jpg" }, // the player also looks ahead
          as: "blob",
          accept: "*/*",
        }),
    });
    player.current = made;
    made.addEventListener("frame", () => setFrame(made.frame));
    made.addEventListener("state", () => {
      setPlaying(made.isPlaying);
      setOpen(made.source !== null);
    });
    made.addEventListener("error", (event) => setFailure(explain(/** @type {CustomEvent} */ (event).detail)));
    get(`Media/${media.id}`, { presigned: URL_SECONDS })
      .then((fresh) => made.open(fresh, within(link.view?.frame ?? 0)))
      .then(() => {
        if (!isFile) made.loop = [first, last];
      })
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
  const count = last - first + 1;
  const seek = (/** @type {number} */ number) => player.current?.seek(within(number));
  const ratio = media.width && media.height ? `${media.width} / ${media.height}` : "16 / 9";
  return html`${original && html`<div><${Button} small icon="download" onClick=${() => load().catch((reason) => setFailure(explain(reason)))}>${words.downloadOriginal}<//></div>`}${failure && html`<div class="note bad" role="alert">${failure}</div>`}<div class="shared-stage" style=${{ aspectRatio: ratio }}><canvas ref=${picture} /><canvas ref=${overlay} aria-hidden="true" /></div>
    ${
      (media.num_frames ?? 1) > 1 &&
      html`<div class="row shared-transport"><${Button} icon="frame_previous" disabled=${!isOpen || count < 2} title=${words.back} onClick=${() => seek(frame - 1)} /><${Button} icon=${isPlaying ? "pause" : "play"} disabled=${!isOpen} title=${isPlaying ? words.pause : words.play} onClick=${() => player.current?.toggle()} /><${Button} icon="frame_next" disabled=${!isOpen} title=${words.on} onClick=${() => seek(frame + 1)} />
      <input class="grow" type="range" min=${first} max=${last} value=${frame} disabled=${!isOpen} aria-label=${words.position} onInput=${(/** @type {any} */ event) => seek(Number(event.currentTarget.value))} /><span class="number">${words.frame(frame, media.num_frames ?? 1)}</span></div>`
    }`;
}

/** @param {any} row a localization @param {any[]} types @returns {import("../draw/scene.js").Item} */
function itemOf(row, types) {
  // rows of a dataset name their types as they were named then
  const type = types.find((each) => each.id === row.type || each.name === row.type);
  return {
    key: String(row.id),
    kind: row.kind ?? type?.dtype ?? "box",
    shape: row,
    color: colorOf(type, row.attributes),
    label: row.class_name || (type?.name ?? text.unnamed),
    skeleton: type?.skeleton,
    look: "plain",
  };
}
