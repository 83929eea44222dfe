import type { JsonObject } from '../json/json.js';
import { confidentialOf } from '../protocols/confidential-of.js';
import { openAiFailureOf } from '../protocols/openai/failure.js';
import { isSoundType, soundTypeOf } from '../upstream/sound-answer.js';
import type { UpstreamAnswer } from '../upstream/upstream.js';
import { unreadableAnswer } from '../upstream/upstream-error.js';
import { switchingProtocols } from '../upstream/upstream-response.js';
import { accumulateAnswer } from './accumulated-answer.js';
import { beginningOf, nothing, restOfJson } from './answer-body.js';
import type { AnswerToRead, Read } from './answer-reading.js';
import { lostAnswer } from './lost-answer.js';
import { readFirstFrame } from './stream-start.js';
import { maxRefusal, readRefusal, readWhole } from './whole-answer.js';

/* What upstream answered, read as what the caller asked for. What upstream says its answer is decides nothing. */

/** As upstream names its streams: events in text, and in Amazon's frames. */
const isStream = /^(?:text\/event-stream|application\/vnd\.amazon\.eventstream)/i;

/** One JSON value in each line, of which the first is no whole answer. */
const inLines = /^application\/(?:x-ndjson|jsonl|x-jsonlines)\b/i;

const noSound = unreadableAnswer('the upstream answered with something that is no sound');
const notAsked = unreadableAnswer('the upstream answered with a stream that was not asked for');

export async function readAnswer(answered: AnswerToRead, answer: UpstreamAnswer): Promise<Read> {
  const { status, headers, body } = answer;
  if (status < 200 || status > 299)
    return status === switchingProtocols ? messages(answered, answer) : readRefusal(answered, answer);
  if (answered.caller.answersAudio) return sound(answered, answer);
  if (answered.caller.stream) return stream(answered, answer);
  try {
    if (!isStream.test(headers['content-type'] ?? ''))
      return await readWhole(answered, answer, await restOfJson(answered, body, nothing));
    const { bytes, json } = await beginningOf(body);
    if (!json && answered.gathers === true) return await accumulateAnswer(answered, after(bytes, body));
    if (json) return await readWhole(answered, answer, await restOfJson(answered, body, bytes));
    answered.sending.cancel();
    return { ok: false, error: notAsked, costUnknown: true };
  } catch (error) {
    return lostAnswer(answered, error, 'read_response_body_failed');
  }
}

/** A body whose first bytes have been taken from it. */
function after(bytes: Buffer, body: UpstreamAnswer['body']): Pick<UpstreamAnswer['body'], 'next'> {
  let first: Buffer | null = bytes;
  return {
    next() {
      const value = first;
      first = null;
      return value === null ? body.next() : Promise.resolve({ done: false, value });
    },
  };
}

/** The first of it, so that a failure can still be answered: upstreams report failures with a success status, too. */
async function sound(answered: AnswerToRead, answer: UpstreamAnswer): Promise<Read> {
  const { caller, maxBytes, sending } = answered;
  const { headers, body } = answer;
  const type = soundTypeOf(headers['content-type'], caller.body.response_format);
  try {
    if (type === null) {
      const short = { ...answered, maxBytes: Math.min(maxBytes, maxRefusal) };
      const whole = await readWhole(answered, answer, await restOfJson(short, body, nothing));
      return whole.ok ? { ok: false, error: noSound, costUnknown: true } : whole;
    }
    const first = await body.next();
    if (first.done) return { ok: false, error: noSound, costUnknown: true };
    sending.begun();
    const reading = { type, first: first.value, chunks: body, cancel: () => sending.cancel() };
    return { ok: true, got: { kind: 'sound', reading } };
  } catch (error) {
    return lostAnswer(answered, error, 'read_response_body_failed');
  }
}

async function stream(answered: AnswerToRead, answer: UpstreamAnswer): Promise<Read> {
  const { body, headers } = answer;
  try {
    if (answered.streamsLines === true && inLines.test(headers['content-type'] ?? ''))
      return await readFirstFrame(answered, body, nothing, false);
    if (answered.caller.mode === 'speech' && isSoundType(headers['content-type']))
      return await readFirstFrame({ ...answered, comesAsSound: true }, body, nothing, false);
    const { bytes, json } = await beginningOf(body);
    return json
      ? await readWhole(answered, answer, await restOfJson(answered, body, bytes))
      : await readFirstFrame(answered, body, bytes, false);
  } catch (error) {
    return lostAnswer(answered, error, 'stream_response_error');
  }
}

/** There is nothing but messages, whatever was asked for: who wants an answer whole waits till they are all here. */
async function messages(answered: AnswerToRead, { body, socket }: UpstreamAnswer): Promise<Read> {
  const { caller, provider, channel } = answered;
  if (socket !== undefined) {
    const confidential = confidentialOf(provider, channel);
    const failureIn = (event: JsonObject) => openAiFailureOf(event, confidential);
    return { ok: true, got: { kind: 'conversation', socket, failureIn } };
  }
  try {
    return caller.stream
      ? await readFirstFrame(answered, body, Buffer.alloc(0), true)
      : await accumulateAnswer(answered, body);
  } catch (error) {
    return lostAnswer(answered, error, caller.stream ? 'stream_response_error' : 'read_response_body_failed');
  }
}
