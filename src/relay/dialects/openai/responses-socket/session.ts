import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { BodyRoom, BodySlot, NoRoom } from '../../../../http/body-room.js';
import { TokenBucket } from '../../../../rate-limit/token-bucket.js';
import type { Credential } from '../../../contracts/caller-dialect.js';
import type { Endpoint } from '../../../contracts/endpoint.js';
import { RelayError, refusalFor } from '../../../contracts/errors.js';
import { keptNotFound } from '../../../contracts/kept-ids.js';
import type { HeldBody, RelayLog } from '../../../contracts/ports.js';
import { WebSocketCaller } from '../../../delivery/websocket-caller.js';
import { textIn } from '../../../json/json.js';
import type { Relay } from '../../../pipeline/relay.js';
import type { LargeWork } from '../../../text/large-work.js';
import { invalidBody } from '../../body-sink.js';
import { eventText } from '../../named-events.js';
import { Conversation } from './conversation.js';
import { type CreateEvent, readCreateEvent } from './create-event.js';
import { errorEvent } from './endpoint.js';
import { Receiving } from './receiving.js';
import { noRoomForMessage } from './refusals.js';
import { warmedUpResponse } from './warmed-up.js';

/* One WebSocket of the Responses interface: its calls one after the other, each of them a call of its own. */

export interface SessionPorts {
  readonly relay: Pick<Relay, 'identify' | 'admit' | 'serve'>;
  readonly newRequestId: () => string;
  readonly largeWork: LargeWork;
  readonly bodyRoom: BodyRoom;
  /** For what connections remember. */
  readonly rememberedRoom: BodyRoom;
  readonly maxMessageBytes: number;
  /** Responses may be stored, so that an id that is not of this connection may be known all the same. */
  readonly knowsOtherIds: () => boolean;
  readonly log: Pick<RelayLog, 'warn' | 'error'>;
}

/** What a connection was opened with. */
export interface Opened {
  readonly socket: WebSocket;
  /** Under it. */
  readonly stream: Duplex;
  readonly endpoint: Endpoint;
  readonly credential: Credential | null;
  readonly ip: string;
  readonly headers: IncomingHttpHeaders;
  readonly userId: number;
}

interface Message {
  /** Given up once it is read: an answer may take long. */
  bytes: Buffer;
  readonly slot: BodySlot;
}

export const closeCodes = { goingAway: 1001, unsupported: 1003, policy: 1008, tryLater: 1013 } as const;

/** Messages that wait for the one before them. */
const maxWaiting = 8;
const messagesPerMinute = 600;
/** How long a client may take to take our goodbye. */
const farewellMs = 1_000;
/** Refusals of who calls, not of what is asked for: the next call would get the same. */
const aboutTheCaller: ReadonlySet<string | null> = new Set(['user_banned', 'ip_not_allowed']);

const nothing = Buffer.alloc(0);
const noQuery = new URLSearchParams();

export class ResponsesSession {
  private readonly conversation: Conversation;
  private readonly receiving: Receiving;
  private readonly messages = new TokenBucket({ perMinute: messagesPerMinute }, { now: Date.now });
  private readonly waiting: Message[] = [];
  private caller: WebSocketCaller | null = null;
  private running = false;
  private leaving: { readonly code: number; readonly reason: string } | null = null;
  /** `performance.now()` of the opening, and of the end of the last call. */
  readonly openedAt = performance.now();
  quietSince = this.openedAt;

  constructor(
    private readonly ports: SessionPorts,
    private readonly opened: Opened,
  ) {
    const { socket, stream, ip: address, userId: holder } = opened;
    const { bodyRoom: room, rememberedRoom } = ports;
    // Nobody else takes part in that room: none of it can be unfinished.
    this.conversation = new Conversation(rememberedRoom.enter(address, holder) ?? noSlot);
    this.receiving = new Receiving({
      ...{ socket, stream, room, address, holder },
      full: (why) => this.full(why),
      message: (bytes, isBinary, slot) => this.received({ bytes, slot }, isBinary),
    });
  }

  /** A call is under way. */
  get busy(): boolean {
    return this.running;
  }

  get unfinishedSince(): number | null {
    return this.receiving.unfinishedSince;
  }

  /** Closes the connection as soon as no call is under way on it. */
  close(code: number, reason: string): void {
    this.leaving ??= { code, reason };
    if (!this.running) this.opened.socket.close(code, reason);
  }

  /** The connection has gone. */
  gone(): void {
    this.caller?.leave();
    this.receiving.end();
    for (const { slot } of this.waiting.splice(0)) slot.leave();
    if (!this.running) this.conversation.forget();
  }

  private full(why: NoRoom | 'address'): void {
    const refusal = noRoomForMessage(why);
    const code = refusal.code ?? '';
    this.tell(refusal);
    const { socket, stream } = this.opened;
    // Nothing more is read, so its goodbye is not either.
    stream.pause();
    this.leaving = { code: closeCodes.tryLater, reason: code };
    socket.close(closeCodes.tryLater, code);
    setTimeout(() => socket.terminate(), farewellMs).unref();
  }

  private tell(error: RelayError): void {
    const { socket } = this.opened;
    if (socket.readyState === socket.OPEN) socket.send(errorEvent(error, this.ports.newRequestId()));
  }

