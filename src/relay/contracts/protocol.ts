import type { IncomingHttpHeaders } from 'node:http';
import type { Settings } from '../../application/options/settings.js';
import type { KeptObject } from '../../domain/call/kept-object.js';
import type { Usage } from '../../domain/call/usage.js';
import type { Mode, ProviderFacts } from '../../domain/channel/provider.js';
import type { JsonObject } from '../json/json.js';
import type { BalanceWire } from '../protocols/balance.js';
import type { JsonSource } from '../protocols/carried.js';
import type { ModelsWire } from '../protocols/models.js';
import type { RequestedThinking } from '../protocols/requested-thinking.js';
import type { RenamedTools } from '../protocols/tool-names.js';
import type { SeenText } from '../text/seen-text.js';
import type { Picture } from '../upstream/pictures.js';
import type { FormFile, RequestContent } from '../upstream/request-content.js';
import type { UpstreamError } from '../upstream/upstream-error.js';
import type { AnswerDialect, WholeAnswer } from './answer-writer.js';
import type { Authorisation } from './authorisation.js';
import type { NeutralRequest } from './neutral-request.js';
import type { ServiceSent } from './service-tier.js';
import type { CallerConversation } from './stored-conversation.js';
import type { AskedTask } from './task-asked.js';
import type { AcceptedTask, TaskWire } from './task-wire.js';
import type { VideoFiles } from './video-files.js';

/* What the relay knows of a provider's wire: how to ask, how to read an answer, how to read a stream. */

/** The most choices of one answer. */
export const maxChoices = 128;

/** The channel as an adapter sees it: the key is in the clear, the settings are parsed. */
export interface UpstreamChannel {
  /** Empty: the provider's default. */
  readonly baseUrl: string;
  readonly key: string;
  /** Its meaning depends on the type: api-version, account id, plugin, … */
  readonly other: string;
  readonly organization: string | null;
  /** With user and password; null: none. */
  readonly proxy: string | null;
  readonly paramOverride: JsonObject | null;
  readonly forceFormat: boolean;
  readonly thinkingToContent: boolean;
  /** Of the model that is asked for it has the Responses API alone: a chat is put in its words. Left out: it has both. */
  readonly responsesOnly?: boolean;
}

export interface CallerRequest {
  /** How the answer is to be written. */
  readonly dialect: AnswerDialect;
  readonly mode: Mode;
  /** What follows the address of the mode upstream. Left out: nothing. */
  readonly below?: string;
  /** Its caller has it worked off in the background. Left out: it is answered now. */
  readonly inBackground?: boolean;
  readonly query: URLSearchParams;
  /** As it was sent, in the dialect's own words. Parsed and shared between attempts: never changed. */
  readonly body: JsonObject;
  /** The text it came as, and what that says before anything was changed. Left out: it has none, or nobody needs it. */
  readonly source?: JsonSource;
  /** The same in neutral words, made when it is first asked for. Shared and never changed either. Throws NotConvertible. */
  readonly neutral: () => NeutralRequest;
  /** The same for a provider that lacks the mode and has chat. Left out: such a one is not asked. */
  readonly inChat?: () => CallerRequest;
  /** What its response says of the conversation. Left out: responses are not stored here. */
  readonly conversation?: CallerConversation;
  /** By the names that go upstream: the caller's own of tools that `neutral` has named otherwise. Left out: none. */
  readonly renamedTools?: RenamedTools;
  /** What came with the fields of a form; null: the body is no form. */
  readonly files: readonly FormFile[] | null;
  /** The answer is sound, passed on as it comes. */
  readonly answersAudio: boolean;
  readonly stream: boolean;
  /** The caller asked for a usage chunk at the end of the stream. */
  readonly wantsUsage: boolean;
  /** The caller's. A wire passes on none but those it knows, and those only if they are made as they must be. */
  readonly headers: IncomingHttpHeaders;
  /** Input tokens as they are counted here, for who gets them before upstream has reported any. */
  readonly promptTokens: number;
  /** What of usage reported before the end can be charged: the same object where all of it can. */
  readonly believed: (reported: Usage) => Usage;
  /** A limit to each answer for a caller who named none and cannot afford the model's own; null: as the caller asked. */
  readonly outputLimit: number | null;
  /** What is reserved for is never more than this to each answer, whoever sets the limit. */
  readonly maxOutput: number;
  /** Less is reserved than an answer without a limit may cost: whoever has no limit on its wire is not asked. Left out: no. */
  readonly holdsToLimit?: boolean;
  /** Its payer saves by what is found in a cache of prompts. Left out: nobody pays. */
  readonly savesByCache?: () => boolean;
  /** Tiers of service that it asks for and that are priced, as the prices name them. Left out: none. */
  readonly tiers?: readonly string[];
  /** Left out: what is asked for is no task. */
  readonly task?: AskedTask;
}

