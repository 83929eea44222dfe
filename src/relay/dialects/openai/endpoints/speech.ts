import { factsOf } from '../../../../domain/models/model-facts.js';
import type { Endpoint, InvalidRequest } from '../../../contracts/endpoint.js';
import { type JsonObject, textIn } from '../../../json/json.js';
import { countedPrompt } from '../../../metering/prompt-tally.js';
import { countTokens } from '../../../text/tokens.js';
import { inputTexts } from '../input.js';
import { speechCaller } from '../sound-dialect.js';
import { invalidAudio } from '../validate.js';

/* A text spoken: what is put out is a file, or events with pieces of it. It costs what is read, by the character where the model is sold so. */

/** In characters. */
const maxInputLength = 4_096;

/** Code points, of which each takes two units of a string at most. */
const charactersIn = (text: string): number => (text.length > 2 * maxInputLength ? text.length : [...text].length);

function invalid({ model, input, stream_format: format }: JsonObject): InvalidRequest | null {
  if ((model ?? null) !== null && typeof model !== 'string') return invalidAudio('model', 'model must be a text');
  if (typeof input !== 'string' || input === '') return invalidAudio('input', 'field input is required: a text');
  if (charactersIn(input) > maxInputLength)
    return invalidAudio('input', `input must be at most ${maxInputLength} characters`, 'text_too_long');
  if ((format ?? null) !== null && format !== 'audio' && format !== 'sse')
    return invalidAudio('stream_format', 'stream_format must be audio or sse');
  return null;
}

export const speech: Endpoint = {
  path: '/v1/audio/speech',
  dialect: speechCaller,
  body: 'json',
  mode: 'speech',
  usualModel: 'tts-1',
  answersAudio: true,
  thinking: null,
  toNeutral: null,
  invalid,
  promptTexts: ({ input, instructions }) => [...inputTexts(input), ...inputTexts(instructions)],
  asksForAudio: () => false,
  asksForStream: ({ stream_format: format }) => format === 'sse',
  asksForUsage: () => false,
  demand({ body, model }) {
    const text = textIn(body.input) ?? '';
    const characters = charactersIn(text);
    const { speaksByCharacter } = factsOf(model);
    const plain = countedPrompt(speaksByCharacter ? characters : countTokens(model, text));
    const prompt = { ...plain, max: { ...plain.max, characters } };
    const demand = { prompt, answers: 0, asked: null, counted: true } as const;
    return speaksByCharacter ? { ...demand, standsFor: 'characters' } : demand;
  },
};
