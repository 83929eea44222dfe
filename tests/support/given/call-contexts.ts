import type { ApiKeyView, ChannelView, UserView } from '../../../src/application/ports/storage-ports.js';
import type { Release, Settlement } from '../../../src/domain/call/call-conclusion.js';
import { ChannelId } from '../../../src/domain/kernel/ids.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import type { Got } from '../../../src/relay/answers/answer-reading.js';
import type { Endpoint } from '../../../src/relay/contracts/endpoint.js';
import { RelayError } from '../../../src/relay/contracts/errors.js';
import type { Generated } from '../../../src/relay/contracts/protocol.js';
import { chat } from '../../../src/relay/dialects/openai/endpoints/chat.js';
import { InFlightCall } from '../../../src/relay/metering/in-flight-calls.js';
import type { Reservation } from '../../../src/relay/metering/metered.js';
import { type AttemptFailure, failed } from '../../../src/relay/pipeline/attempt-failure.js';
import {
  type AnsweredCall,
  incomingContext,
  type ReservedCall,
  type ResolvedCall,
  type UnansweredCall,
} from '../../../src/relay/pipeline/call-context.js';
import type { Resolution } from '../../../src/relay/pipeline/resolution.js';
import { SeenText } from '../../../src/relay/text/seen-text.js';
import { AnswerRoom } from '../../../src/relay/upstream/answer-room.js';
import { MemoryConnection } from '../callers/memory-connection.js';
import { plainPrice } from './calls.js';
import { someInstant } from './events.js';

/* Contexts of a call at each stage, with everything filled in; a test names what it is about. */

const usageBound = { input: 100, output: 100 };

/** Remembers how the call was concluded, and that it was left. */
export class MemoryReservation implements Reservation {
  readonly inFlightCall = new InFlightCall();
  readonly reserved = Quota(1000);
  readonly outputLimit: number | null = null;
  readonly bound = usageBound;
  readonly concluded: (Settlement | Release)[] = [];
  left = 0;
  /** The log takes nothing. */
  away = false;

  async extend(): Promise<boolean> {
    return true;
  }

  async settle(settlement: Settlement): Promise<Quota> {
    this.concluded.push(settlement);
    if (this.away) throw new Error('the log is away');
    return Quota(5);
  }

  async settleOrWithdraw(settlement: Settlement): Promise<Quota | null> {
    this.concluded.push(settlement);
    return this.away ? null : Quota(5);
  }

  async release(release: Release): Promise<void> {
    this.concluded.push(release);
  }

  leave(): void {
    this.left++;
  }
}

/** With a key of its own provider, so that it can be asked. */
export const channelOf = (id: number): ChannelView =>
  ({
    ...{ id, status: 'enabled', secrets: { key: `key-${id}`, proxy: null } },
    settings: {
      type: 1,
      baseUrl: '',
      other: '',
      priority: 0,
      weight: 0,
      models: ['m'],
      modelMapping: '',
      autoBan: true,
    },
  }) as unknown as ChannelView;

const answers = new AnswerRoom(2 ** 30);
const user = { id: 7, status: 'enabled', role: 'user', group: 'default' } as unknown as UserView;
const apiKey = { id: 12, owner: 7, terms: { name: 'ci', unlimited: true, budget: null, group: '' } };
const estimate = {
  promptTokens: 3,
  recording: null,
  pictureTokens: null,
  uncounted: false,
  answers: 1,
  price: plainPrice,
  asked: null,
  conservative: { input: 10, output: 0 },
};

interface Given {
  readonly endpoint?: Endpoint;
  readonly connection?: MemoryConnection;
  readonly resolution?: Partial<Resolution>;
  readonly apiKey?: ApiKeyView | null;
}

export function givenResolved({ endpoint = chat, resolution, ...given }: Given = {}): ResolvedCall {
  const { connection = new MemoryConnection() } = given;
  const incoming = {
    ...{ requestId: 'r1', endpoint, model: null, query: new URLSearchParams(), headers: {} },
    ...{ credential: null, ip: '192.0.2.1' },
  };
  return {
    ...incomingContext(incoming, connection),
    user,
    apiKey: given.apiKey === undefined ? (apiKey as unknown as ApiKeyView) : given.apiKey,
    admission: { leave: () => {}, answerSlot: answers.newSlot(7) },
    named: { model: 'm', group: '' },
    resolution: {
      ...{ endpoint, requestedModel: 'm', alias: null, model: 'm', group: 'default', stream: false, wantsUsage: false },
      ...{ channels: [channelOf(1), channelOf(2)], pinned: false, background: false, parent: null, tiers: [] },
      estimate: { ...estimate, limits: { output: 10 }, bound: usageBound } as unknown as Resolution['estimate'],
      ...resolution,
    },
  };
}

export const givenReserved = (
  given: Given = {},
  reservation = new MemoryReservation(),
): ReservedCall & { readonly reservation: MemoryReservation; readonly connection: MemoryConnection } => {
  const { connection = new MemoryConnection() } = given;
  return { ...givenResolved({ ...given, connection }), connection, reservation, startedAt: someInstant };
};

export const unanswered = (failure: AttemptFailure | null): Pick<UnansweredCall, 'answer' | 'failure' | 'course'> => ({
  answer: null,
  failure,
  course:
    failure === null
      ? { tried: [], failed: undefined, unknownAttempts: 0 }
      : { tried: [ChannelId(1)], failed: undefined, unknownAttempts: 0 },
});

export const upstreamFailure = (): AttemptFailure =>
  failed(new RelayError(502, 'bad_gateway', 'the upstream is down'), true);

export const generatedText = (text = 'Yes.'): Generated => ({
  said: new SeenText(text),
  toolCalls: 0,
  finishReason: 'stop',
});

export const wholeAnswer = (bytes: Buffer): Extract<Got, { kind: 'answer' }> => ({
  kind: 'answer',
  bytes,
  textType: undefined,
  usage: { input: 3, output: 2 },
  generated: generatedText(),
});

export const givenAnswered = (got: Got, given: Given = {}) =>
  ({
    ...givenReserved(given),
    course: { tried: [ChannelId(1)], failed: undefined, unknownAttempts: 0 },
    answer: { ok: true, upstreamModel: 'm', reasoningEffort: null, thinking: 'refused', got, headers: null } as const,
    leaveChannel: () => {},
    faulted: () => {},
  }) satisfies AnsweredCall;
