import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { claudeSettings } from '../../../src/application/options/claude-settings.js';
import type { Usage } from '../../../src/domain/call/usage.js';
import { noUsage } from '../../../src/domain/call/usage.js';
import type { Mode } from '../../../src/domain/channel/provider.js';
import type {
  CallerRequest,
  CallInfo,
  Provider,
  RequestOptions,
  StreamStep,
  UpstreamChannel,
} from '../../../src/relay/contracts/protocol.js';
import { messages } from '../../../src/relay/dialects/anthropic/endpoints/messages.js';
import { openAiCaller } from '../../../src/relay/dialects/openai/dialect.js';
import { responsesInChatCaller } from '../../../src/relay/dialects/openai/responses-in-chat/dialect.js';
import { responsesInChat } from '../../../src/relay/dialects/openai/responses-in-chat/to-neutral.js';
import { isObject, type JsonObject } from '../../../src/relay/json/json.js';
import { neutralOf } from '../../../src/relay/protocols/neutral-of.js';
import { providerOf } from '../../../src/relay/providers/registry.js';
import type { UpstreamError } from '../../../src/relay/upstream/upstream-error.js';
import { converseFramesOf, framesOf } from '../../support/upstreams/event-stream.js';

/* One case per folder: what a caller asked of a channel, what went upstream, what came back, what the caller got. */

const root = fileURLToPath(new URL('../fixtures', import.meta.url));

export const usualSwitches = { thinkingAdapter: true, thinkingShare: 0.8, cachesPrompts: true } as const;

interface RequestFile {
  readonly channel: Partial<UpstreamChannel> & { type: number };
  /** The caller's; left out: OpenAI's. */
  readonly dialect?: 'anthropic' | 'responses';
  readonly mode: Mode;
  readonly body: JsonObject;
  readonly query?: string;
  readonly accept?: string;
  /** The mapped name, where it is not the one asked for. */
  readonly upstreamModel?: string;
  readonly options?: Partial<Omit<RequestOptions, 'claude'>>;
  readonly headers?: CallerRequest['headers'];
  /** The options under `claude.`, where they are not as at first. */
  readonly claude?: {
    readonly maxTokens?: JsonObject;
    readonly headers?: JsonObject;
    readonly thinkingAdapter?: boolean;
  };
}

interface Expected {
  readonly usage?: Usage | null;
  /** What the relay settles when upstream reported no usage. */
  readonly settled?: Usage;
  readonly finishReason?: string | null;
  readonly toolCalls?: number;
  readonly text?: string;
  /** The name that goes out, where a suffix is taken off. */
  readonly model?: string;
  readonly reasoningEffort?: string;
  readonly status?: number;
  /** Of the upstream's answer, beside its type. */
  readonly headers?: CallerRequest['headers'];
  readonly error?: UpstreamError;
}

export interface Golden {
  readonly name: string;
  readonly provider: Provider;
  readonly channel: UpstreamChannel;
  readonly caller: CallerRequest;
  readonly upstreamModel: string;
  readonly options: RequestOptions;
  readonly info: CallInfo;
  readonly sent: { readonly url: string; readonly headers: Record<string, string>; readonly body: JsonObject };
  /** The upstream's bytes. */
  readonly upstream: Buffer;
  readonly stream: boolean;
  /** The caller's bytes; null: an error. */
  readonly answer: string | null;
  readonly expected: Expected;
}

export const plainChannel: UpstreamChannel = {
  baseUrl: '',
  key: 'sk-plain-0123456789',
  other: '',
  organization: null,
  proxy: null,
  paramOverride: null,
  forceFormat: false,
  thinkingToContent: false,
};

/** The time of the signed token in the Zhipu cases. */
export const usualOptions: RequestOptions = {
  forceUsage: true,
  azureDefaultApiVersion: '2024-12-01-preview',
  siteAddress: 'https://gateway.example',
  claude: claudeSettings('{"default":8192}', '{}', usualSwitches),
  passThrough: false,
  keepsUpstream: true,
  now: 1_767_323_045_000,
  midjourney: {
    notifies: false,
    takesAccountFilter: false,
    clearsModes: false,
    forwardsPictures: true,
    checksParent: true,
  },
  callback: null,
  pictures: new Map([['https://pictures.example/cat.webp?size=1', { type: 'image/webp', data: 'UklGRg==' }]]),
  gemini: {
    safety: new Map([['default', 'OFF']]),
    versions: new Map([['default', 'v1beta']]),
    imageModels: new Set(),
    thinkingAdapter: true,
    thinkingShare: 0.6,
  },
};

