import { WakeUpSignal } from '../../concurrency/wake-up-signal.js';
import { serializeError } from '../../domain/errors/serialized-error.js';
import type { News } from './news.js';
import type { ProjectionRunner, RunnerOptions } from './runner.js';
import type { FromRunner, RunnerChannel, ToRunner } from './runner-messages.js';

/**
 * How long a change of states waits for others to be sent with it. Whoever waits for a position is notified at once.
 */
const gatherMs = 50;

/**
 * Runs the runner that `start` makes for whoever is at the other end of the channel, until it is told to stop. Never
 * rejects: what keeps it from starting is reported.
 */
export async function serveRunner(
  channel: RunnerChannel<FromRunner, ToRunner>,
  start: (parts: Required<Pick<RunnerOptions, 'news' | 'changed'>>) => Promise<ProjectionRunner>,
): Promise<void> {
  const newsBell = new WakeUpSignal();
  let latest: News | null = null;
  let runner: ProjectionRunner | null = null;
  let gathering: NodeJS.Timeout | null = null;
  const stopping = new AbortController();
  const stopped = new Promise<void>((resolve) => {
    stopping.signal.addEventListener('abort', () => resolve(), { once: true });
  });

  const sendStates = (): void => {
    if (runner !== null) channel.postMessage({ kind: 'states', states: runner.status() });
  };
  const sendGathered = (): void => {
    if (gathering === null) return;
    clearTimeout(gathering);
    gathering = null;
    sendStates();
  };
  const changed = (): void => {
    gathering ??= setTimeout(sendGathered, gatherMs);
  };
  async function* news(signal: AbortSignal): AsyncGenerator<News> {
    while (await newsBell.received(signal)) {
      const published = latest;
      latest = null;
      if (published !== null) yield published;
    }
  }
  const answer = async (id: number, waiting: Promise<boolean>): Promise<void> => {
    const reached = await waiting;
    sendGathered();
    channel.postMessage({ kind: 'answer', id, reached });
  };

  channel.on('message', (message) => {
    if (message.kind === 'stop') stopping.abort();
    else if (message.kind === 'news') {
      latest = { head: message.head, quarantined: message.quarantined || (latest?.quarantined ?? false) };
      newsBell.ring();
    } else if (runner !== null) {
      const { id, position, timeoutMs, names, hopeful } = message;
      const [name] = names ?? [];
      if (hopeful && name !== undefined) void answer(id, runner.passed(name, position, timeoutMs));
      else void answer(id, runner.reached(position, timeoutMs, names ?? undefined));
    }
  });

  try {
    runner = await start({ news, changed });
  } catch (error) {
    channel.postMessage({ kind: 'failed', error: serializeError(error) });
    // The receiver of it ends this; a channel that closes at once may lose the message.
    await stopped;
    return;
  }
  sendStates();
  void runner.caughtUp().then(
    () => {
      sendGathered();
      channel.postMessage({ kind: 'caught-up', error: null });
    },
    (error: unknown) => channel.postMessage({ kind: 'caught-up', error: serializeError(error) }),
  );
  await stopped;
  await runner.stop();
  sendGathered();
}
