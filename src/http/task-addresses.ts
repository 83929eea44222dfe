import { createHmac, timingSafeEqual } from 'node:crypto';

/*
 * Addresses that nobody guesses, for those who show no key: pictures and videos of tasks, which pages show, and the callback by
 * which its upstream reports. Each has a key of its own, derived from the master key.
 */

interface Keys {
  /** Keyed, in hex. */
  readonly hash: (text: string) => string;
}

/** 128 bits. */
const length = 22;

const signature = ({ hash }: Keys, purpose: string, text: string): string =>
  createHmac('sha256', hash(`key of ${purpose}`))
    .update(text)
    .digest('base64url')
    .slice(0, length);

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

const pictures = 'task pictures';
const videos = 'task videos';

const signedName = (keys: Keys, purpose: string, taskId: number): string =>
  `${taskId}.${signature(keys, purpose, String(taskId))}`;

/** null: it is none of ours. */
function signedTask(keys: Keys, purpose: string, name: string): number | null {
  const [, id = '', given = ''] = /^(\d{1,15})\.([\w-]{1,64})$/.exec(name) ?? [];
  const isOurs = id !== '' && String(Number(id)) === id && isSame(given, signature(keys, purpose, id));
  return isOurs ? Number(id) : null;
}

/** Below the site, such as `/mj/image/17.KJH…`. */
export const picturePath = (keys: Keys, taskId: number): string => `/mj/image/${signedName(keys, pictures, taskId)}`;

/** `name`: the last part of such a path. null: it is none of ours. */
export const pictureTask = (keys: Keys, name: string): number | null => signedTask(keys, pictures, name);

/** Below the site, such as `/v1/videos/files/17.KJH…`. */
export const videoPath = (keys: Keys, taskId: number): string => `/v1/videos/files/${signedName(keys, videos, taskId)}`;

/** `name`: the last part of such a path. null: it is none of ours. */
export const videoTask = (keys: Keys, name: string): number | null => signedTask(keys, videos, name);

const callbacks = 'task callbacks';

/** Known before the task is: its upstream is informed of it as it gets the request. */
export const callbackPath = (keys: Keys, callId: string): string =>
  `/mj/notify/${callId}/${signature(keys, callbacks, callId)}`;

export const isCallback = (keys: Keys, callId: string, secret: string): boolean =>
  isSame(secret, signature(keys, callbacks, callId));
