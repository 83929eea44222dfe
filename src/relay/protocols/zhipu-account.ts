import { createHmac } from 'node:crypto';

/* What both interfaces of Zhipu's have: how a key signs, and what the numbers of failures mean. */

const validForMs = 24 * 60 * 60 * 1000;

const base64Url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/**
 * A key of the form `id.secret` signs a token that is valid for a day; times are in milliseconds. null: the key is of
 * another form.
 */
export function zhipuToken(key: string, now: number): string | null {
  const [id, secret, ...others] = key.split('.');
  if (!id || !secret || others.length > 0) return null;
  const header = base64Url({ alg: 'HS256', sign_type: 'SIGN' });
  const claims = base64Url({ api_key: id, exp: now + validForMs, timestamp: now });
  const signature = createHmac('sha256', secret).update(`${header}.${claims}`).digest('base64url');
  return `${header}.${claims}.${signature}`;
}

const statuses: readonly (readonly [RegExp, number])[] = [
  [/^100\d$/, 401],
  [/^11(10|11|12|20|21)$/, 403],
  [/^1113$/, 402],
  [/^130[2-589]$/, 429],
  [/^1211$/, 404],
  [/^122\d$/, 403],
  [/^(121\d|1261|1301)$/, 400],
  [/^1234$/, 502],
];

/** undefined: the number is unknown. */
export const zhipuStatus = (code: string): number | undefined => statuses.find(([pattern]) => pattern.test(code))?.[1];
