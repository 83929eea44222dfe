import { relative } from 'node:path';
import { root } from './build.mjs';

/** A reporter of vitest's: names the tests that passed only when they were tried again, and what had failed. */
export default class SecondAttempts {
  lines = [];

  onTestCaseResult(test) {
    if (test.diagnostic()?.flaky !== true) return;
    const [first] = test.result().errors ?? [];
    const reason = first?.message.split('\n', 1)[0] ?? 'for no reason given';
    this.lines.push(`passed when tried again: ${relative(root, test.module.moduleId)}: ${test.fullName} (${reason})`);
  }

  onTestRunEnd() {
    for (const line of this.lines) console.log(line);
  }
}
