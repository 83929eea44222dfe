import type { Usage } from '../../../domain/call/usage.js';
import type { Mode } from '../../../domain/channel/provider.js';
import type { Answer, AnswerInput, CallerRequest } from '../../contracts/protocol.js';
import { countIn, isObject, type JsonObject, type JsonValue } from '../../json/json.js';
import { upstreamJson } from '../../json/upstream-json.js';
import { errorOfStatus, reportedFailure, unreadableAnswer } from '../../upstream/upstream-error.js';
import { confidentialOf } from '../confidential-of.js';
import { openAiFailureIn, openAiFailureOf } from './failure.js';
import { Generation } from './reply.js';
import type { OpenAiVariant } from './variant.js';

/* What was heard in a file, in the OpenAI family: an object, or a text in the form that was asked for. */

const transcripts: ReadonlySet<Mode> = new Set(['transcription', 'translation']);

export const isTranscript = ({ mode }: Pick<CallerRequest, 'mode'>): boolean => transcripts.has(mode);

/** By `response_format`; everything else is an object. */
const textTypes: ReadonlyMap<JsonValue | undefined, string> = new Map([
  ['text', 'text/plain; charset=utf-8'],
  ['srt', 'application/x-subrip; charset=utf-8'],
  ['vtt', 'text/vtt; charset=utf-8'],
]);

/** Seconds, which some write as text; null: none. */
function secondsIn(value: JsonValue | undefined): number | null {
  const seconds = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof seconds === 'number' && seconds > 0 && Number.isFinite(seconds) ? Math.ceil(seconds) : null;
}

/** By tokens of sound and words, or by the length of the file; null: neither is reported. */
export function transcriptUsage({ usage: reported, duration }: JsonObject): Usage | null {
  if (isObject(reported)) {
    const seconds = secondsIn(reported.seconds ?? reported.prompt_audio_seconds);
    if (seconds !== null) return { seconds };
    const input = countIn(reported.input_tokens) ?? 0;
    const details = isObject(reported.input_token_details) ? reported.input_token_details : {};
    const audioTokens = Math.min(countIn(details.audio_tokens) ?? input - (countIn(details.text_tokens) ?? 0), input);
    if (input > 0)
      return {
        input: input - Math.max(audioTokens, 0),
        audioInput: Math.max(audioTokens, 0),
        output: countIn(reported.output_tokens) ?? 0,
      };
  }
  const seconds = secondsIn(duration);
  return seconds === null ? null : { seconds };
}

/** Subtitles without their times, numbers and title. */
const wordsIn = (subtitles: string): string =>
  subtitles
    .split('\n')
    .filter((line) => !line.includes('-->') && !/^\s*(\d*|WEBVTT.*)\s*$/.test(line))
    .join('\n');

function transcribed(words: string): Generation {
  const generated = new Generation();
  generated.said.add(words);
  generated.finishReason = 'stop';
  return generated;
}

const saysJson = (contentType: string | undefined): boolean =>
  /^\s*application\/([\w.]+\+)?json\b/i.test(contentType ?? '');
const isPage = (contentType: string | undefined): boolean =>
  /^\s*(text\/html|application\/xhtml)/i.test(contentType ?? '');

export function transcriptAnswer(
  variant: OpenAiVariant,
  { provider, channel, caller, status, headers, body: received }: AnswerInput,
): Answer {
  const confidential = confidentialOf(provider, channel);
  const contentType = headers['content-type'];
  if (status < 200 || status > 299) return { ok: false, error: errorOfStatus(status, received, confidential) };
  const textType = textTypes.get(caller.body.response_format);
  if (textType !== undefined && !saysJson(contentType)) {
    if (isPage(contentType))
      return { ok: false, error: unreadableAnswer('the upstream answered with a page instead of a transcript') };
    const generated = transcribed(wordsIn(received.toString('utf8')));
    return { ok: true, body: {}, received, untouched: true, usage: null, generated, textType };
  }
  const body = upstreamJson(received);
  if (!isObject(body))
    return { ok: false, error: unreadableAnswer('the upstream answered something that is not JSON') };
  const error = openAiFailureIn(variant, body, confidential);
  if (error) return { ok: false, error };
  if (typeof body.text !== 'string') {
    const missing = unreadableAnswer('the upstream answered without a transcript in it');
    return { ok: false, error: reportedFailure(body).message === null ? missing : openAiFailureOf(body, confidential) };
  }
  return { ok: true, body, received, untouched: true, usage: transcriptUsage(body), generated: transcribed(body.text) };
}
