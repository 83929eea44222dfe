import type { Decider } from '../kernel/decider.js';
import { assertNever, Failure } from '../kernel/failure.js';
import type { SecretId, UserId } from '../kernel/ids.js';

/* First run, once. Stream `system`. */

export type UsageMode = 'external' | 'self' | 'demo';

/**
 * Carries all that is needed to finish: a node that dies right after it leaves a system whose root user the next
 * start registers (application/sign-in/setup.ts).
 */
export type SetupEvent = {
  type: 'SetupCompleted';
  rootUserId: UserId;
  username: string;
  passwordSecret: SecretId;
  mode: UsageMode;
};

type SetupCommand = {
  type: 'CompleteSetup';
  rootUserId: UserId;
  username: string;
  passwordSecret: SecretId;
  mode: UsageMode;
};

type Setup = { done: boolean };

export const setupDecider: Decider<Setup, SetupCommand, SetupEvent> = {
  initial: { done: false },
  decide(command, setup) {
    switch (command.type) {
      case 'CompleteSetup': {
        if (setup.done) throw new Failure('already-set-up');
        const { rootUserId, username, passwordSecret, mode } = command;
        return [{ type: 'SetupCompleted', rootUserId, username, passwordSecret, mode }];
      }
      default:
        return assertNever(command.type);
    }
  },
  evolve(_, event) {
    switch (event.type) {
      case 'SetupCompleted':
        return { done: true };
      default:
        return assertNever(event.type);
    }
  },
};