export type GeminiSettings = Settings['gemini'];

export interface RequestOptions {
  /** Ask every upstream that can for usage in streams, whether the caller wants it or not. */
  readonly forceUsage: boolean;
  readonly azureDefaultApiVersion: string;
  /** Where the operator's site is, as far as host and port; empty: not said. */
  readonly siteAddress: string;
  readonly claude: Settings['claude'];
  /** Send the caller's body as it is; only model name, limit, rate and usage reporting are ours. */
  readonly passThrough: boolean;
  /** What callers have kept at the provider is kept. */
  readonly keepsUpstream: boolean;
  /** Milliseconds since 1970, for providers that sign with the time. */
  readonly now: number;
  readonly gemini: GeminiSettings;
  readonly midjourney: Settings['midjourney'];
  /** Where upstream may report on a task; null: nowhere. */
  readonly callback: string | null;
  /** What the wire has asked for by `pictures`, by its address. */
  readonly pictures: ReadonlyMap<string, Picture>;
}

export interface UpstreamRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  /** Asked for instead where there is nothing at `url` (404). Left out: nothing is. */
  readonly urlIfMissing?: string;
  /** Its answer comes as a stream, and is gathered for a caller who wants it whole. Left out: as the caller asked. */
  readonly gathers?: boolean;
  /** It is asked for a stream that is one JSON value in each line (NDJSON). Left out: for events. */
  readonly streamsLines?: boolean;
  /** Milliseconds that upstream has for all of its answer. Left out: as long as others. */
  readonly timeoutMs?: number;
  /** With the type of the content where there is some. */
  readonly headers: Record<string, string>;
  readonly content: RequestContent;
  /** The model name that goes out, a suffix that only meant something to us taken off. */
  readonly model: string;
  /** The effort the request carries, given by the caller or by a suffix of the name. */
  readonly reasoningEffort: string | null;
  /** What it says of thinking, in the words that go out. */
  readonly thinking: RequestedThinking;
  /** Left out: it names no tier of service. */
  readonly service?: ServiceSent;
}

export interface CallInfo {
  readonly callId: string;
  /** The model as it goes upstream. */
  readonly model: string;
  /** Seconds since 1970. */
  readonly createdAt: number;
}

/** What the model has produced, for counting locally when upstream sends no usage. */
export interface Generated {
  /** Content, reasoning, tool names and tool arguments, one after the other. */
  readonly said: SeenText;
  /** Bytes of it that a provider's own tool has put out, which some count and some do not. Left out: none. */
  readonly toolsBytes?: number;
  /** Distinct tool calls. */
  readonly toolCalls: number;
  /** In OpenAI's words; null: none seen, the answer may be incomplete. */
  readonly finishReason: string | null;
  /** Choices that have begun, and not yet said why they ended. Left out: there is one choice at most. */
  readonly openChoices?: number;
  /** The usage reported is of the input alone: the rest was to come. */
  readonly inputOnly?: boolean;
  /** The tier of service that the answer reports. Left out: it reports none. */
  readonly serviceTier?: string | undefined;
  /** What its provider says that it charges for it, in US dollars, as exact decimal text. Left out: it does not say. */
  readonly upstreamCost?: string | undefined;
  /** By which its provider names it, as it was sent. Left out: it names none. */
  readonly answerId?: string | undefined;
  /** Searches that were run for it, by their tools, as far as they can be seen. Left out: they cannot. */
  readonly searches?: Usage;
  /** What its provider keeps of it. Left out: nothing. */
  readonly kept?: readonly KeptObject[];
  /** By which the next request may have its cache compared with this one's. Left out: that was not asked for. */
  readonly comparedId?: string | undefined;
  /** Its provider works on in the background, and is asked for it later. Left out: it does not. */
  readonly runsOn?: boolean;
  /** Its provider has taken it as a task. Left out: it is none. */
  readonly task?: AcceptedTask;
}

