import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGatewayProcess } from '../../support/gateway/gateway-process.js';
import { until } from '../../support/until.js';

/* The program as it is built and shipped: a few files, and the packages beside them that were left alone. */

const root = fileURLToPath(new URL('../../..', import.meta.url));
let shipped: string;
let program: string;

beforeAll(async () => {
  shipped = mkdtempSync(join(tmpdir(), 'tallygate-bundle-'));
  program = join(shipped, 'dist/main.js');
  cpSync(join(root, 'package.json'), join(shipped, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(shipped, 'node_modules'));
  const { bundle } = await import(pathToFileURL(join(root, 'scripts/bundle.mjs')).href);
  await bundle(root, join(shipped, 'dist'));
});
afterAll(() => rmSync(shipped, { recursive: true, force: true, maxRetries: 5 }));

const threadsOf = (pid: number): string[] => readdirSync(`/proc/${pid}/task`).map((id) => `/proc/${pid}/task/${id}`);

const workersOf = (pid: number): number[] =>
  threadsOf(pid)
    .flatMap((thread) => readFileSync(`${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number))
    .filter((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('relay-worker'));

const linkIn = (logged: readonly string[]): string | null =>
  logged.map((line) => (JSON.parse(line) as { link?: string }).link).find((link) => link !== undefined) ?? null;

/** How many threads of the process let calls first. */
const waitingThreads = (pid: number): number =>
  threadsOf(pid).filter((thread) => getPriority(Number(basename(thread))) > getPriority(pid)).length;

test('the bundle contains the committed schema', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [program, 'schema'], { maxBuffer: 10_000_000 });
  expect(stdout).toBe(readFileSync(join(root, 'schema.graphql'), 'utf8'));
});

test('the bundle serves every face, calls by workers and read models by their thread, and shuts down in order', async () => {
  const gateway = await startGatewayProcess(join(shipped, 'data'), { HOST: '127.0.0.1', WORKERS: '2' }, [program]);
  let cookie = '';
  const ask = (path: string, body?: object) =>
    fetch(gateway.url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json', 'x-tallygate-client': 'test', cookie },
      body: body && JSON.stringify(body),
    });
  // The first start prints a link, and the link carries what the first run takes.
  const link = new URL(await until(async () => linkIn(gateway.logged)));
  expect(`${link.origin}${link.pathname}`).toBe(`${gateway.url}/setup`);
  const set = await ask('/api/setup', {
    code: new URLSearchParams(link.hash.slice(1)).get('code'),
    username: 'root',
    password: 'correct-horse',
    confirmPassword: 'correct-horse',
    SelfUseModeEnabled: false,
    DemoSiteEnabled: false,
  });
  expect(await set.json()).toMatchObject({ success: true });
  const login = 'mutation { login(username: "root", password: "correct-horse") { user { id } } }';
  const signedIn = await ask('/graphql', { query: login });
  expect(await signedIn.json()).toMatchObject({ data: { login: { user: { id: '1' } } } });
  cookie = signedIn.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
  const log = await ask('/graphql', { query: '{ usageLog(first: 1) { edges { node { detail { __typename } } } } }' });
  expect(await log.json()).toMatchObject({
    data: { usageLog: { edges: [{ node: { detail: { __typename: 'GrantDetail' } } }] } },
  });
  const tooMany = await ask('/graphql', { query: '{ usageLog(first: 1000) { edges { cursor } } }' });
  expect(await tooMany.json()).toMatchObject({ errors: [{ extensions: { code: 'invalid-field' } }] });
  expect((await ask('/v1/models')).status).toBe(401);
  if (process.platform === 'linux') {
    const serving = [gateway.pid, ...workersOf(gateway.pid)].map(waitingThreads);
    // V8's five of each, and the projectors of the one that decides.
    expect(serving).toEqual([6, 5, 5]);
  }
  expect(await gateway.stop()).toBe(0);
});

test('the bundle starts without the HTTP client that Node includes', async () => {
  const [hook, loaded] = [join(shipped, 'tell.cjs'), join(shipped, 'loaded.json')];
  const script = `require('node:fs').writeFileSync(${JSON.stringify(loaded)}, JSON.stringify(process.moduleLoadList))`;
  writeFileSync(hook, `if (require('node:worker_threads').isMainThread) process.on('exit', () => ${script});`);
  const variables = { HOST: '127.0.0.1', NODE_OPTIONS: `--require ${hook}` };
  const gateway = await startGatewayProcess(join(shipped, 'data'), variables, [program]);
  expect(await gateway.stop()).toBe(0);
  const modules = JSON.parse(readFileSync(loaded, 'utf8')) as readonly string[];
  expect(modules).toContain('NativeModule http');
  expect(modules.filter((name) => name.includes('undici'))).toEqual([]);
});
