import { createHash, randomInt, timingSafeEqual } from 'node:crypto';

/*
 * What proves that whoever sets the gateway up can read its log. Kept in memory only: every start has
 * its own, and after some wrong tries there is another one.
 */

/** Without those that look alike. */
const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const groups = 3;
const groupLength = 4;
const triesPerCode = 10;

const newCode = (): string =>
  Array.from({ length: groups }, () =>
    Array.from({ length: groupLength }, () => alphabet[randomInt(alphabet.length)]).join(''),
  ).join('-');

/** As it was meant: in capitals, without what only makes it readable. Hashed, so that all are of one length. */
const digest = (code: string): Buffer =>
  createHash('sha256')
    .update(code.toUpperCase().replace(/[^A-Z0-9]/g, ''))
    .digest();

export interface SetupCode {
  /** Makes sure there is one, and that it has been printed. */
  announce(): void;
  matches(given: string): boolean;
}

/** `announce` writes the code where only the operator reads. */
export function setupCode(announce: (code: string) => void): SetupCode {
  let expected: Buffer | null = null;
  let wrong = 0;

  const renew = (): Buffer => {
    const code = newCode();
    wrong = 0;
    announce(code);
    expected = digest(code);
    return expected;
  };

  return {
    announce() {
      if (expected === null) renew();
    },
    matches(given) {
      const matches = timingSafeEqual(expected ?? renew(), digest(given));
      if (!matches && ++wrong >= triesPerCode) renew();
      return matches;
    },
  };
}
