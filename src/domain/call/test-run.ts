import type { Decider } from '../kernel/decider.js';
import { assertNever } from '../kernel/failure.js';

/* Tests of all channels, one after the other. Stream `testruns`. */

/** What a test of all channels came to. */
export interface TestRunOutcome {
  /** Channels that were there to be tested. */
  readonly tested: number;
  /** Of them, those that did not pass. */
  readonly failed: number;
  /** Switched off because of it. */
  readonly disabled: number;
  /** Switched on again because of it. */
  readonly enabled: number;
}

export type TestRunEvent = { type: 'ChannelTestRunFinished' } & TestRunOutcome;

type TestRunCommand = { type: 'FinishTestRun'; outcome: TestRunOutcome };

/** Runs know nothing of each other. */
export const testRunDecider: Decider<null, TestRunCommand, TestRunEvent> = {
  initial: null,
  decide(command) {
    switch (command.type) {
      case 'FinishTestRun': {
        const { tested, failed, disabled, enabled } = command.outcome;
        return [{ type: 'ChannelTestRunFinished', tested, failed, disabled, enabled }];
      }
      default:
        return assertNever(command.type);
    }
  },
  evolve: (state) => state,
};
