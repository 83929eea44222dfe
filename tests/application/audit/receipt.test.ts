import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type Receipt, receiptOf } from '../../../src/application/audit/receipt.js';
import { sealedSources } from '../../../src/application/audit/receipt-queries.js';
import { checkReceipt, signedReceipt } from '../../../src/application/audit/signed-receipt.js';
import type { Seal } from '../../../src/application/ports/seal-ports.js';
import { sealKeyId, sealStatement } from '../../../src/application/seals/seal.js';
import { receiptLines } from '../../../src/cli/audit/receipt-text.js';
import type { CallEvent, CallOutcome, CallSettled } from '../../../src/domain/call/call.js';
import { conclude, costOf, refundOf } from '../../../src/domain/call/call-conclusion.js';
import { courseOf } from '../../../src/domain/call/call-course.js';
import type { Usage } from '../../../src/domain/call/usage.js';
import type { PaidMode } from '../../../src/domain/channel/provider.js';
import { type Recorded, streams } from '../../../src/domain/events/events.js';
import { CallId, ChannelId, TaskId } from '../../../src/domain/kernel/ids.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import type { Price } from '../../../src/domain/pricing/pricing.js';
import { type Quantity, quantityNames } from '../../../src/domain/pricing/quantities.js';
import { taskRefundOf } from '../../../src/domain/task/task-refund.js';
import { reserved } from '../../support/given/calls.js';
import { someInstant } from '../../support/given/events.js';
import { recordedAt } from '../../support/given/recorded.js';
import { recomputedCharge } from '../../support/recomputed-charge.js';

/* A receipt is enough: its charge is recomputed out of its JSON, by an arithmetic of the test's own. */

const id = CallId('20260102030405000000000abcdefgh');
const position = 40;

function keyPair() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const text = publicKey.export({ format: 'jwk' }).x ?? '';
  const keyId = sealKeyId(Buffer.from(text, 'base64url'));
  return { text, keyId, sign: (said: string) => sign(null, Buffer.from(said), privateKey).toString('base64url') };
}
const key = keyPair();

function sealOver(first: number, last: number): Seal {
  const hash = 'ab'.repeat(32);
  const facts = { number: 3, events: 9, eventsHash: hash, previous: hash, at: Instant(someInstant), keyId: key.keyId };
  const seal = { ...facts, first: recordedAt(first, streams.call(id), reserved({ quota: 1 })).position };
  const whole = { ...seal, last: recordedAt(last, streams.call(id), reserved({ quota: 1 })).position };
  return { ...whole, signature: key.sign(sealStatement(whole)) };
}

interface Given {
  readonly disclosure?: Receipt['disclosure'];
  /** Position up to which events are sealed. */
  readonly sealedTo?: number;
  readonly newest?: Seal;
}

function receiptFrom(
  events: readonly CallEvent[],
  { disclosure = 'whole', sealedTo = 50, newest }: Given = {},
): Receipt {
  const stream = streams.call(id);
  const all = events.map((event, revision) => recordedAt(position + revision, stream, event, { revision }));
  const course = courseOf(all as Recorded<CallEvent>[]);
  if (course === null) throw new Error('this is no call');
  const seal = sealOver(position - 5, sealedTo);
  const sources = all.map((recorded) => ({
    ...{ recorded, hash: 'cd'.repeat(32) },
    seal: Number(recorded.position) <= sealedTo ? seal : null,
  }));
  const parts = { id, course, factors: [], sources, newestSeal: newest ?? seal };
  return receiptOf({ ...parts, issuedAt: Instant(someInstant), disclosure });
}

interface Kind {
  readonly price: Price;
  readonly usage: Usage;
  readonly serviceTier?: string;
}

const served = (outcome: CallOutcome = 'completed', more: Partial<Parameters<typeof conclude>[1]> = {}) => ({
  ...{ usageSource: 'upstream', outcome, channelId: ChannelId(3), attempts: [ChannelId(3)], upstreamModel: null },
  ...{ useTimeMs: 900, firstTokenMs: null, reasoningEffort: null, unknownAttempts: 0 },
  ...more,
});

