import type { Answer, Generated } from '../contracts/protocol.js';
import type { JsonObject } from '../json/json.js';
import { SeenText } from '../text/seen-text.js';
import type { Confidential } from '../upstream/confidential.js';
import { errorOfStatus, unreadableAnswer } from '../upstream/upstream-error.js';

/* What an upstream says to a task that is put to it: it took it, it did not, or nobody can tell. */

/** `body`: what the caller gets of it; the received bytes themselves, unless `rewritten`. */
export const taken = (
  received: Buffer,
  body: JsonObject,
  task: NonNullable<Generated['task']>,
  rewritten = false,
): Answer => ({
  ok: true,
  own: true,
  body,
  received,
  untouched: !rewritten,
  usage: null,
  generated: { said: new SeenText(), toolCalls: 0, finishReason: 'stop', task },
});

/** Upstream has said so itself: nothing is charged, and another channel may be asked. */
export const notTaken = (status: number, body: Buffer, confidential: Confidential): Answer => ({
  ok: false,
  error: errorOfStatus(status, body, confidential),
});

/** It may have: nobody else is asked, and what it may cost is booked as unknown. */
export const unclear = (status: number): Answer => ({
  ok: false,
  error: {
    ...unreadableAnswer('the upstream did not say whether it has taken the task'),
    status: status < 400 ? 502 : status,
  },
  costUnknown: true,
});
