import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { UserId } from '../../../domain/kernel/ids.js';
import type { Endpoint } from '../../contracts/endpoint.js';
import { isList, isObject, type JsonObject, type JsonValue, textIn } from '../../json/json.js';
import { isAttribution } from '../../text/attribution.js';

/* Which calls belong together, so that the channel that keeps their prompt in its cache can be asked again. */

/** The same for all calls of one conversation of one user: 64 bits of a digest. */
export interface Affinity {
  readonly high: number;
  readonly low: number;
}

/** Of agents: Claude Code, Codex (two spellings, by its version), opencode (two headers). */
const sessionHeaders = ['x-claude-code-session-id', 'session-id', 'session_id', 'x-session-affinity', 'x-session-id'];

/** Characters of an id, and of a prompt's beginning, that are looked at. */
const idCharacters = 1024;
const beginningCharacters = 16_384;
/** Of a prompt's beginning: lists, objects and texts together. */
const beginningParts = 1_000;

/** No provider keeps a shorter prompt in its cache. */
const cacheablePromptTokens = 1_024;

/** Texts of messages and parts, without what clients change from turn to turn, such as marks for the cache; '' for the rest. */
function* textsOf(value: JsonValue | undefined): Generator<string> {
  if (isList(value) && value.length > 0) for (const one of value) yield* textsOf(one);
  else if (isObject(value)) {
    yield* textsOf(value.text);
    yield* textsOf(value.content);
    yield* textsOf(value.parts);
  } else yield typeof value === 'string' && !isAttribution(value) ? value : '';
}

function beginningOf(parts: readonly (JsonValue | undefined)[]): string {
  const texts: string[] = [];
  let left = beginningCharacters;
  for (const part of parts)
    for (const text of textsOf(part)) {
      texts.push(text.slice(0, left));
      left -= text.length;
      if (left <= 0 || texts.length >= beginningParts) return texts.join('\0');
    }
  return texts.join('\0');
}

function headerIn(headers: IncomingHttpHeaders): string | null {
  for (const name of sessionHeaders) {
    const value = headers[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return null;
}

/** What names the conversation: its client's session, the cache's key, else the user at the caller's. */
function idIn(headers: IncomingHttpHeaders, { prompt_cache_key: cacheKey, metadata }: JsonObject): string | null {
  const id = headerIn(headers) ?? textIn(cacheKey) ?? (isObject(metadata) ? textIn(metadata.user_id) : null);
  return id === null || id === '' ? null : id.slice(0, idCharacters);
}

interface Asked {
  readonly endpoint: Pick<Endpoint, 'beginning'>;
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonObject;
  readonly user: UserId;
  readonly promptTokens: number;
}

/** null: the call is none of a conversation, or nothing tells of which. */
export function affinityOf({ endpoint, headers, body, user, promptTokens }: Asked): Affinity | null {
  if (endpoint.beginning === undefined) return null;
  const id = idIn(headers, body);
  if (id === null && promptTokens < cacheablePromptTokens) return null;
  const sessionKey = id === null ? `beginning\0${beginningOf(endpoint.beginning(body))}` : `id\0${id}`;
  // Whose it is comes first, so nobody's calls follow those of another who sends the same.
  const digest = createHash('sha1').update(`${user}\0${sessionKey}`).digest();
  return { high: digest.readInt32BE(0), low: digest.readInt32BE(4) };
}
