import { factsOf } from '../../../../domain/models/model-facts.js';
import type { Demand, DemandInput, Endpoint, InvalidRequest } from '../../../contracts/endpoint.js';
import type { Upload } from '../../../contracts/upload.js';
import { isList, type JsonObject, type JsonValue, textIn } from '../../../json/json.js';
import { countedPrompt } from '../../../metering/prompt-tally.js';
import { fastestWords, soundTokens } from '../../../metering/transcription-usage.js';
import { inputTexts } from '../input.js';
import { transcriptsCaller } from '../sound-dialect.js';
import { invalidAudio } from '../validate.js';

/* A file heard: its words, as spoken or in English. It costs by how long it lasts. */

const fileField = 'file';

/** What they say decides the cost or the answer: some receivers take the first of two, others the last, others `name[]`. */
const single = new Set(['model', 'prompt', 'response_format', 'stream', 'language', 'temperature']);

/** Others are one text. */
const streamedFormats: ReadonlySet<JsonValue | undefined> = new Set([undefined, '', 'json', 'diarized_json']);

/** Seconds of a voice that is to be known, at most: https://developers.openai.com/api/docs/guides/speech-to-text */
const longestReference = 10;

const isStream = ({ stream }: JsonObject): boolean => stream === 'true';

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
  if (stream !== undefined && stream !== 'true' && stream !== 'false' && stream !== '')
    return invalidAudio('stream', 'stream must be true or false');
  if (isStream(fields) && !streamedFormats.has(fields.response_format))
    return invalidAudio('response_format', 'response_format of a stream must be json or diarized_json');
  return null;
}

function invalidTranslation(fields: JsonObject, upload: Upload | null): InvalidRequest | null {
  if (isStream(fields)) return invalidAudio('stream', 'stream must be false: translations are not streamed');
  return invalid(fields, upload);
}

/** Recordings of voices that the model is to know, by how often their field is given. */
function knownSpeakers(body: JsonObject): number {
  const given = body['known_speaker_references[]'] ?? body.known_speaker_references ?? [];
  return isList(given) ? given.length : 1;
}

function demand({ body, names, upload }: DemandInput): Demand {
  const recorded = upload?.length;
  if (!recorded) throw new Error('a transcript of no file');
  const voices = knownSpeakers(body) * longestReference;
  const length = { ...recorded, max: recorded.max + voices };
  const expected = soundTokens(length.expected + voices);
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

type Own = Pick<Endpoint, 'path' | 'mode' | 'invalid'>;

const transcribing = (own: Own): Endpoint => ({
  ...own,
  dialect: transcriptsCaller,
  body: 'multipartAudio',
  usualModel: 'whisper-1',
  answersAudio: false,
  thinking: null,
  toNeutral: null,
  promptTexts: (body) => inputTexts(body.prompt),
  asksForAudio: () => false,
  asksForStream: isStream,
  asksForUsage: () => false,
  demand,
});

export const transcriptions = transcribing({ path: '/v1/audio/transcriptions', mode: 'transcription', invalid });
export const translations = transcribing({
  path: '/v1/audio/translations',
  mode: 'translation',
  invalid: invalidTranslation,
});
