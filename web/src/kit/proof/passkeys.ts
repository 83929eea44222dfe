import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser';

/* Passkeys, as the browser has them. Questions and answers are JSON of the server's and for the server. */

/** Pages without TLS, but those of this machine, have none. */
export const hasPasskeys = (): boolean => typeof window.PublicKeyCredential === 'function';

const library = () => import('@simplewebauthn/browser');

/** Throws where nobody answers, or the browser has no such passkey. */
export async function answerByPasskey(question: string): Promise<string> {
  const { startAuthentication } = await library();
  const optionsJSON = JSON.parse(question) as PublicKeyCredentialRequestOptionsJSON;
  return JSON.stringify(await startAuthentication({ optionsJSON }));
}

/** Throws where nobody answers, or the authenticator has one for this user already. */
export async function makePasskey(question: string): Promise<string> {
  const { startRegistration } = await library();
  const optionsJSON = JSON.parse(question) as PublicKeyCredentialCreationOptionsJSON;
  return JSON.stringify(await startRegistration({ optionsJSON }));
}

const isNamed = (error: unknown, name: string): boolean => error instanceof Error && error.name === name;

/** Who was asked has said no, or nothing: that needs no explaining. */
export const isDeclined = (error: unknown): boolean =>
  isNamed(error, 'NotAllowedError') || isNamed(error, 'AbortError');

export const isKnownAlready = (error: unknown): boolean => isNamed(error, 'InvalidStateError');
