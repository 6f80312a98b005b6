// The file of the media that is shown: a lasting link to it, the looped frames as a clip, and links for guests.
import { address, get } from "../client.js";
import { html, useState } from "../lib.js";
import { may } from "../store.js";
import { access } from "../strings_access.js";
import { records as words } from "../strings_records.js";
import { download } from "../ui/files.js";
import { Menu } from "../ui/menu.js";
import { PointsDialog } from "../ui/point_samples.js";
import { ShareDialog } from "../ui/share.js";
import { toast, toastError } from "../ui/toast.js";

/** @param {{session: import("../draw/session.js").Session, media: any}} props */
export function FileMenu({ session, media }) {
  const link = () =>
    navigator.clipboard
      .writeText(address(`Permalink/${media.id}`))
      .then(() => toast(words.permalinkCopied, { kind: "good" }), toastError);
  const clip = async () => {
    const loop = session.player?.loop;
    if (!loop) {
      toast(words.clipNeedsLoop);
      return;
    }
    toast(words.clipIsMade);
    const { file } = await get(`GetClip/${media.id}`, { frame_ranges: `${loop[0]}:${loop[1]}`, reencode: 1 });
    await download(file);
  };
  const isVideo = media.num_frames > 1;
  const mayShare = may("Full Control");
  const [what, setWhat] = useState(/** @type {Record<string, any> | null} */ (null));
  const [isPointing, setPointing] = useState(false);
  const shareFrames = () => {
    const frame = session.player?.target ?? 0;
    const [first, last] = session.player?.loop ?? [frame, frame];
    setWhat({ frames: { media_id: media.id, start: first, stop: last + 1 } });
  };
  const shareView = () => {
    const versions = session.layers.value.map((/** @type {any} */ each) => each.id);
    setWhat({ view: { media_id: media.id, frame: session.player?.target ?? 0, versions } });
  };
  return html`${isPointing && html`<${PointsDialog} what=${{ media_ids: [session.media.id] }} count=${1} frame=${session.frame.peek()} onClose=${() => setPointing(false)} onDone=${session.drawIn} />`}
    ${what && html`<${ShareDialog} project=${media.project} what=${what} onClose=${() => setWhat(null)} />`}<${Menu} small kind="quiet" icon="video" title=${words.file} items=${[
      { label: words.permalink, icon: "link", run: link },
      isVideo && { label: words.clip, icon: "download", run: () => clip().catch(toastError) },
      session.mayEdit && { label: words.drawPoints, icon: "dot", run: () => setPointing(true) },
      mayShare && isVideo && { label: access.shareFrames, icon: "link", run: shareFrames },
      mayShare && { label: access.shareView, icon: "link", run: shareView },
    ]} />`;
}
