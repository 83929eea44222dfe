import { expect, test } from 'vitest';
import { withDatabase } from '../../../src/cli/database.js';
import { UserId } from '../../../src/domain/kernel/ids.js';
import type { Actor } from '../../../src/domain/user/user.js';
import { expectLedgersToAgree, ledgerAtRest } from '../../support/gateway/ledger-snapshot.js';
import { startTestGateway } from '../../support/gateway/test-gateway.js';
import { quietLog } from '../../support/quiet-log.js';

/** A thousand try in tests/application/redemptions/redemptions.test.ts, where nobody has to be written down first. */
const many = 300;

test('a code redeemed by hundreds of users at once credits one of them, and the ledger is balanced', async () => {
  const gateway = await startTestGateway();
  try {
    const { application, root } = gateway;
    const users = Array.from({ length: many }, (_, index): Actor => ({ id: UserId(1_000 + index), role: 'ordinary' }));
    const registered = await Promise.all(
      users.map(({ id }) => {
        const newcomer = { id, username: `u${id}`, displayName: 'x', passwordSecret: null, role: 'ordinary' as const };
        return application.users.register(newcomer, []);
      }),
    );
    const { codes, position } = await application.redemptions.issue(root, { name: 'one', quota: 777 }, 1);
    for (const seen of [position, ...registered.slice(-1)]) await application.visible(seen);
    const code = codes[0]?.code ?? '';

    const tried = await Promise.allSettled(
      users.map((user) => application.redemptions.redeem(user, code, `198.51.100.${user.id}`)),
    );
    const [won] = tried.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    expect(tried.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const codesOfRefusals = tried.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []));
    expect(new Set(codesOfRefusals)).toEqual(new Set(['redemption-code-used']));

    if (won !== undefined) await application.visible(won.position);
    const balances = await Promise.all(users.map(({ id }) => application.gate.available(id)));
    expect(balances.filter((balance) => balance !== 0)).toEqual([777]);
    const winner = users[balances.indexOf(777 as never)];
    const { items } = await application.queries.redemptions(root, { page: 1, size: 10 });
    expect(items).toMatchObject([{ status: 'used', redeemed_by: winner?.id }]);
    await withDatabase(gateway.config, quietLog, async (database) => {
      const books = await ledgerAtRest(database);
      expect(books.events.filter(({ event }) => event.type === 'RedemptionCodeRedeemed')).toHaveLength(1);
      await expectLedgersToAgree(database, books);
    });
  } finally {
    await gateway.stop();
  }
}, 90_000);
