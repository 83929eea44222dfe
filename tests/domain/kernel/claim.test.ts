import { describe, test } from 'vitest';
import {
  type IdentityEvent,
  identityDeciders,
  type UsernameEvent,
  usernameDecider,
} from '../../../src/domain/kernel/claim.js';
import { UserId } from '../../../src/domain/kernel/ids.js';
import { scenariosOf } from '../../support/given/given.js';

const given = scenariosOf(usernameDecider);
const alice = UserId(7);
const bob = UserId(8);
const claimedBy = (userId: UserId): UsernameEvent => ({ type: 'UsernameClaimed', userId });
const released: UsernameEvent = { type: 'UsernameReleased' };

describe('claiming a name', () => {
  test('succeeds for a free one, once', () =>
    given().when({ type: 'Claim', userId: alice }).thenRecordedOnce(claimedBy(alice)));
  test('succeeds for one that was released', () =>
    given(claimedBy(bob), released).when({ type: 'Claim', userId: alice }).thenRecordedOnce(claimedBy(alice)));
  test('is refused while another user holds it', () =>
    given(claimedBy(bob)).when({ type: 'Claim', userId: alice }).thenRefused('username-taken'));
});

describe('renewing the claim of a name', () => {
  test('is recorded for its holder', () =>
    given(claimedBy(alice)).when({ type: 'Claim', userId: alice, anew: true }).thenRecorded(claimedBy(alice)));
  test('is refused while another user holds it', () =>
    given(claimedBy(bob)).when({ type: 'Claim', userId: alice, anew: true }).thenRefused('username-taken'));
});

describe('releasing a name', () => {
  test('that seemed abandoned does nothing once it has been claimed again', () => {
    const release = { type: 'Release', userId: alice, claims: 1 } as const;
    given(claimedBy(alice)).when(release).thenRecorded(released);
    given(claimedBy(alice), claimedBy(alice)).when(release).thenNothing();
  });
  test('frees it, once', () =>
    given(claimedBy(alice)).when({ type: 'Release', userId: alice }).thenRecordedOnce(released));
  test('changes nothing for a user that does not hold it', () => {
    given(claimedBy(bob)).when({ type: 'Release', userId: alice }).thenNothing();
    given().when({ type: 'Release', userId: alice }).thenNothing();
  });
});

describe('a claimable name', () => {
  test('is free at first', () => given().thenState({ holder: null, claims: 0 }));
  test('is held by its last claimant', () => given(claimedBy(bob)).thenState({ holder: bob, claims: 1 }));
  test('is free once released', () => given(claimedBy(bob), released).thenState({ holder: null, claims: 1 }));
});

describe('the claim of an external identity', () => {
  const claimed: IdentityEvent = { type: 'IdentityClaimed', userId: bob };
  const givenGitHub = scenariosOf(identityDeciders.github);
  const givenEmail = scenariosOf(identityDeciders.email);

  test('belongs to its first claimant, once, until it is released', () => {
    givenGitHub().when({ type: 'Claim', userId: bob }).thenRecordedOnce(claimed);
    givenGitHub(claimed).when({ type: 'Release', userId: alice }).thenNothing();
    givenGitHub(claimed, { type: 'IdentityReleased' })
      .when({ type: 'Claim', userId: alice })
      .thenRecordedOnce({ type: 'IdentityClaimed', userId: alice });
  });

  test('is refused to others, with the provider in the error; an address is refused as an address', () => {
    givenGitHub(claimed).when({ type: 'Claim', userId: alice }).thenRefused('identity-taken', { provider: 'github' });
    givenEmail(claimed).when({ type: 'Claim', userId: alice }).thenRefused('email-taken');
  });
});
