// Modal dialogs on the <dialog> element, which keeps the focus and closes on Escape.
import { classes, html, signal, useEffect, useRef, useState } from "../lib.js";
import { text } from "../strings.js";
import { Button, TextField, useId } from "./controls.js";

/**
 * @param {{title: string, onClose: () => void, wide?: boolean, footer?: any, onSubmit?: () => any, children?: any}} props
 *   with `onSubmit` the dialog is a form: Enter sends it, once until what it returns is settled, and a click beside it does not close it;
 *   it is not sent while a value of an attribute is wrong
 */
export function Dialog({ title, onClose, wide, footer, onSubmit, children }) {
  const element = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const id = useId();
  const isSending = useRef(false);
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (isSending.current) return;
    const wrong = element.current?.querySelector('.attribute-form [aria-invalid="true"]');
    if (wrong) return /** @type {HTMLElement} */ (wrong).focus();
    isSending.current = true;
    try {
      await onSubmit?.();
    } finally {
      isSending.current = false;
    }
  };
  useEffect(() => {
    const before = /** @type {HTMLElement | null} */ (document.activeElement);
    element.current?.showModal();
    return () => before?.focus?.();
  }, []);
  const inner = html`<header><h2 id=${id}>${title}</h2><${Button} kind="quiet" icon="close" title=${text.close} onClick=${onClose} /></header>
    <div class="body">${children}</div>${footer && html`<footer>${footer}</footer>`}`;
  return html`<dialog ref=${element} class=${classes("dialog", wide && "wide")} aria-labelledby=${id}
    onCancel=${(/** @type {Event} */ e) => {
      e.preventDefault();
      onClose();
    }} onKeyDown=${(/** @type {Event} */ e) => e.stopPropagation()}
    onMouseDown=${(/** @type {any} */ e) => {
      if (e.target === element.current && !onSubmit) onClose();
    }}>
    ${onSubmit ? html`<form class="dialog-form" onSubmit=${submit}>${inner}</form>` : inner}</dialog>`;
}

const asked = signal(/** @type {any} */ (null));

/**
 * Ask for a confirmation. @param {{title: string, message?: any, action: string, danger?: boolean, type?: string}} question
 *   `type` is a text that has to be typed first @returns {Promise<boolean>}
 */
export const confirm = (question) =>
  new Promise((resolve) => {
    asked.value = { ...question, resolve };
  });

/** Ask for a text. @param {{title: string, label: string, value?: string, action: string}} question @returns {Promise<string | null>} */
export const prompt = (question) =>
  new Promise((resolve) => {
    asked.value = { ...question, value: question.value ?? "", resolve };
  });

/** Shows what `confirm` and `prompt` ask; stands once in the frame. */
export function Questions() {
  const question = asked.value;
  return question && html`<${Question} key=${question} question=${question} />`;
}

/** @param {{question: any}} props */
function Question({ question }) {
  const [given, setGiven] = useState(question.value ?? "");
  const answer = (/** @type {any} */ value) => {
    asked.value = null;
    question.resolve(value);
  };
  const isText = question.label !== undefined;
  const blocked = isText ? !given.trim() : Boolean(question.type) && given !== question.type;
  return html`<${Dialog} title=${question.title} onClose=${() => answer(isText ? null : false)} onSubmit=${() => !blocked && answer(isText ? given.trim() : true)}
    footer=${html`<${Button} onClick=${() => answer(isText ? null : false)}>${text.cancel}<//>
      <${Button} kind=${question.danger ? "danger" : "primary"} type="submit" disabled=${blocked}>${question.action}<//>`}>
    ${question.message && html`<p>${question.message}</p>`}
    ${(isText || question.type) && html`<${TextField} label=${question.label ?? text.typeToConfirm(question.type)} value=${given} onInput=${setGiven} autofocus />`}<//>`;
}
