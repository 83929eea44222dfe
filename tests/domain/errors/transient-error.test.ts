import { expect, test } from 'vitest';
import { isTransient } from '../../../src/domain/errors/transient-error.js';
import { UnreadableEvent } from '../../../src/domain/events/upcast.js';
import { Failure } from '../../../src/domain/kernel/failure.js';

const databaseError = (code: string): Error => Object.assign(new Error('no'), { code });
const systemError = (code: string): Error => Object.assign(new Error('no'), { code });

test.each([
  ['a lost connection', databaseError('08006')],
  ['a full disk', databaseError('53100')],
  ['a cancelled statement, and one after its timeout', databaseError('57014')],
  ['a lock timeout', databaseError('55P03')],
  ['a disk that cannot be read', databaseError('58030')],
  ['a server that is shutting down', databaseError('57P01')],
  ['a server that is read-only', databaseError('25006')],
  ['a deadlock', databaseError('40P01')],
  ['a refused connection', systemError('ECONNREFUSED')],
  ['a resolver that does not answer', systemError('EAI_AGAIN')],
  ['a broken TLS connection', systemError('ERR_SSL_WRONG_VERSION_NUMBER')],
  ['the driver’s message of a connection timeout', new Error('timeout expired')],
  ['the driver’s message of a lost connection', new Error('Connection terminated unexpectedly')],
  ['the pool’s message of no free connection', new Error('timeout exceeded when trying to connect')],
  ['an unreachable store', new Failure('store-unavailable')],
])('%s is a transient error: a retry may succeed', (_, error) => {
  expect(isTransient(error)).toBe(true);
});

test.each([
  ['a value that does not fit', databaseError('22P02')],
  ['an existing row', databaseError('23505')],
  ['a missing table', databaseError('42P01')],
  ['a refusal by the domain', new Failure('invalid-field')],
  ['an event of another release', new UnreadableEvent('Example', 'stored in version 2')],
  ['an event of another release with a message about connections', new UnreadableEvent('ConnectionLost', 'timeout')],
  ['a wrong argument', systemError('ERR_INVALID_ARG_TYPE')],
  ['a bug', new TypeError('x is not a function')],
  ['a value that is not an error', 'connection'],
])('%s is a permanent error: a retry would fail as well', (_, error) => {
  expect(isTransient(error)).toBe(false);
});
