import { isImageMode } from '../../domain/channel/provider.js';
import { type Answer, type CallerRequest, type NamedPictures, wireOf } from '../contracts/protocol.js';
import { asCallerTakes } from '../protocols/caller-calls.js';
import { ImagesAsStream } from '../protocols/images-as-stream.js';
import { ResponseAsStream } from '../protocols/openai/response-as-stream.js';
import { isTranscript } from '../protocols/openai/transcript.js';
import { TranscriptAsStream } from '../protocols/openai/transcript-as-stream.js';
import { WholeAnswerAsStream } from '../protocols/whole-answer-as-stream.js';
import type { Picture } from '../upstream/pictures.js';
import { LineTooLong } from '../upstream/sse.js';
import type { UpstreamAnswer } from '../upstream/upstream.js';
import { isUnreadable, reportedRetryAfter, unreadableAnswer } from '../upstream/upstream-error.js';
import { WholeJson } from '../upstream/whole-json.js';
import { nothing, settledMs } from './answer-body.js';
import type { AnswerToRead, Read } from './answer-reading.js';

/* Answers that have come whole: read as the caller asked for them, or as a refusal. */

/** Bytes of a refusal, or of an answer that must be one. */
export const maxRefusal = 1024 * 1024;

/** So long it is waited for more of a refusal, whose status says enough. */
const refusalIdleMs = 5_000;

export async function readRefusal(answered: AnswerToRead, answer: UpstreamAnswer): Promise<Read> {
  const { status, headers, body } = answer;
  if (status < 400 || status > 599) {
    answered.sending.cancel();
    const what =
      status < 400 ? `redirects elsewhere, which is not followed (status ${status})` : `answered with status ${status}`;
    return { ok: false, error: unreadableAnswer(`the upstream ${what}`), costUnknown: false };
  }
  // The status says enough where the rest cannot be read.
  const { idleMs } = answered.patience;
  const json = new WholeJson({ settledMs, idleMs: Math.min(idleMs, refusalIdleMs) });
  const bytes = await body.whole(maxRefusal, answered.slot, json).catch(() => nothing);
  const read = await readWhole(answered, answer, json.valueOf(bytes));
  if (read.ok) return read;
  const retryAfter = read.error.retryAfter ?? reportedRetryAfter(headers['retry-after']);
  return { ...read, error: { ...read.error, retryAfter } };
}

export async function readWhole(
  answered: AnswerToRead,
  { status, headers }: UpstreamAnswer,
  body: Buffer,
): Promise<Read> {
  const { provider, channel, caller, info, largeWork } = answered;
  const read = await largeWork.run(body.length, () => {
    const answer = wireOf(provider, caller.mode).answer({ provider, channel, caller, status, headers, body, info });
    return namesPictures(answer) ? answer : readOf(answered, answer, status);
  });
  if (!('named' in read)) return read;
  const fetched = await fetchNamed(answered, read.named);
  const fetchedLength = [...fetched.values()].reduce((length, { data }) => length + data.length, 0);
  return largeWork.run(body.length + fetchedLength, () =>
    readOf(answered, { ...read, body: read.named.inlined(fetched) }, status),
  );
}

type Answered = Extract<Answer, { ok: true }>;

const namesPictures = (answer: Answer): answer is Answered & { readonly named: NamedPictures } =>
  answer.ok && answer.named !== undefined;

/** As far as they can be had: an answer that is paid for is not lost with a picture that is gone. */
async function fetchNamed(
  { fetchPicture }: AnswerToRead,
  { addresses }: NamedPictures,
): Promise<ReadonlyMap<string, Picture>> {
  const fetched = new Map<string, Picture>();
  await Promise.all(
    addresses.map(async (address) => {
      const picture = await fetchPicture(address);
      if (picture !== null) fetched.set(address, picture);
    }),
  );
  return fetched;
}

/** Upstream may have made an answer where a success tells neither one nor a failure. */
function readOf(answered: AnswerToRead, answer: Answer, status: number): Read {
  if (!answer.ok) return { ...answer, costUnknown: answer.costUnknown ?? (status < 400 && isUnreadable(answer.error)) };
  try {
    return answered.caller.stream ? asStream(answered, answer) : asWhole(answered, answer);
  } catch (error) {
    if (!(error instanceof LineTooLong)) throw error;
    return {
      ok: false,
      error: unreadableAnswer('the upstream answered with more than an answer has'),
      costUnknown: true,
    };
  }
}

function asWhole({ channel, caller }: AnswerToRead, answer: Answered): Read {
  const changed = !answer.own && asCallerTakes(answer.body, caller, channel);
  const bytes = caller.dialect.whole(changed ? { ...answer, untouched: false } : answer, caller, channel);
  const { textType, usage, generated } = answer;
  return { ok: true, got: { kind: 'answer', bytes, textType, usage, generated } };
}

function asStreamOf({ mode }: Pick<CallerRequest, 'mode'>) {
  if (mode === 'responses') return ResponseAsStream;
  if (isTranscript({ mode })) return TranscriptAsStream;
  return isImageMode(mode) ? ImagesAsStream : WholeAnswerAsStream;
}

/** Asked for a stream, upstream gave the whole answer at once: the caller gets it as the stream it can read. */
function asStream(
  { caller, channel, info, sending, slot }: AnswerToRead,
  answer: Answered,
): Extract<Read, { ok: true }> {
  const context = { channel, caller, info };
  const decoder = new (asStreamOf(caller))(answer, context);
  const first = { bytes: decoder.frames(), finished: true };
  const chunks = { next: async () => ({ done: true, value: undefined }) as const };
  const cancel = (): void => sending.cancel();
  return { ok: true, got: { kind: 'stream', reading: { decoder, chunks, first, slot, cancel, staysOpen: false } } };
}
