import type { Usage } from '../../domain/call/usage.js';
import type { NoRoom } from '../../http/body-room.js';
import { gatewayErrorType } from '../contracts/errors.js';
import {
  type Answer,
  type AnswerStream,
  type CallerRequest,
  type CallInfo,
  type Generated,
  hasEnded,
  type Provider,
  type StreamStep,
  type UpstreamChannel,
} from '../contracts/protocol.js';
import { Gathering } from '../protocols/gathering.js';
import { withOwnToolNames } from '../protocols/tool-names.js';
import { WholeAnswerAsStream } from '../protocols/whole-answer-as-stream.js';
import type { LargeWork } from '../text/large-work.js';
import type { AnswerPlace } from './answer-room.js';
import type { Progress } from './progress-watch.js';
import { type SoundReading, soundTypeOf } from './sound-answer.js';
import type { Sending, UpstreamAnswer, UpstreamBody } from './upstream.js';
import { retryAfterTold, type UpstreamError, unreadableAnswer } from './upstream-error.js';
import { isSilence, Lost, NoRoomForAnswer, Overdue, switchingProtocols, UnreadableBody } from './upstream-response.js';
import { WholeJson } from './whole-json.js';

/* What upstream answered, read as what the caller asked for. What upstream says its answer is decides nothing. */

export type Got =
  | {
      readonly kind: 'answer';
      readonly bytes: Buffer;
      /** Where they are no JSON. */
      readonly textType?: string | undefined;
      readonly usage: Usage | null;
      readonly generated: Generated;
    }
  | { readonly kind: 'sound'; readonly reading: SoundReading }
  | { readonly kind: 'stream'; readonly reading: StreamReading };

export type FirstStep = Pick<StreamStep, 'bytes' | 'finished'>;

/** A stream after its first frame. */
export interface StreamReading {
  readonly decoder: AnswerStream;
  readonly chunks: Pick<UpstreamBody, 'next'>;
  /** Until `takeFirst`. */
  first: FirstStep;
  /** Counts what is kept of it. */
  readonly place: Pick<AnswerPlace, 'hold'>;
  /** Ends the upstream connection. */
  readonly cancel: () => void;
  /** Upstream leaves it to us to end the connection after the answer. */
  readonly staysOpen: boolean;
}

export type Read =
  | { readonly ok: true; readonly got: Got }
  /** `costUnknown`: upstream may have done the work although nothing of it can be used. */
  | { readonly ok: false; readonly error: UpstreamError; readonly costUnknown: boolean };

interface Patience {
  readonly idleMs: number;
  readonly unseenMs: number;
}

export interface Answered {
  readonly provider: Provider;
  readonly channel: UpstreamChannel;
  readonly caller: CallerRequest;
  readonly info: CallInfo;
  readonly sending: Pick<Sending, 'begun' | 'follow' | 'cancel'>;
  /** Longest silence inside a stream, and inside what upstream works at unseen, in milliseconds. */
  readonly patience: Patience;
  readonly largeWork: LargeWork;
  /** Longest whole answer. */
  readonly largest: number;
  /** Counts what is held of the answer; whoever asked lets it go. */
  readonly place: AnswerPlace;
}

/** An answer that has ended waits so long for its usage, and so long for its end mark once usage was told. */
const afterEndMs = 5_000;
const afterUsageMs = 2_000;

const maxRefusal = 1024 * 1024;

/** So long it is waited for what may follow a whole JSON value, and for more of a refusal, whose status says enough. */
const settledMs = 2_000;
const refusalIdleMs = 5_000;

const nothing = Buffer.alloc(0);

