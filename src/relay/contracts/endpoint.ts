import type { PaidMode } from '../../domain/channel/provider.js';
import type { OrderedPicture } from '../../domain/pricing/picture-prices.js';
import type { JsonObject, JsonValue } from '../json/json.js';
import type { PromptEstimate } from '../metering/prompt-tally.js';
import type { SoundLength } from '../sound/sound-length.js';
import type { CallerDialect } from './caller-dialect.js';
import type { KeptMembers } from './kept-ids.js';
import type { NeutralRequest } from './neutral-request.js';
import type { RequestBodies } from './ports.js';
import type { ConversationMembers } from './stored-conversation.js';
import type { TaskEndpoint } from './task-asked.js';
import type { Upload } from './upload.js';

/* One thing a caller can ask for: a value, made by the dialect, that says all a call needs to know of it. */

export interface InvalidRequest {
  readonly code: string;
  readonly message: string;
  readonly param: string;
}

/** By what it is found out what a call may use. */
export interface DemandInput {
  readonly body: JsonObject;
  /** Of the body as it came. */
  readonly bytes: number;
  /** As asked for. */
  readonly model: string;
  /** Of the model, as asked for and as channels send it. */
  readonly names: ReadonlySet<string>;
  /** null: the body is no form. */
  readonly upload: Upload | null;
  /** Functions named so are tools of a provider's own. Left out: none are. */
  readonly switched?: ReadonlySet<string>;
}

/** What a call may use, as far as its request says. */
export interface Demand {
  readonly prompt: PromptEstimate;
  /** Choices of all prompts, the unseen ones included; 0: what is asked for puts out no tokens. */
  readonly answers: number;
  /** The most output tokens the request allows to each answer; null: it does not say. */
  readonly asked: number | null;
  /** The conversation may be summed up first, beside prompt and limit. Left out: it may not. */
  readonly compacts?: boolean;
  /** The prompt is counted here by a rule of its price, whatever upstream counts. Left out: it is not. */
  readonly counted?: true;
  /** What its tokens stand for: where that has a price of its own, they cost nothing beside it. Left out: for tokens. */
  readonly standsFor?: 'characters' | 'seconds' | 'searchUnits';
  /** Its texts are read each by itself: the context of the model bounds none but each of them. Left out: together. */
  readonly readApart?: boolean;
  /** It is made whole or not at all: there is no limit that could be lowered. Left out: there is one. */
  readonly indivisible?: true;
  /** Pictures are made, and each has so many tokens as near as can be known. Left out: none are. */
  readonly pictureTokens?: number;
  /** No limit can be put to what it puts out: all that its model can is reserved. Left out: one can. */
  readonly unlimited?: true;
  /** The prompt is a recording, which lasts so long. Left out: it is not. */
  readonly recording?: SoundLength;
}

export interface Endpoint {
  /** E.g. `/v1/chat/completions`. */
  readonly path: string;
  readonly dialect: CallerDialect;
  /** How its bodies are read. */
  readonly body: keyof RequestBodies;
  /** What a provider is asked for. */
  readonly mode: PaidMode;
  /** What follows the address of that mode at providers. Left out: nothing. */
  readonly below?: string;
  /** What is asked for by a body that names no model; null: it must name one. */
  readonly usualModel: string | null;
  /** The answer is sound, passed on as it comes where no stream of events is asked for. */
  readonly answersAudio: boolean;
  /** What a body says of thinking, in neutral words or vendors' own; null: models do not think about it. */
  readonly thinking: ((body: JsonObject) => JsonObject) | null;
  /** A body in neutral words; null: it is. Throws NotConvertible. */
  readonly toNeutral: ((body: JsonObject) => NeutralRequest) | null;
  /** How providers are asked that lack the mode and have chat. Left out: they are not. */
  readonly inChat?: {
    readonly dialect: CallerDialect;
    /** Throws NotConvertible. */
    readonly toNeutral: (body: JsonObject) => NeutralRequest;
  };
  /** Why a body cannot be taken; null: it can. */
  readonly invalid: (body: JsonObject, upload: Upload | null) => InvalidRequest | null;
  /** Every text of a prompt that the word filter looks at. */
  readonly promptTexts: (body: JsonObject) => string[];
  /** What stays the same from turn to turn: instructions and the first words of the user. Left out: it holds no conversations. */
  readonly beginning?: (body: JsonObject) => readonly (JsonValue | undefined)[];
  /** The answer is to be spoken. */
  readonly asksForAudio: (body: JsonObject) => boolean;
  readonly asksForStream: (body: JsonObject) => boolean;
  /** The caller wants the usage at the end of a stream. */
  readonly asksForUsage: (body: JsonObject) => boolean;
  readonly demand: (asked: DemandInput) => Demand;
  /**
   * What pictures are ordered, as far as it decides their price. `names`: of the model, as asked for and as sent
   * upstream. Left out: none are. Throws NotConvertible.
   */
  readonly picture?: (body: JsonObject, names: ReadonlySet<string>) => OrderedPicture;
  /** How its bodies name what a provider keeps of their caller's. Left out: nothing may be named. */
  readonly kept?: KeptMembers;
  /** How its responses are stored here, where an upstream stores none. Left out: they are not. */
  readonly conversation?: ConversationMembers;
  /** Whether a provider is to work a body off in the background. Left out: never. */
  readonly inBackground?: (body: JsonObject) => boolean;
  /** Mode `task`: what is asked for goes on after its answer. Left out: it is of another mode. */
  readonly task?: TaskEndpoint;
  /** The model that a body asks for where no member names it. Throws RelayError. Left out: `model` names it. */
  readonly modelOf?: (body: JsonObject) => string;
}