/** Reserved and settled, as the gateway does it. */
function eventsOf({ price, usage, serviceTier }: Kind, payable = 2_000_000_000_000, outcome?: CallOutcome) {
  const reservation = { ...reserved({ quota: 5_000 }), price };
  const settlement = { ...served(outcome), usage, serviceTier } as const;
  const cost = costOf(reservation, settlement);
  const event = conclude(reservation, {
    kind: 'settled',
    settlement: settlement as never,
    ...{ cost, payable: Quota(payable) },
  });
  return [reservation, event] as const;
}

const perToken = (model: string, ratios: object = {}, more: object = {}): Price =>
  ({ per: 'token', model, ratios, group: '1', ...more }) as Price;
const perCall = (price: string, more: object = {}): Price =>
  ({ per: 'call', price, quotaPerUnit: '500000', group: '1', ...more }) as Price;
const pieces = (dollars: object): object => ({ pieces: { dollars, quotaPerUnit: '500000' } });

const kinds: Readonly<Record<PaidMode, Kind>> = {
  chat: {
    price: perToken('1.25', { output: '4', cachedInput: '0.5', reasoning: '4' }, { group: '1.1' }),
    usage: { input: 1_203, cachedInput: 512, output: 77, reasoning: 301 },
  },
  completions: { price: perToken('0.75', { output: '1.333' }), usage: { input: 17, output: 5 } },
  responses: {
    price: perToken('1', { output: '4' }, pieces({ 'calls:web_search': '0.01', 'calls:code_interpreter': '0.03' })),
    usage: { input: 4_000, output: 311, 'calls:web_search': 3, 'calls:code_interpreter': 1 },
  },
  embeddings: { price: perToken('0.01'), usage: { input: 12_345 } },
  speech: { price: perToken('0', {}, pieces({ characters: '0.000015' })), usage: { characters: 1_999 } },
  transcription: { price: perToken('0', {}, pieces({ seconds: '0.0001' })), usage: { seconds: 61 } },
  translation: { price: perCall('0.006'), usage: { seconds: 61 } },
  rerank: { price: perToken('0', {}, pieces({ searchUnits: '0.002' })), usage: { searchUnits: 2 } },
  moderation: { price: perToken('0'), usage: { input: 55 } },
  'image-generation': {
    price: perToken(
      '0',
      {},
      {
        pieces: { dollars: { images: '0.04' }, quotaPerUnit: '500000', picture: { size: '1024x1024', quality: 'hd' } },
      },
    ),
    usage: { images: 3 },
  },
  'image-edit': {
    price: perToken('2.5', { imageInput: '2', imageOutput: '8' }),
    usage: { input: 40, imageInput: 323, imageOutput: 4_160 },
  },
  realtime: {
    price: perToken('2', { output: '4', audioInput: '8', audioOutput: '16', cachedAudioInput: '0.1' }),
    usage: { input: 60, audioInput: 410, cachedAudioInput: 128, output: 25, audioOutput: 730 },
  },
  task: { price: perToken('0', {}, pieces({ video: '0.1', 'video:1080p': '0.25' })), usage: { 'video:1080p': 8 } },
};

const tiered = perToken(
  '1.25',
  { output: '4', cachedInput: '0.1' },
  {
    tiers: [
      { over: 200_000, ratios: { input: '2', output: '6', cachedInput: '0.3' } },
      { over: 900_000, ratios: { input: '2.333333333333', output: '4' } },
    ],
  },
);
const flexible = (usage: Usage): Kind => ({
  price: perToken(
    '1.25',
    { output: '4' },
    {
      ...pieces({ 'calls:web_search': '0.01' }),
      service: { tier: 'default', factor: '1', others: { flex: '0.5', default: '1' } },
    },
  ),
  usage,
  serviceTier: 'flex',
});

