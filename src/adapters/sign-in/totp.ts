import { Secret, TOTP } from 'otpauth';
import type { OneTimeCodes } from '../../application/ports/proof-ports.js';

/** What every authenticator app takes for granted: SHA-1, six digits, thirty seconds. */
const form = { algorithm: 'SHA1', digits: 6, period: 30 } as const;
/** Steps before and after the one of now whose codes are taken: clocks differ, and people type slowly. */
const drift = 1;

/** Codes by time as RFC 6238 has them. */
export const totpCodes: OneTimeCodes = {
  newSecret: () => new Secret({ size: 20 }).base32,

  address: ({ secret, issuer, account }) =>
    new TOTP({ ...form, issuer, label: account, secret: Secret.fromBase32(secret) }).toString(),

  stepOf(secret, code, at) {
    const delta = TOTP.validate({
      ...form,
      token: code,
      secret: Secret.fromBase32(secret),
      timestamp: at,
      window: drift,
    });
    return delta === null ? null : TOTP.counter({ period: form.period, timestamp: at }) + delta;
  },
};
