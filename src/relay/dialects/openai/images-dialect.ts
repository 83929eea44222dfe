import type { Usage } from '../../../domain/call/usage.js';
import type { WholeAnswer } from '../../contracts/answer-writer.js';
import type { CallerDialect } from '../../contracts/caller-dialect.js';
import { jsonText } from '../../json/exact-number.js';
import { isObject, type JsonObject, parseJson } from '../../json/json.js';
import { withLongTexts, withoutLongTexts } from '../../json/long-texts.js';
import { imageUsageFor } from '../../protocols/openai/image-usage.js';
import { completed } from '../../protocols/openai/images-stream.js';
import { openAiCaller } from './dialect.js';
import { EventsWriter } from './events-writer.js';

/* How callers of OpenAI's interface for pictures are answered: as OpenAI's are, with a usage of its own words. */

/** The usage that the caller is told is what is charged. */
function charged(event: JsonObject, usage: Usage): JsonObject {
  const words = imageUsageFor(event.usage, usage);
  return words === undefined || words === event.usage ? event : { ...event, usage: words };
}

const whole = ({ body, received, untouched }: WholeAnswer): Buffer =>
  untouched ? received : withLongTexts(jsonText(body), received);

/** Reads the answer once more: few come this way. */
function withUsage(bytes: Buffer, usage: Usage): Buffer {
  const answer = parseJson(withoutLongTexts(bytes).toString('utf8'));
  if (!isObject(answer)) return bytes;
  const words = imageUsageFor(answer.usage, usage);
  return words === undefined || words === answer.usage
    ? bytes
    : withLongTexts(jsonText({ ...answer, usage: words }), bytes);
}

export const imagesCaller: CallerDialect = {
  ...openAiCaller,
  // What is not known is refused by its name, however it is spelled.
  misspelled: () => null,
  writer: () => new EventsWriter({ isLast: (type) => completed.test(type), charged }),
  whole,
  withUsage,
  endFrame: '',
};
