import { expect, test } from 'vitest';
import { UserId } from '../../../src/domain/kernel/ids.js';
import { PlacesPerUser } from '../../../src/relay/admission/places-per-user.js';

test('places of a user are refused when all are taken, are free when given back, and are given back once', () => {
  const places = new PlacesPerUser(2);
  const [one, other] = [places.take(UserId(1)), places.take(UserId(1))];
  expect(places.take(UserId(1))).toBeNull();
  expect(places.take(UserId(2))).not.toBeNull();
  one?.();
  one?.();
  expect(places.take(UserId(1))).not.toBeNull();
  expect(places.take(UserId(1))).toBeNull();
  other?.();
  expect(places.take(UserId(1))).not.toBeNull();
});
