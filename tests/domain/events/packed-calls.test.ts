import { describe, expect, test } from 'vitest';
import type { CallEvent, CallSettled } from '../../../src/domain/call/call.js';
import { currentPayloads } from '../../../src/domain/events/upcast.js';
import { ChannelId, TaskId } from '../../../src/domain/kernel/ids.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import { tokenQuantities } from '../../../src/domain/pricing/quantities.js';
import { released, reserved, settled } from '../../support/given/calls.js';

/* The events of calls as they stand in the log. */

/** As the log's text, and read from there. */
const written = (event: CallEvent): string => JSON.stringify(currentPayloads.stored(event));
const read = (type: CallEvent['type'], text: string) =>
  currentPayloads.upcast(type, currentPayloads.current(type), JSON.parse(text));

const plain = settled({ quota: 90, charged: 15 });
const each = Object.fromEntries(tokenQuantities.map((name, index) => [name, index + 1]));
const ratios = Object.fromEntries(tokenQuantities.map((name, index) => [name, `${index}.5`]));
const everythingSaid: CallSettled = {
  ...plain,
  usage: { ...each, images: 2, seconds: 3, 'calls:web_search': 4 },
  price: {
    per: 'token',
    model: '0.075',
    ratios,
    pieces: { dollars: { images: '0.04', 'calls:web_search': '0.01' }, quotaPerUnit: '500000' },
    group: '1.5',
  },
  usageSource: 'disbelieved',
  outcome: 'gateway-failed',
  attempts: [ChannelId(4), ChannelId(3)],
  upstreamModel: 'gpt-4o-2024-08-06',
  useTimeMs: 12.25,
  firstTokenMs: 0,
  reasoningEffort: 'high',
  uncovered: Quota(7),
  suspense: Quota(8),
};

const kept = [
  { kind: 'response', id: 'resp_1' },
  { kind: 'conversation', id: 'conv_1' },
] as const;
const task = { id: TaskId(41), platform: 'midjourney', action: 'IMAGINE', publicId: '1746000000000001' } as const;
const failedAttempts = [
  { channelId: ChannelId(4), status: 429, code: 'rate_limit_exceeded', durationMs: 180 },
  { channelId: ChannelId(5), status: null, code: null, durationMs: 0 },
];

describe('a packed event of a call is unpacked as it was written', () => {
  test.each<[string, CallEvent]>([
    ['a reservation', reserved({ quota: 90 })],
    ['a reservation without an API key', reserved({ quota: 90, apiKeyId: null })],
    ['a reservation of characters', { ...reserved({ quota: 90 }), pieces: { characters: 12 } }],
    ['a reservation with a limit', { ...reserved({ quota: 90 }), maxOutputTokens: 50 }],
    ['a settlement', plain],
    ['a settlement without any default value', everythingSaid],
    ['a settlement with all defaults but its last member', { ...plain, suspense: Quota(8) }],
    ['a settlement with an immediate first token', { ...plain, firstTokenMs: 0 }],
    ['a settlement of a streamed call', { ...plain, facts: { ...plain.facts, stream: true }, firstTokenMs: 31 }],
    [
      'a settlement priced per call',
      { ...plain, price: { per: 'call', price: '0.1', quotaPerUnit: '500000', group: '1' } },
    ],
    ['a settlement after failed attempts', { ...plain, failedAttempts }],
    ['a settlement whose upstream keeps something', { ...plain, kept }],
    ['a settlement of a call that has submitted a task', { ...plain, task }],
    ['the same where something is kept', { ...plain, kept, task }],
    ['a settlement whose upstream says what it charges', { ...plain, upstreamCost: '0.000123' }],
    ['the same of a call that has submitted a task', { ...plain, task, upstreamCost: '0.000123' }],
    ['the same after failed attempts', { ...plain, failedAttempts, kept }],
    ['a settlement with what was not believed', { ...plain, claimed: { input: 9e15, 'calls:web_search': 400 } }],
    ['the same whose upstream says what it charges', { ...plain, upstreamCost: '0.000123', claimed: { output: 1 } }],
    ['a settlement whose upstream names its answer', { ...plain, answerId: 'chatcmpl-1' }],
    ['the same with what was not believed', { ...plain, claimed: { output: 1 }, answerId: 'chatcmpl-1' }],
    ['a release', released({ quota: 90 })],
    ['a release with failed attempts', { ...released({ quota: 90 }), failedAttempts }],
    ['a release after attempts that may have cost something', { ...released({ quota: 90 }), suspense: Quota(90) }],
  ])('%s', (_, event) => {
    expect(read(event.type, written(event))).toStrictEqual(event);
  });

  test.each(['upstream', 'estimated', 'disbelieved', 'none'] as const)('for counts that are %s', (usageSource) => {
    expect(read('CallSettled', written({ ...plain, usageSource }))).toMatchObject({ usageSource });
  });

  test.each([
    'completed',
    'caller-left',
    'caller-stalled',
    'upstream-broke',
    'quota-ran-out',
    'gateway-failed',
  ] as const)('for the outcome %s', (outcome) => {
    expect(read('CallSettled', written({ ...plain, outcome }))).toMatchObject({ outcome });
  });
});

