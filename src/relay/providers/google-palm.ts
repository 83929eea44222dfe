import { usual } from '../../domain/channel/provider.js';
import { NotConvertible, type Protocol, type Provider } from '../contracts/protocol.js';
import { isList, isObject, type JsonObject, type JsonValue, objectsIn, scalarText, textIn } from '../json/json.js';
import { pathSegment } from '../protocols/model-address.js';
import { modelsAt } from '../protocols/models.js';
import { openAi } from '../protocols/openai/openai.js';
import type { Edit, OpenAiVariant } from '../protocols/openai/variant.js';
import { notServed } from '../protocols/request-builder.js';
import { withGoogleRefusals } from '../protocols/vertex/refusals.js';

/* The interface before Gemini's, which Google has switched off: whole answers of text, without usage and without a limit. */

/** Of the two who speak. Instructions are a user's words. */
const authors: ReadonlyMap<unknown, string> = new Map([
  ['system', '0'],
  ['developer', '0'],
  ['user', '0'],
  ['assistant', '1'],
]);

/** Throws NotConvertible. */
function wordsIn(content: JsonValue | undefined, name: string): string {
  if (!isList(content)) return textIn(content) ?? '';
  return content
    .map((part, at) => {
      if (isObject(part) && part.type === 'text') return textIn(part.text) ?? '';
      throw new NotConvertible('caller', `${name}[${at}]: this provider takes text only`);
    })
    .join('\n');
}

/** Throws NotConvertible. */
function spoken(message: JsonObject, at: number): JsonObject {
  const author = authors.get(message.role);
  if (author === undefined || message.tool_calls !== undefined)
    throw new NotConvertible('caller', `messages[${at}]: this provider knows no calls of tools`);
  return { author, content: wordsIn(message.content, `messages[${at}].content`) };
}

const prompted: Edit = ({ messages, tools, temperature, n, top_p, top_k }) => {
  if (isList(tools) && tools.length > 0) throw new NotConvertible('caller', 'tools: this provider has none');
  return {
    prompt: { messages: objectsIn(messages).map(spoken) },
    ...(temperature !== undefined && { temperature }),
    ...(n !== undefined && { candidateCount: n }),
    ...(top_p !== undefined && { topP: top_p }),
    ...(top_k !== undefined && { topK: top_k }),
  };
};

const failure: OpenAiVariant['failure'] = ({ candidates, filters, error }) => {
  if (isObject(error)) {
    const status = Number(scalarText(error.code));
    const known = Number.isInteger(status) && status >= 400 && status <= 599 ? status : 502;
    return { status: known, code: textIn(error.status) ?? String(known), message: textIn(error.message) };
  }
  if (objectsIn(candidates).length > 0) return null;
  const [filter] = objectsIn(filters);
  return filter === undefined
    ? { status: 502, code: 'bad_response_body', message: 'the upstream answered without an answer in it' }
    : {
        status: 400,
        code: 'content_filter',
        message: `the prompt was blocked by the provider: ${textIn(filter.reason) ?? ''}`,
      };
};

const translate: OpenAiVariant['translate'] = ({ candidates }, { info }) => ({
  id: `chatcmpl-${info.callId}`,
  object: 'chat.completion',
  created: info.createdAt,
  model: info.model,
  choices: objectsIn(candidates).map(({ content }, index) => ({
    index,
    message: { role: 'assistant', content: textIn(content) ?? '' },
    finish_reason: textIn(content) === null ? null : 'stop',
  })),
});

const sold = 'PaLM-2';

const switchedOff =
  'PaLM 2 was switched off by Google in 2024 and has no successor at this address; Gemini is type 24.';

/** At Google nothing is found any more, whatever it says of that. */
const withoutMaker = (protocol: Protocol): Protocol => ({
  ...protocol,
  answer(received) {
    const answer = protocol.answer(received);
    const gone = !answer.ok && answer.error.status === 404;
    return gone ? { ...answer, error: { ...answer.error, message: switchedOff } } : answer;
  },
});

export const googlePalm: Provider = {
  ...usual,
  type: 11,
  name: 'PaLM 2',
  defaultBaseUrl: 'https://generativelanguage.googleapis.com',
  defaultModels: [sold],
  colour: 'orange',
  keyHint: 'Google AI API key',
  deprecated: true,
  modes: ['chat'],
  hasNoLimit: () => true,
  models: modelsAt('/v1beta2/models', {
    ...{ list: 'models', name: 'name', prefix: 'models/' },
    headers: ({ key }) => ({ 'x-goog-api-key': key }),
  }),
  protocol: withoutMaker(
    withGoogleRefusals(
      openAi({
        url({ base, model, caller }) {
          if (caller.mode !== 'chat') throw notServed(caller.mode);
          return `${base}/v1beta2/models/${pathSegment(model === sold ? 'chat-bison-001' : model)}:generateMessage`;
        },
        authorize: ({ channel }) => ({ 'x-goog-api-key': channel.key.trim(), accept: 'application/json' }),
        reshape: prompted,
        failure,
        translate,
      }),
    ),
  ),
};
