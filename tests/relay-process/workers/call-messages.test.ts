import { expect, test } from 'vitest';
import type { Settlement } from '../../../src/domain/call/call-conclusion.js';
import { ApiKeyId, CallId, ChannelId, UserId } from '../../../src/domain/kernel/ids.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import type { ReservationEstimate } from '../../../src/relay/metering/reservation-estimate.js';
import {
  decodeReserve,
  decodeSettlement,
  encodeReserve,
  encodeSettlement,
} from '../../../src/relay-process/workers/call-messages.js';

/* What a worker asks of every call arrives as it was, each member in its place; all go through JSON on their way. */

const arrived = <Message>(message: Message): Message => JSON.parse(JSON.stringify(message)) as Message;

const callId = CallId('call-of-a-worker');
const facts = {
  userId: UserId(1),
  apiKeyId: ApiKeyId(2),
  apiKeyName: 'a name',
  group: 'a group',
  model: 'a model',
  path: '/v1/chat/completions',
  stream: true,
};
const terms = { unlimited: false, budget: { quota: Quota(3), period: 'daily' } } as const;
const estimate: ReservationEstimate = {
  price: { per: 'token', model: '4', ratios: { output: '5' }, group: '6' },
  promptTokens: 7,
  bound: { input: 10, audioInput: 11, output: 12, audioOutput: 12, 'calls:web_search': 13 },
  conservative: { input: 8, audioInput: 9, output: 12, audioOutput: 12, 'calls:web_search': 13 },
  answers: 14,
  asked: 15,
  limits: { output: 16, context: 17, guessed: true },
  overhead: 18,
  conservativeOverhead: 3,
  mayLower: true,
  max: Quota(19),
  min: Quota(20),
  minOfKey: Quota(21),
};
const settlement: Settlement = {
  usage: { input: 1, output: 2 },
  usageSource: 'disbelieved',
  claimed: { input: 9e15 },
  outcome: 'completed',
  channelId: ChannelId(3),
  attempts: [ChannelId(4), ChannelId(3)],
  kept: [{ kind: 'response', id: 'resp_1' }],
  failedAttempts: [{ channelId: ChannelId(4), status: 500, code: 'bad_response_status_code', durationMs: 5 }],
  upstreamModel: 'another model',
  useTimeMs: 6,
  firstTokenMs: 7,
  reasoningEffort: 'high',
  unknownAttempts: 8,
  answerId: 'chatcmpl-1',
};

test('a reservation order survives its message to the primary', () => {
  expect(decodeReserve(arrived(encodeReserve(callId, facts, terms, estimate)))).toEqual({
    callId,
    facts,
    terms,
    estimate,
  });
});

test('a reservation order of a signed-in user without a limit survives its message to the primary', () => {
  const inPerson = { ...facts, apiKeyId: null, stream: false };
  const free = { unlimited: true, budget: null };
  const open: ReservationEstimate = {
    ...estimate,
    asked: null,
    bound: { input: 10, cacheWriteHour: 10, output: 12 },
    conservative: { input: 8, cacheWriteHour: 8, output: 12 },
    limits: { output: 16, context: null, guessed: false },
  };
  expect(decodeReserve(arrived(encodeReserve(callId, inPerson, free, open)))).toEqual({
    callId,
    facts: inPerson,
    terms: free,
    estimate: open,
  });
});

test('a settlement order survives its message to the primary', () => {
  const message = arrived(encodeSettlement(callId, settlement));
  expect([message[0], decodeSettlement(message)]).toEqual([callId, settlement]);
});

test('a settlement order without failures and with few details survives its message to the primary', () => {
  const { failedAttempts: _, kept: __, ...others } = settlement;
  const plain = { ...others, upstreamModel: null, firstTokenMs: null, reasoningEffort: null };
  expect(decodeSettlement(arrived(encodeSettlement(callId, plain)))).toEqual(plain);
});
