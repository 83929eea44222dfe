import type { PaidMode } from '../../../../domain/channel/provider.js';
import { factsOf } from '../../../../domain/models/model-facts.js';
import type { Demand, DemandInput, Endpoint, InvalidRequest } from '../../../contracts/endpoint.js';
import type { Upload } from '../../../contracts/upload.js';
import { type JsonObject, textIn } from '../../../json/json.js';
import { countedPrompt } from '../../../metering/prompt-tally.js';
import { fastestWords, soundTokens } from '../../../metering/transcription-usage.js';
import { openAiCaller } from '../dialect.js';
import { inputTexts } from '../input.js';
import { invalidAudio } from '../validate.js';

/* A file heard: its words, as spoken or in English. It costs by how long it lasts. */

const fileField = 'file';

/** What they say decides the cost or the answer: some receivers take the first of two, others the last, others `name[]`. */
const single = new Set(['model', 'prompt', 'response_format', 'stream', 'language', 'temperature']);

function invalid(fields: JsonObject, upload: Upload | null): InvalidRequest | null {
  const { stream } = fields;
  const [file, another] = upload?.files ?? [];
  for (const [name, value] of Object.entries(fields)) {
    const param = name.replace(/\[.*/s, '');
    if (!single.has(param)) continue;
    if (param !== name) return invalidAudio(param, `field ${param} must be named without brackets`);
    if (typeof value !== 'string') return invalidAudio(param, `field ${param} must be given once`);
  }
  if (fields[fileField] !== undefined) return invalidAudio(fileField, `field ${fileField} must be a file, given once`);
  if (file === undefined || file.name !== fileField)
    return invalidAudio(fileField, `field ${fileField} is required: a part of the form with a filename`);
  if (another !== undefined) return invalidAudio(another.name, `the form must hold one file, as ${fileField}`);
  if (file.bytes.length === 0) return invalidAudio(fileField, 'the file is empty');
  if (stream !== undefined && stream !== 'false' && stream !== '')
    return invalidAudio('stream', 'stream must be false: transcripts are not streamed');
  return null;
}

function demand({ body, names, upload }: DemandInput): Demand {
  const length = upload?.length;
  if (!length) throw new Error('a transcript of no file');
  const expected = soundTokens(length.expected);
  const seconds = length.max;
  if (![...names].some((name) => factsOf(name).transcribesByToken)) {
    const plain = countedPrompt(expected);
    const conservative = { ...plain.conservative, seconds: length.expected };
    const prompt = { ...plain, conservative, max: { ...plain.max, seconds } };
    return { prompt, answers: 0, asked: null, counted: true, standsFor: 'seconds', recording: length };
  }
  const heard = { input: expected + Buffer.byteLength(textIn(body.prompt) ?? ''), audioInput: expected };
  const conservative = { ...heard, seconds: length.expected };
  const prompt = { expected, conservative, max: { ...heard, seconds }, uncounted: true, brings: false };
  return { prompt, answers: 1, asked: length.expected * fastestWords, counted: true, recording: length };
}

const transcribing = (path: string, mode: PaidMode): Endpoint => ({
  path,
  dialect: openAiCaller,
  body: 'multipartAudio',
  mode,
  usualModel: 'whisper-1',
  answersAudio: false,
  thinking: null,
  toNeutral: null,
  invalid,
  promptTexts: (body) => inputTexts(body.prompt),
  asksForAudio: () => false,
  asksForStream: () => false,
  asksForUsage: () => false,
  demand,
});

export const transcriptions = transcribing('/v1/audio/transcriptions', 'transcription');
export const translations = transcribing('/v1/audio/translations', 'translation');
