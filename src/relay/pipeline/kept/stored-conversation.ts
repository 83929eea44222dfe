import { setTimeout as pause } from 'node:timers/promises';
import type { ChannelView } from '../../../application/ports/storage-ports.js';
import { storedResponseId, storedResponseTime } from '../../../domain/call/stored-response.js';
import type { UserId } from '../../../domain/kernel/ids.js';
import type { BodySlot } from '../../../http/body-room.js';
import type { Endpoint } from '../../contracts/endpoint.js';
import { keptNotFound } from '../../contracts/kept-ids.js';
import type { HeldBody } from '../../contracts/ports.js';
import type { ConversationMembers } from '../../contracts/stored-conversation.js';
import type { ResolvedCall } from '../call-context.js';
import { servedAsAsked } from '../channels/served-mode.js';
import type { StagePorts } from '../stage-ports.js';
import {
  compressedInput,
  maxConversationBytes,
  packedConversation,
  storedInputIn,
  storedResponseIn,
} from './packed-conversation.js';

/*
 * Conversations of responses that the gateway stores itself, because their upstream has chat alone. What was said before is
 * put in front of the request before anything of it is checked, counted or priced.
 */

/** A stored response, unpacked. */
interface StoredConversation {
  /** Items of the input, earlier turns included, as JSON with commas between them. */
  readonly input: string;
  /** As JSON. */
  readonly response: string;
  /** Of both, as they are stored. */
  readonly packedBytes: number;
}

type FindPorts = Pick<StagePorts, 'storedResponses' | 'directory' | 'kept' | 'clock' | 'log'>;

interface ReadingOfStored<Part> {
  /** Counts bytes that are held, before any of them is unpacked. Throws: there is no room. */
  readonly take: (bytes: number) => void;
  /** Throws: it is not packed so. */
  readonly read: (content: Buffer) => Part | Promise<Part>;
}

/** What is read of a stored response; null: there is none of this user's, or it cannot be read. Throws as `take` does. */
export async function readStored<Part>(
  { storedResponses, log }: Pick<FindPorts, 'storedResponses' | 'log'>,
  user: UserId,
  id: string,
  { take, read }: ReadingOfStored<Part>,
): Promise<Part | null> {
  if (storedResponseTime(id) === null) return null;
  const content = await storedResponses.find(user, id);
  if (content === null) return null;
  take(content.length);
  try {
    return await read(content);
  } catch (error) {
    log.warn({ userId: user, responseId: id, reason: String(error) }, 'a stored response cannot be read');
    return null;
  }
}

const unpacked = async (content: Buffer): Promise<StoredConversation> => ({
  input: await storedInputIn(content),
  response: storedResponseIn(content).toString('utf8'),
  packedBytes: content.length,
});

/** A response so young may be on its way from another process, or to the table. */
const youngMs = 5_000;
const secondLookMs = 250;

/** The same for a request that continues it: one that was made a moment ago is looked for twice. */
async function conversationToContinue(
  ports: FindPorts,
  user: UserId,
  id: string,
  take: (bytes: number) => void,
): Promise<StoredConversation | 'upstream' | null> {
  const { directory, kept, clock } = ports;
  const reading = { take, read: unpacked };
  const found = await readStored(ports, user, id, reading);
  if (found !== null) return found;
  const { keepsUpstream } = directory.settings();
  const madeAt = storedResponseTime(id);
  if (madeAt === null || Math.abs(clock.now() - madeAt) > youngMs) return keepsUpstream ? 'upstream' : null;
  if (keepsUpstream && (await kept.ownedBy(user, [id])).has(id)) return 'upstream';
  await pause(secondLookMs);
  return (await readStored(ports, user, id, reading)) ?? (keepsUpstream ? 'upstream' : null);
}

/**
 * The body with the items of the response that it continues, in place of its id; the body itself where it continues none
 * that is stored here. Throws RelayError.
 */
export async function continuedBody(
  ports: FindPorts & Pick<StagePorts, 'largeWork'>,
  user: UserId,
  { conversation: members }: Pick<Endpoint, 'conversation'>,
  body: HeldBody,
): Promise<HeldBody> {
  const { text, value } = body;
  if (members === undefined || text === undefined || !ports.directory.settings().storesResponses) return body;
  const previous = members.previous(value);
  if (previous === null) return body;
  const found = await conversationToContinue(ports, user, previous, (bytes) => body.takeMore?.(bytes));
  // What a provider may keep is looked for there.
  if (found === 'upstream') return body;
  if (found === null) throw keptNotFound('response', previous, 'previous_response_id');
  const bytes = Buffer.byteLength(found.input) + Buffer.byteLength(found.response);
  body.takeMore?.(Math.max(0, bytes - found.packedBytes));
  const whole = await ports.largeWork.run(body.bytes + bytes, () => {
    const output = members.outputItems(found.response);
    const earlier = [found.input, output].filter((items) => items !== '').join(',');
    return members.continued({ text, value }, earlier);
  });
  return { ...body, ...whole, bytes: body.bytes + bytes, continues: previous };
}