// What these texts say stands in logs: a change that breaks them makes logs unreadable.
describe('a packed event keeps its meaning', () => {
  test('for a reservation', () => {
    const text = '[[7,12,"ci","default","gpt-4o","/v1/chat/completions",0],90,90,null,["1",{},"1"]]';
    expect(written(reserved({ quota: 90 }))).toBe(text);
  });

  test('for a settlement, with all members', () => {
    const text =
      '[[7,12,"ci","default","gpt-4o","/v1/chat/completions",0],90,15,' +
      '{"i":1,"c":2,"w":3,"h":4,"m":5,"a":6,"o":7,"r":8,"n":9,"s":10,"videoInput":11,"videoOutput":12,"cachedAudioInput":13,"images":2,"seconds":3,"calls:web_search":4},2,' +
      '["0.075",{"i":"0.5","c":"1.5","w":"2.5","h":"3.5","m":"4.5","a":"5.5","o":"6.5","r":"7.5","n":"8.5","s":"9.5",' +
      '"videoInput":"10.5","videoOutput":"11.5","cachedAudioInput":"12.5"},' +
      '"1.5",{"dollars":{"images":"0.04","calls:web_search":"0.01"},"quotaPerUnit":"500000"}],5,3,[4,3],12.25,0,' +
      '"gpt-4o-2024-08-06","high",7,8]';
    expect(written(everythingSaid)).toBe(text);
    expect(read('CallSettled', text)).toEqual(everythingSaid);
  });

  test('for failed attempts in a release', () => {
    const text =
      '[[7,12,"ci","default","gpt-4o","/v1/chat/completions",0],90,"upstream-failed",502,"upstream_error",[3],1000,0,' +
      '[[4,429,"rate_limit_exceeded",180],[5,null,null,0]]]';
    expect(written({ ...released({ quota: 90 }), failedAttempts })).toBe(text);
  });

  test('for an event with names, as earlier releases and the newest version may have it', () => {
    const { type, ...named } = everythingSaid;
    for (const version of [4, 5]) expect(currentPayloads.upcast(type, version, named)).toEqual(everythingSaid);
  });
});

describe('an invalid packed event is refused', () => {
  test.each<[string, CallEvent['type'], string]>([
    ['an outcome without a name', 'CallSettled', written({ ...plain }).replace(/\],0,3,/, '],9,3,')],
    ['an array for a type that has names', 'CallRefunded', '[1,2]'],
    ['an empty array', 'CallReserved', '[]'],
  ])('%s', (_, type, text) => {
    expect(() => read(type, text)).toThrow(`The event ${type} cannot be read`);
  });
});
