import { describe, test } from 'vitest';
import { SecretId, UserId } from '../../../src/domain/kernel/ids.js';
import { type SetupEvent, setupDecider } from '../../../src/domain/user/setup.js';
import { scenariosOf } from '../../support/given/given.js';

const given = scenariosOf(setupDecider);
const completed: SetupEvent = {
  type: 'SetupCompleted',
  rootUserId: UserId(1),
  username: 'root',
  passwordSecret: SecretId('password-1'),
  mode: 'self',
};

describe('the first set-up', () => {
  test('records all that is required to complete it', () =>
    given()
      .when({ ...completed, type: 'CompleteSetup' })
      .thenRecorded(completed));
  test('succeeds once, for any requester', () =>
    given(completed)
      .when({ ...completed, type: 'CompleteSetup', rootUserId: UserId(2), username: 'other' })
      .thenRefused('already-set-up'));
  test('is recorded as done from then on', () => {
    given().thenState({ done: false });
    given(completed).thenState({ done: true });
  });
});
