import type { Application } from '../application/application.js';
import { atIntervals } from '../concurrency/at-intervals.js';
import { flakyModel, flakyModelServed, people } from './cast.js';
import { around, drawn } from './random.js';
import type { Behaviour, SimulatedAnswer } from './simulated-behaviour.js';
import type { SimulatedProvider } from './simulated-provider.js';
import { type CallTokens, tokensOf } from './tokens.js';

/*
 * What goes wrong while the demo runs: calls fail now and then, and from time to time the flaky channel's key is refused,
 * so that it goes out by itself; a test, which it passes again by then, brings it back.
 */

interface UnrestOptions {
  readonly provider: Pick<SimulatedProvider, 'script'>;
  readonly app: Pick<Application, 'byTheClock' | 'directory'>;
}

/** How long the flaky channel's key is accepted, and for how long it is refused. */
const acceptedMs = 100_000;
const refusedMs = 40_000;
const lookEveryMs = 5_000;
/** Behaviours made at once for a model: more calls than it gets until the next are made. */
const planned = 200;

const refusal = (status: number, code: string, message: string): Behaviour => ({
  kind: 'refuse',
  status,
  body: { error: { message, type: code, param: null, code } },
});

const faults: readonly Behaviour[] = [
  refusal(429, 'rate_limit_exceeded', 'Rate limit reached for requests'),
  refusal(500, 'server_error', 'The server had an error while processing your request'),
  refusal(503, 'overloaded', 'The engine is overloaded'),
  refusal(400, 'content_filter', 'The response was filtered'),
  { kind: 'reset' },
];

const keyRefused = refusal(401, 'invalid_api_key', 'Incorrect API key provided by the deployment');

const habits = people.flatMap(({ keys }) => keys.flatMap((key) => key.habits));

/** A gateway believes no provider that reports more than a question as short as these can have taken. */
const maxPromptLength = 1_000;

/** Of one call of a model. */
function tokensFor(model: string): CallTokens {
  const habit = drawn(
    habits.filter((other) => other.model === model),
    Math.random,
  );
  const { prompt, cached, ...counts } = tokensOf(habit, Math.random);
  return {
    ...counts,
    prompt: Math.min(prompt, maxPromptLength),
    cached: Math.min(cached, maxPromptLength / 2, prompt),
  };
}

/** No two answers take the same time, or use as much. */
const answered = (model: string): SimulatedAnswer => ({
  tokens: tokensFor(model),
  firstByteDelayMs: around(420, 0.4, Math.random),
  chunkDelayMs: around(250, 0.5, Math.random),
});

/** For calls of a model. `failing`: how many of them go wrong; 0 to 1. */
const plan = (model: string, failing: number): Behaviour[] =>
  Array.from(
    { length: planned },
    () => (Math.random() < failing ? faults[Math.floor(Math.random() * faults.length)] : null) ?? answered(model),
  );

const models = [...new Set(habits.map(({ model }) => model))];

/** The result ends it. */
export function startUnrest({ provider, app }: UnrestOptions): () => Promise<void> {
  let isRefused = false;
  let since = Date.now();
  const isOut = () => app.directory.channels().some(({ status }) => status === 'auto-disabled');
  const script = (): void => {
    for (const model of models) provider.script(model, plan(model, 0.03));
    provider.script(flakyModel, isRefused ? keyRefused : plan(flakyModelServed, 0.2));
  };
  script();
  return atIntervals(lookEveryMs, async () => {
    if (Date.now() - since >= (isRefused ? refusedMs : acceptedMs)) {
      isRefused = !isRefused;
      since = Date.now();
      script();
    }
    // Until it has passed one: a test fails as calls do, now and then.
    if (!isRefused && isOut()) app.byTheClock.testAll();
  });
}
