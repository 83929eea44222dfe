import { describe, expect, test } from 'vitest';
import {
  addModels,
  type ChannelChoice,
  type ChannelDraft,
  changesTo,
  draftOf,
  emptyDraft,
  endsInVersion,
  isOffered,
  newChannel,
  problemsOf,
  typesFor,
  withType,
} from '../../web/src/channels/channelDraft.js';
import { tagChanges, tagDraftOf, tagProblemsOf } from '../../web/src/channels/tagDraft.js';
import type { EditedChannelFragment } from '../../web/src/generated/channels/channels.js';
import { averageResponseTime, speedOf } from '../../web/src/kit/channel/responseTime.js';

const choice = (type: number, patch: Partial<ChannelChoice> = {}): ChannelChoice => ({
  type,
  name: `type ${type}`,
  colour: 'green',
  defaultBaseUrl: 'https://upstream.example',
  defaultModels: [`model-of-${type}`],
  keyHint: 'API key',
  otherHint: null,
  otherIsRegion: false,
  otherUsual: '',
  documentKey: false,
  billsOrganization: false,
  balance: false,
  listsModels: true,
  served: true,
  deprecated: false,
  ...patch,
});

const openai = choice(1, { billsOrganization: true });
const spark = choice(18, { otherUsual: 'v2.1' });
const draft = (patch: Partial<ChannelDraft> = {}): ChannelDraft => ({
  ...emptyDraft(openai),
  name: 'east',
  key: 'sk-one',
  ...patch,
});

const stored: EditedChannelFragment = {
  id: '7',
  name: 'east',
  type: 1,
  status: 'ENABLED',
  statusReason: '',
  statusTime: null,
  groups: ['default'],
  models: ['gpt-4o'],
  tag: 'far',
  priority: 3,
  weight: 5,
  responseTimeMs: 340,
  testedAt: 1_800_000_000,
  testError: null,
  balance: null,
  balanceCurrency: null,
  balanceUpdatedAt: null,
  usedQuota: 12,
  testModel: null,
  createdAt: 1_700_000_000,
  baseUrl: '',
  other: '',
  organization: null,
  maxInputTokens: 0,
  autoBan: true,
  modelMapping: null,
  statusCodeMapping: '',
  paramOverride: null,
  setting: null,
  proxy: 'http://proxy.example:8080',
};

describe('a new channel in the form', () => {
  test('begins with the models of its type', () => expect(emptyDraft(openai).models).toEqual(['model-of-1']));

  test('has no errors once name and key are present', () => expect(problemsOf(draft(), openai, null)).toEqual({}));

  test('requires name, key, a model and a group', () =>
    expect(problemsOf(draft({ name: ' ', key: '', models: [], groups: [] }), openai, null)).toEqual({
      name: 'nameOrKeyMissing',
      key: 'nameOrKeyMissing',
      models: 'modelsMissing',
      groups: 'groupsMissing',
    }));

  test('requires an address where its type has none', () =>
    expect(problemsOf(draft(), choice(8, { defaultBaseUrl: '' }), null)).toEqual({ baseUrl: 'baseUrlMissing' }));

  test.each(['ftp://a.example', 'a.example', 'http://'])('is refused with the address %s', (baseUrl) =>
    expect(problemsOf(draft({ baseUrl }), openai, null)).toEqual({ baseUrl: 'baseUrlInvalid' }),
  );

  test.each(['{host}', '{host}/v2'])('has no host for %s, while an edited one has', (baseUrl) => {
    expect(problemsOf(draft({ baseUrl }), openai, null)).toEqual({ baseUrl: 'baseUrlInvalid' });
    expect(problemsOf(draft({ baseUrl }), openai, stored)).toEqual({});
    expect(problemsOf(draft({ baseUrl: `${baseUrl}.evil`.replace('/v2.', '.') }), openai, stored)).toEqual({
      baseUrl: 'baseUrlInvalid',
    });
  });

  test.each(['[]', '{oops', '"text"', 'null'])('is refused with %s for a model mapping', (modelMapping) =>
    expect(problemsOf(draft({ modelMapping }), openai, null)).toEqual({ modelMapping: 'jsonInvalid' }),
  );

  test('accepts integer priorities from -999 and weights from 0', () => {
    expect(problemsOf(draft({ priority: '-999', weight: '0' }), openai, null)).toEqual({});
    expect(problemsOf(draft({ priority: '-1000', weight: '-1' }), openai, null)).toEqual({
      priority: 'priorityInvalid',
      weight: 'weightInvalid',
    });
    expect(problemsOf(draft({ priority: '1.5', weight: '' }), openai, null)).toEqual({
      priority: 'priorityInvalid',
      weight: 'weightInvalid',
    });
  });

  test('requires a region where its type has regions', () =>
    expect(problemsOf(draft({ type: 41 }), choice(41, { otherIsRegion: true }), null)).toEqual({
      other: 'otherMissing',
    }));

  test('offers the existing types, by name; a type that is no longer offered is last, for a channel that has it', () => {
    const [beta, alpha] = [choice(2, { name: 'Beta' }), choice(7, { name: 'alpha' })];
    const retired = choice(9, { name: 'Aged', deprecated: true });
    expect(typesFor([beta, retired, alpha], 2)).toEqual([alpha, beta]);
    expect(typesFor([beta, retired, alpha], 9)).toEqual([alpha, beta, retired]);
  });

  test('has a type that the gateway supports', () => {
    const someday = choice(14, { served: false });
    expect([openai, someday, choice(9, { deprecated: true })].filter(isOffered)).toEqual([openai]);
    expect(problemsOf(draft({ type: 14 }), someday, null)).toEqual({ type: 'typeNotServed' });
    expect(problemsOf({ ...draftOf(stored), type: 14 }, someday, stored)).toEqual({ type: 'typeNotServed' });
    // An earlier release took it: all else can be edited, and the type, too.
    expect(problemsOf({ ...draftOf(stored), type: 14 }, someday, { ...stored, type: 14 })).toEqual({});
  });

  test('is sent without the slash at the end of its address', () =>
    expect(newChannel(draft({ baseUrl: ' https://a.example// ' }), openai).baseUrl).toBe('https://a.example'));

  test('requires a confirmation when its address ends in /v1', () => {
    expect(endsInVersion('https://a.example/v1/')).toBe(true);
    expect(endsInVersion('https://a.example/v10')).toBe(false);
  });

  test('has the default interface version where it was left open', () =>
    expect(newChannel(draft({ type: 18 }), spark).other).toBe('v2.1'));

  test('has no organization where its type has none', () => {
    expect(newChannel(draft({ organization: 'org-1' }), openai).organization).toBe('org-1');
    expect(newChannel(draft({ type: 18, organization: 'org-1' }), spark).organization).toBeNull();
  });
});

