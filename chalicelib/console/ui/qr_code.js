// A text as a QR code, which the camera of a phone reads.
import { html } from "../lib.js";
import { encode } from "../vendor/uqr.js";

/** @param {{of: string, label: string}} props the text, and what the picture is */
export default function QrCode({ of, label }) {
  const { size, data } = encode(of, { ecc: "M", border: 4 });
  const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])));
  return html`<svg class="qr-code" role="img" aria-label=${label} viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges"><rect width=${size} height=${size} fill="#fff" /><path d=${dark.join("")} fill="#000" /></svg>`;
}
