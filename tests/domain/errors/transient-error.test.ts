import { expect, test } from 'vitest';
import { isTransient } from '../../../src/domain/errors/transient-error.js';
import { UnreadableEvent } from '../../../src/domain/events/upcast.js';
import { Failure } from '../../../src/domain/kernel/failure.js';

const databaseError = (code: string): Error => Object.assign(new Error('no'), { code });
const systemError = (code: string): Error => Object.assign(new Error('no'), { code });

test.each([
  ['a lost connection', databaseError('08006')],
  ['a full disk', databaseError('53100')],
  ['a cancelled statement, and one out of time', databaseError('57014')],
  ['a lock not had in time', databaseError('55P03')],
  ['a disk that cannot be read', databaseError('58030')],
  ['a server that stops', databaseError('57P01')],
  ['a server that is read-only', databaseError('25006')],
  ['a deadlock', databaseError('40P01')],
  ['a refused connection', systemError('ECONNREFUSED')],
  ['a resolver that does not answer', systemError('EAI_AGAIN')],
  ['a broken encryption', systemError('ERR_SSL_WRONG_VERSION_NUMBER')],
  ['what the driver says of a connection it could not make in time', new Error('timeout expired')],
  ['what the driver says of a lost connection', new Error('Connection terminated unexpectedly')],
  ['what the pool says when none is free', new Error('timeout exceeded when trying to connect')],
  ['a store that cannot be reached', new Failure('store-unavailable')],
])('%s is an error that passes: it is worth another attempt', (_, error) => {
  expect(isTransient(error)).toBe(true);
});

test.each([
  ['a value that does not fit', databaseError('22P02')],
  ['a row that exists', databaseError('23505')],
  ['a missing table', databaseError('42P01')],
  ['a refusal of the domain', new Failure('invalid-field')],
  ['an event of another release', new UnreadableEvent('Example', 'stored in version 2')],
  ['an event of another release that speaks of connections', new UnreadableEvent('ConnectionLost', 'timeout')],
  ['a wrong argument', systemError('ERR_INVALID_ARG_TYPE')],
  ['a bug', new TypeError('x is not a function')],
  ['something that is no error', 'connection'],
])('%s is an error that stays: another attempt would fail as well', (_, error) => {
  expect(isTransient(error)).toBe(false);
});