  private received(message: Message, isBinary: boolean): void {
    const { slot } = message;
    const { socket } = this.opened;
    if (this.leaving !== null || socket.readyState !== socket.OPEN) slot.leave();
    else if (isBinary) {
      slot.leave();
      this.close(closeCodes.unsupported, 'messages are JSON, as text');
    } else if (this.waiting.length >= maxWaiting || this.messages.spend(1) !== null) {
      slot.leave();
      this.tell(new RelayError(429, 'rate_limit_exceeded', 'too many messages on one WebSocket'));
      this.close(closeCodes.policy, 'too many messages');
    } else {
      this.waiting.push(message);
      if (!this.running) void this.run();
    }
  }

  private async run(): Promise<void> {
    this.running = true;
    const { socket } = this.opened;
    for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift()) {
      const { slot } = next;
      try {
        if (socket.readyState === socket.OPEN && this.leaving === null) await this.answer(next);
      } finally {
        slot.leave();
      }
    }
    this.running = false;
    this.quietSince = performance.now();
    if (socket.readyState !== socket.OPEN) this.conversation.forget();
    else if (this.leaving !== null) socket.close(this.leaving.code, this.leaving.reason);
  }

  /** Never rejects. */
  private async answer(message: Message): Promise<void> {
    const requestId = this.ports.newRequestId();
    const caller = new WebSocketCaller({
      requestId,
      socket: this.opened.socket,
      errorEvent: (error) => errorEvent(error, requestId),
      sending: (event) => this.conversation.event(event),
    });
    this.caller = caller;
    try {
      const read = await this.read(message);
      if (read.event?.warmsUp === true) await this.warmUp(caller, read.event);
      else await this.call(caller, read);
    } catch (error) {
      caller.refuse(refusalFor(error, requestId, this.ports.log));
    } finally {
      this.caller = null;
      this.conversation.end();
    }
    const { refusal } = caller;
    if (refusal === null || (refusal.status !== 401 && !aboutTheCaller.has(refusal.code))) return;
    this.leaving ??= { code: closeCodes.policy, reason: refusal.code ?? '' };
  }

  /** A failure is thrown where bodies are read, once it is known who calls. */
  private async read(message: Message): Promise<ReadMessage> {
    const { bytes, slot } = message;
    message.bytes = nothing;
    const { largeWork, maxMessageBytes, knowsOtherIds } = this.ports;
    try {
      const event = await largeWork.runSteps(bytes.length, () =>
        readCreateEvent(bytes, this.conversation, maxMessageBytes),
      );
      const { text, value } = event.request;
      const previous = textIn(value.previous_response_id);
      if (previous !== null && !knowsOtherIds()) throw keptNotFound('response', previous, 'previous_response_id');
      const size = Buffer.byteLength(text);
      const full = size > bytes.length ? slot.take(size - bytes.length) : null;
      if (full !== null) throw noRoomForMessage(full);
      const takeMore = (more: number): void => {
        const noRoom = slot.take(more);
        if (noRoom !== null) throw noRoomForMessage(noRoom);
      };
      const body: HeldBody = { text, value, bytes: size, upload: null, takeMore, leave: slot.leave };
      return { event, body, error: null };
    } catch (error) {
      if (error instanceof RelayError) return { event: null, body: null, error };
      throw error;
    }
  }

  private call(caller: WebSocketCaller, read: ReadMessage): Promise<void> {
    const { endpoint, credential, ip, headers } = this.opened;
    const items = read.event?.items ?? null;
    if (items !== null) this.conversation.begin(items);
    // It is handed over, or it would stay in memory as long as the answer takes.
    let { body } = read;
    const { error } = read;
    read.event = null;
    read.body = null;
    const bodySource = async (): Promise<HeldBody> => {
      const held = body;
      body = null;
      if (held === null) throw error ?? invalidBody('it cannot be read');
      return held;
    };
    const call = { requestId: caller.requestId, endpoint, credential, ip, headers, model: null, query: noQuery };
    return this.ports.relay.serve({ ...call, bodySource }, caller);
  }

  /** Nothing is generated and nobody pays: who calls must be somebody who may, as often as they may. */
  private async warmUp(caller: WebSocketCaller, event: CreateEvent): Promise<void> {
    const { credential, ip } = this.opened;
    const leave = await this.ports.relay.admit({ credential, ip });
    let succeeded = false;
    try {
      this.warmedUp(caller, event);
      succeeded = true;
    } finally {
      leave(succeeded);
    }
  }

  private warmedUp(caller: WebSocketCaller, { request, items }: CreateEvent): void {
    const previous = textIn(request.value.previous_response_id);
    if (previous !== null) throw keptNotFound('response', previous, 'previous_response_id');
    this.conversation.begin(items ?? '');
    const response = warmedUpResponse(request.value, caller.requestId);
    this.conversation.warmedUp(response.id);
    caller.write(eventText('response.created', { response: { ...response, status: 'in_progress', usage: null } }));
    caller.end(eventText('response.completed', { response }));
  }
}

interface ReadMessage {
  event: CreateEvent | null;
  body: HeldBody | null;
  readonly error: RelayError | null;
}

const noSlot: BodySlot = { take: () => 'process', finish: () => {}, leave: () => {} };
