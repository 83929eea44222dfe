import { expect, test } from 'vitest';
import { streams } from '../../src/domain/events/events.js';
import { Sealed, SecretId, UserId } from '../../src/domain/kernel/ids.js';
import { Quota } from '../../src/domain/kernel/quota.js';
import { type ActFilter, acts } from '../../src/projections/models/administrators-log/administrators-log-queries.js';
import { apiKeyTerms } from '../support/given/api-key-terms.js';
import {
  added,
  alice,
  aliceKey,
  at,
  changedBy,
  codeIssued,
  east,
  edited,
  issued,
  ofApiKey,
  ofChannel,
  ofUser,
  option,
  orderedBy,
  registered,
  root,
  when,
} from './history.js';
import { forEachTest, type Projected } from './projected.js';

let projected: Projected;
forEachTest(
  (fresh) => {
    projected = fresh;
  },
  'emptied',
  'dense',
);

const adam = UserId(2);
const every: ActFilter = { by: null, kinds: null, subject: null, subjectId: null, from: null, to: null };
const range = { order: 'oldest', after: null, upTo: null, limit: 100 } as const;
const told = async (filter: Partial<ActFilter> = {}) =>
  (await acts(projected.db, { ...every, ...filter }, range)).map((row) => ({
    by: row.by_user,
    did: `${row.kind} ${row.subject} ${row.subject_id}`,
    changes: row.changes.map(({ field, from, to }) => `${field}: ${from} -> ${to}`),
  }));

test('lists what administrators did with what it was before, and nothing that users or the gateway did', async () => {
  await projected.given(
    registered(alice, 'alice'),
    ofUser(alice, { type: 'PasswordChanged', passwordSecret: SecretId('own') }),
    ofUser(alice, { type: 'UserGroupChanged', group: 'vip', by: root }),
    ofUser(alice, { type: 'UserRoleChanged', role: 'admin', by: root }),
    ofUser(alice, { type: 'QuotaAdjusted', delta: Quota(-30), gift: Quota(5), by: root, observed: Quota(100) }),
    orderedBy(adam, ofUser(alice, { type: 'PasswordChanged', passwordSecret: SecretId('new') })),
    issued(aliceKey, alice, 10, { name: 'laptop' }),
    ofApiKey(aliceKey, { type: 'ApiKeyRevoked', owner: alice, by: adam, name: 'laptop' }),
    added(east, { name: 'east' }),
    orderedBy(adam, edited(east, { name: 'far east' })),
    ofChannel(east, { type: 'ChannelDisabled', automatic: true, reason: 'broken' }),
    ofChannel(east, { type: 'ChannelEnabled', automatic: false, by: root }),
    codeIssued(4, { quota: Quota(70) }),
    ofUser(alice, { type: 'UserDeleted', by: alice }),
    { stream: streams.usageLog, event: { type: 'LogsCleared', before: at(9), by: 'retention' }, at: at(9) },
  );
  expect(await told()).toEqual([
    { by: root, did: `group-changed user ${alice}`, changes: ['group: default -> vip'] },
    { by: root, did: `role-changed user ${alice}`, changes: ['role: ordinary -> admin'] },
    { by: root, did: `balance-adjusted user ${alice}`, changes: ['balance: 100 -> 70', 'gift:  -> +5'] },
    { by: adam, did: `password-changed user ${alice}`, changes: ['password: null -> null'] },
    { by: adam, did: `disabled api-key ${aliceKey}`, changes: ['status: enabled -> disabled'] },
    {
      by: null,
      did: `added channel ${east}`,
      changes: expect.arrayContaining(['name:  -> east', 'key: null -> null']),
    },
    { by: adam, did: `edited channel ${east}`, changes: ['name: east -> far east'] },
    { by: root, did: `enabled channel ${east}`, changes: ['status: automatically disabled -> enabled'] },
    { by: root, did: 'added code 4', changes: ['name:  -> code 4', 'quota:  -> 70', 'status:  -> enabled'] },
  ]);
});

test('shows which entries of a map of an option changed, and of a secret only that it did', async () => {
  await projected.given(
    option('GroupRatio', '{"default":1,"vip":2}'),
    changedBy(root, 'GroupRatio', { text: '{"default":1,"vip":3,"staff":0}' }),
    changedBy(root, 'SMTPToken', { text: 'planted in the clear' }),
    changedBy(root, 'SMTPToken', { secret: SecretId('smtp') }),
    changedBy(root, 'Notice', { text: 'x'.repeat(5_000) }),
  );
  const [, ratio, planted, secret, notice] = await told();
  expect(ratio?.changes).toEqual(['GroupRatio: vip: 2 -> vip: 3\nstaff: 0']);
  expect([planted?.changes, secret?.changes]).toEqual([['SMTPToken: null -> null'], ['SMTPToken: null -> null']]);
  expect(notice?.changes[0]).toHaveLength('Notice:  -> '.length + 1_000);
  expect(JSON.stringify(await projected.dump('administrators_log_v1'))).not.toContain('planted');
});

test('never repeats the name or the address of a user', async () => {
  await projected.given(
    orderedBy(root, registered(alice, 'alice-of-old')),
    orderedBy(
      root,
      ofUser(alice, { type: 'UserProfileChanged', username: 'alice-of-new', displayName: Sealed('sealed') }),
    ),
  );
  expect((await told()).map(({ changes }) => changes)).toEqual([
    ['role:  -> ordinary', 'group:  -> default', 'status:  -> enabled'],
    ['username: null -> null', 'displayName: null -> null'],
  ]);
  expect(JSON.stringify(await projected.dump('administrators_log_v1'))).not.toContain('alice-of');
});

test('is filtered by administrator, order, subject and time, and continues where a page ended', async () => {
  await projected.given(
    orderedBy(root, issued(aliceKey, root, 0)),
    when(at(10), ofChannel(east, { type: 'ChannelEnabled', automatic: false, by: adam })),
    when(at(20), changedBy(root, 'RetryTimes', { text: '2' })),
    when(at(30), {
      ...ofApiKey(aliceKey, { type: 'ApiKeyEdited', owner: root, quotaDelta: Quota(3), terms: apiKeyTerms() }),
      stream: streams.apiKey(aliceKey),
    }),
  );
  const did = async (filter: Partial<ActFilter>) => (await told(filter)).map((act) => act.did);
  expect(await did({ by: adam })).toEqual([`enabled channel ${east}`]);
  expect(await did({ kinds: ['added', 'edited'] })).toEqual([`added api-key ${aliceKey}`, 'edited option RetryTimes']);
  expect(await did({ subject: 'channel', subjectId: String(east) })).toEqual([`enabled channel ${east}`]);
  expect(await did({ from: at(10), to: at(20) })).toEqual([`enabled channel ${east}`]);
  const newest = await acts(projected.db, every, { ...range, order: 'newest', limit: 2 });
  const last = newest.at(-1)?.position ?? null;
  const older = await acts(projected.db, every, { ...range, order: 'newest', after: last });
  expect([...newest, ...older].map(({ subject }) => subject)).toEqual(['option', 'channel', 'api-key']);
});
