import { type TestRunOutcome, testRunDecider } from '../../domain/call/test-run.js';
import { channelDecider } from '../../domain/channel/channel.js';
import { streams } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { ChannelId } from '../../domain/kernel/ids.js';
import { inParallel } from '../in-parallel.js';
import type { Settings } from '../options/settings.js';
import type { ChannelView } from '../ports/storage-ports.js';
import type { ProbeResult } from '../ports/upstream-ports.js';
import { type ChannelTestPorts, channelToTest, recordChannelTest } from './test-channel.js';

/* The test of all channels, in the background of this node. */

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
  const maxSeconds = settings.number('ChannelDisableThreshold');
  const seconds = responseTimeMs / 1000;
  return maxSeconds > 0 && seconds > maxSeconds
    ? `响应时间 ${seconds.toFixed(2)}s 超过阈值 ${maxSeconds.toFixed(2)}s`
    : null;
}

/** Switches the channel as its test asks for. Who does it first, wins: the stream knows whether it still is to be done. */
async function switchAfterTest(
  ports: ChannelTestPorts,
  { id, secrets: { key } }: ChannelView,
  result: ProbeResult,
): Promise<Partial<TestRunOutcome>> {
  const { handle, directory } = ports;
  const reason = reasonToDisable(result, directory.settings());
  if (reason !== null) {
    if (!channelToTest(ports, id).settings.autoBan) return {};
    const order = { type: 'DisableChannel', automatic: true, key, reason } as const;
    return { disabled: (await handle(channelDecider, streams.channel(id), order)).events.length };
  }
  if (!result.ok || !directory.settings().flag('AutomaticEnableChannelEnabled')) return {};
  const order = { type: 'EnableChannel', automatic: true, key } as const;
  return { enabled: (await handle(channelDecider, streams.channel(id), order)).events.length };
}

export class ChannelTestRuns {
  private run = noRun;
  private isStopping = false;

  constructor(private readonly ports: ChannelTestPorts) {}

  get last(): ChannelTestRun {
    return this.run;
  }

  /** `isOrdered`: somebody waits for its end, and root is notified of it. Does not wait. Throws `test-run-under-way`. */
  begin(isOrdered: boolean): ChannelTestRun {
    if (this.run.running) throw new Failure('test-run-under-way');
    const ids = this.ports.directory.channels().map(({ id }) => id);
    this.run = { ...noRun, number: this.run.number + 1, running: true, total: ids.length };
    void this.testAll(ids, isOrdered)
      .catch((error: unknown) =>
        this.ports.warn({ err: error }, 'the end of a test of all channels could not be recorded'),
      )
      .finally(() => {
        this.run = { ...this.run, running: false };
      });
    return this.run;
  }

  /** The same by the clock. Nothing where one is under way; nobody is notified when it is over. */
  beginByTheClock(): void {
    if (!this.run.running && !this.isStopping) this.begin(false);
  }

  /** Nothing more is begun or recorded: the node stops. */
  stop(): void {
    this.isStopping = true;
  }

  private async testAll(ids: readonly ChannelId[], isOrdered: boolean): Promise<void> {
    await inParallel(ids, (id) => this.testOne(id));
    if (this.isStopping || !isOrdered) return;
    const { tested, failed, disabled, enabled } = this.run;
    const outcome = { tested, failed, disabled, enabled };
    await this.ports.handle(testRunDecider, streams.testRuns, { type: 'FinishTestRun', outcome });
  }

  /** Never throws: one channel that cannot be tested does not end the run. */
  private async testOne(id: ChannelId): Promise<void> {
    if (this.isStopping) return;
    const { ports } = this;
    let outcome: Partial<TestRunOutcome> = { tested: 1, failed: 1 };
    try {
      const channel = channelToTest(ports, id);
      const result = await ports.probe.test(channel, '');
      // Connections have been cut by then: what came of it says nothing of the channel.
      if (this.isStopping) return;
      await recordChannelTest(ports, id, result);
      outcome = { tested: 1, failed: result.ok ? 0 : 1 };
      outcome = { ...outcome, ...(await switchAfterTest(ports, channel, result)) };
    } catch (error) {
      if (this.isStopping) return;
      if (error instanceof Failure && error.code === 'channel-not-found') outcome = {};
      else
        ports.warn(
          { channel: id, ...(error instanceof Failure ? { code: error.code } : { err: error }) },
          'the test of a channel, or what follows from it, failed',
        );
    }
    this.count(outcome);
  }

  private count({ tested = 0, failed = 0, disabled = 0, enabled = 0 }: Partial<TestRunOutcome>): void {
    const { run } = this;
    this.run = {
      ...run,
      done: run.done + 1,
      tested: run.tested + tested,
      failed: run.failed + failed,
      disabled: run.disabled + disabled,
      enabled: run.enabled + enabled,
    };
  }
}
