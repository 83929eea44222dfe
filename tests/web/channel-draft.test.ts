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

describe('a new channel', () => {
  test('begins with the models of its type', () => expect(emptyDraft(openai).models).toEqual(['model-of-1']));

  test('has nothing to correct once name and key are there', () =>
    expect(problemsOf(draft(), openai, null)).toEqual({}));

  test('needs name, key, a model and a group', () =>
    expect(problemsOf(draft({ name: ' ', key: '', models: [], groups: [] }), openai, null)).toEqual({
      name: 'nameOrKeyMissing',
      key: 'nameOrKeyMissing',
      models: 'modelsMissing',
      groups: 'groupsMissing',
    }));

  test('needs an address where its type has none', () =>
    expect(problemsOf(draft(), choice(8, { defaultBaseUrl: '' }), null)).toEqual({ baseUrl: 'baseUrlMissing' }));

  test.each(['ftp://a.example', 'a.example', 'http://'])('is not sent with the address %s', (baseUrl) =>
    expect(problemsOf(draft({ baseUrl }), openai, null)).toEqual({ baseUrl: 'baseUrlInvalid' }),
  );

  test.each(['{host}', '{host}/v2'])('has no host that %s could stand for; one that is edited has', (baseUrl) => {
    expect(problemsOf(draft({ baseUrl }), openai, null)).toEqual({ baseUrl: 'baseUrlInvalid' });
    expect(problemsOf(draft({ baseUrl }), openai, stored)).toEqual({});
    expect(problemsOf(draft({ baseUrl: `${baseUrl}.evil`.replace('/v2.', '.') }), openai, stored)).toEqual({
      baseUrl: 'baseUrlInvalid',
    });
  });

  test.each(['[]', '{oops', '"text"', 'null'])('is not sent with %s for a model mapping', (modelMapping) =>
    expect(problemsOf(draft({ modelMapping }), openai, null)).toEqual({ modelMapping: 'jsonInvalid' }),
  );

  test('takes priorities from -999 and weights from 0, both whole', () => {
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

  test('needs a region where its type has regions', () =>
    expect(problemsOf(draft({ type: 41 }), choice(41, { otherIsRegion: true }), null)).toEqual({
      other: 'otherMissing',
    }));

  test('chooses among the types there are, by name; one that is not offered any more stands last, for who has it', () => {
    const [beta, alpha] = [choice(2, { name: 'Beta' }), choice(7, { name: 'alpha' })];
    const retired = choice(9, { name: 'Aged', deprecated: true });
    expect(typesFor([beta, retired, alpha], 2)).toEqual([alpha, beta]);
    expect(typesFor([beta, retired, alpha], 9)).toEqual([alpha, beta, retired]);
  });

  test('is of a type the gateway can speak with', () => {
    const someday = choice(14, { served: false });
    expect([openai, someday, choice(9, { deprecated: true })].filter(isOffered)).toEqual([openai]);
    expect(problemsOf(draft({ type: 14 }), someday, null)).toEqual({ type: 'typeNotServed' });
    expect(problemsOf({ ...draftOf(stored), type: 14 }, someday, stored)).toEqual({ type: 'typeNotServed' });
    // An earlier release took it: all else can be edited, and the type, too.
    expect(problemsOf({ ...draftOf(stored), type: 14 }, someday, { ...stored, type: 14 })).toEqual({});
  });

  test('is sent without the slash at the end of its address', () =>
    expect(newChannel(draft({ baseUrl: ' https://a.example// ' }), openai).baseUrl).toBe('https://a.example'));

  test('is asked about when its address ends in /v1', () => {
    expect(endsInVersion('https://a.example/v1/')).toBe(true);
    expect(endsInVersion('https://a.example/v10')).toBe(false);
  });

  test('has the usual interface version where it was left open', () =>
    expect(newChannel(draft({ type: 18 }), spark).other).toBe('v2.1'));

  test('says nothing of an organization where its type has none', () => {
    expect(newChannel(draft({ organization: 'org-1' }), openai).organization).toBe('org-1');
    expect(newChannel(draft({ type: 18, organization: 'org-1' }), spark).organization).toBeNull();
  });
});

describe('another type', () => {
  test('brings its models along while nobody chose any', () =>
    expect(withType(emptyDraft(openai), spark, openai).models).toEqual(['model-of-18']));

  test('leaves the models somebody chose', () =>
    expect(withType(draft({ models: ['mine'] }), spark, openai).models).toEqual(['mine']));
});

describe('models typed or pasted', () => {
  test('are separated by commas, Chinese ones too, and by lines', () =>
    expect(addModels(['a'], ['b, c，d\ne', ' '])).toEqual({ models: ['a', 'b', 'c', 'd', 'e'], repeated: false }));

  test('are added once, and who repeats one is told', () =>
    expect(addModels(['a'], ['a,b,b'])).toEqual({ models: ['a', 'b'], repeated: true }));
});

describe('an edit', () => {
  const choices = [openai, spark];

  test('sends nothing when nothing was changed', () => expect(changesTo(stored, draftOf(stored), choices)).toEqual({}));

  test('sends only what was changed', () =>
    expect(changesTo(stored, { ...draftOf(stored), weight: '6', tag: '' }, choices)).toEqual({ weight: 6, tag: null }));

  test('sends a key only where one was typed', () =>
    expect(changesTo(stored, { ...draftOf(stored), key: ' sk-two ' }, choices)).toEqual({ key: 'sk-two' }));

  test('takes the proxy away when the field was emptied', () =>
    expect(changesTo(stored, { ...draftOf(stored), proxy: '' }, choices)).toEqual({ proxy: '' }));

  test('needs no key', () => expect(problemsOf(draftOf(stored), openai, stored)).toEqual({}));
});

describe('an edit of a tag', () => {
  const other = { ...stored, id: '8', models: ['gpt-4o', 'o4-mini'], groups: ['vip'] };
  const before = tagDraftOf('far', [stored, other]);

  test('begins with all models and groups of its channels', () =>
    expect([before.models, before.groups]).toEqual([
      ['gpt-4o', 'o4-mini'],
      ['default', 'vip'],
    ]));

  test('changes nothing where nothing was touched', () => expect(tagChanges(before, before)).toEqual({}));

  test('sends what was changed; an empty tag takes the tag off', () =>
    expect(tagChanges(before, { ...before, tag: ' ', priority: '4' })).toEqual({ tag: null, priority: 4 }));

  test('is judged by the rules of a channel', () =>
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
  ] as const)('%i ms is %s', (milliseconds, speed) => expect(speedOf(milliseconds)).toBe(speed));

  test('of a tag is the mean of the channels that passed a test', () => {
    expect(averageResponseTime([{ responseTimeMs: 0 }, { responseTimeMs: 100 }, { responseTimeMs: 301 }])).toBe(201);
    expect(averageResponseTime([{ responseTimeMs: 0 }])).toBe(0);
  });
});