/** Pictures that upstream names by their addresses, and that the caller wants in the answer itself. */
export interface NamedPictures {
  readonly addresses: readonly string[];
  /** The answer with those that could be fetched, by their addresses. The others stay as they are. */
  readonly inlined: (fetched: ReadonlyMap<string, Picture>) => JsonObject;
}

/** What was ordered is not there yet: how upstream is asked for it, and after how many milliseconds. */
export interface LaterAnswer {
  readonly request: UpstreamRequest;
  readonly afterMs: number;
}

export interface FailedAnswer {
  readonly ok: false;
  readonly error: UpstreamError;
  /** Upstream has done work for it, and may charge for that. Left out: it has not. */
  readonly costUnknown?: boolean;
  /** It is to come; `error` is what is said where it never does. Left out: it has failed. */
  readonly later?: LaterAnswer;
  /** What was ordered has failed, as upstream says: it is not asked for again. Left out: nothing was ordered. */
  readonly orderFailed?: true;
}

export type Answer =
  | ({
      readonly ok: true;
      readonly generated: Generated;
      /** Left out: none. */
      readonly named?: NamedPictures;
    } & WholeAnswer)
  | FailedAnswer;

export interface StreamStep {
  /** To be sent now; null: nothing. */
  readonly bytes: Buffer | null;
  /** Upstream reported a failure inside the stream. Nothing after it is read. */
  readonly error: UpstreamError | null;
  /** Upstream said it is done. Closing without it is fine when `generated.finishReason` is there. */
  readonly finished: boolean;
}

/** One streamed answer on its way through. Everything is synchronous; it holds no timer and no connection. */
export interface AnswerStream {
  /** Takes bytes as they come, cut anywhere; gives what can go to the caller. The chunk must not be reused. */
  push(chunk: Buffer): StreamStep;
  /** Upstream has closed: reads what is left when the last frame has no blank line. */
  end(): StreamStep;
  /** What the caller must still get: a usage chunk when asked for, and the end mark. `usage` is what is settled. */
  closing(usage: Usage): Buffer;
  /** Bytes it keeps because what they belong to has not ended. */
  readonly unfinished: number;
  /** The last one seen; cumulative figures replace, they do not add up. */
  readonly usage: Usage | null;
  readonly generated: Generated;
  /**
   * Grows with every frame that says something: words, a call, a picture, why it ended, more usage. Comments, pings and
   * empty deltas say nothing. 0: there is no answer yet.
   */
  readonly progress: number;
  /** A frame has come that can be read, whatever it says. */
  readonly begun: boolean;
  /** The number of the next event for the caller, in a dialect that numbers them. Left out: it is the first, or has none. */
  readonly nextSequence?: number;
  /** Upstream has said that it is at something that it does not show, and may take long over it. Left out: never. */
  readonly worksUnseen?: boolean;
  /** Upstream has reported that it failed, and may still report its usage; null: it has not. Left out: never. */
  readonly failure?: UpstreamError | null;
  /** What came was too long to be read, and may have been an answer. Left out: nothing was. */
  readonly unread?: boolean;
  /** Upstream has ended it as failed. Left out: it has not, or does not say. */
  readonly failed?: boolean;
}

/** Every choice has said why it ended: nothing is to come but the usage. */
export const hasEnded = ({ finishReason, openChoices = 0 }: Generated): boolean =>
  finishReason !== null && openChoices === 0;

/** A caller's request, and the channel of a provider that it is put to. */
interface UpstreamCall {
  readonly provider: Provider;
  readonly channel: UpstreamChannel;
  readonly caller: CallerRequest;
}

export interface RequestInput extends UpstreamCall {
  /** The model's name for upstream, with the suffix that may only mean something to us. */
  readonly model: string;
  readonly options: RequestOptions;
}

/** What upstream has answered, whole. */
export interface AnswerInput extends UpstreamCall {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly info: CallInfo;
}

export interface StreamInput extends UpstreamCall {
  readonly info: CallInfo;
  /** Upstream sends sound as it is, where events were asked for. Left out: it sends events. */
  readonly comesAsSound?: boolean;
}