describe('another type in the form', () => {
  test('brings its models along while none were chosen', () =>
    expect(withType(emptyDraft(openai), spark, openai).models).toEqual(['model-of-18']));

  test('leaves chosen models', () =>
    expect(withType(draft({ models: ['mine'] }), spark, openai).models).toEqual(['mine']));
});

describe('models typed or pasted', () => {
  test('are separated by commas, Chinese ones too, and by lines', () =>
    expect(addModels(['a'], ['b, c，d\ne', ' '])).toEqual({ models: ['a', 'b', 'c', 'd', 'e'], repeated: false }));

  test('are added once, and duplicates are reported', () =>
    expect(addModels(['a'], ['a,b,b'])).toEqual({ models: ['a', 'b'], repeated: true }));
});

describe('an edit of a channel', () => {
  const choices = [openai, spark];

  test('sends nothing without a change', () => expect(changesTo(stored, draftOf(stored), choices)).toEqual({}));

  test('sends only changes', () =>
    expect(changesTo(stored, { ...draftOf(stored), weight: '6', tag: '' }, choices)).toEqual({ weight: 6, tag: null }));

  test('sends a key only if one was typed', () =>
    expect(changesTo(stored, { ...draftOf(stored), key: ' sk-two ' }, choices)).toEqual({ key: 'sk-two' }));

  test('removes the proxy when the field was emptied', () =>
    expect(changesTo(stored, { ...draftOf(stored), proxy: '' }, choices)).toEqual({ proxy: '' }));

  test('requires no key', () => expect(problemsOf(draftOf(stored), openai, stored)).toEqual({}));
});

describe('an edit of a tag', () => {
  const other = { ...stored, id: '8', models: ['gpt-4o', 'o4-mini'], groups: ['vip'] };
  const before = tagDraftOf('far', [stored, other]);

  test('begins with all models and groups of its channels', () =>
    expect([before.models, before.groups]).toEqual([
      ['gpt-4o', 'o4-mini'],
      ['default', 'vip'],
    ]));

  test('changes nothing where no field was changed', () => expect(tagChanges(before, before)).toEqual({}));

  test('sends changes; an empty tag removes the tag', () =>
    expect(tagChanges(before, { ...before, tag: ' ', priority: '4' })).toEqual({ tag: null, priority: 4 }));

  test('is validated by the rules of a channel', () =>
    expect(tagProblemsOf({ ...before, models: [], weight: '-1', modelMapping: '[]' })).toEqual({
      models: 'modelsMissing',
      weight: 'weightInvalid',
      modelMapping: 'jsonInvalid',
    }));
});

describe('the response time badge', () => {
  test.each([
    [0, 'untested'],
    [1, 'fast'],
    [1_000, 'fast'],
    [1_001, 'good'],
    [3_000, 'good'],
    [5_000, 'slow'],
    [5_001, 'very-slow'],
  ] as const)('for %i ms is %s', (milliseconds, speed) => expect(speedOf(milliseconds)).toBe(speed));

  test('of a tag is the mean of the channels that passed a test', () => {
    expect(averageResponseTime([{ responseTimeMs: 0 }, { responseTimeMs: 100 }, { responseTimeMs: 301 }])).toBe(201);
    expect(averageResponseTime([{ responseTimeMs: 0 }])).toBe(0);
  });
});
