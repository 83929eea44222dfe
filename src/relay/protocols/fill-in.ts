import { NotConvertible, type Protocol } from '../contracts/protocol.js';
import { countIn, isList, isObject, type JsonObject, objectsIn, textIn } from '../json/json.js';
import { openAi } from './openai/openai.js';
import { messageIn } from './openai/reply.js';
import { urlAt } from './openai/request.js';
import type { Edit, OpenAiVariant } from './openai/variant.js';

/*
 * Completions as Mistral has them: words between a prompt and what follows it. They are asked for in a form of their own,
 * which refuses members that it does not know, and answered as a chat. https://docs.mistral.ai/api/endpoint/fim
 */

/** Throws NotConvertible. */
function promptIn({ prompt }: JsonObject): string {
  const [only, ...others] = isList(prompt) ? prompt : [prompt];
  const text = textIn(only);
  if (text === null || others.length > 0)
    throw new NotConvertible(
      'caller',
      'prompt must be one text: this provider completes one at a time, and no token ids',
    );
  return text;
}

/** Throws NotConvertible: they ask for more than one completion, or for another text. */
function refuseOthers({ n, best_of, echo }: JsonObject): void {
  if ((countIn(n) ?? 1) > 1) throw new NotConvertible('caller', 'n must be 1 for this provider');
  if ((countIn(best_of) ?? 1) > 1) throw new NotConvertible('caller', 'best_of must be 1 for this provider');
  if (echo === true) throw new NotConvertible('caller', 'echo must be false: this provider does not repeat the prompt');
}

const inItsForm: Edit = (body) => {
  refuseOthers(body);
  const { model, suffix, max_tokens, min_tokens, stream, temperature, top_p, stop, seed, random_seed } = body;
  const sampling = { temperature, top_p, stop, random_seed: random_seed ?? seed };
  return { model, prompt: promptIn(body), suffix: suffix ?? undefined, max_tokens, min_tokens, stream, ...sampling };
};

/** The texts of a message, which may come in parts. */
const wordsOf = (message: JsonObject | null): string => {
  const content = message?.content;
  return isList(content)
    ? objectsIn(content)
        .map(({ text }) => textIn(text) ?? '')
        .join('')
    : (textIn(content) ?? '');
};

const translate: NonNullable<OpenAiVariant['translate']> = (body, { info }) => {
  if (!isList(body.choices)) return body;
  return {
    id: textIn(body.id) ?? `cmpl-${info.callId}`,
    object: 'text_completion',
    created: countIn(body.created) ?? info.createdAt,
    model: textIn(body.model) ?? info.model,
    choices: objectsIn(body.choices).map((choice, at) => ({
      index: countIn(choice.index) ?? at,
      text: wordsOf(messageIn(choice)),
      logprobs: null,
      finish_reason: textIn(choice.finish_reason),
    })),
    ...(isObject(body.usage) && { usage: body.usage }),
  };
};

export const fillIn = (variant: Pick<OpenAiVariant, 'finishReasons'>): Protocol =>
  openAi({ ...variant, url: urlAt({ completions: '/v1/fim/completions' }), reshape: inItsForm, translate });
