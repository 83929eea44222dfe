import type { Usage } from '../../domain/call/usage.js';
import {
  type Answer,
  type AnswerInput,
  NotConvertible,
  type RequestInput,
  type UpstreamRequest,
} from '../contracts/protocol.js';
import { isList, isObject, type JsonObject, type JsonValue, numberIn, objectsIn, textIn } from '../json/json.js';
import { upstreamJson } from '../json/upstream-json.js';
import type { RequestContent } from '../upstream/request-content.js';
import { errorOfStatus, unreadableAnswer } from '../upstream/upstream-error.js';
import { confidentialOf } from './confidential-of.js';
import { openAiFailureIn } from './openai/failure.js';
import { Generation } from './openai/reply.js';
import type { OpenAiVariant } from './openai/variant.js';
import { noThinking, written } from './request-builder.js';

/*
 * Transcripts at Cloudflare, by the native form of its Whisper models: a recording goes as it is, or as base64 in JSON
 * where the model takes more than that. Types: https://www.npmjs.com/package/@cloudflare/workers-types
 */

interface WhisperCall {
  readonly url: string;
  /** The model takes JSON, with a language, a prompt and a task beside the recording. */
  readonly takesFields: boolean;
}

/** null: JSON. */
const formats: ReadonlyMap<string, string | null> = new Map([
  ['json', null],
  ['verbose_json', null],
  ['text', 'text/plain; charset=utf-8'],
  ['vtt', 'text/vtt; charset=utf-8'],
]);

const formatIn = (body: JsonObject): string => textIn(body.response_format) ?? 'json';

/** Throws NotConvertible. */
export function whisperRequest(
  { caller, channel, model, options }: RequestInput,
  { url, takesFields }: WhisperCall,
): UpstreamRequest {
  const { body, files, mode } = caller;
  const [file] = files ?? [];
  if (file === undefined) throw new NotConvertible('caller', 'file is required');
  if (!formats.has(formatIn(body)))
    throw new NotConvertible('caller', `response_format: this provider has ${[...formats.keys()].join(', ')}`);
  if (mode === 'translation' && !takesFields)
    throw new NotConvertible('caller', 'this model of the provider makes transcripts, and no translations');
  const override = options.passThrough ? null : channel.paramOverride;
  const fields = {
    audio: file.bytes.toString('base64'),
    task: mode === 'translation' ? 'translate' : 'transcribe',
    language: textIn(body.language) ?? undefined,
    initial_prompt: textIn(body.prompt) ?? undefined,
    ...override,
  };
  const content: RequestContent = takesFields
    ? { kind: 'json', text: written(fields) }
    : { kind: 'bytes', type: 'application/octet-stream', bytes: file.bytes };
  return {
    method: 'POST',
    url,
    headers: {
      'content-type': takesFields ? 'application/json' : 'application/octet-stream',
      accept: 'application/json',
      authorization: `Bearer ${channel.key.trim()}`,
    },
    content,
    model,
    ...noThinking,
  };
}

/** A recording's length as the model has heard it; null: it does not say. */
function usageOf(info: JsonObject): Usage | null {
  const seconds = numberIn(info.duration) ?? 0;
  return seconds > 0 && Number.isFinite(seconds) ? { seconds: Math.ceil(seconds) } : null;
}

const wordsOf = (result: JsonObject): JsonValue[] =>
  isList(result.words) ? objectsIn(result.words) : objectsIn(result.segments).flatMap(({ words }) => objectsIn(words));

/** In OpenAI's words. */
function verbose(result: JsonObject, info: JsonObject, task: string): JsonObject {
  const words = wordsOf(result);
  return {
    task,
    language: info.language ?? null,
    duration: info.duration ?? null,
    text: result.text,
    segments: objectsIn(result.segments).map(({ words: _, ...segment }, id) => ({ id, ...segment })),
    ...(words.length > 0 && { words }),
  };
}

export function whisperAnswer(
  failure: OpenAiVariant['failure'],
  { provider, channel, caller, status, body: received }: AnswerInput,
): Answer {
  const confidential = confidentialOf(provider, channel);
  if (status < 200 || status > 299) return { ok: false, error: errorOfStatus(status, received, confidential) };
  const reported = upstreamJson(received);
  if (!isObject(reported))
    return { ok: false, error: unreadableAnswer('the upstream answered something that is not JSON') };
  const error = openAiFailureIn({ ...(failure && { failure }) }, reported, confidential);
  if (error !== null) return { ok: false, error };
  const result = isObject(reported.result) ? reported.result : reported;
  const format = formatIn(caller.body);
  const shown = format === 'vtt' ? result.vtt : result.text;
  if (typeof result.text !== 'string' || typeof shown !== 'string')
    return { ok: false, error: unreadableAnswer('the upstream answered without a transcript in it') };
  const info = isObject(result.transcription_info) ? result.transcription_info : {};
  const generated = new Generation();
  generated.said.add(result.text);
  generated.finishReason = 'stop';
  const usage = usageOf(info);
  const textType = formats.get(format) ?? null;
  if (textType !== null)
    return { ok: true, body: {}, received: Buffer.from(shown), untouched: true, usage, generated, textType };
  const task = caller.mode === 'translation' ? 'translate' : 'transcribe';
  const body = format === 'verbose_json' ? verbose(result, info, task) : { text: result.text };
  return { ok: true, body, received, untouched: false, usage, generated };
}
