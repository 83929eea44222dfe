import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

const { entries } = (await import(pathToFileURL(join(root, 'scripts/bundle.mjs')).href)) as {
  readonly entries: readonly string[];
};

/** A checkout in small: our scripts around a program of a few lines. */
let checkout: string;

const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(checkout, path)), { recursive: true });
  writeFileSync(join(checkout, path), text);
};

beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'tallygate-scripts-'));
  cpSync(join(root, 'scripts'), join(checkout, 'scripts'), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'));
  write('package.json', JSON.stringify({ type: 'module', scripts: { start: 'node scripts/run.mjs serve' } }));
});

afterEach(() => rmSync(checkout, { recursive: true, force: true }));

interface Ended {
  readonly pid: number | undefined;
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Nothing of the surrounding test run reaches the program. */
const start = (command: string, args: readonly string[], env: Record<string, string> = {}): ChildProcess =>
  spawn(command, args, { cwd: checkout, env: { PATH: process.env.PATH, HOME: checkout, ...env } });

async function run(script: string, args: readonly string[] = [], env: Record<string, string> = {}): Promise<Ended> {
  const child = start(process.execPath, [join('scripts', script), ...args], env);
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (text) => {
    stdout += text;
  });
  child.stderr?.on('data', (text) => {
    stderr += text;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { pid: child.pid, code, stdout, stderr };
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('running a command', () => {
  test('happens in the process that was started, with its arguments and its exit code', async () => {
    write('dist/main.js', 'console.log(process.pid, ...process.argv.slice(2)); process.exitCode = 7;');
    const { pid, code, stdout } = await run('run.mjs', ['replay', '--model', 'usage-log']);
    expect({ code, stdout }).toEqual({ code: 7, stdout: `${pid} replay --model usage-log\n` });
  });

  test('reads .env, and the environment takes precedence', async () => {
    write('dist/main.js', 'console.log(process.env.HOST, process.env.PORT);');
    write('.env', 'HOST=from-file\nPORT=from-file\n');
    const { stdout } = await run('run.mjs', ['serve'], { PORT: 'from-environment' });
    expect(stdout).toBe('from-file from-environment\n');
  });

  test('reports a remedy when the packages are not installed', async () => {
    rmSync(join(checkout, 'node_modules'));
    const { code, stderr } = await run('run.mjs');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'The packages are not installed yet. Run this first: npm ci\n',
    });
  });

  test('uses the same Node options, whether npm or the container starts the server', () => {
    const flags = (text = '') => text.match(/--[\w-]+=\d+/g);
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const container = flags(/^ENTRYPOINT.*$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8'))?.[0]);
    expect(container).toHaveLength(4);
    expect([scripts.start, scripts.demo].map(flags)).toEqual([container, container]);
  });

  test('ends with npm, even when npm is killed', async () => {
    write('dist/main.js', 'console.log(process.pid); setInterval(() => {}, 1000);');
    const npm = start('npm', ['start', '--silent']);
    if (npm.stdout === null) throw new Error('npm has no stdout');
    const [text] = (await once(npm.stdout, 'data')) as [Buffer];
    const pid = Number(text.toString());
    expect(isAlive(pid)).toBe(true);
    npm.kill('SIGKILL');
    // The pipe is the program's as well: it closes when both are gone.
    await once(npm, 'close');
    expect(isAlive(pid)).toBe(false);
  });
});

describe('building before a command', () => {
  const lean = { lib: ['es5'], types: [], skipLibCheck: true };
  const options = { ...lean, module: 'nodenext', target: 'es2022', rootDir: 'src', outDir: 'dist' };
  const program = `declare const console: { log(text: string): void };\nconsole.log('first');\nexport {};\n`;
  beforeEach(() => {
    write('tsconfig.build.json', JSON.stringify({ compilerOptions: options, include: ['src'] }));
    for (const entry of entries) write(join('src', entry), 'export {};\n');
    write('src/main.ts', program);
  });

  test('happens when there is no build', async () => {
    expect(await run('run.mjs')).toMatchObject({ code: 0, stdout: 'first\n', stderr: 'Building Tallygate …\n' });
  });

  test('happens once: the next start prints nothing', async () => {
    await run('run.mjs');
    expect(await run('run.mjs')).toMatchObject({ code: 0, stdout: 'first\n', stderr: '' });
  });

  test.each(['src/main.ts', 'package.json'])('happens again after a change of %s', async (path) => {
    await run('run.mjs');
    const now = new Date();
    utimesSync(join(checkout, path), now, now);
    expect(await run('run.mjs')).toMatchObject({ code: 0, stderr: 'Building Tallygate …\n' });
    expect(await run('run.mjs')).toMatchObject({ code: 0, stderr: '' });
  });

  test('happens again when a source is deleted', async () => {
    write('src/other.ts', 'export {};\n');
    await run('run.mjs');
    rmSync(join(checkout, 'src/other.ts'));
    expect(await run('run.mjs')).toMatchObject({ code: 0, stderr: 'Building Tallygate …\n' });
  });

  test('shows errors, runs nothing, and is retried next time', async () => {
    write('src/main.ts', 'export const count: number = "three";\n');
    const failed = await run('run.mjs');
    expect(failed).toMatchObject({ code: 1, stdout: '' });
    expect(failed.stderr).toContain(`src/main.ts(1,14): error TS2322`);
    expect(existsSync(join(checkout, 'dist/.built'))).toBe(false);
    expect(await run('run.mjs')).toMatchObject({ code: 1, stdout: '' });
  });

  test('results in stack traces that name the sources, line by line', async () => {
    cpSync(join(root, 'src/process/stack-traces.ts'), join(checkout, 'src/process/stack-traces.ts'));
    write('tsconfig.build.json', readFileSync(join(root, 'tsconfig.build.json'), 'utf8'));
    write('tsconfig.json', readFileSync(join(root, 'tsconfig.json'), 'utf8'));
    write(
      'src/fails.ts',
      'interface Erased {\n  readonly nothing: 1;\n}\nexport const fails = (): Erased => {\n  throw new Error();\n};\n',
    );
    write(
      'src/main.ts',
      `import { fails } from './fails.js';
import { nameSources } from './process/stack-traces.js';
nameSources();
try {
  fails();
} catch (error) {
  console.log(String((error as Error).stack));
}
`,
    );
    const { stdout, stderr } = await run('run.mjs');
    expect(stderr).toBe('Building Tallygate …\n');
    expect(stdout.split('\n').slice(0, 3)).toEqual([
      'Error',
      `    at fails (${join(checkout, 'src/fails.ts')}:5:9)`,
      `    at ${join(checkout, 'src/main.ts')}:5:3`,
    ]);
  });

  test('is skipped where there are no sources: a packed release', async () => {
    rmSync(join(checkout, 'src'), { recursive: true });
    write('dist/main.js', `console.log('packed');`);
    expect(await run('run.mjs')).toMatchObject({ code: 0, stdout: 'packed\n', stderr: '' });
  });
});

describe('the summary of a test run', () => {
  const lastLine = ({ stdout }: Ended): string | undefined => stdout.trimEnd().split('\n').at(-1);
  const suite = (body: string): string => `import { describe, expect, test } from 'vitest';\n${body}`;

  test('is one line at the end', async () => {
    write('tests/good.test.ts', suite(`test('adds', () => expect(1 + 1).toBe(2));`));
    const ended = await run('test.mjs', ['tests']);
    expect([ended.code, lastLine(ended)]).toEqual([0, '1 passed, 0 failed']);
  });

  test('counts a failed test and a file that cannot be loaded', async () => {
    write(
      'tests/bad.test.ts',
      suite(`test('adds', () => expect(1 + 1).toBe(3));\ntest('is', () => expect(1).toBe(1));`),
    );
    write('tests/broken.test.ts', suite(`throw new Error('no');`));
    const ended = await run('test.mjs', ['tests']);
    expect([ended.code, lastLine(ended)]).toEqual([1, '1 passed, 2 failed']);
  });

  test('names skipped tests', async () => {
    const waiting = `describe.skip('recorded answers (need WIRE_FIXTURES)', () => test('one', () => {}));`;
    write('tests/waiting.test.ts', suite(`${waiting}\ntest('is', () => expect(1).toBe(1));`));
    const ended = await run('test.mjs', ['tests']);
    expect(ended.stdout).toContain('skipped 1 in tests/waiting.test.ts: recorded answers (need WIRE_FIXTURES)\n');
    expect([ended.code, lastLine(ended)]).toEqual([0, '1 passed, 0 failed']);
  });
});