/** Any write to it throws: the caller's body is shared between attempts. */
const frozen = <T>(value: T): T => {
  const left: unknown[] = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next === 'object' && next !== null) left.push(...Object.values(Object.freeze(next)));
  }
  return value;
};

export const callerOf = (
  mode: Mode,
  body: JsonObject,
  query = '',
  accept: string | null = null,
  outputLimit: number | null = null,
): CallerRequest => ({
  dialect: openAiCaller,
  mode,
  ...(mode === 'task' && { task: { action: 'MUSIC', parent: null } }),
  query: new URLSearchParams(query),
  body: frozen(body),
  neutral: neutralOf({ mode: mode === 'counting' ? 'chat' : mode, toNeutral: null }, body),
  files: null,
  answersAudio: mode === 'speech',
  stream: body.stream === true,
  wantsUsage: isObject(body.stream_options) && body.stream_options.include_usage === true,
  headers: accept === null ? {} : { accept },
  promptTokens: 11,
  believed: (reported) => reported,
  outputLimit,
  maxOutput: Number.MAX_SAFE_INTEGER,
});

export function providerOfType(type: number): Provider {
  const provider = providerOf(type);
  if (!provider) throw new Error(`No provider of type ${type}`);
  return provider;
}

function claudeOf({
  maxTokens,
  headers,
  thinkingAdapter,
}: NonNullable<RequestFile['claude']> = {}): RequestOptions['claude'] {
  const limits = JSON.stringify(maxTokens ?? { default: 8192 });
  return claudeSettings(limits, JSON.stringify(headers ?? {}), {
    ...usualSwitches,
    thinkingAdapter: thinkingAdapter ?? true,
  });
}

/** How the events of a stream come: as text, as one value in each line, or in binary frames of either of Amazon's interfaces. Fixtures have text. */
type Framing = 'text' | 'lines' | 'invoked' | 'conversed';

const framingAt = (url: string): Framing => {
  if (url.endsWith('/converse-stream')) return 'conversed';
  if (url.endsWith('/api/chat')) return 'lines';
  return url.endsWith('/invoke-with-response-stream') ? 'invoked' : 'text';
};

export const comesInFrames = ({ sent }: Pick<Golden, 'sent'>): boolean => framingAt(sent.url) !== 'text';

const frames: Readonly<Record<Framing, (text: string) => Buffer[]>> = {
  text: (text) => [Buffer.from(text)],
  lines: (text) => [...text.matchAll(/^data: (.*)$/gm)].map(([, value]) => Buffer.from(`${value}\n`)),
  invoked: framesOf,
  conversed: converseFramesOf,
};

