import { expect, vi } from 'vitest';
import { beginning } from '../../src/domain/events/events.js';
import { readCheckpoints } from '../../src/projections/engine/checkpoints.js';
import { type News, newsOf } from '../../src/projections/engine/news.js';
import type { ProjectionRunner, RunnerOptions } from '../../src/projections/engine/runner.js';
import { startProjections } from '../../src/projections/engine/runner.js';
import { startBehindChannel } from './behind-channel.js';
import { counting } from './counting.js';
import { forEachTest, type Projected } from './projected.js';

/** What everybody may expect of a runner, in the same thread or in another one. */
export const runners: readonly (readonly [string, typeof startProjections])[] = [
  ['a runner', startProjections],
  ['a runner at the other end of a channel', startBehindChannel],
];

/** The read models of the test that runs, none of them there yet. */
export let projected: Projected;

/** For the suite of one of `runners`: each test begins with an empty log and no tables. */
export function renewedWith(startRunner: typeof startProjections): void {
  forEachTest(
    (fresh) => {
      projected = fresh;
      projected.startRunner = startRunner;
    },
    'dropped',
    'dense',
  );
}

/** Nothing happens by itself within a test, except what it is about. */
export const patient = { lingerMs: 60_000, idleCheckpointMs: 60_000, idleCheckpointEvents: 1_000_000 };
export const watchful = { pollMs: 10, retryMs: 10 };

/** How many events were in each batch a runner has committed, oldest first. */
const committed = new WeakMap<ProjectionRunner, number[]>();

export const batchesOf = (runner: ProjectionRunner): readonly number[] => committed.get(runner) ?? [];

export async function start(options: Partial<RunnerOptions> = {}): Promise<ProjectionRunner> {
  const batches: number[] = [];
  const runner = await projected.start({
    projections: [counting()],
    committed: (_model, batch) => void batches.push(batch.length),
    ...options,
  });
  committed.set(runner, batches);
  return runner;
}

export const stateOf = (runner: ProjectionRunner, name = 'counting') => {
  const state = runner.status().find((model) => model.name === name);
  if (state === undefined) throw new Error(`no state of ${name}`);
  return state;
};

export const leads = (runner: ProjectionRunner) => vi.waitFor(() => expect(stateOf(runner).leading).toBe(true), 10_000);

export const checkpointOf = async (name = 'counting') =>
  (await readCheckpoints(projected.pool)).find((checkpoint) => checkpoint.name === name);

/** News that come twice, and now and then are long past. */
export async function* stammering(signal: AbortSignal): AsyncGenerator<News> {
  for await (const news of newsOf(projected.store, signal, { broke: () => {} })) {
    yield news;
    yield { head: beginning, quarantined: true };
    yield news;
  }
}
