import type { ChatMessage, ChatRequest } from '../../contracts/neutral-request.js';
import { NotConvertible, type Protocol } from '../../contracts/protocol.js';
import { type JsonObject, numberIn, objectsIn } from '../../json/json.js';
import { callsSaid, functionChoice, functionsOffered, plainText, refuseUnsupported, stopTexts } from '../chat-words.js';
import { pathSegment } from '../model-address.js';
import { baseOf, neutralAs, noThinking, notServed, written } from '../request-builder.js';
import { zhipuToken } from '../zhipu-account.js';

/* What is asked of ChatGLM by version 3 of Zhipu's interface: texts of user and assistant, and nothing else. */

function turnsOf(message: ChatMessage, path: string): JsonObject[] {
  const { role } = message;
  const content = plainText(message.content, `${path}.content`);
  if (role === 'tool' || role === 'function' || callsSaid(message, path).length > 0)
    throw new NotConvertible('caller', `${path}: this provider knows no calls of tools`);
  if (role === 'assistant') return [{ role, content }];
  const said = { role: 'user', content };
  return role === 'system' || role === 'developer' ? [said, { role: 'assistant', content: 'Okay' }] : [said];
}

/** Throws NotConvertible. */
function refuseUnknown(body: ChatRequest): void {
  refuseUnsupported(body);
  if (functionsOffered(body).length > 0 && functionChoice(body) !== 'none')
    throw new NotConvertible('caller', 'tools: this provider has none');
  if (stopTexts(body).length > 0) throw new NotConvertible('caller', 'stop: this provider knows no stop texts');
}

const within = (value: unknown, lowest: number, highest: number): number | undefined => {
  const number = numberIn(value);
  return number === null ? undefined : Math.min(Math.max(number, lowest), highest);
};

function bodyOf(body: ChatRequest, stream: boolean): JsonObject {
  refuseUnknown(body);
  return {
    prompt: objectsIn(body.messages).flatMap((message, at) => turnsOf(message, `messages[${at}]`)),
    temperature: within(body.temperature, 0.01, 1),
    top_p: within(body.top_p, 0.01, 0.99),
    // Otherwise each event of a stream could hold all that was said before it.
    ...(stream && { incremental: true }),
  };
}

export const chatglmRequest: Protocol['request'] = ({ provider, channel, caller, model, options }) => {
  if (caller.mode !== 'chat') throw notServed(caller.mode);
  const token = zhipuToken(channel.key.trim(), options.now);
  if (token === null) throw new NotConvertible('channel', 'the key of this channel is not of the form id.secret');
  const body = bodyOf(neutralAs(caller, 'chat'), caller.stream);
  const override = options.passThrough ? null : channel.paramOverride;
  const method = caller.stream ? 'sse-invoke' : 'invoke';
  return {
    method: 'POST',
    url: `${baseOf(provider, channel)}/api/paas/v3/model-api/${pathSegment(model)}/${method}`,
    headers: {
      'content-type': 'application/json',
      accept: caller.stream ? 'text/event-stream' : 'application/json',
      authorization: token,
    },
    content: { kind: 'json', text: written(override === null ? body : { ...body, ...override }) },
    model,
    ...noThinking,
  };
};
