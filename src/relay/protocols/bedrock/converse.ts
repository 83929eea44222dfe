import type { CallerRequest, Protocol } from '../../contracts/protocol.js';
import { jsonText } from '../../json/exact-number.js';
import { isObject } from '../../json/json.js';
import { exactUpstreamJson } from '../../json/upstream-json.js';
import { anthropicAnswer } from '../anthropic/answer.js';
import { pictureAddressesOf, withPictures } from '../anthropic/pictures.js';
import { anthropicRequest } from '../anthropic/request.js';
import { AnthropicStream } from '../anthropic/stream.js';
import type { AnthropicVariant } from '../anthropic/variant.js';
import { wholeSegment } from '../model-address.js';
import { notServed } from '../request-builder.js';
import type { InvokedAs } from './bedrock.js';
import { conversedMessage } from './converse-answer.js';
import { ConverseEvents } from './converse-events.js';
import { converseBody } from './converse-request.js';
import { bedrockRefusal } from './failure.js';
import { confidentialIn, credentialsIn, placed } from './key.js';
import { BedrockStream } from './stream.js';

/*
 * Models of every maker as Amazon serves them: one form for all, close to Anthropic's Messages. A request is put into
 * Messages first, and an answer read as one, so that tools, thinking and counts have one meaning in both.
 */

/** Brackets of an answer outside the arguments of a call. */
const outsideCalls = 6;

const variantFor = (invokedAs: InvokedAs): AnthropicVariant => ({
  ownVersion: true,
  withoutSearch: true,
  url({ base, model, channel, caller }) {
    const id = invokedAs(model, credentialsIn(channel).region);
    return `${base}/model/${wholeSegment(id)}/${caller.stream ? 'converse-stream' : 'converse'}`;
  },
  headers: ({ caller }) => ({ accept: caller.stream ? 'application/vnd.amazon.eventstream' : 'application/json' }),
  reshape: (body, target) => converseBody(withPictures(body, target.options.pictures), target),
});

/** What is read is written for its caller: nobody speaks this wire. */
const asNeutral = (caller: CallerRequest): CallerRequest =>
  caller.dialect.wire === 'anthropic' ? { ...caller, dialect: { ...caller.dialect, wire: 'openai' } } : caller;

export function converse(invokedAs: InvokedAs): Protocol {
  const request = anthropicRequest(variantFor(invokedAs));
  return {
    pictures: pictureAddressesOf,
    request(asked) {
      if (asked.caller.mode !== 'chat') throw notServed(asked.caller.mode);
      const channel = placed(asked.provider, asked.channel);
      // Names such as kimi-k2-thinking are whole: nothing is taken off them.
      const claude = { ...asked.options.claude, thinkingAdapter: false };
      return request({ ...asked, channel, options: { ...asked.options, claude } });
    },
    answer({ provider, channel, caller, status, headers, body, info }) {
      const confidential = confidentialIn(provider, channel);
      if (status < 200 || status > 299)
        return { ok: false, error: bedrockRefusal(status, headers, body, confidential) };
      const reported = exactUpstreamJson(body, outsideCalls);
      const message = isObject(reported) ? conversedMessage(reported, info) : null;
      const read = message === null ? body : Buffer.from(jsonText(message));
      return anthropicAnswer(confidential, { channel, caller: asNeutral(caller), status, body: read, info });
    },
    stream(opened) {
      const confidential = confidentialIn(opened.provider, opened.channel);
      const stream = new AnthropicStream(confidential, { ...opened, caller: asNeutral(opened.caller) });
      return new BedrockStream(stream, confidential, new ConverseEvents().in);
    },
  };
}
