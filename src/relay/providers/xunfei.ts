import { createHmac } from 'node:crypto';
import { other, usual } from '../../domain/channel/provider.js';
import { urlIn } from '../../domain/kernel/address.js';
import { modelList } from '../catalogue/model-list.js';
import { NotConvertible, type Protocol, type Provider, type UpstreamChannel } from '../contracts/protocol.js';
import { isObject, textIn } from '../json/json.js';
import { openAi } from '../protocols/openai/openai.js';
import type { Edit, OpenAiVariant, Target } from '../protocols/openai/variant.js';
import { baseOf } from '../protocols/request-builder.js';
import { type SparkEndpointOf, spark, sparkStatus, sparkTemperature } from '../protocols/spark.js';

/*
 * Two interfaces, distinguished by the key: with the three parts of an app a signed WebSocket is opened for each call, with
 * a password OpenAI's wire is spoken at another host.
 */

interface Version {
  readonly path: string;
  readonly domain: string;
  readonly takesSystem: boolean;
  readonly takesFunctions: boolean;
}

const version = (path: string, domain: string, takesSystem = false, takesFunctions = false): Version => ({
  path,
  domain,
  takesSystem,
  takesFunctions,
});

const versions: ReadonlyMap<string, Version> = new Map([
  ['v1.1', version('/v1.1/chat', 'lite')],
  ['v2.1', version('/v2.1/chat', 'generalv2')],
  ['v3.1', version('/v3.1/chat', 'generalv3')],
  ['v3.1-128K', version('/chat/pro-128k', 'pro-128k', true)],
  ['v3.5', version('/v3.5/chat', 'generalv3.5', true, true)],
  ['v3.5-32K', version('/chat/max-32k', 'max-32k', true, true)],
  ['v4.0', version('/v4.0/chat', '4.0Ultra', true, true)],
]);

/** Names that hide the version. */
const named: ReadonlyMap<string, string> = new Map([
  ['Spark-Lite', 'v1.1'],
  ['Spark-Pro', 'v3.1'],
  ['Spark-Pro-128K', 'v3.1-128K'],
  ['Spark-Max', 'v3.5'],
  ['Spark-Max-32K', 'v3.5-32K'],
  ['Spark-4.0-Ultra', 'v4.0'],
]);

/** `SparkDesk-v3.5` → v3.5; null: the name says none. */
const versionNamed = (model: string): string | null => named.get(model) ?? /^[^-]+-(v\d.*)$/.exec(model)?.[1] ?? null;

/** The name decides, for the price goes by it; a caller has no say but that. Throws NotConvertible. */
function versionOf({ other: configured }: UpstreamChannel, model: string): Version {
  const found = versions.get(versionNamed(model) ?? (configured.trim() || 'v1.1'));
  if (found !== undefined) return found;
  const known = [...versions.keys()].join(', ');
  throw new NotConvertible('channel', `the interface version of this channel or model is none of ${known}`);
}

interface SignedAddress {
  readonly base: string;
  readonly path: string;
  readonly apiKey: string;
  readonly apiSecret: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Host, time and first line of the handshake are what is signed. Throws NotConvertible. */
function signedUrl({ base, path, apiKey, apiSecret, now }: SignedAddress): string {
  const address = urlIn(base.replace(/^http/, 'ws') + path);
  if (address === null) throw new NotConvertible('channel', 'the base URL of this channel is no address');
  const date = new Date(now).toUTCString();
  const signature = createHmac('sha256', apiSecret)
    .update(`host: ${address.host}\ndate: ${date}\nGET ${address.pathname} HTTP/1.1`)
    .digest('base64');
  const origin = `api_key="${apiKey}", algorithm="hmac-sha256", headers="host date request-line", signature="${signature}"`;
  const signed = { authorization: Buffer.from(origin).toString('base64'), date, host: address.host };
  const query = Object.entries(signed).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return `${address.href}?${query.join('&')}`;
}

const endpointOf: SparkEndpointOf = (provider, channel, model, { now }) => {
  const [appId, apiSecret, apiKey, ...others] = channel.key.trim().split('|');
  if (!appId || !apiSecret || !apiKey || others.length > 0)
    throw new NotConvertible('channel', 'the key of this channel is not of the form APPID|APISecret|APIKey');
  const { path, domain, takesSystem, takesFunctions } = versionOf(channel, model);
  const url = signedUrl({ base: baseOf(provider, channel), path, apiKey, apiSecret, now });
  return { url, appId, domain, takesSystem, takesFunctions };
};

const webSocket = spark(endpointOf);

const defaultBaseUrl = 'https://spark-api.xf-yun.com';
const httpHost = 'https://spark-api-open.xf-yun.com';

const httpUrl = ({ base, model }: Target): string => `${base}/${model === 'x1' ? 'v2' : 'v1'}/chat/completions`;

/** Models are called by their domains there; a name that says no version is one, or the channel's version decides. */
const domainAsModel: Edit = (body, { channel, model }) => {
  const known = versionNamed(model) !== null || model === 'SparkDesk';
  return known ? { ...body, model: versionOf(channel, model).domain } : body;
};

const httpFailure: OpenAiVariant['failure'] = ({ code, message }) =>
  typeof code === 'number' && code !== 0
    ? { status: sparkStatus(String(code)), code: String(code), message: textIn(message) }
    : null;

const temperature: Edit = (body) => {
  if (typeof body.temperature === 'number') body.temperature = sparkTemperature(body.temperature);
  return body;
};

/** A call of a tool comes bare, and without the id that its result is to name. */
const listedToolCall: OpenAiVariant['mend'] = (message, { info }) => {
  const { tool_calls: call } = message;
  if (!isObject(call)) return false;
  message.tool_calls = [{ index: 0, id: `call_${info.callId}`, ...call }];
  return true;
};

const http = openAi({ url: httpUrl, edits: [domainAsModel, temperature], failure: httpFailure, mend: listedToolCall });

const isWebSocket = ({ key }: Pick<UpstreamChannel, 'key'>): boolean => key.includes('|');
const interfaceFor = (channel: UpstreamChannel): Protocol => (isWebSocket(channel) ? webSocket : http);

const protocol: Protocol = {
  request: (asked) => interfaceFor(asked.channel).request(asked),
  answer: (received) => interfaceFor(received.channel).answer(received),
  stream: (opened) => interfaceFor(opened.channel).stream(opened),
};

export const xunfei: Provider = {
  ...usual,
  type: 18,
  name: 'Xunfei Spark',
  defaultBaseUrl,
  baseUrlOf: (channel) => (isWebSocket(channel) ? defaultBaseUrl : httpHost),
  defaultModels: modelList(`
    SparkDesk SparkDesk-v1.1 SparkDesk-v2.1 SparkDesk-v3.1 SparkDesk-v3.5 SparkDesk-v4.0 Spark-Lite Spark-Pro
    Spark-Pro-128K Spark-Max Spark-Max-32K Spark-4.0-Ultra
  `),
  colour: 'blue',
  keyHint: 'APPID|APISecret|APIKey, or the APIPassword of the HTTP interface',
  keyForm: {
    pattern: /^[^|\s]+(\|[^|\s]+\|[^|\s]+)?$/,
    allowed: 'APPID|APISecret|APIKey, three parts, or one password without |',
  },
  other: other('interface version, e.g. v3.5; v2.1 when empty', { usual: 'v2.1' }),
  listsModels: false,
  modes: ['chat'],
  protocol,
};
