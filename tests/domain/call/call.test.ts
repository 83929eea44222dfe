import { describe, test } from 'vitest';
import {
  type CallRefunded,
  type CallReleased,
  type CallReserved,
  type CallSettled,
  callDecider,
} from '../../../src/domain/call/call.js';
import { refunded, released, reserved, settled } from '../../support/given/calls.js';
import { scenariosOf } from '../../support/given/given.js';

const given = scenariosOf(callDecider);
const reservation: CallReserved = reserved({ quota: 100 });
const settlement: CallSettled = settled({ quota: 100, charged: 60 });
const release: CallReleased = released({ quota: 100 });
const refund: CallRefunded = refunded({ charged: 60 });

describe('a call', () => {
  test('is reserved once', () => given().when({ type: 'Reserve', event: reservation }).thenRecordedOnce(reservation));
  test('is settled once', () =>
    given(reservation).when({ type: 'Settle', event: settlement }).thenRecordedOnce(settlement));
  test('is released once', () =>
    given(reservation).when({ type: 'Release', event: release }).thenRecordedOnce(release));

  test('that was settled can neither be released nor reserved again', () => {
    given(reservation, settlement).when({ type: 'Release', event: release }).thenNothing();
    given(reservation, settlement).when({ type: 'Reserve', event: reservation }).thenNothing();
  });
  test('that was released can neither be settled nor reserved again', () => {
    given(reservation, release).when({ type: 'Settle', event: settlement }).thenNothing();
    given(reservation, release).when({ type: 'Reserve', event: reservation }).thenNothing();
  });
  test('that was settled is refunded once', () =>
    given(reservation, settlement).when({ type: 'Refund', event: refund }).thenRecordedOnce(refund));
  test('that was not settled cannot be refunded', () => {
    given(reservation).when({ type: 'Refund', event: refund }).thenNothing();
    given(reservation, release).when({ type: 'Refund', event: refund }).thenNothing();
    given().when({ type: 'Refund', event: refund }).thenRefused('lost-race');
  });
  test('has no outcome before its reservation', () => {
    given().when({ type: 'Settle', event: settlement }).thenRefused('lost-race');
    given().when({ type: 'Release', event: release }).thenRefused('lost-race');
  });

  test('is absent, reserved, and then either settled or released; a settled one may be refunded', () => {
    given().thenState({ status: 'none' });
    given(reservation).thenState({ status: 'reserved' });
    given(reservation, settlement).thenState({ status: 'settled' });
    given(reservation, release).thenState({ status: 'released' });
    given(reservation, settlement, refund).thenState({ status: 'refunded' });
  });
});