const everything = Object.fromEntries(quantityNames.map((name, index) => [name, index * 7 + 1])) as Usage;
const isToken = (name: Quantity): boolean => name in kinds.realtime.usage || /put|cache|reasoning/i.test(name);
const prices = (named: (name: Quantity) => boolean): object =>
  Object.fromEntries(quantityNames.filter(named).map((name, index) => [name, `0.0${index + 1}`]));

describe('a receipt alone gives the charge', () => {
  test.each([
    ...Object.entries(kinds).map(([mode, kind]) => ({ _name: `of a call of mode ${mode}`, ...kind })),
    { _name: 'below the first tier of length', price: tiered, usage: { input: 200_000, output: 10 } },
    { _name: 'in a tier of length', price: tiered, usage: { input: 150_000, cachedInput: 50_001, output: 10 } },
    { _name: 'in the last tier of length', price: tiered, usage: { input: 900_001, cachedInput: 3, output: 1 } },
    { _name: 'at a tier of service', ...flexible({ input: 1_001, output: 10, 'calls:web_search': 1 }) },
    {
      _name: 'of a call priced as such, with tools',
      price: perCall('0.02', pieces({ 'calls:web_search': '0.03' })),
      usage: { input: 9, 'calls:web_search': 2 },
    },
    {
      _name: 'of a model that costs what another does',
      price: perToken('3', {}, { like: 'gpt-4o' }),
      usage: { input: 3 },
    },
    { _name: 'of a free call', price: perToken('0', { output: '4' }), usage: { input: 900, output: 900 } },
    { _name: 'of next to nothing', price: perToken('0.0001'), usage: { input: 1 } },
    { _name: 'of exactly a half', price: perToken('0.5'), usage: { input: 3 } },
    { _name: 'of nothing', price: perToken('1.25'), usage: {} },
    { _name: 'of a call with a price of its own that used nothing', price: perCall('0.02'), usage: {} },
    {
      _name: 'with ratios of many digits',
      price: perToken('0.333333333333', { output: '2.5e-7' }, { group: '1.05' }),
      usage: { input: 77, output: 1_000_003 },
    },
    {
      _name: 'of every quantity there is',
      price: perToken('1.5', prices(isToken), pieces(prices((name) => !isToken(name)))),
      usage: everything,
    },
    { _name: 'beyond the most that any call costs', price: perToken('1000000000'), usage: { input: 1_000_000_000 } },
  ] satisfies readonly ({ readonly _name: string } & Kind)[])('$_name', (kind) => {
    const [, settlement] = eventsOf(kind);
    const receipt = receiptFrom(eventsOf(kind));
    expect(recomputedCharge(JSON.stringify(receipt))).toBe(settlement.charged + settlement.uncovered);
    expect(receipt).toMatchObject({ paid: settlement.charged, calculation: { total: settlement.charged } });
    expect(checkReceipt(signedReceipt(receipt, key), [key.text])?.findings).toEqual([]);
  });

  test.each([
    'completed',
    'caller-left',
    'caller-stalled',
    'upstream-broke',
    'quota-ran-out',
    'gateway-failed',
  ] satisfies readonly CallOutcome[])(
    'of an answer that ended as %s, also where not all of it could be charged',
    (outcome) => {
      const receipt = receiptFrom(eventsOf(kinds.chat, 700, outcome));
      expect(receipt.outcome).toMatchObject({ outcome, charged: 700 });
      expect(recomputedCharge(JSON.stringify(receipt))).toBe(700 + (receipt.outcome?.uncovered ?? 0));
      expect(receipt.outcome?.uncovered).toBeGreaterThan(0);
      expect(checkReceipt(signedReceipt(receipt, key), [key.text])?.findings).toEqual([]);
    },
  );

  test('of a call that was refunded: the answer was withheld, or its task has failed', () => {
    const [reservation, event] = eventsOf(kinds.task);
    const at = Instant(someInstant);
    const task = { ...{ taskId: TaskId(5), platform: 'video', action: 'generate', publicId: 'p' } };
    const failed = { type: 'TaskFailed', facts: task, reason: 'rejected' };
    for (const refund of [
      refundOf({ id: 'x', at, event }, { status: 503, code: 'store_unavailable' }),
      taskRefundOf({ id: 'x', at, event }, failed as never),
    ]) {
      const receipt = receiptFrom([reservation, event, refund]);
      expect(receipt).toMatchObject({ status: 'refunded', paid: 0, refund: { quota: event.charged } });
      expect(recomputedCharge(JSON.stringify(receipt))).toBe(event.charged);
      expect(checkReceipt(signedReceipt(receipt, key), [key.text])?.findings).toEqual([]);
    }
  });

  test('of a call that was released, or is in flight, which is nothing', () => {
    const [reservation] = eventsOf(kinds.chat);
    const release = conclude(reservation, { kind: 'never-sent', reason: 'recovered', status: null, code: null });
    for (const events of [[reservation, release], [reservation]]) {
      const receipt = receiptFrom(events);
      expect(receipt).toMatchObject({ paid: 0, calculation: null, usage: null });
      expect(recomputedCharge(JSON.stringify(receipt))).toBe(0);
      expect(checkReceipt(signedReceipt(receipt, key), [key.text])?.findings).toEqual([]);
    }
  });
});

