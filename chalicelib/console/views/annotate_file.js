// The file of the media that is shown: a lasting link to it, and the looped frames as a clip.
import { address, get } from "../client.js";
import { html } from "../lib.js";
import { records as words } from "../strings_records.js";
import { download } from "../ui/files.js";
import { Menu } from "../ui/menu.js";
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
  return html`<${Menu} small kind="quiet" icon="video" title=${words.file} items=${[
    { label: words.permalink, icon: "link", run: link },
    isVideo && { label: words.clip, icon: "download", run: () => clip().catch(toastError) },
  ]} />`;
}
