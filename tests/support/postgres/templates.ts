import { migrate } from '../../../src/adapters/database/migrate.js';
import { newClient, openPool, type PostgresConnection } from '../../../src/adapters/database/postgres.js';
import { prepareReadModels } from '../../../src/projections/engine/checkpoints.js';
import { readModels } from '../../../src/projections/read-models.js';
import { quietLog } from '../quiet-log.js';

/* Databases that others are copied from, which takes Postgres far less than to make some 590 relations in each. */

/** `adapters`: the tables of the adapters. `gateway`: those of the read models as well. */
export type Template = 'adapters' | 'gateway';

export const nameOf = (template: Template): string => `template_${template}`;

/** Makes the templates in a Postgres that has none yet. Nobody can connect to them afterwards. */
export async function makeTemplates(connection: PostgresConnection): Promise<void> {
  const client = newClient(connection);
  await client.connect();
  const filled = async (
    template: Template,
    origin: string,
    fill: (pool: Awaited<ReturnType<typeof openPool>>) => Promise<unknown>,
  ) => {
    await client.query(`CREATE DATABASE ${nameOf(template)} TEMPLATE ${origin}`);
    const pool = await openPool({ ...connection, database: nameOf(template) } as PostgresConnection, quietLog);
    await fill(pool);
    await pool.end();
    await client.query(`ALTER DATABASE ${nameOf(template)} ALLOW_CONNECTIONS false`);
  };
  await filled('adapters', 'template1', migrate);
  await filled('gateway', nameOf('adapters'), (pool) => prepareReadModels(pool, readModels));
  await client.end();
}
