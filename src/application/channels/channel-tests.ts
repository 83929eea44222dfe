import { type TestRunOutcome, testRunDecider } from '../../domain/call/test-run.js';
import { channelDecider } from '../../domain/channel/channel.js';
import { checkModel } from '../../domain/channel/channel-settings.js';
import { type Position, streams } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { ChannelId } from '../../domain/kernel/ids.js';
import type { Actor } from '../../domain/user/user.js';
import { authorise } from '../authorise.js';
import type { Handle } from '../handle.js';
import { inParallel } from '../in-parallel.js';
import type { Settings } from '../options/settings.js';
import type { ChannelView, Directory } from '../ports/storage-ports.js';
import type { ChannelProbe, ProbeResult } from '../ports/upstream-ports.js';

/* Small requests that show whether channels work: of one channel, and of all of them in the background. */

interface ChannelTestPorts {
  readonly handle: Handle;
  readonly directory: Directory;
  readonly probe: ChannelProbe;
  /** What its operator should know of. */
  readonly warn: (facts: object, message: string) => void;
}

interface ChannelTestResult {
  readonly ok: boolean;
  readonly message: string;
  readonly seconds: number;
  readonly position: Position;
}

/** How far this node's last test of all channels has come; `running` is false and all is 0 before the first. */
export interface ChannelTestRun extends TestRunOutcome {
  /** Which one it is, from 1 since the node began; 0: there was none. */
  readonly number: number;
  readonly running: boolean;
  /** Channels to be tested. */
  readonly total: number;
  /** Channels that have been looked at, those included that were removed meanwhile. */
  readonly done: number;
}

const noRun: ChannelTestRun = {
  ...{ number: 0, running: false, total: 0, done: 0 },
  ...{ tested: 0, failed: 0, disabled: 0, enabled: 0 },
};

/** Why a channel is to go out after its test; null: it is not. */
function reasonToDisable({ outOfOrder, responseTimeMs }: ProbeResult, settings: Settings): string | null {
  if (outOfOrder !== null && settings.autoDisable.enabled) return outOfOrder;
  const longest = settings.number('ChannelDisableThreshold');
  const seconds = responseTimeMs / 1000;
  return longest > 0 && seconds > longest ? `响应时间 ${seconds.toFixed(2)}s 超过阈值 ${longest.toFixed(2)}s` : null;
}

export function channelTests({ handle, directory, probe, warn }: ChannelTestPorts) {
  let run = noRun;
  let isStopping = false;

  const viewOf = (id: ChannelId) => {
    const channel = directory.channel(id);
    if (channel === null) throw new Failure('channel-not-found');
    return channel;
  };

  const record = async (id: ChannelId, { ok, message, responseTimeMs, usage }: ProbeResult): Promise<Position> => {
    const { position } = await handle(channelDecider, streams.channel(id), {
      type: 'RecordChannelTest',
      ok,
      responseTimeMs,
      error: ok ? null : message,
      usage,
    });
    return position;
  };

  /** Switches the channel as its test asks for. Who does it first, wins: the stream knows whether it still is to be done. */
  const switchAfter = async (
    { id, secrets: { key } }: ChannelView,
    result: ProbeResult,
  ): Promise<Partial<TestRunOutcome>> => {
    const reason = reasonToDisable(result, directory.settings());
    if (reason !== null) {
      if (!viewOf(id).settings.autoBan) return {};
      const order = { type: 'DisableChannel', automatic: true, key, reason } as const;
      return { disabled: (await handle(channelDecider, streams.channel(id), order)).events.length };
    }
    if (!result.ok || !directory.settings().flag('AutomaticEnableChannelEnabled')) return {};
    const order = { type: 'EnableChannel', automatic: true, key } as const;
    return { enabled: (await handle(channelDecider, streams.channel(id), order)).events.length };
  };

  const count = ({ tested = 0, failed = 0, disabled = 0, enabled = 0 }: Partial<TestRunOutcome>): void => {
    run = {
      ...run,
      done: run.done + 1,
      tested: run.tested + tested,
      failed: run.failed + failed,
      disabled: run.disabled + disabled,
      enabled: run.enabled + enabled,
    };
  };

  /** Never throws: one channel that cannot be tested does not end the run. */
  const testInRun = async (id: ChannelId): Promise<void> => {
    if (isStopping) return;
    let outcome: Partial<TestRunOutcome> = { tested: 1, failed: 1 };
    try {
      const channel = viewOf(id);
      const result = await probe.test(channel, '');
      // Connections have been cut by then: what came of it says nothing of the channel.
      if (isStopping) return;
      await record(id, result);
      outcome = { tested: 1, failed: result.ok ? 0 : 1 };
      outcome = { ...outcome, ...(await switchAfter(channel, result)) };
    } catch (error) {
      if (isStopping) return;
      if (error instanceof Failure && error.code === 'channel-not-found') outcome = {};
      else
        warn(
          { channel: id, ...(error instanceof Failure ? { code: error.code } : { err: error }) },
          'the test of a channel, or what follows from it, failed',
        );
    }
    count(outcome);
  };

  const runOver = async (ids: readonly ChannelId[], isOrdered: boolean): Promise<void> => {
    await inParallel(ids, testInRun);
    if (isStopping || !isOrdered) return;
    const { tested, failed, disabled, enabled } = run;
    const outcome = { tested, failed, disabled, enabled };
    await handle(testRunDecider, streams.testRuns, { type: 'FinishTestRun', outcome });
  };

  /** `isOrdered`: somebody waits for its end, and root is told of it. */
  const begin = (isOrdered: boolean): ChannelTestRun => {
    const ids = directory.channels().map(({ id }) => id);
    run = { ...noRun, number: run.number + 1, running: true, total: ids.length };
    void runOver(ids, isOrdered)
      .catch((error: unknown) => warn({ err: error }, 'the end of a test of all channels could not be recorded'))
      .finally(() => {
        run = { ...run, running: false };
      });
    return run;
  };

  return {
    /**
     * Sends one small request; `model` '' lets the channel choose. Never throws for a failing upstream, yet
     * `price-missing` where there was nothing to send.
     */
    async test(actor: Actor, id: ChannelId, model: string): Promise<ChannelTestResult> {
      authorise(actor, 'admin');
      checkModel('model', model);
      const result = await probe.test(viewOf(id), model);
      const { ok, message, responseTimeMs } = result;
      return { ok, message, seconds: responseTimeMs / 1000, position: await record(id, result) };
    },

    /**
     * Begins to test all channels, whatever their status, and does not wait for it. Channels that are too slow or out of
     * order go out, and those that were switched off automatically come back, as the options say. Throws
     * `test-run-under-way`.
     */
    testAll(actor: Actor): ChannelTestRun {
      authorise(actor, 'admin');
      if (run.running) throw new Failure('test-run-under-way');
      return begin(true);
    },

    /** The same by the clock. Nothing where one is under way; nobody is told when it is over. */
    testAllByTheClock(): void {
      if (!run.running && !isStopping) begin(false);
    },

    testRun(viewer: Actor): ChannelTestRun {
      authorise(viewer, 'admin');
      return run;
    },

    /** Nothing more is begun or recorded: the node stops. */
    stopTesting(): void {
      isStopping = true;
    },
  };
}