const hidden: Partial<CallSettled> = {
  ...{ channelId: ChannelId(98_765), attempts: [ChannelId(98_764), ChannelId(98_765)] },
  failedAttempts: [{ channelId: ChannelId(98_764), status: 529, code: 'masked_overload', durationMs: 5 }],
  ...{ suspense: Quota(43_210), upstreamCost: '0.0123', answerId: 'gen-masked' },
};
// Keys and hashes are others in each run, and may hold any three digits.
const whatIsHidden = ['98764', '98765', '"status":529', 'masked_overload', '43210', '0.0123', 'gen-masked', '54321'];

test('a caller’s receipt has neither channels, nor what upstream charges, nor how attempts failed', () => {
  const [reservation, event] = eventsOf(kinds.chat);
  const settlement = { ...event, ...hidden };
  const refund = refundOf(
    { id: 'x', at: Instant(someInstant), event: settlement },
    { status: 503, code: 'store_unavailable' },
  );
  const events = [reservation, settlement, { ...refund, suspense: Quota(54_321) }];
  const told = JSON.stringify(receiptFrom(events, { disclosure: 'caller' }));
  const whole = JSON.stringify(receiptFrom(events));
  for (const text of whatIsHidden) {
    expect(whole).toContain(text);
    expect(told).not.toContain(text);
  }
});

test('a receipt says what upstream has reported where that was not believed, also to callers', () => {
  const [reservation, event] = eventsOf(kinds.chat);
  const claimed = { input: 9e15 };
  const events = [reservation, { ...event, usageSource: 'disbelieved', claimed } as const];
  for (const disclosure of ['whole', 'caller'] as const)
    expect(receiptFrom(events, { disclosure }).usage).toEqual({ counts: event.usage, source: 'disbelieved', claimed });
  expect(receiptFrom([reservation, event]).usage?.claimed).toBeNull();
});

test('a receipt is printed with what was not believed, and one of an earlier release without', () => {
  const [reservation, event] = eventsOf(kinds.chat);
  const claimed = { input: 9_000 };
  const told = receiptFrom([reservation, { ...event, usageSource: 'disbelieved', claimed }]);
  expect(receiptLines(told)).toContain('Reported, not believed: 9000 input');
  const { claimed: _, ...usage } = told.usage ?? {};
  const earlier = { ...told, usage } as Receipt;
  expect(receiptLines(earlier).filter((line) => line.startsWith('Reported'))).toEqual([]);
});

