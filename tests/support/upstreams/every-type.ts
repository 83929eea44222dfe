import type { ServerResponse } from 'node:http';
import { isServed } from '../../../src/domain/channel/provider.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { providers } from '../../../src/relay/providers/registry.js';
import { bedrockAnswers } from './bedrock-answers.js';
import { type DocumentedAddress, documentedAddresses } from './documented-addresses.js';
import { grantedToken, newerAnswers } from './newer-answers.js';
import { startUpstream, type Upstream, type UpstreamCall } from './upstream.js';
import { saidByAll, type WireAnswers, wireAnswers } from './wire-answers.js';

/* An upstream for each type of channel that is offered, which answers it and lists one model. */

export interface UpstreamOfType {
  readonly type: number;
  readonly model: string;
  readonly key: (upstreamUrl: string) => string;
  readonly other: string;
  /** Of the address of a channel, behind the host. */
  readonly below: string;
  /** What a chat is answered; null: it has none. */
  readonly said: string | null;
  readonly listsModels: boolean;
  readonly testable: boolean;
  serve(call: UpstreamCall, response: ServerResponse): void;
}

interface Words {
  readonly whole: string;
  readonly events: readonly (string | Buffer)[];
  readonly streamType?: string;
}

const asksForStream = ({ url, body }: UpstreamCall): boolean =>
  url.includes('stream') || /"stream": ?true|"response_mode": ?"streaming"/i.test(body);

const json = (response: ServerResponse, text: string): void =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(text);

function speak(
  { whole, events, streamType = 'text/event-stream' }: Words,
  call: UpstreamCall,
  response: ServerResponse,
) {
  if (!asksForStream(call) || events.length === 0) return json(response, whole);
  response.writeHead(200, { 'content-type': streamType });
  for (const event of events) response.write(event);
  response.end();
}

/** A list of models in every form that there is. */
const listOf = (model: string): string => {
  const entry: JsonObject = { id: model, name: model, model, object: 'model', endpoints: ['chat', 'embed'] };
  const list: JsonObject = { object: 'list', data: [entry], models: [entry], success: true, result: [entry] };
  return JSON.stringify({ ...list, has_more: false, result_info: { total_count: 1 } });
};

type Spoken = Pick<UpstreamOfType, 'type' | 'said'> & Partial<UpstreamOfType> & { readonly words: Words };

function upstreamOfType({ words, ...own }: Spoken): UpstreamOfType {
  const provider = providers.find(({ type }) => type === own.type);
  if (provider === undefined) throw new Error(`no provider has type ${own.type}`);
  const { model = `model-${own.type}` } = own;
  return {
    ...{ model, key: () => 'sk-planted-0123456789', other: '', below: '' },
    ...{ listsModels: provider.listsModels, testable: provider.testable },
    serve(call, response) {
      if (call.url === '/token') return json(response, grantedToken);
      if (call.body === '') return json(response, listOf(model));
      speak(words, call, response);
    },
    ...own,
  };
}

const said = 'A list of debts.';

const ofSharedForm = ({ type, key, other = '', below = '', form, paths }: DocumentedAddress): UpstreamOfType => {
  const mode = paths.chat === undefined ? 'embeddings' : 'chat';
  const words = { whole: JSON.stringify(form.whole(mode)), events: mode === 'chat' ? form.events(mode) : [] };
  return upstreamOfType({ ...{ type, other, below, words }, key: () => key, said: mode === 'chat' ? said : null });
};

const ofWire = (wire: WireAnswers): UpstreamOfType => {
  const {
    type,
    key,
    keyAt,
    other = '',
    model = `model-${type}`,
    basePath: below = '',
    whole,
    stream,
    streamType,
  } = wire;
  const words = { whole: JSON.stringify(whole), events: stream, ...(streamType && { streamType }) };
  return upstreamOfType({
    ...{ type, model, other, below, words, said: saidByAll },
    key: keyAt ?? (() => key),
  });
};

const nothing: Words = { whole: '{}', events: [] };

const all: readonly UpstreamOfType[] = [
  ...documentedAddresses.filter(({ paths }) => paths.chat !== undefined).map(ofSharedForm),
  ...[...wireAnswers, ...bedrockAnswers, ...newerAnswers].map(ofWire),
  ...documentedAddresses.filter(({ paths }) => paths.embeddings !== undefined).map(ofSharedForm),
  // They make tasks alone, and nothing small can be asked of them.
  ...[2, 5, 36].map((type) => upstreamOfType({ type, said: null, words: nothing })),
];

/** One for each type that the form of a new channel offers. */
export const upstreamsOfTypes: readonly UpstreamOfType[] = providers
  .filter((provider) => isServed(provider) && provider.colour !== null && !provider.deprecated)
  .map(({ type, name }) => {
    const found = all.find((one) => one.type === type);
    if (found === undefined) throw new Error(`there is no upstream for a channel of ${name} (${type})`);
    return found;
  });

export const startUpstreamOfType = (one: UpstreamOfType): Promise<Upstream> =>
  startUpstream((call, response) => one.serve(call, response));
