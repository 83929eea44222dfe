import { test } from 'vitest';
import { testRunDecider } from '../../../src/domain/call/test-run.js';
import { scenariosOf } from '../../support/given/given.js';

const given = scenariosOf(testRunDecider);
const outcome = { tested: 3, failed: 1, disabled: 1, enabled: 0 };

test('every completed test of all channels is recorded, whatever happened before', () => {
  const finished = { type: 'ChannelTestRunFinished', ...outcome } as const;
  given().when({ type: 'FinishTestRun', outcome }).thenRecorded(finished);
  given(finished).when({ type: 'FinishTestRun', outcome }).thenRecorded(finished);
});
