import type { JsonObject } from '../json/json.js';
import type { JsonSource } from '../protocols/carried.js';

/* Responses that the gateway stores itself, for upstreams that store none: how an endpoint's bodies hold conversations. */

/** What a response says of the conversation it belongs to. */
export interface CallerConversation {
  /** The response is named by its call, whatever id an upstream gives. */
  readonly callId: string;
  /** The id of the response that it continues; null: none. */
  readonly previous: string | null;
  readonly stores: boolean;
}

export interface ConversationMembers {
  /** The id of the response that a body continues; null: it names none. */
  readonly previous: (body: JsonObject) => string | null;
  /** Whether its response is to be stored. */
  readonly stores: (body: JsonObject) => boolean;
  /** The body without the member that says so. */
  readonly withoutStore: (body: JsonObject) => JsonObject;
  /** The items of its input, as JSON with commas between them. */
  readonly items: (source: JsonSource) => string;
  /** The request with these items before its own, without the id. */
  readonly continued: (source: JsonSource, earlier: string) => JsonSource;
  /** The response in the last bytes of an answer, as JSON; null: it is not there, or has failed. */
  readonly responseIn: (last: string, streamed: boolean) => string | null;
  /** The items of its output that can be sent again, as JSON with commas between them. */
  readonly outputItems: (response: string) => string;
  /** A page of the items of its input. Throws RelayError. */
  readonly page: (id: string, items: readonly JsonObject[], query: URLSearchParams) => JsonObject;
  /** How a deletion is confirmed. */
  readonly deleted: (id: string) => JsonObject;
}
