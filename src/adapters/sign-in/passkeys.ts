import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { PasskeyChecks, Site } from '../../application/ports/proof-ports.js';

/* Passkeys by WebAuthn. The library is large and few processes need it, so it is read when somebody first does. */

const library = () => import('@simplewebauthn/server');

const timeout = 5 * 60_000;

const relyingParty = ({ origin }: Site): string => new URL(origin).hostname;

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text, 'base64url'));

/** What an answer says of itself, before anything is believed. */
function claimOf(response: string): { readonly challenge: string; readonly credential: string } | null {
  try {
    const { id, response: inner } = JSON.parse(response);
    const { challenge } = JSON.parse(Buffer.from(inner.clientDataJSON, 'base64url').toString('utf8'));
    return typeof challenge === 'string' && typeof id === 'string' ? { challenge, credential: id } : null;
  } catch {
    return null;
  }
}

/** An answer that is wrong in whatever way is none: the library says why by throwing. */
const orNull = <Value>(checked: Promise<Value>): Promise<Value | null> => checked.catch(() => null);

export const webauthnPasskeys: PasskeyChecks = {
  claimOf,

  async registrationOptions({ site, systemName, challenge, user, known }) {
    const { generateRegistrationOptions } = await library();
    const options = await generateRegistrationOptions({
      rpName: systemName,
      rpID: relyingParty(site),
      userName: user.name,
      userDisplayName: user.name,
      userID: bytesOf(user.handle),
      challenge: bytesOf(challenge),
      timeout,
      attestationType: 'none',
      excludeCredentials: known.map((id) => ({ id })),
      authenticatorSelection: { residentKey: 'required', userVerification: 'preferred' },
    });
    return JSON.stringify(options);
  },

  async verifyRegistration({ site, challenge, response }) {
    const { verifyRegistrationResponse } = await library();
    const checked = await orNull(
      verifyRegistrationResponse({
        response: JSON.parse(response) as RegistrationResponseJSON,
        expectedChallenge: challenge,
        expectedOrigin: site.origin,
        expectedRPID: relyingParty(site),
        // Where a passkey signs in alone, its user is verified at that sign-in.
        requireUserVerification: false,
      }),
    );
    if (checked === null || !checked.verified) return null;
    const { id, publicKey, counter, transports = [] } = checked.registrationInfo.credential;
    return { credential: id, publicKey: Buffer.from(publicKey).toString('base64url'), counter, transports };
  },

  async authenticationOptions({ site, challenge, known, verified }) {
    const { generateAuthenticationOptions } = await library();
    const options = await generateAuthenticationOptions({
      rpID: relyingParty(site),
      challenge: bytesOf(challenge),
      timeout,
      allowCredentials: known.map(({ credential, transports }) => ({ id: credential, transports: [...transports] })),
      userVerification: verified ? 'required' : 'preferred',
    });
    return JSON.stringify(options);
  },

  async verifyAuthentication({ site, challenge, response, publicKey, verified }) {
    const { verifyAuthenticationResponse } = await library();
    const answer = JSON.parse(response) as AuthenticationResponseJSON;
    const checked = await orNull(
      verifyAuthenticationResponse({
        response: answer,
        expectedChallenge: challenge,
        expectedOrigin: site.origin,
        expectedRPID: relyingParty(site),
        // Whether the counter has gone on is for the user's own history to say.
        credential: { id: answer.id, publicKey: bytesOf(publicKey), counter: 0 },
        requireUserVerification: verified,
      }),
    );
    return checked?.verified === true ? { counter: checked.authenticationInfo.newCounter } : null;
  },
};
