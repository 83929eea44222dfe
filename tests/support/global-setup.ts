import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import type { PostgresConnection } from '../../src/adapters/database/postgres.js';
import { startEmbeddedPostgres } from '../../src/adapters/embedded-postgres/embedded-postgres.js';
import { unpackBrowser } from './gateway/browser.js';
import { makeTemplates } from './postgres/templates.js';
import { quietLog } from './quiet-log.js';

declare module 'vitest' {
  export interface ProvidedContext {
    postgres: PostgresConnection;
  }
}

/** One Postgres for the whole run; each test file makes its own database in it (createTestDatabase). */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tallygate-tests-'));
  const [postgres] = await Promise.all([startEmbeddedPostgres({ dataDir, log: quietLog }), unpackBrowser()]);
  await makeTemplates(postgres.connection);
  project.provide('postgres', postgres.connection);
  return async () => {
    await postgres.stop();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  };
}
