import type { Usage } from '../../domain/pricing.js';
import type { Confidential } from '../upstream/confidential.js';
import { failureTold, refusalOf, unreadableAnswer } from '../upstream/upstream-error.js';
import { withBase64Vectors } from './embeddings.js';
import { isObject, type JsonObject, objectsIn, parseJson } from './json.js';
import type { OpenAiDialect, Reading } from './openai-dialect.js';
import { failureIn, failureOf } from './openai-failure.js';
import { Generation, mendChoice, messageIn, strictlyFormatted, thinkingIntoContent } from './openai-reply.js';
import { mendedUsage, readUsage, writtenUsage } from './openai-usage.js';
import type { Answer, CallerRequest, CallInfo, UpstreamChannel } from './protocol.js';
import { upstreamJson } from './upstream-json.js';

/* A complete answer of the OpenAI family: passed on byte for byte unless something in it must be changed. */

const byteOrderMark = Buffer.from('\ufeff');

/** JSON begins with its first bracket; a mark before it is nobody's. */
const withoutMark = (body: Buffer): Buffer =>
  byteOrderMark.equals(body.subarray(0, byteOrderMark.length)) ? body.subarray(byteOrderMark.length) : body;

/** Mends the choices in place and notes what was produced; true when something was changed. */
function mendChoices(
  dialect: OpenAiDialect,
  channel: UpstreamChannel,
  body: JsonObject,
  reading: Reading,
  generated: Generation,
): boolean {
  let changed = false;
  for (const choice of objectsIn(body.choices)) {
    const message = messageIn(choice);
    if (mendChoice(dialect, choice, message, reading)) changed = true;
    generated.note(choice, message);
    if (!channel.thinkingToContent || reading.mode !== 'chat' || message === null) continue;
    thinkingIntoContent(message);
    changed = true;
  }
  return changed;
}

export function openAiAnswer(
  dialect: OpenAiDialect,
  channel: UpstreamChannel,
  confidential: Confidential,
  caller: CallerRequest,
  status: number,
  received: Buffer,
  info: CallInfo,
): Answer {
  const body = withoutMark(received);
  if (status < 200 || status > 299) return { ok: false, error: refusalOf(status, body, confidential) };
  const told = upstreamJson(body);
  if (!isObject(told))
    return { ok: false, error: unreadableAnswer('the upstream answered something that is not JSON') };
  const error = failureIn(dialect, told, confidential);
  if (error) return { ok: false, error };

  const reading: Reading = { mode: caller.mode, info, streamed: false, toolCalls: 0, finished: false };
  const translated = dialect.translate ? dialect.translate(told, reading) : told;
  if (translated === null || !Array.isArray(caller.mode === 'embeddings' ? translated.data : translated.choices)) {
    const says = failureTold(told).message;
    const missing = unreadableAnswer('the upstream answered without an answer in it');
    return { ok: false, error: says === null ? missing : failureOf(told, confidential) };
  }

  let answer = translated;
  const generated = new Generation();
  let changed = mendChoices(dialect, channel, answer, reading, generated) || translated !== told;
  const usage = isObject(answer.usage) ? readUsage(answer.usage, dialect.reasoningBeside ?? false) : null;
  if (usage && isObject(answer.usage)) {
    const mended = mendedUsage(answer.usage, usage);
    if (mended !== answer.usage) {
      answer.usage = mended;
      changed = true;
    }
  }
  if (caller.mode === 'embeddings' && caller.body.encoding_format === 'base64')
    changed = withBase64Vectors(answer) || changed;
  if (channel.forceFormat && caller.mode === 'chat') {
    answer = strictlyFormatted(answer);
    changed = true;
  }
  return { ok: true, bytes: changed ? Buffer.from(JSON.stringify(answer)) : body, usage, generated };
}

/** Parses the answer once more: few answers come this way. */
export function telling(bytes: Buffer, usage: Usage): Buffer {
  const answer = parseJson(bytes.toString('utf8'));
  return isObject(answer) ? Buffer.from(JSON.stringify({ ...answer, usage: writtenUsage(usage) })) : bytes;
}
