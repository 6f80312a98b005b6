// Passkeys (WebAuthn): the browser and its authenticators on one side, the service on the other.
import { ApiError } from "./client.js";
import { access as words } from "./strings_access.js";

/** Whether this browser and this address can have passkeys: an address of digits is no name that they are for. */
export const canUse = () => "PublicKeyCredential" in window && !/^[\d.]+$|^\[/.test(location.hostname);

/**
 * Have an authenticator make a passkey.
 * @param {any} asked the answer of `POST PasskeyRegistration` @param {string} name @returns {Promise<any>} the body of `POST Passkeys`
 */
export async function make(asked, name) {
  const made = await ask(() =>
    navigator.credentials.create({
      publicKey: {
        challenge: bytes(asked.challenge),
        rp: { id: asked.host, name: "Limn" },
        user: { id: bytes(asked.user_handle), name: asked.username, displayName: asked.display_name },
        pubKeyCredParams: asked.algorithms.map((/** @type {number} */ alg) => ({ type: "public-key", alg })),
        excludeCredentials: (asked.excluded_ids ?? []).map(named),
        authenticatorSelection: { residentKey: "preferred", userVerification: "preferred" },
        attestation: "none",
      },
    }),
  );
  return { name, client_data: text(made.response.clientDataJSON), attestation: text(made.response.attestationObject) };
}

/** Have an authenticator prove a passkey. @param {any} asked what the service asks @returns {Promise<any>} the member `passkey` of a body */
export async function prove(asked) {
  const found = await ask(() =>
    navigator.credentials.get({
      publicKey: {
        challenge: bytes(asked.challenge),
        rpId: asked.host,
        allowCredentials: (asked.ids ?? []).map(named),
        userVerification: asked.user_verification,
      },
    }),
  );
  const { clientDataJSON, authenticatorData, signature, userHandle } = found.response;
  return {
    id: text(found.rawId),
    client_data: text(clientDataJSON),
    authenticator_data: text(authenticatorData),
    signature: text(signature),
    ...(userHandle?.byteLength && { user_handle: text(userHandle) }),
  };
}

/**
 * Send what needs a second factor. Where the service asks for a code, and a passkey may be given instead, it is asked for once.
 * @template T @param {(proof: {passkey?: any}) => Promise<T>} send @param {boolean} [hasCode] whether a code is given @returns {Promise<T>}
 */
export async function proving(send, hasCode = false) {
  try {
    return await send({});
  } catch (reason) {
    if (hasCode || !(reason instanceof ApiError) || !reason.passkey || !canUse()) throw reason;
    const passkey = await prove(reason.passkey).catch(() => {
      throw reason; // whoever dismisses the browser's question gives a code
    });
    return send({ passkey });
  }
}

/** @param {() => Promise<any>} work @returns {Promise<any>} */
async function ask(work) {
  if (!canUse()) throw new ApiError(0, words.passkeyPlace);
  try {
    return await work();
  } catch (reason) {
    const name = reason instanceof DOMException ? reason.name : "";
    throw new ApiError(0, name === "InvalidStateError" ? words.passkeyThere : words.passkeyDismissed);
  }
}

/** @param {string} id @returns {PublicKeyCredentialDescriptor} */
const named = (id) => ({ type: "public-key", id: bytes(id) });

/** The bytes of a text in base64url. @param {string} coded */
const bytes = (coded) =>
  Uint8Array.from(atob(coded.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));

/** Bytes in base64url. @param {ArrayBuffer} data */
const text = (data) =>
  btoa(String.fromCharCode(...new Uint8Array(data)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
