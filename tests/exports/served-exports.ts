import { mkdtempSync, rmSync } from 'node:fs';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import Fastify from 'fastify';
import { administratorsLogQueries } from '../../src/application/audit/administrators-log.js';
import { quotaHistoryQueries } from '../../src/application/audit/quota-history.js';
import { initialOptions } from '../../src/application/options/initial-options.js';
import { settingsFrom } from '../../src/application/options/settings.js';
import type { Clock, ReadModelProgress, UserView } from '../../src/application/ports/storage-ports.js';
import { defaultPrices } from '../../src/application/prices/default-prices.js';
import { logExportQueries } from '../../src/application/usage/log-export.js';
import { type MonthOf, statementQueries } from '../../src/application/usage/statements.js';
import type { Position } from '../../src/domain/events/events.js';
import type { UserId } from '../../src/domain/kernel/ids.js';
import { Instant } from '../../src/domain/kernel/instant.js';
import { exportRoutes, type Patience } from '../../src/exports/export-routes.js';
import type { Projected } from '../projections/projected.js';

/*
 * The files alone, over the real read models of a history. On a Unix socket: what lies in one between two processes has a
 * bound that does not grow, so a reader who does not read is felt soon.
 */

/** What has been read for one file. */
interface Reading {
  pages: number;
  ended: boolean;
}

export interface ServedExports {
  /** One for each file of usage, in the order they were asked for. */
  readonly readings: readonly Reading[];
  /** Resolves with the head of the answer; nothing of its body is read. The cookie names the user. */
  ask(user: UserId, path: string): Promise<Asked>;
  /** Of everybody who has asked, once the server knows. */
  hangUp(): Promise<void>;
  stop(): Promise<void>;
}

interface Asked {
  readonly answer: IncomingMessage;
  readonly status: number;
  /** Reads the rest. */
  body(): Promise<string>;
  leave(): void;
}

export interface ServedExportsOptions {
  readonly progress: Pick<ReadModelProgress, 'reached'>;
  readonly clock: Clock;
  readonly patience?: Patience;
  /** Waited for before anything is read. */
  readonly before?: () => Promise<void>;
}

export async function serveExports(
  projected: Projected,
  { progress, clock, patience, before = async () => {} }: ServedExportsOptions,
): Promise<ServedExports> {
  const readings: Reading[] = [];
  const head: Position = await projected.store.head();
  const prices = defaultPrices(Instant(Date.UTC(2026, 10, 28)));
  const settings = settingsFrom(new Map(), prices, initialOptions(prices));
  const reading = { db: projected.db, progress, tail: { position: () => head } };
  const queries = {
    ...statementQueries({ ...reading, directory: { user: async () => null }, clock }),
    ...logExportQueries(reading),
    ...quotaHistoryQueries({ ...reading, store: projected.store }),
    ...administratorsLogQueries({ ...reading, personal: { openAll: async (texts) => texts.map(() => null) } }),
  };
  async function* counted<Line>(pages: MonthOf<Line>['pages'], reading: Reading) {
    try {
      for await (const page of pages) {
        reading.pages += 1;
        yield page;
      }
    } finally {
      reading.ended = true;
    }
  }
  const viewer = (token: string): UserView => ({
    id: Number(token) as UserId,
    username: 'somebody',
    role: 'ordinary',
    status: 'enabled',
    group: 'default',
    acceptUnpricedModels: false,
  });
  const app = Fastify();
  await app.register(exportRoutes, {
    application: {
      identity: { bySession: async (token) => viewer(token) },
      queries: {
        ...queries,
        sealedLog: () => {
          throw new Error('nothing is sealed here');
        },
        foundWhatIf: () => {
          throw new Error('nothing is asked here');
        },
        async monthOfUsage(actor, asked) {
          const reading = { pages: 0, ended: false };
          readings.push(reading);
          await before();
          const month = await queries.monthOfUsage(actor, asked);
          return { ...month, pages: counted(month.pages, reading) };
        },
      },
      directory: { settings: () => settings },
      clock,
    },
    newRequestId: () => 'request',
    origins: { isForeign: () => false },
    allowRequest: () => true,
    patience,
  });
  const directory = mkdtempSync(join(tmpdir(), 'tallygate-exports-'));
  const socketPath = join(directory, 'socket');
  await app.listen({ path: socketPath });
  const open = new Set<ClientRequest>();
  const connections = new Set<Promise<unknown>>();
  app.server.on('connection', (socket) => {
    connections.add(new Promise((resolve) => socket.once('close', resolve)));
  });

  return {
    readings,
    ask: (user, path) =>
      new Promise((resolve, reject) => {
        const sent = request({ socketPath, path, agent: false, headers: { cookie: `session=${user}` } });
        open.add(sent);
        sent.once('error', reject);
        sent.once('response', (answer) =>
          resolve({
            answer,
            status: answer.statusCode ?? 0,
            body: () => text(answer),
            leave: () => sent.destroy(),
          }),
        );
        sent.end();
      }),
    async hangUp() {
      for (const sent of open) sent.destroy();
      await Promise.all(connections);
    },
    async stop() {
      for (const sent of open) sent.destroy();
      await app.close();
      rmSync(directory, { recursive: true });
    },
  };
}
