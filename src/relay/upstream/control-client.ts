import type { AnswerRoom } from './answer-room.js';
import { noContent, type RequestContent } from './request-content.js';
import type { Unreached, Upstream } from './upstream.js';
import { Lost, Overdue } from './upstream-response.js';

/*
 * Small questions beside the calls, such as for a token: the same connections, the same guard over addresses, the
 * channel's own proxy; no redirect is followed, and neither the wait nor the answer is long.
 */

export interface ControlRequest {
  readonly url: string;
  /** With the type of the content. */
  readonly headers: Record<string, string>;
  readonly content: RequestContent;
}

export type ControlAnswer = { readonly ok: true; readonly status: number; readonly body: Buffer } | Unreached;

export interface ControlClient {
  /** `proxy`: the channel's. */
  post(question: ControlRequest, proxy: string | null): Promise<ControlAnswer>;
  /** `maxBytes`: bytes of the answer, unpacked; left out: few. */
  get(question: Omit<ControlRequest, 'content'>, proxy: string | null, maxBytes?: number): Promise<ControlAnswer>;
}

/** From the dialling to the last byte. */
const usualPatienceMs = 10_000;
const usualAnswer = 64 * 1024;

const broken: Unreached = { ok: false, saturated: false, blocked: false, timedOut: false };

export function openControlClient(
  upstream: Pick<Upstream, 'send'>,
  answers: Pick<AnswerRoom, 'newSlot'>,
  patienceMs = usualPatienceMs,
): ControlClient {
  const ask = async (
    method: 'GET' | 'POST',
    { url, headers, content }: ControlRequest,
    proxy: string | null,
    maxBytes = usualAnswer,
  ): Promise<ControlAnswer> => {
    const waits = { proxy, timeoutMs: patienceMs, idleMs: patienceMs, payer: null };
    const sending = upstream.send({ method, url, headers, content }, waits);
    const slot = answers.newSlot('side requests');
    try {
      const sent = await sending.sent;
      if (!sent.ok) return sent;
      const { status, body } = sent.answer;
      return { ok: true, status, body: await body.whole(maxBytes, slot) };
    } catch (error) {
      if (!(error instanceof Lost)) throw error;
      return { ...broken, timedOut: error instanceof Overdue };
    } finally {
      sending.cancel();
      slot.leave();
    }
  };
  return {
    post: (question, proxy) => ask('POST', question, proxy),
    get: ({ url, headers }, proxy, maxBytes) => ask('GET', { url, headers, content: noContent }, proxy, maxBytes),
  };
}
