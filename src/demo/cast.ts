/* Who appears in the demo: people with their API keys and what they call, and channels. */

/** When a key is used: in working hours, in the evening, by a job in the small hours, or all the time. */
export type Rhythm = 'office' | 'evening' | 'nightly' | 'steady';

/** A kind of call that a key makes. */
export interface Habit {
  readonly model: string;
  /** Of the key's calls, relative to its other habits. */
  readonly share: number;
  /** Tokens, at the median. */
  readonly prompt: number;
  readonly answer: number;
  /** How much of a prompt usually comes from a cache; 0 to 1. */
  readonly cached: number;
  /** How many of the calls are streamed; 0 to 1. */
  readonly streamed: number;
}

export interface CastKey {
  readonly name: string;
  readonly rhythm: Rhythm;
  /** Calls on an ordinary working day. */
  readonly daily: number;
  readonly habits: readonly Habit[];
}

export interface CastPerson {
  readonly username: string;
  readonly displayName: string;
  readonly group: 'default' | 'vip';
  /** Quota at the beginning. */
  readonly quota: number;
  /** Dollars that are bought whenever little is left; 0: never. */
  readonly topUp: number;
  readonly keys: readonly CastKey[];
}

export const embeddingModel = 'text-embedding-3-small';
/** Served by a channel, and nobody has said what it costs. */
const unpricedModel = 'qwen-lab-preview';
/** Asked for by somebody, and served by nobody. */
const unknownModel = 'gpt-4.5-preview';

const chat = (model: string, share: number, prompt: number, answer: number): Habit => ({
  ...{ model, share, prompt, answer },
  cached: 0.2,
  streamed: 0.6,
});

const embedding = (share: number): Habit => ({
  ...chat(embeddingModel, share, 900, 0),
  cached: 0,
  streamed: 0,
});

export const people: readonly CastPerson[] = [
  {
    ...{ username: 'alice', displayName: 'Alice', group: 'vip', quota: 5_000_000, topUp: 20 },
    keys: [
      {
        ...{ name: 'web-app', rhythm: 'office', daily: 330 },
        habits: [
          chat('gpt-4o', 4, 1_400, 320),
          chat('claude-sonnet-4-20250514', 3, 2_600, 480),
          chat('gpt-4o-mini', 3, 700, 220),
        ],
      },
      {
        ...{ name: 'nightly-report', rhythm: 'nightly', daily: 120 },
        habits: [{ ...chat('deepseek-reasoner', 3, 3_200, 900), streamed: 0 }, embedding(5)],
      },
    ],
  },
  {
    ...{ username: 'carol', displayName: 'Carol', group: 'vip', quota: 3_000_000, topUp: 10 },
    keys: [
      {
        ...{ name: 'support-bot', rhythm: 'steady', daily: 400 },
        habits: [
          { ...chat('gpt-4o-mini', 6, 2_100, 180), cached: 0.7, streamed: 0.9 },
          { ...chat('gpt-4.1-mini', 3, 2_100, 200), cached: 0.6, streamed: 0.9 },
          embedding(2),
        ],
      },
    ],
  },
  {
    ...{ username: 'bob', displayName: 'Bob', group: 'default', quota: 500_000, topUp: 5 },
    keys: [
      {
        ...{ name: 'ci', rhythm: 'office', daily: 160 },
        habits: [
          { ...chat('deepseek-chat', 5, 4_200, 420), streamed: 0.1 },
          { ...chat('gpt-4o-mini', 3, 1_800, 260), streamed: 0.1 },
        ],
      },
      {
        ...{ name: 'notebook', rhythm: 'evening', daily: 30 },
        habits: [
          chat('gpt-4o', 3, 900, 500),
          chat('deepseek-reasoner', 2, 600, 1_200),
          chat(unpricedModel, 0.25, 300, 200),
          chat(unknownModel, 0.2, 300, 200),
        ],
      },
    ],
  },
  {
    ...{ username: 'dave', displayName: 'Dave', group: 'default', quota: 400_000, topUp: 5 },
    keys: [
      {
        ...{ name: 'mobile-app', rhythm: 'evening', daily: 150 },
        habits: [
          { ...chat('gemini-2.5-flash', 6, 800, 260), streamed: 1 },
          { ...chat('gpt-4o-mini', 3, 600, 200), streamed: 1 },
        ],
      },
    ],
  },
  // Lives on codes and gifts, and runs out between them.
  {
    ...{ username: 'erin', displayName: 'Erin', group: 'default', quota: 60_000, topUp: 0 },
    keys: [
      {
        ...{ name: 'prototype', rhythm: 'evening', daily: 24 },
        habits: [chat('gpt-4o', 2, 500, 240), chat('gpt-4o-mini', 3, 500, 240)],
      },
    ],
  },
];

/** What differs from channel to channel. */
export interface CastChannel {
  readonly name: string;
  /** Provider number. */
  readonly type: number;
  readonly models: readonly string[];
  readonly priority: number;
  readonly weight: number;
  /** Requested name → the one sent. */
  readonly mapping: Readonly<Record<string, string>>;
  /** Goes out by itself when its key is refused. */
  readonly autoBan: boolean;
}

/** What the flaky channel's provider is asked for. */
export const flakyModel = 'flaky';
/** What it is called by those who ask for it. */
export const flakyModelServed = 'gpt-4o-mini';

const plain = { type: 1, priority: 0, weight: 10, mapping: {}, autoBan: false } as const;

export const channelCast: readonly CastChannel[] = [
  { ...plain, name: 'east', models: ['gpt-4o', 'gpt-4o-mini', 'gpt-4.1-mini', embeddingModel], weight: 20 },
  {
    ...plain,
    name: 'west',
    models: ['gpt-4o', 'gpt-4o-mini', 'gemini-2.5-flash', 'deepseek-chat', 'deepseek-reasoner', unpricedModel],
  },
  { ...plain, name: 'anthropic', type: 14, models: ['claude-sonnet-4-20250514'] },
  // First choice for one model, and often down: its calls show retries on the other channels.
  {
    ...plain,
    name: 'flaky',
    models: [flakyModelServed],
    priority: 10,
    mapping: { [flakyModelServed]: flakyModel },
    autoBan: true,
  },
];

/** Their server makes drawings, songs and videos. */
export const taskChannelCast: readonly CastChannel[] = [
  { ...plain, name: 'midjourney', type: 5, models: ['mj_imagine'] },
  { ...plain, name: 'suno', type: 36, models: ['suno_music', 'suno_lyrics'] },
  { ...plain, name: 'videos', models: ['sora-2'] },
];
