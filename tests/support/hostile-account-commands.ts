import fc from 'fast-check';
import {
  anyIdempotencyKey,
  anyIndex,
  type CommandKind,
  type CommandWorld,
  commandKind,
  pick,
  stepUpProof,
} from './commands.js';
import { apiKeyTerms } from './given/api-key-terms.js';
import { anyText, hostileApiKeyTerms, number, orNull, text } from './inputs/hostile-inputs.js';

/* Commands about users and API keys. */

export function accountKinds(world: CommandWorld): readonly CommandKind[] {
  const { application, root, owner, users, apiKeys } = world;
  return [
    commandKind(
      'create user',
      { input: { username: 'ordinary', password: 'long-enough', displayName: 'Somebody' }, orderKey: null },
      fc.record({
        input: fc.record({
          username: anyText('somebody'),
          password: text('long-enough'),
          displayName: text('Somebody'),
        }),
        orderKey: anyIdempotencyKey,
      }),
      async ({ input, orderKey }) => users.push((await application.users.create(root, input, orderKey)).id),
    ),
    commandKind(
      'edit user',
      {
        which: 0,
        patch: {
          username: 'byroot',
          password: 'long-enough',
          displayName: 'Renamed',
          group: 'vip',
          quota: 500,
          shownQuota: null,
          role: null,
        },
        orderKey: null,
      },
      fc.record({
        which: anyIndex,
        patch: fc.record({
          username: orNull(text('renamed')),
          password: orNull(text('long-enough')),
          displayName: orNull(text('Renamed')),
          group: orNull(text('vip')),
          quota: orNull(number(500)),
          shownQuota: orNull(number(500)),
          role: fc.constant(null),
        }),
        orderKey: anyIdempotencyKey,
      }),
      ({ which, patch, orderKey }) => application.users.edit(root, pick(users, which), patch, { key: orderKey }),
    ),
    commandKind(
      'adjust quota',
      { which: 0, delta: 5, gift: 0, orderKey: null },
      fc.record({ which: anyIndex, delta: number(5), gift: number(0), orderKey: anyIdempotencyKey }),
      ({ which, delta, gift, orderKey }) =>
        application.users.adjustQuota(root, pick(users, which), { delta, gift }, orderKey),
    ),
    commandKind(
      'manage user',
      { which: 1, action: 'promote' },
      fc.record({ which: anyIndex, action: fc.constantFrom('enable', 'disable', 'promote', 'demote') }),
      ({ which, action }) => application.users.manage(root, pick(users, which), action),
    ),
    commandKind('delete user', 0, anyIndex, async (which) => {
      const { id } = await application.users.create(root, {
        username: `leaver${users.length}`,
        password: 'long-enough',
        displayName: '',
      });
      users.push(id);
      const leaver = which % 2 === 0 ? id : pick(users.slice(1), which);
      await application.users.manage(root, leaver, 'delete');
    }),
    commandKind(
      'change own profile',
      { which: 0, patch: { username: 'renamed', password: 'long-enough', displayName: 'Other' } },
      fc.record({
        which: anyIndex,
        patch: fc.record({
          username: orNull(text('other')),
          password: orNull(text('long-enough')),
          displayName: orNull(text('Other')),
        }),
      }),
      async ({ which, patch }) => {
        const id = pick(users, which);
        return application.users.changeOwnProfile(
          { id, role: 'ordinary' },
          patch,
          await stepUpProof(world, id, 'password'),
        );
      },
    ),
    commandKind(
      'change settings',
      {
        notifyType: 'email' as const,
        quotaWarningThreshold: 1,
        webhookUrl: '',
        webhookSecret: '',
        notificationEmail: 'a@example.org',
        acceptUnpricedModels: false,
      },
      fc.record({
        notifyType: fc.constantFrom('email' as const, 'webhook' as const),
        quotaWarningThreshold: number(1),
        webhookUrl: text('https://127.0.0.1:1/hook'),
        webhookSecret: text('secret'),
        notificationEmail: text('a@example.org'),
        acceptUnpricedModels: fc.boolean(),
      }),
      (input) => application.users.changeSettings(owner, input),
    ),
    commandKind('issue access token', null, fc.constant(null), async () =>
      application.users.issueAccessToken(owner, await stepUpProof(world, owner.id, 'access-token')),
    ),
    commandKind(
      'issue API key',
      { terms: apiKeyTerms(), quota: 10, orderKey: null },
      fc.record({ terms: hostileApiKeyTerms, quota: number(10), orderKey: anyIdempotencyKey }),
      async ({ orderKey, ...input }) => apiKeys.push((await application.apiKeys.issue(owner, input, orderKey)).id),
    ),
    commandKind(
      'edit API key',
      { which: 0, change: { terms: apiKeyTerms(), quota: 20, shownQuota: null }, orderKey: null },
      fc.record({
        which: anyIndex,
        change: fc.record({ terms: hostileApiKeyTerms, quota: orNull(number(10)), shownQuota: orNull(number(10)) }),
        orderKey: anyIdempotencyKey,
      }),
      ({ which, change, orderKey }) => application.apiKeys.edit(owner, pick(apiKeys, which), change, orderKey),
    ),
    commandKind(
      'switch API key',
      { which: 0, status: 'manual' as const },
      fc.record({ which: anyIndex, status: fc.constantFrom('enabled', 'manual', 'expired', 'exhausted') }),
      ({ which, status }) => application.apiKeys.setStatus(owner, pick(apiKeys, which), status),
    ),
    commandKind('remove API key', 0, anyIndex, (which) => application.apiKeys.remove(owner, pick(apiKeys, which))),
  ];
}
