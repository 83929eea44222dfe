import { isObject, type JsonObject, objectsIn, parseJson } from '../../../src/relay/json/json.js';
import { type Speaking, signature } from './dialect-upstreams.js';
import { eventsOf, lastEventOf, messageItem, reasoningItem, reportedUsage, responseOf } from './responses-answers.js';

/* An upstream that has the Responses API alone. */

const object = (value: unknown): JsonObject => (isObject(value) ? value : {});

const texts = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'string');

const partsOf = (content: unknown): JsonObject[] =>
  typeof content === 'string' ? [{ type: 'input_text', text: content }] : objectsIn(content);

const textOf = (content: unknown): string =>
  partsOf(content)
    .flatMap(({ text }) => texts(text))
    .join('');

const inlineData = (url: unknown): string[] => texts(url).map((text) => text.replace(/^data:[^,]*,/, ''));

export const responsesUpstream: Speaking = {
  type: 1,
  model: 'gpt-5-pro',
  setting: '{"responses_only":true}',
  end: '',
  afterCall: 2,
  whole({ thinking, text, calls = [], cut }) {
    const items = [
      ...(thinking === undefined ? [] : [reasoningItem(thinking, signature)]),
      ...(text === undefined ? [] : [messageItem(text)]),
      ...calls.map(({ name, args }, at) => ({
        ...{ id: `fc_${at}`, type: 'function_call', status: 'completed', call_id: `call_${at}`, name },
        arguments: JSON.stringify(args),
      })),
    ];
    return responseOf(items, {
      usage: reportedUsage(100, 40, { cached: 60 }),
      ...(cut && { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }),
    });
  },
  stream(answer) {
    const response = responsesUpstream.whole(answer);
    return [...eventsOf(response), lastEventOf(response)];
  },
  meant(body) {
    const items = objectsIn(body.input);
    const of = (type: string) => items.filter((item) => item.type === type);
    const messages = of('message');
    const calls = of('function_call');
    return {
      system: messages
        .filter(({ role }) => role === 'system' || role === 'developer')
        .map(({ content }) => textOf(content))
        .join('\n'),
      messages: messages
        .filter(({ role }) => role === 'user' || role === 'assistant')
        .map(({ role, content }) => ({
          role: role === 'user' ? ('user' as const) : ('model' as const),
          text: textOf(content),
        }))
        .filter(({ text }) => text !== ''),
      media: messages
        .flatMap(({ content }) => partsOf(content))
        .flatMap(({ image_url: picture, file_data: file }) => [...inlineData(picture), ...inlineData(file)]),
      calls: calls.map((call) => ({ name: String(call.name), args: object(parseJson(String(call.arguments))) })),
      results: calls.map(({ call_id: id }) =>
        textOf(of('function_call_output').find((output) => output.call_id === id)?.output),
      ),
      signatures: of('reasoning').flatMap(({ encrypted_content: sealed }) => texts(sealed)),
      tools: objectsIn(body.tools).map(({ name }) => String(name)),
      stops: [],
      limit: Number(body.max_output_tokens) || null,
      schema: Object.keys(object(object(object(object(body.text).format).schema).properties)).sort(),
      cached: 0,
    };
  },
  failure: (status) => ({ error: { message: 'Not now.', type: 'some_error', param: null, code: `code_${status}` } }),
};
