import { pathToFileURL } from 'node:url';
import type pg from 'pg';
import { openPostgresEventStore } from '../../../src/adapters/event-log/postgres-event-store.js';
import { postgresEventLines } from '../../../src/adapters/seals/event-lines.js';
import { postgresSealKeyStore } from '../../../src/adapters/seals/seal-key-store.js';
import { postgresSealStore } from '../../../src/adapters/seals/seal-store.js';
import { readMasterKey } from '../../../src/adapters/vault/master-key.js';
import { postgresVault } from '../../../src/adapters/vault/vault.js';
import type { GrowingLines } from '../../../src/application/ports/seal-ports.js';
import type { EventStore } from '../../../src/application/ports/storage-ports.js';
import { positionOf } from '../../../src/application/seals/seal.js';
import { beforeFirstSeal, type SealFinding, SealWalk } from '../../../src/application/seals/seal-walk.js';
import { sealedExport } from '../../../src/application/seals/sealed-export.js';
import type { SealerPorts } from '../../../src/application/seals/sealer.js';
import { trustedKeys } from '../../../src/application/seals/trusted-keys.js';
import { beginning, Position } from '../../../src/domain/events/events.js';
import { newEvent, someInstant, streamNamed } from '../../support/given/events.js';
import { settableClock } from '../../support/given/fixed-clock.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/postgres.js';
import { quietLog } from '../../support/quiet-log.js';

/* A log with seals in a database of its own, and both ways to check it. */

/** What the verifier outside the gateway says. */
interface ExportVerdict {
  readonly events: number;
  readonly seals: number;
  readonly unsealed: number;
  /** The seal behind which it begins. */
  readonly begins: string | null;
  readonly head: string | null;
  readonly findings: readonly {
    readonly code: string;
    readonly seal: number | null;
    readonly first: number | null;
    readonly reason: string;
  }[];
}

const verifierPath = new URL('../../../scripts/verify-seals.mjs', import.meta.url);
const { verifyExport } = (await import(pathToFileURL(verifierPath.pathname).href)) as {
  verifyExport(
    bytes: Iterable<Buffer> | AsyncIterable<Buffer>,
    given?: readonly string[],
    noted?: object | null,
  ): Promise<ExportVerdict>;
};

export { verifierPath, verifyExport };

export interface SealedLog extends SealerPorts {
  readonly database: TestDatabase;
  readonly store: EventStore;
  append(from: number, count: number): Promise<void>;
  close(): Promise<void>;
}

export async function openSealedLog(): Promise<SealedLog> {
  const database = await createTestDatabase();
  const store = await openPostgresEventStore({ connection: database.connection, log: quietLog });
  const masterKey = await readMasterKey({ secretKey: 'a secret that is long enough: 32+', dataDir: '/nowhere' });
  const clock = settableClock(someInstant);
  return {
    ...{ database, store, clock },
    ...storesOn(database.pool),
    vault: postgresVault({ pool: database.pool, masterKey, clock }),
    async append(from, count) {
      // Two events to a stream; texts that JSON, lines and UTF-8 could come apart over.
      for (let n = from; n < from + count; n++)
        await store.append(streamNamed(`thing-${n >> 1}`), [newEvent(n, `"${n}"\n\u2028 密 \u0001`)], 'any');
    },
    async close() {
      await store.close();
      await database.drop();
    },
  };
}

/** On a pool, or on one client with a transaction that is taken back afterwards. */
export const storesOn = (pool: Pick<pg.Pool, 'query'>) => ({
  lines: postgresEventLines(pool as pg.Pool),
  seals: postgresSealStore(pool as pg.Pool),
  keys: postgresSealKeyStore(pool as pg.Pool),
});

type Stores = ReturnType<typeof storesOn>;

/** As a gateway does it; `given`: public keys that the auditor has been given. */
export async function walked({ lines, seals, keys }: Stores, given: ReadonlySet<string> | null = null) {
  const findings: SealFinding[] = [];
  const { trusted } = trustedKeys(await keys.all(), given);
  const found = (finding: SealFinding) => void findings.push(finding);
  const walk = await SealWalk.begin({ seals, keys: trusted, from: beforeFirstSeal, found });
  for (let after = beginning; ; ) {
    const page = await lines.after(after, 5);
    const last = page.at(-1);
    if (last === undefined) return { ...(await walk.end()), findings };
    await walk.take(page);
    after = Position(positionOf(last));
  }
}

export async function exported(stores: Stores & Pick<SealedLog, 'vault' | 'clock'>): Promise<Buffer> {
  const all: string[] = [];
  for await (const page of sealedExport(stores)) all.push(...page);
  return Buffer.from(`${all.join('\n')}\n`);
}

/** Lines as they are given, in place of those of the log. */
export const givenLines = (lines: readonly string[]): GrowingLines => ({
  head: () => Promise.resolve(Position(positionOf(lines.at(-1) ?? ''))),
  after: (after, limit) => Promise.resolve(lines.filter((line) => positionOf(line) > Number(after)).slice(0, limit)),
});
