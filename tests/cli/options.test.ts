import { finished } from 'node:stream/promises';
import { describe, expect, test } from 'vitest';
import { auditBalanceAt } from '../../src/cli/audit/balance-at.js';
import { auditHistory } from '../../src/cli/audit/history.js';
import { auditPriceAt } from '../../src/cli/audit/price-at.js';
import { auditSettingsAt } from '../../src/cli/audit/settings-at.js';
import { auditChannelAt } from '../../src/cli/audit/things-at.js';
import { auditVerify } from '../../src/cli/audit/verify.js';
import { audit } from '../../src/cli/audit.js';
import { demo } from '../../src/cli/demo.js';
import { newFile, unlessUnwritable } from '../../src/cli/new-file.js';
import { quarantine } from '../../src/cli/quarantine.js';
import { replay } from '../../src/cli/replay.js';
import { schema } from '../../src/cli/schema.js';
import { serve } from '../../src/cli/serve.js';
import { verify } from '../../src/cli/verify.js';
import { readConfig } from '../../src/config.js';
import { quietLog } from '../support/quiet-log.js';

/* What a command does not know is refused before anything is opened, and the refusal says what it takes. */

describe.each([
  ['serve', serve, 'Options of this command: --workers.'],
  ['replay', replay, 'Options of this command: --model.'],
  ['quarantine', quarantine, 'Options of this command: --model, --position, --reason.'],
  ['audit balance-at', auditBalanceAt, 'Options of this command: --user, --api-key, '],
  ['audit history', auditHistory, 'Options of this command: --user, --api-key, '],
  ['audit settings-at', auditSettingsAt, 'Options of this command: --at, --position, --key, --json.'],
  ['audit price-at', auditPriceAt, 'Options of this command: --model, --group, --at, --position, --json.'],
  ['audit channel-at', auditChannelAt, 'Options of this command: --id, --at, --position, --json.'],
  ['audit verify', auditVerify, 'Options of this command: --full, --skip-read-models, --public-key, --json.'],
  ['demo', demo, 'This command has no options.'],
  ['verify', verify, 'This command has no options.'],
  ['schema', schema, 'This command has no options.'],
])('the options of %s', (_, command, allowed) => {
  const run = (...args: string[]) => command({ config: readConfig({}), log: quietLog as never, args });

  test('are refused if unknown', async () => {
    await expect(run('--help')).rejects.toThrow(`Unknown option '--help'. ${allowed}`);
  });

  test('are refused if they are not options', async () => {
    await expect(run('now')).rejects.toThrow(`Unexpected argument 'now'. ${allowed}`);
  });
});

test('an option without its value is refused by its name', async () => {
  const run = serve({ config: readConfig({}), log: quietLog as never, args: ['--workers'] });
  await expect(run).rejects.toThrow("Option '--workers <value>' argument missing. Options of this command: --workers.");
});

describe('the audit', () => {
  const run = (...args: string[]) => audit({ config: readConfig({}), log: quietLog as never, args });

  test('refuses a subcommand that it does not have, and lists those it has', async () => {
    await expect(run()).rejects.toThrow('Unknown subcommand "" of audit. Subcommands: ');
    await expect(run('toString')).rejects.toThrow('Unknown subcommand "toString" of audit.');
  });

  test.each([
    [['--at', 'yesterday'], '--at yesterday: give a day or a time with its zone, as in 2026-11-01T08:30:00Z.'],
    [['--at', '2026-13-01'], '--at 2026-13-01: give a day or a time'],
    [['--at', '2026-02-30'], '--at 2026-02-30: give a day or a time'],
    [['--at', '2026-04-31T10:00:00+02:00'], 'give a day or a time'],
    [['--position', '1e3'], '--position 1e3: give the position of an event, as in 41.'],
    [['--at', '2026-11-01', '--position', '41'], 'Give --at or --position, not both.'],
  ])('refuses %j as a point in the past', async (args, refusal) => {
    await expect(run('settings-at', ...args)).rejects.toThrow(refusal);
  });

  test.each([
    [['price-at', '--group', 'vip'], '--model: give the name of a model, as in gpt-4o.'],
    [['key-at'], '--id: give the id of an API key, as in 7.'],
    [['user-at', '--id', 'alice'], '--id: give the id of a user, as in 7.'],
  ])('refuses %j without what is asked about', async (args, refusal) => {
    await expect(run(...args)).rejects.toThrow(refusal);
  });

  test.each([
    [
      [],
      'Unknown subcommand "" of audit seals. Subcommands: head, export, verifier, compare, accept, public-key, rotate-key.',
    ],
    [['head', '--out', 'x'], "Unknown option '--out'. Options of this command: --json."],
    [['compare'], '--head: give it as "audit seals head" prints it, NUMBER:DIGEST.'],
    [['compare', '--head', '1:ab'], '--head: give it as'],
  ])('refuses %j of seals', async (args, refusal) => {
    await expect(run('seals', ...args)).rejects.toThrow(refusal);
  });
});

test.each([
  [import.meta.filename, 'there is a file of that name already.'],
  [`${import.meta.filename}.none/history.csv`, 'there is no such folder.'],
])('a file is not written to %s, and the refusal says why', async (path, reason) => {
  const writing = finished(newFile(path)).catch(unlessUnwritable('file', path));
  await expect(writing).rejects.toThrow(`--file ${path}: ${reason}`);
});
