import type { ChannelView } from '../../../application/ports/storage-ports.js';
import { isKeptId, type KeptOwner } from '../../../domain/call/kept-object.js';
import { unboundedTokens } from '../../../domain/call/usage-bound.js';
import type { ChannelId, UserId } from '../../../domain/kernel/ids.js';
import type { Demand, Endpoint } from '../../contracts/endpoint.js';
import { RelayError } from '../../contracts/errors.js';
import { isKeptAnyway, keptNotFound, type NamedId } from '../../contracts/kept-ids.js';
import type { RelayPorts } from '../../contracts/ports.js';
import { isList, isObject, type JsonObject, type JsonValue } from '../../json/json.js';

/*
 * A call that names what a provider keeps: it goes to the channel that has it, and to no other. Ids are their user's
 * alone; one that is unknown, another user's or too old is refused in the same words after the same look.
 */

export interface KeptCall {
  readonly channelId: ChannelId;
  /** The first member that names something, for callers. */
  readonly param: string;
  /** Tokens that what is named brings into the prompt, as far as is known; null: nobody knows. */
  readonly tokens: number | null;
  /** It may bring more into the prompt than is counted here. */
  readonly brings: boolean;
  /** The body without what names it. */
  readonly rest: JsonObject;
}

type KeptPorts = Pick<RelayPorts, 'directory' | 'kept'>;

/** More are no conversation. */
const maxNamed = 1_000;

/** null: nothing kept is named, or nothing may be. Throws RelayError. */
export async function keptCallOf(
  { directory, kept }: KeptPorts,
  user: UserId,
  { kept: members }: Pick<Endpoint, 'kept'>,
  body: JsonObject,
): Promise<KeptCall | null> {
  if (members === undefined) return null;
  const { keepsUpstream } = directory.settings();
  const named = members.idsIn(body).filter(({ kind }) => keepsUpstream || isKeptAnyway(kind));
  const [first] = named;
  if (first === undefined) return null;
  if (named.length > maxNamed)
    throw invalid(first.param, `at most ${maxNamed} things that are kept can be named in one request`);
  const ids = [...new Set(named.map(({ id }) => id).filter(isKeptId))];
  const owners = ids.length === 0 ? new Map<string, KeptOwner>() : await kept.ownedBy(user, ids);
  const owned: (NamedId & { readonly owner: KeptOwner })[] = [];
  for (const one of named) {
    const owner = owners.get(one.id);
    if (owner !== undefined && owner.kind === one.kind) owned.push({ ...one, owner });
    // A file may be one that somebody has uploaded: that is refused by its name.
    else if (one.kind !== 'file') throw keptNotFound(one.kind, one.id, one.param);
  }
  const [one] = owned;
  if (one === undefined) return null;
  const { channelId } = one.owner;
  const other = owned.find(({ owner }) => owner.channelId !== channelId);
  if (other !== undefined)
    throw invalid(other.param, `${other.param} and ${one.param} are kept at different upstreams`);
  const rest = without(
    body,
    owned.map(({ path }) => path),
  );
  // Earlier sound is counted where its message stands.
  const brings = owned.some(({ kind }) => kind !== 'audio');
  return { channelId, param: one.param, tokens: tokensOf(owned), brings, rest };
}

const invalid = (param: string, message: string): RelayError =>
  new RelayError(400, 'invalid_request', message, { type: 'invalid_request_error', param });

/**
 * A response brings all that it was asked and answered, and so does the last call of a conversation; an item no more than
 * its response.
 */
function tokensOf(owned: readonly (NamedId & { readonly owner: KeptOwner })[]): number | null {
  const byCall = new Map<string, number>();
  for (const { kind, owner } of owned) {
    // Of one that no call has begun nobody knows how long it is.
    if (kind === 'conversation' && owner.tokens === 0) return null;
    if (kind === 'response' || kind === 'item' || kind === 'message' || kind === 'conversation')
      byCall.set(owner.callId, owner.tokens);
  }
  let sum = 0;
  for (const tokens of byCall.values()) sum += tokens;
  return sum;
}

/** A copy without what stands there; of lists an empty object is left, so that all others keep their places. */
function without(body: JsonObject, paths: readonly (readonly (string | number)[])[]): JsonObject {
  const copies = new Map<JsonValue, JsonValue>();
  const copyOf = (value: JsonValue): JsonValue => {
    const known = copies.get(value);
    if (known !== undefined) return known;
    const copy = isList(value) ? [...value] : isObject(value) ? { ...value } : value;
    copies.set(value, copy);
    copies.set(copy, copy);
    return copy;
  };
  const root = copyOf(body) as JsonObject;
  for (const path of paths) {
    let holder: JsonValue = root;
    for (const step of path.slice(0, -1)) {
      const within = holder as Record<string | number, JsonValue>;
      within[step] = copyOf(within[step] ?? null);
      holder = within[step];
    }
    const last = path.at(-1);
    if (isList(holder)) (holder as JsonValue[])[Number(last)] = {};
    else if (isObject(holder)) delete holder[String(last)];
  }
  return root;
}

/** The channels of a call that must go where something is kept. Throws RelayError. */
export function keepingChannels(
  serving: readonly ChannelView[],
  { channelId, param }: Pick<KeptCall, 'channelId' | 'param'>,
  model: string,
): readonly ChannelView[] {
  const channel = serving.find(({ id }) => id === channelId);
  if (channel !== undefined) return [channel];
  throw new RelayError(
    503,
    'kept_channel_unavailable',
    `what ${param} names is kept at an upstream that does not serve this call now: it is switched off or gone, or has no model ${model} for this group; send the whole conversation instead`,
    { param, shouldRetry: false },
  );
}

/** What is kept is a part of the prompt that nobody here has seen. */
export function withKept(demand: Demand, { tokens, brings }: Pick<KeptCall, 'tokens' | 'brings'>): Demand {
  if (!brings) return demand;
  const { prompt } = demand;
  const more = tokens ?? unboundedTokens;
  const add = (count: number): number => Math.min(count + more, unboundedTokens);
  return {
    ...demand,
    prompt: {
      ...prompt,
      expected: tokens === null ? prompt.expected : prompt.expected + tokens,
      conservative: { ...prompt.conservative, input: add(prompt.conservative.input) },
      max: { ...prompt.max, input: unboundedTokens },
      uncounted: true,
      brings: true,
    },
  };
}