const brokenOff = (code: string): UpstreamError => ({
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
function lost({ sending }: Answered, reason: unknown, code: string): Read {
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

/** As upstream names its streams: events in text, and in Amazon's frames. */
const isStream = /^(?:text\/event-stream|application\/vnd\.amazon\.eventstream)/i;

const noSound = unreadableAnswer('the upstream answered with something that is no sound');
const notAsked = unreadableAnswer('the upstream answered with a stream that was not asked for');

export async function readAnswer(answered: Answered, answer: UpstreamAnswer): Promise<Read> {
  const { status, headers, body } = answer;
  if (status < 200 || status > 299)
    return status === switchingProtocols ? messages(answered, answer) : refusal(answered, answer);
  if (answered.caller.answersSound) return sound(answered, answer);
  if (answered.caller.stream) return stream(answered, answer);
  try {
    if (!isStream.test(headers['content-type'] ?? ''))
      return await whole(answered, answer, await theRest(answered, body, nothing));
    const { bytes, json } = await beginningOf(body);
    if (json) return await whole(answered, answer, await theRest(answered, body, bytes));
    answered.sending.cancel();
    return { ok: false, error: notAsked, costUnknown: true };
  } catch (error) {
    return lost(answered, error, 'read_response_body_failed');
  }
}

/** The first of it, so that a failure can still be told: upstreams tell failures with a success status, too. */
async function sound(answered: Answered, answer: UpstreamAnswer): Promise<Read> {
  const { caller, largest, sending } = answered;
  const { headers, body } = answer;
  const type = soundTypeOf(headers['content-type'], caller.body.response_format);
  try {
    if (type === null) {
      const short = { ...answered, largest: Math.min(largest, maxRefusal) };
      const told = await whole(answered, answer, await theRest(short, body, nothing));
      return told.ok ? { ok: false, error: noSound, costUnknown: true } : told;
    }
    const first = await body.next();
    if (first.done) return { ok: false, error: noSound, costUnknown: true };
    sending.begun();
    const reading = { type, first: first.value, chunks: body, cancel: () => sending.cancel() };
    return { ok: true, got: { kind: 'sound', reading } };
  } catch (error) {
    return lost(answered, error, 'read_response_body_failed');
  }
}

async function refusal(answered: Answered, answer: UpstreamAnswer): Promise<Read> {
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
  const told = await body.whole(maxRefusal, answered.place, json).catch(() => nothing);
  const read = await whole(answered, answer, json.valueOf(told));
  if (read.ok) return read;
  const retryAfter = read.error.retryAfter ?? retryAfterTold(headers['retry-after']);
  return { ...read, error: { ...read.error, retryAfter } };
}

async function whole(answered: Answered, { status, headers }: UpstreamAnswer, body: Buffer): Promise<Read> {
  const { provider, channel, caller, info, largeWork } = answered;
  return largeWork.run(body.length, () => {
    const answer = provider.protocol.answer({ provider, channel, caller, status, headers, body, info });
    if (!answer.ok) return { ok: false, error: answer.error, costUnknown: answer.costUnknown ?? false };
    if (caller.stream) return asStream(answered, answer);
    if (!answer.own) withOwnToolNames(answer.body, caller.renamedTools);
    const bytes = caller.dialect.whole(answer, caller, channel);
    const { textType, usage, generated } = answer;
    return { ok: true, got: { kind: 'answer', bytes, textType, usage, generated } };
  });
}

const lineFeed = 10;
const carriageReturn = 13;
const blank = new Set([0x20, 0x09, lineFeed, carriageReturn, 0xef, 0xbb, 0xbf]);
const opensJson = new Set([0x7b, 0x5b]);

/** Blanks before an answer; more of them are no answer. */
const maxBlanks = 64 * 1024;

/** The first of a body, and whether it begins as JSON does, which no stream can. */
async function beginningOf(body: UpstreamBody): Promise<{ bytes: Buffer; json: boolean }> {
  let bytes: Buffer = Buffer.alloc(0);
  for (;;) {
    const next = await body.next();
    if (!next.done) bytes = bytes.length === 0 ? next.value : Buffer.concat([bytes, next.value]);
    const first = bytes.find((byte) => !blank.has(byte));
    if (first !== undefined) return { bytes, json: opensJson.has(first) };
    if (next.done || bytes.length > maxBlanks) return { bytes, json: false };
  }
}

/** All of an answer that is to be JSON. Who asked for a stream does not wait for half of a value as long as others. */
async function theRest(
  { largest, place, patience: { idleMs, unseenMs }, caller }: Answered,
  body: UpstreamBody,
  begun: Buffer,
): Promise<Buffer> {
  const json = new WholeJson({ settledMs, idleMs: caller.stream ? idleMs : Math.max(idleMs, unseenMs) });
  json.begin(begun);
  const rest = await body.whole(largest - begun.length, place, json);
  return json.valueOf(begun.length === 0 ? rest : Buffer.concat([begun, rest]));
}

async function stream(answered: Answered, answer: UpstreamAnswer): Promise<Read> {
  const { body } = answer;
  try {
    const { bytes, json } = await beginningOf(body);
    return json
      ? await whole(answered, answer, await theRest(answered, body, bytes))
      : await firstFrame(answered, body, bytes, false);
  } catch (error) {
    return lost(answered, error, 'stream_response_error');
  }
}

/** There is nothing but messages, whatever was asked for: who wants an answer whole waits till they are all here. */
async function messages(answered: Answered, { body }: UpstreamAnswer): Promise<Read> {
  const { caller } = answered;
  try {
    return caller.stream ? await firstFrame(answered, body, Buffer.alloc(0), true) : await gathered(answered, body);
  } catch (error) {
    return lost(answered, error, caller.stream ? 'stream_response_error' : 'read_response_body_failed');
  }
}

async function gathered(answered: Answered, body: Pick<UpstreamBody, 'next'>): Promise<Read> {
  const { provider, channel, caller, info, sending, largeWork, largest, place } = answered;
  const gathering = new Gathering(info);
  const decoder = provider.protocol.stream(provider, channel, gathering.asCaller(caller), info);
  const failed = (error: UpstreamError, costUnknown: boolean): Read => {
    sending.cancel();
    return { ok: false, error, costUnknown };
  };
  let came = 0;
  for (let finished = false; !finished; ) {
    const next = await body.next();
    const bytes = next.value?.length ?? 0;
    came += bytes;
    if (came > largest) return failed(unreadableAnswer('the upstream answer is too large'), true);
    const full = place.take(bytes);
    if (full !== null) return failed(noRoomHere(full), true);
    const step = next.done ? decoder.end() : decoder.push(next.value);
    // What had come of it by then is work that upstream has done.
    if (step.error !== null) return failed(step.error, decoder.generated.said.length > 0);
    finished = step.finished || (next.done === true && hasEnded(decoder.generated));
    if (next.done && !finished) return failed(brokenOff('read_response_body_failed'), true);
  }
  sending.cancel();
  if (decoder.progress === 0) return nothingIn(decoder);
  return largeWork.run(came, () => {
    const { usage, generated } = decoder;
    const gathered = gathering.answer();
    withOwnToolNames(gathered.body, caller.renamedTools);
    const bytes = caller.dialect.whole(gathered, caller, channel);
    return { ok: true, got: { kind: 'answer', bytes, usage, generated } };
  });
}

/** Asked for a stream, upstream gave the whole answer at once: the caller gets it as the stream it can read. */
function asStream(
  { caller, channel, info, sending, place }: Answered,
  answer: Extract<Answer, { ok: true }>,
): Extract<Read, { ok: true }> {
  const decoder = new WholeAnswerAsStream(answer, answer.generated, channel, caller, info);
  const first = { bytes: decoder.frames(), finished: true };
  const chunks = { next: async () => ({ done: true, value: undefined }) as const };
  const cancel = (): void => sending.cancel();
  return { ok: true, got: { kind: 'stream', reading: { decoder, chunks, first, place, cancel, staysOpen: false } } };
}

const taken: FirstStep = { bytes: null, finished: false };

/** What there is to be sent first. It is let go of: its bytes keep all that came with them, and a stream is open for long. */
export function takeFirst(reading: StreamReading): FirstStep {
  const { first } = reading;
  reading.first = taken;
  return first;
}

/** How long it is waited for more of a stream. */
class StreamProgress implements Progress {
  constructor(
    private readonly decoder: AnswerStream,
    private readonly patience: Patience,
  ) {}

  get progress(): number {
    return this.decoder.progress;
  }

  get patienceMs(): number {
    const { generated, usage, worksUnseen } = this.decoder;
    const { idleMs, unseenMs } = this.patience;
    if (!hasEnded(generated)) return worksUnseen ? Math.max(idleMs, unseenMs) : idleMs;
    const told = usage !== null && generated.inputOnly !== true;
    return Math.min(idleMs, told ? afterUsageMs : afterEndMs);
  }
}

const nothingIn = ({ usage }: Pick<AnswerStream, 'usage'>): Extract<Read, { ok: false }> => ({
  ok: false,
  error: unreadableAnswer('the upstream answered without an answer in it'),
  costUnknown: usage !== null,
});

/** It failed after it had begun, and may charge for that. What a stream begins with tells only what was asked. */
const worked = ({ generated, usage }: AnswerStream): boolean =>
  generated.said.length > 0 || (usage !== null && generated.inputOnly !== true);

/** What a stream keeps beyond the bytes that came last; as many may wait here for a slow caller in any case. */
export const countKept = (
  place: Pick<AnswerPlace, 'hold'>,
  { unfinished }: Pick<AnswerStream, 'unfinished'>,
  { bytes }: Pick<StreamStep, 'bytes'>,
  came: number,
): NoRoom | null => place.hold(Math.max(unfinished + (bytes?.length ?? 0) - came, 0));

/**
 * Reads until there is something of an answer: till then a failure can be an honest status, or another channel. What
 * says nothing, as a role does, waits for that.
 */
async function firstFrame(
  { provider, channel, caller, info, sending, place, patience }: Answered,
  chunks: Pick<UpstreamBody, 'next'>,
  begin: Buffer,
  staysOpen: boolean,
): Promise<Read> {
  const decoder = provider.protocol.stream(provider, channel, caller, info);
  const cancel = (): void => sending.cancel();
  const failed = (error: UpstreamError, costUnknown: boolean): Read => {
    cancel();
    return { ok: false, error, costUnknown };
  };
  let held: Buffer | null = null;
  let following = false;
  let step = decoder.push(begin);
  let came = begin.length;
  for (let ended = false; ; ) {
    if (step.error !== null) return failed(step.error, worked(decoder));
    if (step.bytes !== null) held = held === null ? step.bytes : Buffer.concat([held, step.bytes]);
    const full = countKept(place, decoder, { bytes: held }, came);
    if (full !== null) return failed(noRoomHere(full), true);
    // Comments before the first frame are of a queue, which may be long; after it they are no excuse.
    if (!following && decoder.begun) {
      following = true;
      sending.follow(new StreamProgress(decoder, patience));
    }
    if (decoder.progress > 0) {
      sending.begun();
      const reading = { decoder, chunks, first: { bytes: held, finished: step.finished }, place, cancel, staysOpen };
      return { ok: true, got: { kind: 'stream', reading } };
    }
    if (step.finished) return failed(nothingIn(decoder).error, decoder.usage !== null);
    if (ended) return failed(brokenOff('stream_response_error'), true);
    const next = await chunks.next();
    ended = next.done === true;
    came = next.value?.length ?? 0;
    step = next.done ? decoder.end() : decoder.push(next.value);
  }
}
