import { randomUUID } from 'node:crypto';
import { growingLru } from '../../../data-structures/growing-lru.js';
import { isObject, type JsonObject, textIn } from '../../json/json.js';
import { type ClientEvent, invalidEvent } from './client-events.js';

/*
 * An upstream says by its id which event it has refused. Events that something is reserved for go upstream by ids of
 * ours: a client need not give them one, and may give two of them the same.
 */

/** As long as OpenAI takes them (https://platform.openai.com/docs/api-reference/realtime-client-events). */
const maxIdLength = 512;
/** Events whose own ids are remembered. A failure of an earlier one is shown without. */
const maxRemembered = 64;

export class SentEvents {
  private readonly prefix = randomUUID();
  private readonly given = growingLru<string, string>(maxRemembered);
  private count = 0;

  /** The event as it goes upstream, and by which id. Throws RelayError. */
  named(event: ClientEvent): { readonly id: string; readonly event: ClientEvent } {
    const { event_id: given } = event;
    const isLeftOut = (given ?? null) === null;
    if (!isLeftOut && (typeof given !== 'string' || given.length > maxIdLength))
      throw invalidEvent('event_id', `event_id must be a text of at most ${maxIdLength} characters`);
    const id = `${this.prefix}-${this.count++}`;
    this.given.set(id, isLeftOut ? '' : String(given));
    return { id, event: { ...event, event_id: id } };
  }

  /** A failure that names an event, with the id that its client has given that. The same object where it names no such. */
  shown(failure: JsonObject): JsonObject {
    const { error } = failure;
    const id = isObject(error) ? textIn(error.event_id) : null;
    if (!isObject(error) || id?.startsWith(this.prefix) !== true) return failure;
    const given = this.given.get(id) ?? '';
    return { ...failure, error: { ...error, event_id: given === '' ? null : given } };
  }
}