test('a receipt names the seal of each event, and says which are not sealed', () => {
  const events = eventsOf(kinds.chat);
  expect(receiptFrom(events)).toMatchObject({
    sealing: 'sealed',
    events: [{ seal: 3 }, { seal: 3 }],
    seals: [{ number: 3 }],
  });
  expect(receiptFrom(events, { sealedTo: 40 })).toMatchObject({
    sealing: 'pending',
    events: [{ seal: 3 }, { seal: null }],
  });
  expect(receiptFrom(events, { sealedTo: 30 })).toMatchObject({ sealing: 'pending', seals: [] });
  expect(receiptFrom(events, { sealedTo: 40, newest: sealOver(60, 90) }).sealing).toBe('left-out');
});

test('a receipt during the creation of a seal reports an event as pending, not as left out', async () => {
  const [reservation] = eventsOf(kinds.chat);
  const recorded = [40, 41].map((place) => recordedAt(place, streams.call(id), reservation));
  let seal: Seal | null = null;
  const seals = {
    newest: async () => seal,
    covering: async () => {
      const before = seal;
      seal = sealOver(30, 50);
      return before;
    },
  };
  const { sources, newestSeal } = await sealedSources({ seals, single: { at: async () => null } }, recorded);
  expect(sources.map((source) => source.seal?.number ?? null)).toEqual([null, 3]);
  expect(newestSeal).toBeNull();
});

describe('a signed receipt is checked with public keys alone:', () => {
  const receipt = receiptFrom(eventsOf(kinds.chat));
  const file = signedReceipt(receipt, key);
  const codes = (text: string, keys = [key.text]) => checkReceipt(text, keys)?.findings.map(({ code }) => code);
  const changed = (change: object): string => signedReceipt({ ...receipt, ...change } as Receipt, key);

  test('it is sound, also laid out over lines', () => {
    expect(codes(file)).toEqual([]);
    expect(codes(`${JSON.stringify(JSON.parse(file), null, 2)}\n`)).toEqual([]);
    expect(codes(file, [keyPair().text, key.text])).toEqual([]);
  });

  test('each digit that is changed in it is found', () => {
    let found = 0;
    for (const { index } of file.matchAll(/\d/g)) {
      const digit = (Number(file[index]) + 1) % 10;
      const altered = `${file.slice(0, index)}${digit}${file.slice(index + 1)}`;
      const checked = checkReceipt(altered, [key.text]);
      // The last digit of the signature may hold bits that say nothing.
      if (checked?.findings.length !== 0) found += 1;
      else expect(index).toBeGreaterThan(file.indexOf('"signature":"', file.indexOf('"key":"')));
    }
    expect(found).toBeGreaterThan(100);
  });

  test('another key, a member that is there twice, and what is no receipt are refused', () => {
    expect(codes(file, [keyPair().text])).toEqual(['key-unknown']);
    expect(codes(signedReceipt(receipt, { ...keyPair(), keyId: key.keyId }))).toEqual(['signature-wrong']);
    expect(codes(file.replace('"paid":', '"paid":1,"paid":'))).toEqual(['not-as-written']);
    for (const text of ['', 'null', '[]', '{}', '{"receipt":[],"key":"k","signature":"s"}', file.slice(0, -1)])
      expect(checkReceipt(text, [key.text])).toBeNull();
  });

  test('a receipt that does not add up is found although it is signed', () => {
    const { outcome, calculation, seals } = receipt;
    expect(codes(changed({ outcome: { ...outcome, charged: 1 } }))).toEqual(['charge-differs', 'charge-differs']);
    expect(codes(changed({ calculation: { ...calculation, exact: '1' } }))).toEqual(['calculation-differs']);
    expect(codes(changed({ usage: null, calculation: null }))).toEqual(['charge-differs']);
    expect(codes(changed({ seals: [{ ...seals[0], last: 41_000 }] }))).toEqual(['seal-wrong']);
    expect(codes(changed({ seals: [{ ...seals[0], keyId: 'other' }] }))).toEqual(['key-unknown']);
    expect(codes(changed({ seals: [] }))).toEqual(['event-outside-seal', 'event-outside-seal']);
  });
});
