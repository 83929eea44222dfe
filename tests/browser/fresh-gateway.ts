import { pino } from 'pino';
import { type Gateway, startGateway } from '../../src/bootstrap/gateway.js';
import { readConfig } from '../../src/config.js';
import { createEmptyDatabase } from '../support/postgres/postgres.js';

/** A gateway nobody has set up yet, as after the first start. */
export async function startFreshGateway(env: Readonly<Record<string, string>> = {}): Promise<
  Pick<Gateway, 'url' | 'stop'> & {
    readonly logged: readonly string[];
    /** The newest link to the set-up page; '' before there is one. */
    linkInLog(): string;
  }
> {
  const database = await createEmptyDatabase();
  const { connection } = database;
  if ('url' in connection) throw new Error('the test database is expected on a socket');
  const { host, user, database: name, port = 5432 } = connection;
  const config = readConfig({
    PORT: '0',
    SECRET_KEY: 'a-secret-key-for-tests-of-forty-characters',
    DATABASE_URL: `postgres://${user}@localhost:${port}/${name}?host=${encodeURIComponent(host)}`,
    PROJECTION_LINGER_MS: '5',
    ...env,
  });
  const logged: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) });
  const gateway = await startGateway(config, log);
  return {
    logged,
    linkInLog: () =>
      logged.map((line) => (JSON.parse(line) as { link?: string }).link).findLast((link) => link !== undefined) ?? '',
    url: gateway.url,
    async stop() {
      await gateway.stop();
      await database.drop();
    },
  };
}