/** The input of a call whose response is to be stored, held until it is known whether that is made. */
export interface HeldConversation {
  /** The response may leave: it is queued. `last`: the last bytes of the answer. */
  store(last: Buffer, streamed: boolean): void;
  /** Nothing is held any more. */
  leave(): void;
}

type HoldPorts = Pick<
  StagePorts,
  'storedResponses' | 'directory' | 'clock' | 'log' | 'largeWork' | 'conversationRoom' | 'providerOf' | 'parsedChannel'
>;

const mayBeInChat = (
  ports: Pick<StagePorts, 'providerOf' | 'parsedChannel'>,
  endpoint: Endpoint,
  channels: readonly ChannelView[],
): boolean => channels.some((channel) => !servedAsAsked([channel], ports, endpoint));

/** Reserved for a response beside its input. One that turns out larger is stored all the same. */
const responseRoomBytes = 16 * 1024;

/** null: nothing is to be stored, no channel of it has chat alone, or there is no room. Begins to compress the input. */
export async function holdConversation(
  ports: HoldPorts,
  call: ResolvedCall,
  body: HeldBody,
): Promise<HeldConversation | null> {
  const { endpoint, ip, requestId } = call.incoming;
  const { conversation: members, inChat } = endpoint;
  const { text, value, bytes } = body;
  if (members === undefined || inChat === undefined || text === undefined) return null;
  if (!ports.directory.settings().storesResponses || !members.stores(value)) return null;
  if (!mayBeInChat(ports, endpoint, call.resolution.channels)) return null;
  if (bytes > maxConversationBytes) return null;
  const slot = ports.conversationRoom.enter(ip, call.user.id);
  if (slot === null) return null;
  slot.finish();
  const id = storedResponseId(requestId);
  let release: (() => void) | null = null;
  try {
    if (slot.take(bytes) === null)
      release = await ports.storedResponses.reserve(call.user.id, id, bytes + responseRoomBytes);
  } finally {
    if (release === null) slot.leave();
  }
  if (release === null) return null;
  const items = async () => Buffer.from(await ports.largeWork.run(bytes, () => members.items({ text, value })));
  const input = items().then((plain) => compressedInput(plain));
  return new HeldInput(ports, { userId: call.user.id, id, members, slot, release, input });
}

interface ToStore {
  readonly userId: UserId;
  readonly id: string;
  readonly members: ConversationMembers;
  readonly slot: BodySlot;
  /** Gives back the room reserved for it, if it was not stored. */
  readonly release: () => void;
  readonly input: Promise<Buffer>;
}

class HeldInput implements HeldConversation {
  private ready: Buffer | null = null;

  constructor(
    private readonly ports: Pick<HoldPorts, 'storedResponses' | 'clock' | 'log'>,
    private readonly toStore: ToStore,
  ) {
    toStore.input.then(
      (input) => {
        this.ready = input;
        ports.storedResponses.shrink(toStore.id, input.length + responseRoomBytes);
      },
      (error: unknown) => this.failed(error),
    );
  }

  store(last: Buffer, streamed: boolean): void {
    const { input, members } = this.toStore;
    try {
      const response = members.responseIn(last.toString('utf8'), streamed);
      if (response === null) return;
      if (this.ready !== null) this.put(this.ready, response);
      else input.then((ready) => this.put(ready, response)).catch(() => {});
    } catch (error) {
      this.failed(error);
    }
  }

  leave(): void {
    const { input, slot, release } = this.toStore;
    const left = (): void => {
      slot.leave();
      release();
    };
    input.then(left, left);
  }

  private put(input: Buffer, response: string): void {
    const { userId, id } = this.toStore;
    const { storedResponses, clock } = this.ports;
    storedResponses.put({ userId, id, at: clock.now(), content: packedConversation(input, response) });
  }

  private failed(error: unknown): void {
    this.ports.log.error({ err: error, responseId: this.toStore.id }, 'a response cannot be stored');
  }
}
