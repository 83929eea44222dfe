import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newClient, openPool, type PostgresConnection } from '../../../src/adapters/database/postgres.js';
import { attachEmbeddedPostgres } from '../../../src/adapters/embedded-postgres/attach-postgres.js';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../../src/adapters/embedded-postgres/embedded-postgres.js';
import {
  installedPackage,
  postgresAccount,
  postgresBinaries,
} from '../../../src/adapters/embedded-postgres/postgres-binaries.js';
import { quietLog } from '../../support/quiet-log.js';

const isRoot = process.getuid?.() === 0;
const nobody = 65534;

/* Processes are looked up in /proc. */
describe.skipIf(process.platform !== 'linux')('the embedded Postgres', () => {
  /** A data directory that has been set up and stopped: setting one up takes a second each time. */
  let prepared: string;
  let home: string;
  let dataDir: string;
  let postgresDir: string;
  const running: EmbeddedPostgres[] = [];
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    prepared = join(await mkdtemp(join(tmpdir(), 'tallygate-home-')), 'data');
    await (await startEmbeddedPostgres({ dataDir: prepared, log: quietLog })).stop();
  });
  afterAll(() => rm(dirname(prepared), { recursive: true }));
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'tallygate-home-'));
    dataDir = join(home, 'data');
    postgresDir = join(dataDir, 'postgres');
  });
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    for (const postgres of running.splice(0)) await postgres.stop();
    // An orphan that a failed test has left.
    kill(...(await postgresProcesses()));
    await until(async () => (await postgresProcesses()).length === 0);
    await rm(home, { recursive: true });
  });

  async function startAnew(): Promise<EmbeddedPostgres> {
    const postgres = await startEmbeddedPostgres({ dataDir, log: quietLog });
    running.push(postgres);
    return postgres;
  }

  async function prepare(): Promise<void> {
    // Not fs.cp: the files keep their owner.
    if (!(await exists(dataDir))) execFileSync('cp', ['-a', prepared, dataDir]);
  }

  async function start(): Promise<EmbeddedPostgres> {
    await prepare();
    return startAnew();
  }

  async function stop(): Promise<void> {
    for (const postgres of running.splice(0)) await postgres.stop();
  }

  /** A process with an embedded Postgres of its own, once that can be used; and what it prints from then on. */
  async function startInProcess(task = '', owner: { uid: number; gid: number } | null = null) {
    await prepare();
    const script = fileURLToPath(new URL('../../support/postgres/embedding-process.ts', import.meta.url));
    const child = spawn(process.execPath, ['--import', 'tsx', script, dataDir, task], {
      stdio: ['ignore', 'pipe', 'inherit'],
      ...owner,
    });
    children.push(child);
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const first = await lines.next();
    if (first.done === true) throw new Error('The process has ended');
    return { child, connection: JSON.parse(first.value) as PostgresConnection, lines };
  }

  /** The Postgres processes on the data directory: all of them work in it. */
  async function postgresProcesses(): Promise<number[]> {
    const found: number[] = [];
    for (const name of await readdir('/proc')) {
      if (!/^\d+$/.test(name)) continue;
      const directory = await readlink(`/proc/${name}/cwd`).catch(() => null);
      if (directory === postgresDir) found.push(Number(name));
    }
    return found;
  }

  const postmaster = async (): Promise<number> =>
    Number((await readFile(join(postgresDir, 'postmaster.pid'), 'utf8')).split('\n')[0]);

  const kill = (...pids: readonly number[]) => {
    for (const pid of pids) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    }
  };

  test('starts from nothing, with a database of its own', async () => {
    const { connection } = await startAnew();
    expect(await query(connection, 'SELECT current_database() AS name')).toEqual([{ name: 'tallygate' }]);
  });

  test('loses nothing acknowledged, and opens no port', async () => {
    const { connection } = await start();
    const settings = await query(
      connection,
      `SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commit,
         current_setting('full_page_writes') AS pages, current_setting('listen_addresses') AS addresses`,
    );
    expect(settings).toEqual([{ fsync: 'on', commit: 'on', pages: 'on', addresses: '' }]);
  });

  test('denies others its data and its socket', async () => {
    const { connection } = await start();
    if ('url' in connection) throw new Error('The socket directory is needed');
    expect((await stat(postgresDir)).mode & 0o777).toBe(0o700);
    expect((await stat(connection.host)).mode & 0o777).toBe(0o700);
  });

  test('keeps the data when it is started again', async () => {
    await query((await start()).connection, 'CREATE TABLE kept AS SELECT 42 AS value');
    await stop();
    expect(await query((await start()).connection, 'SELECT value FROM kept')).toEqual([{ value: 42 }]);
  });

  test('is stopped completely, with its socket and its lock file removed', async () => {
    const { connection } = await start();
    if ('url' in connection) throw new Error('The socket directory is needed');
    await stop();
    expect(await postgresProcesses()).toEqual([]);
    expect(await readdir(connection.host).catch(() => [])).toEqual([]);
    expect(await readdir(postgresDir)).not.toContain('postmaster.pid');
  });

  test('warns of nothing while it recovers from a crash, nor of connections that its stop ends', async () => {
    const warned: string[] = [];
    const log = pino(
      { level: 'debug' },
      {
        write(line: string) {
          const { level, postgres } = JSON.parse(line) as { level: number; postgres?: string };
          if (postgres !== undefined && level > 20) warned.push(postgres);
        },
      },
    );
    await prepare();
    const first = await startEmbeddedPostgres({ dataDir, log });
    running.push(first);
    await query(first.connection, 'CREATE TABLE kept AS SELECT md5(n::text) FROM generate_series(1, 200000) n');
    const crashed = await postmaster();
    kill(crashed);
    await until(async () => (await postmaster().catch(() => crashed)) !== crashed);
    await eventually(() => query(first.connection, 'SELECT 1 AS one'));
    const idle = newClient(first.connection);
    idle.on('error', () => undefined);
    await idle.connect();
    await stop();
    // The crash itself is news.
    expect(warned.filter((line) => !line.includes('unexpected postmaster exit'))).toEqual([]);
  });

  test('uses a short path for its socket when the path of the data is long', async () => {
    dataDir = join(home, 'a'.repeat(100));
    postgresDir = join(dataDir, 'postgres');
    const { connection } = await start();
    expect(await query(connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    if ('url' in connection) throw new Error('The socket directory is needed');
    expect(dirname(connection.host)).toBe(tmpdir());
    await stop();
    await expect(stat(connection.host)).rejects.toThrow('ENOENT');
  });

  test('uses a data directory that others may traverse, and puts its socket there', async () => {
    await chmod(home, 0o755);
    const { connection } = await start();
    expect(connection).toMatchObject({ host: join(dataDir, 'postgres-socket') });
    expect(await query(connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  test('does not accept an incomplete data directory as complete', async () => {
    const unfinished = join(dataDir, 'postgres-unfinished-x');
    await mkdir(unfinished, { recursive: true });
    await writeFile(join(unfinished, 'PG_VERSION'), '18\n');
    await query((await startAnew()).connection, 'SELECT 1');
    expect((await readdir(dataDir)).filter((name) => name.startsWith('postgres-unfinished'))).toEqual([]);
  });

  test('leaves a directory with other contents unchanged', async () => {
    await mkdir(postgresDir, { recursive: true });
    await writeFile(join(postgresDir, 'diary.txt'), 'dear diary');
    await expect(startAnew()).rejects.toMatchObject({ code: 'store-unavailable' });
    expect(await readdir(postgresDir)).toEqual(['diary.txt']);
  });

  describe('with a second start on the same data', () => {
    test('refuses it while the first one runs, which is not affected', async () => {
      const { connection } = await start();
      await expect(startEmbeddedPostgres({ dataDir, log: quietLog })).rejects.toMatchObject({
        code: 'store-unavailable',
        details: { reason: expect.stringMatching(/in use by another running Tallygate/) },
      });
      expect(await query(connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    });

    test('refuses it while another process owns it', async () => {
      const { connection } = await startInProcess();
      await expect(startEmbeddedPostgres({ dataDir, log: quietLog })).rejects.toMatchObject({
        details: { reason: expect.stringMatching(/in use by another running Tallygate/) },
      });
      expect(await query(connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    });
  });

  describe('after kill -9', () => {
    test('of its owner stops too, and does not block the next start', async () => {
      const { child, connection } = await startInProcess();
      await query(connection, 'CREATE TABLE kept AS SELECT 42 AS value');
      expect((await postgresProcesses()).length).toBeGreaterThan(3);
      child.kill('SIGKILL');
      await until(async () => (await postgresProcesses()).length === 0);
      expect(await query((await start()).connection, 'SELECT value FROM kept')).toEqual([{ value: 42 }]);
    });

    test('of its owner need not be waited for at the next start', async () => {
      const { child, connection } = await startInProcess();
      await query(connection, 'CREATE TABLE kept AS SELECT 42 AS value');
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      expect(await query((await start()).connection, 'SELECT value FROM kept')).toEqual([{ value: 42 }]);
    });

    test('of its owner leaves a command that has just attached with an instance of its own', async () => {
      const { child, connection } = await startInProcess();
      await query(connection, 'CREATE TABLE kept AS SELECT 42 AS value');
      const attachedTo: PostgresConnection[] = [];
      const { opened, stop } = await attachEmbeddedPostgres({ dataDir, log: quietLog }, async (attached) => {
        attachedTo.push(attached);
        if (attachedTo.length === 1) {
          child.kill('SIGKILL');
          await until(async () => (await postgresProcesses()).length === 0);
        }
        await (await openPool(attached, quietLog)).end();
        return query(attached, 'SELECT value FROM kept');
      });
      await stop();
      expect(attachedTo).toHaveLength(2);
      expect(opened).toEqual([{ value: 42 }]);
    });

    test('of its owner and its supervisor is stopped as an orphan by the next start', async () => {
      const { child, connection } = await startInProcess();
      await query(connection, 'CREATE TABLE kept AS SELECT 42 AS value');
      const orphan = await postmaster();
      const supervisor = await parentOf(orphan);
      const watchers = (await childrenOf(supervisor)).filter((pid) => pid !== orphan);
      expect(watchers).toHaveLength(1);
      kill(...watchers, child.pid ?? 0, supervisor);
      await until(async () => (await parentOf(orphan)) !== supervisor);
      expect(await postmaster()).toBe(orphan);
      expect(await query((await start()).connection, 'SELECT value FROM kept')).toEqual([{ value: 42 }]);
      expect(await postmaster()).not.toBe(orphan);
    });

    test('of the owner and of every Postgres process has each acknowledged event', async () => {
      const { child, lines } = await startInProcess('append');
      const acknowledged: string[] = [];
      while (acknowledged.length < 2_000) {
        const line = await lines.next();
        if (line.done === true) throw new Error('The process has ended');
        acknowledged.push(JSON.parse(line.value) as string);
      }
      kill(...(await postgresProcesses()), child.pid ?? 0);
      for (let line = await lines.next(); line.done !== true; line = await lines.next())
        acknowledged.push(JSON.parse(line.value) as string);
      const rows = await query((await start()).connection, 'SELECT event_id FROM events');
      const stored = new Set(rows.map((row) => row.event_id));
      expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
      expect(stored.size).toBeGreaterThanOrEqual(acknowledged.length);
    });

    test('of Postgres only is restarted by its owner', async () => {
      const { connection } = await start();
      await query(connection, 'CREATE TABLE kept AS SELECT 42 AS value');
      const first = await postmaster();
      kill(first);
      const rows = await eventually(() => query(connection, 'SELECT value FROM kept'));
      expect(rows).toEqual([{ value: 42 }]);
      expect(await postmaster()).not.toBe(first);
    });

    test('is restarted if Postgres was stopped from outside', async () => {
      const { connection } = await start();
      const first = await postmaster();
      process.kill(first, 'SIGINT');
      await until(async () => (await postmaster().catch(() => first)) !== first);
      expect(await eventually(() => query(connection, 'SELECT 1 AS one'))).toEqual([{ one: 1 }]);
    });

    test('of the supervisor only is restarted by its owner', async () => {
      const { connection } = await start();
      const first = await postmaster();
      kill(await parentOf(first));
      await until(async () => (await postmaster().catch(() => first)) !== first);
      expect(await eventually(() => query(connection, 'SELECT 1 AS one'))).toEqual([{ one: 1 }]);
    });
  });

  describe('with a lock file left behind', () => {
    test.each([
      ['by a dead process', () => 4_194_000],
      ['with the number of another program’s process', () => process.pid],
    ])('%s still starts', async (_, pid) => {
      await query((await start()).connection, 'CREATE TABLE kept AS SELECT 42 AS value');
      await stop();
      const lock = [pid(), postgresDir, 1_767_323_045, 5432, '/gone', '', '  1234567         0', 'ready   ', ''];
      const file = join(postgresDir, 'postmaster.pid');
      await writeFile(file, lock.join('\n'), { mode: 0o600 });
      const { uid, gid } = await stat(postgresDir);
      await chown(file, uid, gid);
      expect(await query((await start()).connection, 'SELECT value FROM kept')).toEqual([{ value: 42 }]);
    });
  });

  describe.skipIf(!isRoot)('when root starts it', () => {
    test('runs as an unprivileged user', async () => {
      await start();
      const status = await readFile(`/proc/${await postmaster()}/status`, 'utf8');
      expect(status).toMatch(new RegExp(`^Uid:\\s${nobody}\\s${nobody}`, 'm'));
      expect(status).toMatch(new RegExp(`^Gid:\\s${nobody}\\s${nobody}`, 'm'));
    });

    test('takes over data that belongs to another user', async () => {
      await query((await start()).connection, 'CREATE TABLE kept AS SELECT 42 AS value');
      await stop();
      execFileSync('chown', ['-R', '12345:12345', postgresDir]);
      expect(await query((await start()).connection, 'SELECT value FROM kept')).toEqual([{ value: 42 }]);
    });

    test('runs a copy of an installation that others cannot access, with the links that npm omitted', async () => {
      const account = postgresAccount();
      const closed = join(home, 'closed');
      await cp(installedPackage(), closed, { recursive: true, verbatimSymlinks: true });
      for (const { target } of await links(closed)) await unlink(join(closed, target));
      await mkdir(dataDir);
      await chmod(home, 0o755);
      await chmod(closed, 0o700);
      const binaries = await postgresBinaries(dataDir, account, closed);
      expect(dirname(binaries)).toBe(dataDir);
      expect(String(execFileSync(join(binaries, 'bin', 'postgres'), ['--version'], { ...account, cwd: '/' }))).toMatch(
        /^postgres \(PostgreSQL\) 18/,
      );
      expect(await postgresBinaries(dataDir, account, closed)).toBe(binaries);
      expect((await readdir(dataDir)).length).toBe(1);
    });

    test('does not run a copy that another user has put there', async () => {
      const closed = join(home, 'closed');
      await mkdir(join(closed, 'native'), { recursive: true });
      await writeFile(join(closed, 'package.json'), '{"version":"18.0.0"}');
      await mkdir(join(dataDir, 'tallygate-postgres-18.0.0'), { recursive: true });
      await chown(join(dataDir, 'tallygate-postgres-18.0.0'), 12345, 12345);
      await chmod(home, 0o755);
      await chmod(closed, 0o700);
      await expect(postgresBinaries(dataDir, postgresAccount(), closed)).rejects.toMatchObject({
        details: { reason: expect.stringMatching(/belongs to somebody else/) },
      });
    });

    test('is not required: an ordinary user can start it too', async () => {
      await prepare();
      execFileSync('chown', ['-R', `${nobody}:${nobody}`, home]);
      const { child, connection } = await startInProcess('', { uid: nobody, gid: nobody });
      expect(await query(connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
      child.kill('SIGKILL');
      await until(async () => (await postgresProcesses()).length === 0);
    });
  });

  test('creates the library links that npm has omitted', async () => {
    const native = join(home, 'package', 'native');
    await mkdir(join(native, 'lib'), { recursive: true });
    const list = await readFile(join(installedPackage(), 'native', 'pg-symlinks.json'));
    await writeFile(join(native, 'pg-symlinks.json'), list);
    expect(await postgresBinaries(dataDir, null, dirname(native))).toBe(native);
    for (const { source, target } of await links(dirname(native))) {
      expect((await lstat(join(dirname(native), target))).isSymbolicLink()).toBe(true);
      expect(join(dirname(native), dirname(target), await readlink(join(dirname(native), target)))).toBe(
        join(dirname(native), source),
      );
    }
  });
});

async function query(connection: PostgresConnection, text: string): Promise<Record<string, unknown>[]> {
  const client = newClient(connection);
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

const exists = async (path: string): Promise<boolean> => (await stat(path).catch(() => null)) !== null;

const links = async (installed: string): Promise<{ source: string; target: string }[]> =>
  JSON.parse(await readFile(join(installed, 'native', 'pg-symlinks.json'), 'utf8'));

const parentOf = async (pid: number): Promise<number> =>
  Number(/^PPid:\s(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]);

const childrenOf = async (pid: number): Promise<number[]> =>
  (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ').filter(Boolean).map(Number);

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(10);
}

/** The first answer that is not an error. */
async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch {
      await sleep(20);
    }
  }
}
