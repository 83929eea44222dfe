import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/* What every script needs first: a Node that is new enough, the packages, an up-to-date dist and web/dist. */

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

const oldestNode = [20, 19];
const compilers = ['typescript-7/bin/tsc', 'typescript/bin/tsc'];

/** What checks types: the newer takes a third of the time, and is not where packages were installed before it came. */
export const typeChecker = compilers.find((path) => existsSync(join(root, 'node_modules', path)));

const dist = join(root, 'dist');
/** Left by a build that succeeded, dated at its start: what was saved meanwhile is newer. */
const stamp = join(dist, '.built');

export const webDirectory = join(root, 'web');
/** The same for the console. */
export const webStamp = join(webDirectory, 'dist/.built');

/** A reason to stop that the reader can do something about; shown without a stack. */
export class NotReady extends Error {}

export function checkMachine() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldestNode;
  if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor))
    throw new NotReady(`Tallygate needs Node ${oldestNode.join('.')} or newer; this is ${process.versions.node}.`);
  if (!existsSync(join(root, 'node_modules')))
    throw new NotReady('The packages are not installed yet. Run this first: npm ci');
}

const modified = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0);

/** The newest change under a directory, in ms. Directories count: a deleted file changes only them. */
const newestUnder = (directory) =>
  readdirSync(directory, { withFileTypes: true, recursive: true }).reduce(
    (newest, entry) => Math.max(newest, modified(join(entry.parentPath, entry.name))),
    modified(directory),
  );

/** Whether dist is of the sources as they are. */
export const isBuilt = () => {
  const sources = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];
  const newest = Math.max(newestUnder(join(root, 'src')), ...sources.map((name) => modified(join(root, name))));
  return modified(stamp) >= newest;
};

/** Builds src to dist unless that has been done. Says so only when there is something to do. */
export async function buildIfNeeded() {
  // A packed release brings dist and no sources.
  if (!existsSync(join(root, 'src')) || isBuilt()) return;
  if (typeChecker === undefined) throw new NotReady('Building needs the development packages. Run this first: npm ci');
  process.stderr.write('Building Tallygate …\n');
  await buildGateway();
}

/** Throws NotReady with what is wrong in the sources. */
export async function buildGateway() {
  const started = new Date();
  // It checks; what runs is the bundle.
  const check = [join(root, 'node_modules', typeChecker), '-p', 'tsconfig.build.json', '--noEmit'];
  const { status, stdout, stderr } = spawnSync(process.execPath, check, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new NotReady(`The build failed.\n${stdout}${stderr}`.trimEnd());
  const { bundle } = await import('./bundle.mjs');
  await bundle(root, dist);
  writeFileSync(stamp, '');
  utimesSync(stamp, started, started);
}

const isWebBuilt = () => {
  const made = [join(webDirectory, 'dist'), join(webDirectory, 'src/generated')];
  const sources = readdirSync(webDirectory, { withFileTypes: true, recursive: true })
    .filter(({ parentPath, name }) => !made.some((path) => `${join(parentPath, name)}/`.startsWith(`${path}/`)))
    .map(({ parentPath, name }) => join(parentPath, name))
    // A build touches the two directories that hold what it makes.
    .filter((path) => path !== join(webDirectory, 'src'));
  const others = [
    'package.json',
    'package-lock.json',
    'schema.graphql',
    'scripts/build-web.mjs',
    'scripts/codegen.mjs',
  ].map((name) => join(root, name));
  return modified(webStamp) >= Math.max(...[...sources, ...others].map(modified));
};

/**
 * Builds the console unless that has been done. Without the packages for it, as in production, what there is stays.
 * Throws NotReady when it fails.
 */
export function buildWebIfNeeded() {
  if (!existsSync(join(webDirectory, 'src')) || isWebBuilt()) return;
  if (!existsSync(join(root, 'node_modules/vite'))) return;
  process.stderr.write('Building the console …\n');
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'scripts/build-web.mjs'), '--quiet'], {
    cwd: root,
    encoding: 'utf8',
  });
  if (status !== 0) throw new NotReady(`The console could not be built.\n${stdout}${stderr}`.trimEnd());
}

/** Runs a script's body; what went wrong is told in a sentence, with exit code 1. */
export async function asScript(body) {
  try {
    await body();
  } catch (error) {
    if (!(error instanceof NotReady)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