/** One wire family. */
export interface Protocol {
  /**
   * Functions of these names, offered in OpenAI's dialect, switch on tools that the provider runs by itself. Left out:
   * every function is its caller's.
   */
  readonly switchedTools?: (upstreamModel: string) => ReadonlySet<string>;
  /**
   * The tool that searches the web, as it is asked for by this wire, where callers of OpenAI's interfaces may ask for one in
   * words of theirs; null: there is none. Left out: it takes their words, or refuses them.
   */
  readonly hostedSearch?: (upstreamModel: string) => JsonObject | null;
  /**
   * Addresses of pictures that must stand in the request themselves: they are fetched before it is made. Left out: none.
   * Throws NotConvertible.
   */
  readonly pictures?: (asked: Pick<RequestInput, 'caller' | 'model' | 'channel'>) => readonly string[];
  /** Throws NotConvertible. */
  request(asked: RequestInput): UpstreamRequest;
  /** A complete body, whatever its status. The error's `retryAfter` is for whoever has the headers to fill in. */
  answer(received: AnswerInput): Answer;
  stream(opened: StreamInput): AnswerStream;
}

/** What a request says of thinking, in a provider's own words. */
export interface ThinkingSaid {
  /** null: nothing. */
  readonly wanted: boolean | null;
  /** Tokens at most; null: none given. 0: there is none beside the limit. */
  readonly budget: number | null;
}

/** Of a body in neutral words. `names`: of the model, as asked for and as sent upstream. */
export type ReasoningOverheadRule = (body: JsonObject, names: ReadonlySet<string>) => ThinkingSaid;

export interface Provider extends ProviderFacts {
  readonly protocol: Protocol;
  /** What may be wrong with a channel's base URL that finds nothing (404); null: nothing is known. Left out: as null. */
  readonly baseHint?: (baseUrl: string) => string | null;
  /** Whether what is behind this base URL lacks a mode that others of the provider's have. Left out: it never does. */
  readonly lacks?: (mode: Mode, baseUrl: string) => boolean;
  /** The one mode that an address serves; null: it does not show. Left out: addresses show none. */
  readonly modeAt?: (baseUrl: string) => Mode | null;
  /**
   * Its Responses API is younger than what agents ask of one, or not there in each release: a channel is asked by chat
   * unless its settings say otherwise. Left out: it is asked by Responses.
   */
  readonly responsesBySetting?: true;
  /** Whether an address, without a slash at its end, is that of the Responses API alone. Left out: none is. */
  readonly responsesAlone?: (baseUrl: string) => boolean;
  /**
   * Where calls of a channel without a base URL go, if that is not always `defaultBaseUrl`: nobody is to read it in
   * errors either. Left out: it is.
   */
  readonly baseUrlOf?: (channel: Pick<UpstreamChannel, 'key'>) => string;
  /**
   * Its interface has no limit to the output: the most that its model can put out is reserved, whatever limit a caller
   * names. `key` is left out where it is not known yet; whoever might have no limit then has none. Left out: it has one.
   */
  readonly hasNoLimit?: (channel: { readonly key?: string }) => boolean;
  /** Left out: the request shows by itself that it is the channel's. */
  readonly authorisation?: Authorisation;
  /** Of the account. Left out: it reports none. */
  readonly balance?: BalanceWire;
  /** How it lists its models, where it does. Left out: as OpenAI does. */
  readonly models?: ModelsWire;
  /** Here `max_tokens` limits the answer alone, and thinking comes on top. Left out: it limits both. */
  readonly overheadRule?: ReasoningOverheadRule;
  /**
   * Whether what answers by this name has a prompt of its own: instructions, knowledge, tools, several models one after
   * the other. Its usage is far more than what was sent. Left out: nothing has.
   */
  readonly bringsPrompt?: (upstreamModel: string) => boolean;
  /** How tasks are put to it, and how it is asked about those that it has taken. Left out: it takes none. */
  readonly tasks?: TaskWire;
  /** How it gives out videos that it has made. Left out: it makes none. */
  readonly videos?: VideoFiles;
}

/** What puts requests of this mode, and reads whole answers to them. */
export const wireOf = ({ protocol, tasks }: Provider, mode: Mode): Pick<Protocol, 'request' | 'answer' | 'pictures'> =>
  mode === 'task' && tasks !== undefined ? tasks.submit : protocol;

/**
 * The request cannot be put to this upstream. `fault` says who can mend it: the caller by asking otherwise, or the
 * operator by mending the channel. Messages hold no key and no address.
 */
export class NotConvertible extends Error {
  constructor(
    readonly fault: 'caller' | 'channel',
    message: string,
  ) {
    super(message);
    this.name = 'NotConvertible';
  }
}
