import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir, totalmem } from 'node:os';
import { join, relative } from 'node:path';
import { asScript, buildIfNeeded, buildWebIfNeeded, checkMachine, NotReady, root } from './build.mjs';

/*
 * npm test: build, type check, lint, then the suite; one last line with the sum. With arguments, which go to vitest,
 * the checks are left out: that is somebody working on a few files.
 */

const checks = [
  { name: 'type check', tool: 'typescript/bin/tsc', args: ['--noEmit'] },
  { name: 'type check of the console', tool: 'typescript/bin/tsc', args: ['-p', 'web/tsconfig.json'] },
  { name: 'lint', tool: '@biomejs/biome/bin/biome', args: ['check', '.'] },
  { name: 'unused code and packages', tool: 'knip/bin/knip.js', args: [] },
];

/** Runs a locally installed tool to its end and gives its exit code; signals to this process reach it. */
function run(tool, args, env = process.env) {
  const command = [join(root, 'node_modules', tool), ...args];
  const child = spawn(process.execPath, command, { cwd: root, stdio: 'inherit', env });
  const pass = (signal) => child.kill(signal);
  process.on('SIGINT', pass).on('SIGTERM', pass);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      process.off('SIGINT', pass).off('SIGTERM', pass);
      resolve(signal === null ? code : 1);
    });
  });
}

/** Skipped tests by file and suite: the suite's title says what it was waiting for. */
function skippedSuites(testResults) {
  const suites = new Map();
  for (const { name, assertionResults } of testResults) {
    for (const { status, ancestorTitles, title } of assertionResults) {
      if (status !== 'skipped' && status !== 'pending' && status !== 'todo') continue;
      const suite = ancestorTitles.filter((text) => text !== '')[0] ?? title;
      const line = `${relative(root, name)}: ${suite}`;
      suites.set(line, (suites.get(line) ?? 0) + 1);
    }
  }
  return suites;
}

/** The suite is worth running without a build: only the tests that start the gateway itself need one. */
async function builds() {
  try {
    await buildIfNeeded();
    buildWebIfNeeded();
    return true;
  } catch (error) {
    if (!(error instanceof NotReady)) throw error;
    console.error(error.message);
    return false;
  }
}

const inMemory = '/dev/shm';
/** The suite needs less than half of it. */
const enoughBytes = 8e9;

/**
 * Where the suite keeps its databases and browsers: in memory where there is plenty, as it would wait for a disk longer
 * than it computes. Whoever sets TMPDIR has said where.
 */
function placeForData() {
  if (process.env.TMPDIR !== undefined || totalmem() < 2 * enoughBytes) return tmpdir();
  try {
    const { bavail, bsize } = statfsSync(inMemory);
    return bavail * bsize >= enoughBytes ? inMemory : tmpdir();
  } catch {
    return tmpdir();
  }
}

async function runSuite(args) {
  const directory = mkdtempSync(join(placeForData(), 'tallygate-test-'));
  // As the usual place is: other users than that of the suite start things there, Postgres where the suite is root.
  chmodSync(directory, 0o1777);
  const report = join(directory, 'report.json');
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const env = { ...process.env, TMPDIR: directory };
    const code = await run('vitest/vitest.mjs', ['run', ...reporters, ...args], env);
    const results = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : null;
    return { code, results };
  } finally {
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

await asScript(async () => {
  const args = process.argv.slice(2);
  checkMachine();

  const failedChecks = (await builds()) ? [] : ['build'];
  const checked = (args.length === 0 ? checks : []).map(async ({ name, tool, args: options }) => {
    if ((await run(tool, options)) !== 0) failedChecks.push(name);
  });
  await Promise.all(checked);

  const { code, results } = await runSuite(args);
  const testResults = results?.testResults ?? [];
  for (const [suite, count] of skippedSuites(testResults)) console.log(`skipped ${count} in ${suite}`);
  for (const name of failedChecks) console.log(`failed: ${name}, see above`);

  // A file that cannot be loaded has no tests to fail, and an unhandled error belongs to none: both count as one.
  const brokenFiles = testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && assertionResults.every((assertion) => assertion.status !== 'failed'),
  );
  const failedTests = (results?.numFailedTests ?? 0) + brokenFiles.length;
  const unexplained = code !== 0 && failedTests === 0 ? 1 : 0;
  const failed = failedTests + failedChecks.length + unexplained;
  console.log(`${results?.numPassedTests ?? 0} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
});
