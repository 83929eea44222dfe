import { used } from '../../../domain/call/usage.js';
import type { ChatCompletion } from '../../contracts/neutral-answer.js';
import type { ChatRequest } from '../../contracts/neutral-request.js';
import { type Answer, type AnswerInput, type CallerRequest, NotConvertible } from '../../contracts/protocol.js';
import { countIn, isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';
import { SeenText } from '../../text/seen-text.js';
import { asUpstreamError, unreadableAnswer } from '../../upstream/upstream-error.js';
import { confidentialOf } from '../confidential-of.js';
import { writeOpenAiUsage } from '../openai/usage.js';
import { neutralAs } from '../request-builder.js';
import { blocked } from './failure.js';
import { objectIn } from './names.js';
import { isNative } from './native.js';

/*
 * Models that draw and do nothing else, asked by `predict`: a text in, a picture out. One picture a call, for that is what
 * a call is priced for.
 */

/** Whether a caller asks in the method's own words. */
export const asksForPrediction = (caller: CallerRequest): boolean => isNative(caller) && isList(caller.body.instances);

const tokensPerPicture = 258;

/** They change the picture, and neither what it costs nor where it goes. */
const passed = new Set([
  'aspectRatio',
  'negativePrompt',
  'personGeneration',
  'safetySetting',
  'safetyFilterLevel',
  'language',
  'seed',
  'addWatermark',
  'enhancePrompt',
  'guidanceScale',
  'includeRaiReason',
  'includeSafetyAttributes',
  'outputOptions',
]);

/** Throws NotConvertible. */
function onePicture(count: JsonValue | undefined, name: string): void {
  if ((count ?? 1) !== 1) throw new NotConvertible('caller', `${name}: one picture is drawn at a time`);
}

const aspects: ReadonlyMap<JsonValue | undefined, string> = new Map([
  ['1024x1024', '1:1'],
  ['1024x1792', '9:16'],
  ['1792x1024', '16:9'],
  ['1280x896', '4:3'],
  ['896x1280', '3:4'],
]);

/** Throws NotConvertible. */
function wordsIn(content: JsonValue | undefined): string {
  if (!isList(content)) return textIn(content) ?? '';
  return content
    .map((part) => {
      if (isObject(part) && part.type === 'text') return textIn(part.text) ?? '';
      throw new NotConvertible('caller', 'messages: a picture is drawn after a text, and after nothing else');
    })
    .join('\n');
}

/** What was said last is what is to be drawn. Throws NotConvertible. */
function promptIn({ messages }: ChatRequest): string {
  const prompt = wordsIn(messages.findLast(({ role }) => role === 'user')?.content);
  if (prompt.trim() === '') throw new NotConvertible('caller', 'messages: the last of a user says what is to be drawn');
  return prompt;
}

/** Throws NotConvertible. */
function predictionIn({ body }: CallerRequest): JsonObject {
  const [first, ...others] = objectsIn(body.instances);
  const prompt = textIn(first?.prompt);
  if (prompt === null || others.length > 0)
    throw new NotConvertible('caller', 'instances must be a list of one, with a prompt');
  const parameters = objectIn(body, 'parameters') ?? {};
  onePicture(parameters.sampleCount, 'parameters.sampleCount');
  const named = Object.entries(parameters).filter(([name]) => passed.has(name));
  return { instances: [{ prompt }], parameters: { ...Object.fromEntries(named), sampleCount: 1 } };
}

/** Throws NotConvertible. */
export function predictionBody(caller: CallerRequest): JsonObject {
  if (asksForPrediction(caller)) return predictionIn(caller);
  const body = neutralAs(caller, 'chat');
  const limit = caller.outputLimit ?? countIn(body.max_completion_tokens) ?? countIn(body.max_tokens);
  if (limit !== null && limit < tokensPerPicture)
    throw new NotConvertible('caller', `max_tokens: a picture is ${tokensPerPicture} tokens`);
  onePicture(body.n, 'n');
  const aspectRatio = aspects.get(body.size);
  return {
    instances: [{ prompt: promptIn(body) }],
    parameters: { sampleCount: 1, personGeneration: 'allow_adult', ...(aspectRatio !== undefined && { aspectRatio }) },
  };
}

/** Pictures that are withheld come as reasons why. */
export function predictionAnswered(
  reported: JsonObject,
  { provider, channel, caller, body: received, info }: AnswerInput,
): Answer {
  const predictions = objectsIn(reported.predictions);
  const drawn = predictions.find(({ bytesBase64Encoded: data }) => textIn(data) !== null);
  if (drawn === undefined) {
    const reason = predictions.map(({ raiFilteredReason }) => textIn(raiFilteredReason)).find((one) => one !== null);
    const error =
      reason === undefined || reason === null
        ? unreadableAnswer('the upstream answered without a picture in it')
        : asUpstreamError(blocked(reason), 400, confidentialOf(provider, channel));
    return { ok: false, error };
  }
  const usage = used({ input: caller.promptTokens, output: tokensPerPicture });
  const generated = { said: new SeenText(), toolCalls: 0, finishReason: 'stop' };
  if (asksForPrediction(caller))
    return { ok: true, body: reported, own: true, received, untouched: true, usage, generated };
  const type = textIn(drawn.mimeType) ?? 'image/png';
  const body: ChatCompletion = {
    id: `chatcmpl-${info.callId}`,
    object: 'chat.completion',
    created: info.createdAt,
    model: info.model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: `![image](data:${type};base64,${drawn.bytesBase64Encoded})` },
        finish_reason: 'stop',
      },
    ],
    usage: writeOpenAiUsage(usage),
  };
  return { ok: true, body, received, untouched: false, usage, generated };
}
