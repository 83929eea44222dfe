import type { Protocol } from '../../contracts/protocol.js';
import { countIn, isObject, type JsonObject } from '../../json/json.js';
import { upstreamJson } from '../../json/upstream-json.js';
import { anthropicAnswer } from '../anthropic/answer.js';
import { pictureAddressesOf, withPictures } from '../anthropic/pictures.js';
import { anthropicRequest } from '../anthropic/request.js';
import { AnthropicStream } from '../anthropic/stream.js';
import type { AnthropicVariant, MessagesTarget } from '../anthropic/variant.js';
import { wholeSegment } from '../model-address.js';
import { written } from '../request-builder.js';
import { bedrockRefusal } from './failure.js';
import { confidentialIn, credentialsIn, placed } from './key.js';
import { withoutProfile } from './makers.js';
import { BedrockStream } from './stream.js';

/*
 * Anthropic's models as Amazon serves them: the Messages of their maker in an envelope of Amazon's. The model stands in
 * the address, streams come in binary frames, and failures have names of their own.
 */

const interfaceVersion = 'bedrock-2023-05-31';

/** The id a model is invoked by in a region. */
export type InvokedAs = (model: string, region: string) => string;

const actionOf = ({ counts, caller }: MessagesTarget): string =>
  counts ? 'count-tokens' : caller.stream ? 'invoke-with-response-stream' : 'invoke';

/** What is to be counted must be a request that could be answered. */
function counted(body: JsonObject): JsonObject {
  const budget = isObject(body.thinking) ? countIn(body.thinking.budget_tokens) : null;
  const asked = written({ ...body, max_tokens: (budget ?? 0) + 1 });
  return { input: { invokeModel: { body: Buffer.from(asked).toString('base64') } } };
}

/** Members that elsewhere are headers. In the body they are the operator's to choose, and no caller's. */
function envelopeOf({ betas, channel, options }: MessagesTarget): JsonObject {
  const { anthropic_version: version, anthropic_beta: beta } =
    (options.passThrough ? null : channel.paramOverride) ?? {};
  const asked = beta ?? (betas.length > 0 ? [...betas] : undefined);
  return { anthropic_version: version ?? interfaceVersion, ...(asked !== undefined && { anthropic_beta: asked }) };
}

const variantFor = (invokedAs: InvokedAs): AnthropicVariant => ({
  ownVersion: true,
  withoutThreads: true,
  withoutSearch: true,
  url(target) {
    const id = invokedAs(target.model, credentialsIn(target.channel).region);
    return `${target.base}/model/${wholeSegment(target.counts ? withoutProfile(id) : id)}/${actionOf(target)}`;
  },
  headers: ({ caller }) => ({ accept: caller.stream ? 'application/vnd.amazon.eventstream' : 'application/json' }),
  reshape(body, target) {
    const { model: _, stream: __, anthropic_beta: ___, ...rest } = withPictures(body, target.options.pictures);
    const invoked = { ...rest, ...envelopeOf(target) };
    return target.counts ? counted(invoked) : invoked;
  },
});

/** A count in the words of who asked for it. */
function asCount(received: Buffer): Buffer {
  const reported = upstreamJson(received);
  const tokens = isObject(reported) ? countIn(reported.inputTokens) : null;
  return tokens === null ? received : Buffer.from(JSON.stringify({ input_tokens: tokens }));
}

export function bedrock(invokedAs: InvokedAs): Protocol {
  const request = anthropicRequest(variantFor(invokedAs));
  return {
    pictures: pictureAddressesOf,
    request: (asked) => request({ ...asked, channel: placed(asked.provider, asked.channel) }),
    answer({ provider, channel, caller, status, headers, body, info }) {
      const confidential = confidentialIn(provider, channel);
      if (status < 200 || status > 299)
        return { ok: false, error: bedrockRefusal(status, headers, body, confidential) };
      const sent = caller.mode === 'counting' ? asCount(body) : body;
      return anthropicAnswer(confidential, { channel, caller, status, body: sent, info });
    },
    stream(opened) {
      const confidential = confidentialIn(opened.provider, opened.channel);
      return new BedrockStream(new AnthropicStream(confidential, opened), confidential);
    },
  };
}
