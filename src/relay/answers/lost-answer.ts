import { isImageMode } from '../../domain/channel/provider.js';
import type { NoRoom } from '../../http/body-room.js';
import { gatewayErrorType } from '../contracts/errors.js';
import type { AnswerStream, CallerRequest } from '../contracts/protocol.js';
import { type UpstreamError, unreadableAnswer } from '../upstream/upstream-error.js';
import { isSilence, Lost, NoRoomForAnswer, Overdue, UnreadableBody } from '../upstream/upstream-response.js';
import type { AnswerToRead, Read } from './answer-reading.js';

/*
 * Answers that could not be read to their end, or have nothing in them: what the caller is answered, and whether it may
 * cost.
 */

export const brokenOff = (code: string): UpstreamError => ({
  status: 500,
  message: 'the upstream broke off its answer',
  type: 'upstream_error',
  code,
  param: '',
  retryAfter: null,
});

/** Asked again at once, upstream would do the work once more, and there would be no more room for it. */
export const noRoomForAnswer = 'answers_exhausted';

export const noRoomHere = (why: NoRoom): UpstreamError => ({
  status: 503,
  message:
    why === 'process'
      ? 'the gateway holds as many large answers as it can; try again shortly'
      : 'too many large answers of yours at once; try again shortly',
  type: gatewayErrorType,
  code: noRoomForAnswer,
  param: '',
  retryAfter: '1',
});

/** What became of a body that could not be read to its end. */
export function lostAnswer({ sending }: AnswerToRead, reason: unknown, code: string): Read {
  if (!(reason instanceof Lost)) {
    sending.cancel();
    throw reason;
  }
  if (reason instanceof UnreadableBody)
    return { ok: false, error: unreadableAnswer(reason.message), costUnknown: true };
  if (reason instanceof NoRoomForAnswer) return { ok: false, error: noRoomHere(reason.why), costUnknown: true };
  const error = brokenOff(code);
  const why =
    reason instanceof Overdue ? reason.message : `${error.message}${isSilence(reason) ? ': it fell silent' : ''}`;
  return { ok: false, error: { ...error, message: why }, costUnknown: true };
}

/** Who draws seldom reports what that has cost. */
export const nothingIn = (
  { usage }: Pick<AnswerStream, 'usage'>,
  { mode }: Pick<CallerRequest, 'mode'>,
): Extract<Read, { ok: false }> => ({
  ok: false,
  error: unreadableAnswer('the upstream answered without an answer in it'),
  costUnknown: usage !== null || isImageMode(mode),
});
