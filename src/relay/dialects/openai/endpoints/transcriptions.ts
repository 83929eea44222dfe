import type { Mode } from '../../../../domain/channel/provider.js';
import type { Demand, DemandInput, Endpoint, InvalidRequest } from '../../../contracts/endpoint.js';
import type { Upload } from '../../../contracts/upload.js';
import { type JsonObject, textIn } from '../../../json/json.js';
import { fastestWords, soundTokens } from '../../../metering/heard-usage.js';
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

/** These count tokens of sound and of words, and tell them. */
const countsTokens = /transcribe/;

function demand({ body, names, upload }: DemandInput): Demand {
  const length = upload?.length;
  if (!length) throw new Error('a transcript of no file');
  const { expected } = length;
  const likely = soundTokens(expected);
  const inTokens = [...names].some((name) => countsTokens.test(name));
  const heard = { length, inTokens };
  if (!inTokens) {
    const prompt = {
      likely,
      ample: likely,
      most: likely,
      sound: { ample: 0, most: 0 },
      uncounted: false,
      brings: false,
      keeps: false,
    };
    return { prompt, answers: 0, asked: null, counted: true, heard };
  }
  const most = likely + Buffer.byteLength(textIn(body.prompt) ?? '');
  const prompt = {
    likely,
    ample: most,
    most,
    sound: { ample: likely, most: likely },
    uncounted: true,
    keeps: false,
    brings: false,
  };
  return { prompt, answers: 1, asked: expected * fastestWords, counted: true, heard };
}

const heard = (path: string, mode: Mode): Endpoint => ({
  path,
  dialect: openAiCaller,
  body: 'soundForm',
  mode,
  usualModel: 'whisper-1',
  answersSound: false,
  thinking: null,
  toNeutral: null,
  invalid,
  promptTexts: (body) => inputTexts(body.prompt),
  asksForSound: () => false,
  asksForStream: () => false,
  asksForUsage: () => false,
  demand,
});

export const transcriptions = heard('/v1/audio/transcriptions', 'transcription');
export const translations = heard('/v1/audio/translations', 'translation');
