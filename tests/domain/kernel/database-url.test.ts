import { describe, expect, test } from 'vitest';
import { databaseUrlProblem } from '../../../src/domain/kernel/database-url.js';

describe('the text of DATABASE_URL', () => {
  test.each([
    'postgres://user:password@db.internal:5432/tallygate',
    'postgresql://user@db/tallygate',
    'postgres://user:p%40ss%2Fw%25rd@db/tallygate',
    'postgres://user@/tallygate?host=/var/run/postgresql',
    'postgres://user@%2Fvar%2Frun%2Fpostgresql/tallygate',
    'postgres://user@[2001:db8::7]:5432/tallygate',
    'postgres://user@db/tallygate?sslmode=verify-full&sslrootcert=/etc/ca.pem',
  ])('%s is accepted', (text) => {
    expect(databaseUrlProblem(text)).toBeNull();
  });

  test.each([
    ['mysql://user@db/tallygate', /^use postgres:/],
    ['postgres://user@db/tally gate', /^use postgres:/],
    ['postgres://user@one:5432,two:5432/tallygate', /name one host/],
    ['postgres://user@one,two/tallygate', /name one host/],
    ['postgres://us#er:password@db/tallygate', /write # as %23/],
    ['postgres://user:50%off@db/tallygate', /write % .* as %25/],
    ['postgres://user:pass/word@db/tallygate', /write \/ as %2F/],
    ['postgres://user:password@db:99999/tallygate', /port from 1 to 65535/],
    ['postgres://user@db/tallygate?sslmode=on', /sslmode must be one of .*verify-full/],
  ])('%s is refused with a correction', (text, problem) => {
    expect(databaseUrlProblem(text)).toMatch(problem);
  });

  test('is not repeated in its error', () => {
    expect(databaseUrlProblem('postgres://user:se/cret@db/tallygate')).not.toMatch(/se\/cret|user:s/);
  });
});
