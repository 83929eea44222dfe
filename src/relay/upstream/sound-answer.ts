import type { JsonValue } from '../json/json.js';
import type { UpstreamBody } from './upstream.js';

/* An answer that is sound: passed on byte by byte, under a type from a list. */

/** A begun one. */
export interface SoundReading {
  /** Its media type. */
  readonly type: string;
  /** Until it is sent. */
  first: Buffer;
  readonly chunks: Pick<UpstreamBody, 'next'>;
  /** Ends the upstream connection. */
  readonly cancel: () => void;
}

const byFormat: ReadonlyMap<JsonValue | undefined, string> = new Map([
  ['mp3', 'audio/mpeg'],
  ['opus', 'audio/ogg'],
  ['aac', 'audio/aac'],
  ['flac', 'audio/flac'],
  ['wav', 'audio/wav'],
  ['pcm', 'audio/pcm'],
]);

const usualFormat = 'mp3';

/** Types that are passed on. */
const sound =
  /^audio\/(mpeg|mp3|ogg|opus|aac|flac|x-flac|wav|wave|x-wav|vnd\.wave|pcm|l16|mp4|x-m4a|webm|basic|pcmu|pcma)$/;
const unsaid = /^(application|binary)\/octet-stream$/;

const typeIn = (reported: string | undefined): string => reported?.split(';', 1)[0]?.trim().toLowerCase() ?? '';

export const isSoundType = (reported: string | undefined): boolean => sound.test(typeIn(reported));

/** `reported`: by the upstream. `format`: what was asked for. null: it is no sound. */
export function soundTypeOf(reported: string | undefined, format: JsonValue | undefined): string | null {
  const type = typeIn(reported);
  if (sound.test(type)) return type;
  if (type !== '' && !unsaid.test(type)) return null;
  return byFormat.get(format ?? usualFormat) ?? 'application/octet-stream';
}
