import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { constants, setPriority, tmpdir, totalmem } from 'node:os';
import { join, relative } from 'node:path';
import { asScript, buildIfNeeded, buildWebIfNeeded, checkMachine, NotReady, root, typeChecker } from './build.mjs';

/*
 * npm test: build, then the suite, and beside it type check and lint; one last line with the sum. With arguments, which
 * go to vitest, the checks are left out: that is somebody working on a few files.
 */

const checks = [
  { name: 'type check', tool: typeChecker, args: ['--noEmit'] },
  { name: 'type check of the console', tool: typeChecker, args: ['-p', 'web/tsconfig.json'] },
  { name: 'lint', tool: '@biomejs/biome/bin/biome', args: ['check', '.'] },
  { name: 'unused code and packages', tool: 'knip/bin/knip.js', args: [] },
];

const start = (tool, args, options) =>
  spawn(process.execPath, [join(root, 'node_modules', tool), ...args], { cwd: root, ...options });

let interrupted = false;

/** The exit code of a locally installed tool; signals to this process reach it. */
function ended(child) {
  const pass = (signal) => {
    interrupted = true;
    child.kill(signal);
  };
  process.on('SIGINT', pass).on('SIGTERM', pass);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      process.off('SIGINT', pass).off('SIGTERM', pass);
      resolve(signal === null ? code : 1);
    });
  });
}

/**
 * Runs a check where the suite leaves the processor idle, which waits for much. Gives what it prints, or null where it
 * has passed.
 */
async function complaints({ tool, args }) {
  const child = start(tool, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  try {
    setPriority(child.pid, constants.priority.PRIORITY_LOW);
  } catch {
    // Where priorities cannot be set it takes its share.
  }
  const printed = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => printed.push(chunk));
  return (await ended(child)) === 0 ? null : Buffer.concat(printed).toString();
}

/** One after the other. Gives the names of those that fail, having printed what they say. */
async function failedChecks() {
  const failed = [];
  for (const check of checks) {
    if (interrupted) break;
    const said = await complaints(check);
    if (said === null) continue;
    failed.push(check.name);
    console.log(`${check.name}:\n${said}`);
  }
  return failed;
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
    const code = await ended(start('vitest/vitest.mjs', ['run', ...reporters, ...args], { stdio: 'inherit', env }));
    const results = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : null;
    return { code, results };
  } finally {
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

await asScript(async () => {
  const args = process.argv.slice(2);
  checkMachine();

  const built = await builds();
  const [{ code, results }, unpassed] = await Promise.all([runSuite(args), args.length === 0 ? failedChecks() : []]);
  const checksFailed = [...(built ? [] : ['build']), ...unpassed];
  const testResults = results?.testResults ?? [];
  for (const [suite, count] of skippedSuites(testResults)) console.log(`skipped ${count} in ${suite}`);
  for (const name of checksFailed) console.log(`failed: ${name}, see above`);

  // A file that cannot be loaded has no tests to fail, and an unhandled error belongs to none: both count as one.
  const brokenFiles = testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && assertionResults.every((assertion) => assertion.status !== 'failed'),
  );
  const failedTests = (results?.numFailedTests ?? 0) + brokenFiles.length;
  const unexplained = code !== 0 && failedTests === 0 ? 1 : 0;
  const failed = failedTests + checksFailed.length + unexplained;
  console.log(`${results?.numPassedTests ?? 0} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
});
