import pg from 'pg';
import { expect, test } from 'vitest';
import { Failure } from '../../src/domain/failure.js';
import { isPassing } from '../../src/projections/passing.js';

const databaseError = (code: string): Error => Object.assign(new pg.DatabaseError('no', 2, 'error'), { code });
const systemError = (code: string): Error => Object.assign(new Error('no'), { code });

test.each([
  ['a lost connection', databaseError('08006')],
  ['a full disk', databaseError('53100')],
  ['a cancelled statement', databaseError('57014')],
  ['a server that stops', databaseError('57P01')],
  ['a server that is read-only', databaseError('25006')],
  ['a deadlock', databaseError('40P01')],
  ['a refused connection', systemError('ECONNREFUSED')],
  ['what the driver says of a lost connection', new Error('Connection terminated unexpectedly')],
  ['what the pool says when none is free', new Error('timeout exceeded when trying to connect')],
  ['a store that cannot be reached', new Failure('store-unavailable')],
])('%s passes', (_, error) => {
  expect(isPassing(error)).toBe(true);
});

test.each([
  ['a value that does not fit', databaseError('22P02')],
  ['a row that exists', databaseError('23505')],
  ['a missing table', databaseError('42P01')],
  ['a refusal of the domain', new Failure('invalid-field')],
  ['a bug', new TypeError('x is not a function')],
  ['something that is no error', 'connection'],
])('%s stays', (_, error) => {
  expect(isPassing(error)).toBe(false);
});
