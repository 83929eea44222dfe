import { describe, test } from 'vitest';
import { UserId } from '../../src/domain/ids.js';
import { type UsernameEvent, usernameDecider } from '../../src/domain/user.js';
import { scenariosOf } from '../support/given.js';

const given = scenariosOf(usernameDecider);
const alice = UserId(7);
const bob = UserId(8);
const claimedBy = (userId: UserId): UsernameEvent => ({ type: 'UsernameClaimed', userId });
const released: UsernameEvent = { type: 'UsernameReleased' };

describe('claiming a name', () => {
  test('takes a free one, once', () =>
    given().when({ type: 'ClaimUsername', userId: alice }).thenRecordedOnce(claimedBy(alice)));
  test('takes one that was given back', () =>
    given(claimedBy(bob), released).when({ type: 'ClaimUsername', userId: alice }).thenRecordedOnce(claimedBy(alice)));
  test('is refused while somebody else holds it', () =>
    given(claimedBy(bob)).when({ type: 'ClaimUsername', userId: alice }).thenRefused('username-taken'));
});

describe('giving a name back', () => {
  test('frees it, once', () =>
    given(claimedBy(alice)).when({ type: 'ReleaseUsername', userId: alice }).thenRecordedOnce(released));
  test('changes nothing for who does not hold it', () => {
    given(claimedBy(bob)).when({ type: 'ReleaseUsername', userId: alice }).thenNothing();
    given().when({ type: 'ReleaseUsername', userId: alice }).thenNothing();
  });
});

describe('a name', () => {
  test('is held by nobody at first', () => given().thenState({ holder: null }));
  test('is held by its last claimant', () => given(claimedBy(bob)).thenState({ holder: bob }));
  test('is held by nobody once given back', () => given(claimedBy(bob), released).thenState({ holder: null }));
});
