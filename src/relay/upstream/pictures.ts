import { urlIn } from '../../domain/kernel/address.js';
import type { AnswerSlot } from './answer-room.js';
import { noContent } from './request-content.js';
import type { Upstream, UpstreamAnswer } from './upstream.js';

/*
 * Pictures that a caller names by their address, for upstreams that must have them in the request. Callers choose these
 * addresses: whatever the operator allows for channels, only the public internet is reached, and what went wrong is
 * reported in the same words whatever it was.
 */

export interface Picture {
  /** Its media type. */
  readonly type: string;
  /** In base64. */
  readonly data: string;
}

export interface Pictures {
  /**
   * By their addresses, each fetched once. null: one of them cannot be had. `slot` counts what is held of them.
   */
  fetch(
    addresses: Iterable<string>,
    payer: number | null,
    slot: AnswerSlot,
  ): Promise<ReadonlyMap<string, Picture> | null>;
}

/** Of one request: what Gemini takes in a body. */
export const maxPictureBytes = 15 * 1024 * 1024;
export const maxPictures = 32;
/** For all of them together. */
const patienceMs = 20_000;

const typeIn = ({ headers }: UpstreamAnswer): string | null => {
  const [type = ''] = (headers['content-type'] ?? '').toLowerCase().split(';', 1);
  return /^image\/[\w.+-]{1,64}$/.test(type.trim()) ? type.trim() : null;
};

interface PictureFetch {
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly payer: number | null;
  readonly slot: AnswerSlot;
}

/** `upstream`: guarded. */
export function openPictures(upstream: Pick<Upstream, 'send'>): Pictures {
  const one = async (
    url: string,
    { maxBytes, timeoutMs, payer, slot }: PictureFetch,
  ): Promise<{ type: string; bytes: Buffer } | null> => {
    const call = { method: 'GET', url, headers: { accept: 'image/*' }, content: noContent } as const;
    const sending = upstream.send(call, { proxy: null, timeoutMs, idleMs: timeoutMs, payer });
    try {
      const sent = await sending.sent;
      if (!sent.ok) return null;
      const type = typeIn(sent.answer);
      if (sent.answer.status !== 200 || type === null) return null;
      return { type, bytes: await sent.answer.body.whole(maxBytes, slot) };
    } catch {
      return null;
    } finally {
      sending.cancel();
    }
  };

  return {
    async fetch(addresses, payer, slot) {
      const pictures = new Map<string, Picture>();
      let left = maxPictureBytes;
      const until = performance.now() + patienceMs;
      for (const address of new Set(addresses)) {
        const timeoutMs = Math.ceil(until - performance.now());
        const possible = pictures.size < maxPictures && timeoutMs > 0 && urlIn(address) !== null;
        const found = possible ? await one(address, { maxBytes: left, timeoutMs, payer, slot }) : null;
        if (found === null) return null;
        left -= found.bytes.length;
        pictures.set(address, { type: found.type, data: found.bytes.toString('base64') });
      }
      return pictures;
    },
  };
}
