import type { ServerResponse } from 'node:http';
import { answerWhole, seedIn } from './odd-answers.js';
import { pick, randomOf } from './odd-json.js';

/* What is heard in a file: what a hostile upstream reports of it, and what its caller must get. */

export const isTranscriptPath = (path: string): boolean => /\/audio\/(transcriptions|translations)/.test(path);

const words = [{ word: 'Hello', start: 0, end: 0.4 }];
const segment = { ...{ id: 0, seek: 0, start: 0, end: 1.5, text: 'Hello.' }, tokens: [1, 2], avg_logprob: -0.1 };
const tokens = {
  ...{ type: 'tokens', input_tokens: 20, output_tokens: 4, total_tokens: 24 },
  input_token_details: { audio_tokens: 15, text_tokens: 5 },
};
const answers = [
  { text: 'Hello.', usage: { type: 'duration', seconds: 2 } },
  { text: 'Hello.', usage: tokens },
  { task: 'transcribe', language: 'english', duration: 1.5, text: 'Hello.', words, segments: [segment] },
  { text: '', duration: '1.5', usage: { prompt_audio_seconds: 2 } },
  { text: 'Hello.' },
] as const;

const subtitles = '1\n00:00:00,000 --> 00:00:01,500\nHello.\n\n';
const texts = ['Hello.', '', subtitles, `WEBVTT\n\n${subtitles}`, '\ufeffHello.\r\n', '{"text":"Hello."}', '<p>no</p>'];
const textTypes = ['text/plain', 'text/plain; charset=utf-8', 'text/vtt', 'application/x-subrip', 'text/html'] as const;

const isText = (form: string): boolean => /name="response_format"\r\n\r\n(text|srt|vtt)\r\n/.test(form);

/** `form`: as it came. */
export function answerTranscript(form: string, response: ServerResponse): void {
  const random = randomOf(seedIn(form));
  if (isText(form) && random() < 0.7)
    response.writeHead(200, { 'content-type': pick(random, textTypes) }).end(pick(random, texts));
  else answerWhole(response, random, pick(random, answers));
}

/** What is wrong with a transcript; null: nothing. */
export function transcriptFault(type: string, body: string): string | null {
  if (/^text\/(plain|vtt)|^application\/x-subrip/.test(type)) return null;
  if (!type.includes('application/json')) return `a transcript is of the type ${type}`;
  const { text, usage, error } = JSON.parse(body) as Readonly<Record<string, unknown>>;
  if (typeof text !== 'string') return 'a transcript has no text';
  if ((error ?? null) !== null) return 'a transcript holds an error';
  const { seconds } = (usage ?? {}) as { seconds?: unknown };
  return seconds === undefined || (typeof seconds === 'number' && seconds > 0) ? null : 'a length that cannot be';
}
