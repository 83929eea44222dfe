import { growingLru } from '../../../data-structures/growing-lru.js';
import { isKeptId } from '../../../domain/call/kept-object.js';
import type { UserId } from '../../../domain/kernel/ids.js';
import { isObject, type JsonObject } from '../../json/json.js';

/** Caches live for an hour at most. */
const maxMessages = 20_000;

/**
 * Whose the messages are that later requests have their caches compared with (`diagnostics` of Anthropic's interface). It
 * only explains a cost, so each process knows those that it has served, and of late.
 */
export class ComparedMessages {
  private readonly owners = growingLru<string, UserId>(maxMessages);

  /** Whoever was given an id first owns it. */
  note(user: UserId, id: string | undefined): void {
    if (id !== undefined && isKeptId(id) && (this.owners.get(id) ?? user) === user) this.owners.set(id, user);
  }

  /** The body, compared with nothing unless that is the user's own. The same where it is. */
  withOwnAlone(user: UserId, body: JsonObject): JsonObject {
    const { diagnostics } = body;
    if (!isObject(diagnostics)) return body;
    const { previous_message_id: id = null } = diagnostics;
    if (id === null || (typeof id === 'string' && this.owners.get(id) === user)) return body;
    return { ...body, diagnostics: { ...diagnostics, previous_message_id: null } };
  }
}