/** Those of a stream that say something. */
export function framesIn(golden: Pick<Golden, 'sent' | 'upstream'>): Buffer[] {
  const { upstream } = golden;
  if (!comesInFrames(golden))
    return upstream
      .toString('utf8')
      .split(/(?<=\n\n)/)
      .filter((frame) => /^(event: [\w-]+\n)?data: \{/.test(frame))
      .map((frame) => Buffer.from(frame));
  if (framingAt(golden.sent.url) === 'lines')
    return upstream
      .toString('utf8')
      .split(/(?<=\n)/)
      .map((line) => Buffer.from(line));
  const found: Buffer[] = [];
  for (let at = 0; at < upstream.length; at += found.at(-1)?.length ?? 0)
    found.push(upstream.subarray(at, at + upstream.readUInt32BE(at)));
  return found;
}

/** One that says this, as JSON. */
export const frameFrom = ({ sent }: Pick<Golden, 'sent'>, data: string): Buffer =>
  Buffer.concat(frames[framingAt(sent.url)](`data: ${data}\n\n`));

function load(folder: string): Golden {
  const file = (name: string): string => readFileSync(join(root, folder, name), 'utf8');
  const request = JSON.parse(file('request.json')) as RequestFile;
  const stream = existsSync(join(root, folder, 'upstream.sse'));
  const ending = stream ? 'sse' : 'json';
  const asked = callerOf(request.mode, request.body, request.query, request.accept);
  const caller: CallerRequest = {
    ...asked,
    headers: { ...asked.headers, ...request.headers },
    ...(request.dialect === 'anthropic' && {
      dialect: messages.dialect,
      neutral: neutralOf(messages, asked.body),
      wantsUsage: true,
    }),
    ...(request.dialect === 'responses' && {
      dialect: responsesInChatCaller,
      neutral: neutralOf({ mode: 'chat', toNeutral: responsesInChat }, asked.body),
      wantsUsage: true,
    }),
  };
  const upstreamModel = request.upstreamModel ?? String(request.body.model);
  const sent: Golden['sent'] = JSON.parse(file('upstream-request.json'));
  return {
    name: folder,
    provider: providerOfType(request.channel.type),
    channel: { ...plainChannel, ...request.channel },
    caller,
    upstreamModel,
    options: { ...usualOptions, ...request.options, claude: claudeOf(request.claude) },
    info: { callId: 'call-1', model: upstreamModel, createdAt: 1_760_000_000 },
    sent,
    upstream: stream
      ? Buffer.concat(frames[framingAt(sent.url)](file('upstream.sse')))
      : readFileSync(join(root, folder, 'upstream.json')),
    stream,
    answer: existsSync(join(root, folder, `answer.${ending}`)) ? file(`answer.${ending}`) : null,
    expected: JSON.parse(file('expected.json')),
  };
}

export const goldens: readonly Golden[] = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .flatMap((provider) => readdirSync(join(root, provider.name)).map((name) => load(join(provider.name, name))));

export interface Played {
  /** Everything the caller was sent before the closing. */
  readonly forwarded: string;
  /** The same with the closing. */
  readonly answer: string;
  readonly error: UpstreamError | null;
  readonly finished: boolean;
  readonly usage: Usage | null;
  readonly generated: { readonly text: string; readonly toolCalls: number; readonly finishReason: string | null };
}

/** Runs a stream over the chunks as the relay would. */
export function play(golden: Golden, chunks: readonly Buffer[]): Played {
  const { provider, channel, caller, info, expected } = golden;
  const stream = provider.protocol.stream({ provider, channel, caller, info });
  const sent: Buffer[] = [];
  const take = ({ bytes }: StreamStep): void => void (bytes && sent.push(bytes));
  for (const chunk of chunks) take(stream.push(chunk));
  const last = stream.end();
  take(last);
  const forwarded = Buffer.concat(sent).toString('utf8');
  const settled = stream.usage ?? expected.settled ?? noUsage;
  const { said, toolCalls, finishReason } = stream.generated;
  return {
    forwarded,
    answer: forwarded + stream.closing(settled).toString('utf8'),
    error: last.error,
    finished: last.finished,
    usage: stream.usage,
    generated: { text: said.toString(), toolCalls, finishReason },
  };
}

export const byteByByte = (bytes: Buffer): Buffer[] => Array.from(bytes, (byte) => Buffer.from([byte]));

/** Far enough apart that most frames are cut once, if at all. Prime, so that cuts fall on every place within frames. */
const cutDistance = 251;

export interface Cut {
  /** Where the first cut is; the others follow at equal distances. */
  readonly at: number;
  readonly pieces: readonly Buffer[];
}

/**
 * The bytes in pieces, again and again, until each place has been cut: one place at a time would be a reading of the
 * whole for every byte. `step`: only so many of the places, for what is long.
 */
export function* cutEverywhere(bytes: Buffer, step = 1): Generator<Cut> {
  for (let at = 1; at <= Math.min(cutDistance, bytes.length - 1); at += step) {
    const pieces = [bytes.subarray(0, at)];
    for (let from = at; from < bytes.length; from += cutDistance) pieces.push(bytes.subarray(from, from + cutDistance));
    yield { at, pieces };
  }
}
