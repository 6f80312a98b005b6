// The calibrations that a media may be measured with: its attachments, and the files of its project.
import { get } from "../client.js";
import { html, useState } from "../lib.js";
import { shapes } from "../strings_shapes.js";
import { Select } from "../ui/controls.js";
import { useAsync } from "../ui/states.js";

const CALIBRATION = /\.(ya?ml|json|npz|krtd)$/i;

/** @typedef {{key: string, name: string, query: {file?: string, file_id?: number}}} Calibration `query` names it to the service */

/** Attachments first, then files of the project. @param {any} media @returns {Calibration[]} */
export function useCalibrations(media) {
  const found = useAsync((signal) => get(`Files/${media.project}`, {}, { signal }), [media.project]);
  const attached = (media.media_files?.attachment ?? []).map((/** @type {any} */ each) => each.name ?? "");
  const shared = (found.value ?? []).filter(
    (/** @type {any} */ each) => each.path && (CALIBRATION.test(each.name) || CALIBRATION.test(each.path)),
  );
  return [
    ...attached
      .filter((/** @type {string} */ name) => CALIBRATION.test(name))
      .map((/** @type {string} */ name) => ({ key: `file:${name}`, name, query: { file: name } })),
    ...shared.map((/** @type {any} */ each) => ({
      key: `id:${each.id}`,
      name: shapes.measure.ofProject(each.name),
      query: { file_id: each.id },
    })),
  ];
}

/** The calibration in use of a media that shows cameras, of those that there are; kept in this browser. @param {any} media */
export function useCalibration(media) {
  const kept = `limn.calibration.${media.id}`;
  const choices = useCalibrations(media);
  const [key, setKey] = useState(() => localStorage.getItem(kept));
  const chosen = choices.find((each) => each.key === key) ?? choices.find((each) => each.query.file) ?? null;
  const choose = (/** @type {string} */ next) => {
    localStorage.setItem(kept, next);
    setKey(next);
  };
  return { choices, chosen, choose };
}

/** The choice of a calibration; nothing where there is none. @param {{choices: Calibration[], chosen: Calibration | null, choose: (key: string) => void, none: string | null} & Record<string, any>} props `none` offers to use none */
export const CalibrationSelect = ({ choices, chosen, choose, none, ...rest }) =>
  choices.length > 0 &&
  html`<${Select} small value=${chosen?.key ?? ""} options=${[...(none !== null || !chosen ? [["", none ?? shapes.measure.by.none]] : []), ...choices.map((each) => [each.key, each.name])]} onChange=${choose} ...${rest} />`;
