import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Application } from '../../../src/application/application.js';
import { startGateway } from '../../../src/bootstrap/gateway.js';
import { withDatabase } from '../../../src/cli/database.js';
import { Failure, type FailureCode } from '../../../src/domain/kernel/failure.js';
import type { UserId } from '../../../src/domain/kernel/ids.js';
import type { Actor } from '../../../src/domain/user/user.js';
import { type CommandWorld, type TestCommand, testCommand } from '../../support/commands.js';
import { expectLedgersToAgree, ledgerAtRest } from '../../support/gateway/ledger-snapshot.js';
import { signIn } from '../../support/gateway/sign-in.js';
import { configFor, startTestGateway } from '../../support/gateway/test-gateway.js';
import { hostileCommands, ordinaryCommands } from '../../support/inputs/hostile-commands.js';
import { anyText, text } from '../../support/inputs/hostile-inputs.js';
import { createTestDatabase } from '../../support/postgres/postgres.js';
import { dumpAroundRebuild } from '../../support/postgres/read-model-dump.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';

/*
 * Whatever a command accepts folds in every read model. Each command is given what somebody hostile might send through
 * any face: it refuses with a failure, or its events are folded by all read models, on real Postgres, and the lists of
 * the console still answer.
 */

/** Another seed finds other things: FAST_CHECK_SEED=… to look for them. */
const seed = Number(process.env.FAST_CHECK_SEED ?? 20_261_121);
const root: Actor = { id: 1 as UserId, role: 'root' };

/** Resolves once every read model holds all that has happened; throws when one of them cannot. */
async function allFolded(application: Application): Promise<void> {
  const head = application.tail.position();
  const models = await until(async () => {
    await application.visible(head);
    const states = application.readModels.list(root);
    return states.every(({ position, failure }) => failure !== null || position >= head) ? states : null;
  });
  const stopped = models.filter(({ failure }) => failure !== null);
  if (stopped.length > 0) throw new Error(JSON.stringify(stopped, null, 1));
}

/** What the console lists. */
async function listsAnswer({ queries }: Application, owner: Actor): Promise<void> {
  const page = { page: 1, size: 100 };
  await queries.users(root, page);
  await queries.channels(root, page);
  await queries.channels(root, { ...page, byTag: true });
  await queries.enabledModels(root);
  await queries.apiKeys(owner, page);
  await queries.log(root, {}, page, false);
}

/** What is refused for want of a proof is not looked at, so nothing of it would be tried. */
const unlooked: readonly FailureCode[] = ['step-up-needed', 'sign-in-again-needed'];

/** Whether it was accepted. Throws for what is neither that nor refused for what it says. */
async function accepts({ description: said, run: give }: TestCommand): Promise<boolean> {
  try {
    await give();
    return true;
  } catch (error) {
    if (!(error instanceof Failure)) throw new Error(`neither accepted nor refused: ${said}`, { cause: error });
    if (unlooked.includes(error.code)) throw new Error(`refused without a look: ${said}`, { cause: error });
    return false;
  }
}

test('every accepted command folds in every read model, now and in a rebuild, and every other is refused', async () => {
  const gateway = await startTestGateway();
  const { application } = gateway;
  const { actor: owner } = await gateway.addUser(1_000);
  const world: CommandWorld = {
    application,
    root: gateway.root,
    owner,
    users: [owner.id],
    channels: [await gateway.addChannel()],
    apiKeys: [],
  };
  const counted = { accepted: 0, refused: 0 };
  try {
    for (const { description: said, run: give } of ordinaryCommands(world))
      await give().catch((error: unknown) => {
        throw new Error(`refused, though nothing is wrong with it: ${said}`, { cause: error });
      });
    await allFolded(application);
    await fc.assert(
      fc.asyncProperty(fc.array(hostileCommands(world), { minLength: 10, maxLength: 20 }), async (orders) => {
        const accepted: string[] = [];
        for (const order of orders) {
          if (await accepts(order)) accepted.push(order.description);
          else counted.refused += 1;
        }
        counted.accepted += accepted.length;
        await allFolded(application).catch((error: Error) => {
          throw new Error(`${error.message}\nafter:\n${accepted.join('\n')}`);
        });
        await listsAnswer(application, owner);
      }),
      // A read model that is stopped stays so: nothing smaller could be found afterwards.
      { seed, numRuns: 16, endOnFailure: true },
    );
    expect(counted.accepted).toBeGreaterThan(50);
    expect(counted.refused).toBeGreaterThan(50);
    await withDatabase(gateway.config, quietLog, async (database) => {
      await expectLedgersToAgree(database, await ledgerAtRest(database));
      const { before, after } = await dumpAroundRebuild(database);
      expect(after).toEqual(before);
    });
  } finally {
    await gateway.stop();
  }
}, 300_000);

test('every accepted set-up folds in every read model, and the root user can sign in', async () => {
  const passwords = fc.oneof(fc.constant('long-enough'), anyText('long-enough'));
  const setUps = fc.array(fc.record({ username: anyText('root'), password: passwords, same: text('') }), {
    minLength: 30,
    maxLength: 30,
  });
  await fc.assert(
    fc.asyncProperty(setUps, async (inputs) => {
      const database = await createTestDatabase();
      const gateway = await startGateway(configFor(database), quietLog);
      const { application } = gateway;
      try {
        for (const { username, password, same } of [
          ...inputs,
          { username: 'root', password: 'long-enough', same: '' },
        ]) {
          const input = { username, password, confirmPassword: password + same, mode: 'external' as const };
          const setUp: TestCommand = testCommand('set up', input, (given) => application.setup.complete(given));
          if (!(await accepts(setUp))) continue;
          await allFolded(application);
          const { user } = await signIn(application.identity, username.trim(), password);
          expect(user).toMatchObject(root);
          await listsAnswer(application, root);
          return;
        }
        throw new Error('nobody could set up');
      } finally {
        await gateway.stop();
        await database.drop();
      }
    }),
    { seed, numRuns: 4, endOnFailure: true },
  );
}, 120_000);
