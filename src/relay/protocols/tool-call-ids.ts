import { createHash } from 'node:crypto';

/*
 * Ids of tool calls, fit for another wire than the one they come from. Equal ids become equal ones and different ids
 * different ones, so calls and results stay paired over all turns.
 */

const digestOf = (id: string): string => createHash('sha256').update(id).digest('base64url').slice(0, 32);

/** OpenAI refuses longer ones. */
const maxOpenAiIdLength = 40;

export const openAiCallId = (id: string): string => (id.length <= maxOpenAiIdLength ? id : `call_${digestOf(id)}`);

/** What Anthropic takes, at Amazon too. */
const anthropicId = /^[\w-]{1,64}$/;

export const anthropicCallId = (id: string): string => (anthropicId.test(id) ? id : `toolu_${digestOf(id)}`);

/** Begins an id that holds another one, in base64url. */
const wrapped = 'toolu_id_';
/** Beyond it an id is no id: it is replaced by its digest. */
const maxWrappedLength = 256;

/**
 * An id of another wire as Anthropic's clients are shown it. Some upstreams read their own ids again (`functions.name:0`),
 * so one that is unfit is wrapped, and unwrapped by `unwrappedCallId` when it comes back.
 */
export function anthropicShownId(id: string): string {
  if (anthropicId.test(id) && !id.startsWith(wrapped)) return id;
  return id.length <= maxWrappedLength ? wrapped + Buffer.from(id).toString('base64url') : anthropicCallId(id);
}

export const unwrappedCallId = (id: string): string =>
  id.startsWith(wrapped) ? Buffer.from(id.slice(wrapped.length), 'base64url').toString('utf8') : id;

/** Calls of one answer whose ids are remembered, and how long these may be. */
const maxRemembered = 4096;
const maxRememberedLength = 256;

/** Of one answer: who runs its calls matches their results by their ids, so an id that comes again gets a number. */
export class DistinctCallIds {
  private readonly known = new Set<string>();

  of(id: string): string {
    if (id === '' || id.length > maxRememberedLength || this.known.size >= maxRemembered) return id;
    let distinct = id;
    for (let at = this.known.size; this.known.has(distinct); at++) distinct = `${id}_${at}`;
    this.known.add(distinct);
    return distinct;
  }
}
