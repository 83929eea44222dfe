import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { asScript, NotReady, root } from './build.mjs';

/*
 * npm run mutants: makes one fault after the other in a copy of the sources and runs the tests concerned. Each must fail
 * them: a mutant that survives is a rule without a test. `scripts/mutants.json` says the faults; names after `--` choose.
 */

const limitMs = 180_000;

/** Every named declaration with its text range: of a file, or a class in it. */
function declarationsIn(path) {
  const text = readFileSync(path, 'utf8');
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
  return file.statements.flatMap((statement) => {
    const named = ts.isVariableStatement(statement) ? statement.declarationList.declarations : [statement];
    return named.map((node) => ({ path, text, name: node.name?.getText(), from: node.getStart(), to: node.end }));
  });
}

const sourcesIn = (directory) =>
  readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name));

/** Where a mutant changes what: found by the name of a declaration, so that files may be moved. */
function placeOf({ id, within, text }, declarations) {
  const places = declarations
    .filter(({ name }) => name === within)
    .map((found) => ({ ...found, at: found.text.indexOf(text, found.from) }))
    .filter(({ at, to }) => at !== -1 && at + text.length <= to);
  const [place] = places;
  if (places.length !== 1 || place.text.slice(place.at + text.length, place.to).includes(text))
    throw new NotReady(`mutant ${id}: "${text}" is not exactly once in a declaration named ${within}`);
  return place;
}

const configWithoutDatabase = `import { defineConfig } from 'vitest/config';
import whole from './vitest.config.js';
export default defineConfig({ ...whole, test: { ...whole.test, globalSetup: [] } });
`;

/** How many tests failed; null: none was run to its end within the time there is. */
function failedTests(copy, tests, database) {
  const report = join(copy, 'report.json');
  rmSync(report, { force: true });
  const config = database ? 'vitest.config.ts' : 'vitest.without-database.config.ts';
  const options = ['--config', config, '--bail=1', '--maxWorkers=1', '--reporter=json', `--outputFile=${report}`];
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [join('node_modules/vitest/vitest.mjs'), 'run', ...options, ...tests],
    {
      cwd: copy,
      encoding: 'utf8',
      timeout: limitMs,
    },
  );
  try {
    const { numFailedTests, numPassedTests } = JSON.parse(readFileSync(report, 'utf8'));
    if (numFailedTests + numPassedTests === 0) throw new Error('no test was run');
    return numFailedTests;
  } catch {
    console.error(`${stdout}${stderr}`.slice(-2_000));
    return null;
  }
}

await asScript(async () => {
  const mutants = JSON.parse(readFileSync(join(root, 'scripts/mutants.json'), 'utf8'));
  const wanted = process.argv.slice(2);
  const chosen = mutants.filter(({ id }) => wanted.length === 0 || wanted.includes(id));
  if (chosen.length === 0) throw new NotReady(`Known mutants are: ${mutants.map(({ id }) => id).join(', ')}`);

  const copy = mkdtempSync(join(tmpdir(), 'tallygate-mutants-'));
  process.on('exit', () => rmSync(copy, { recursive: true, force: true, maxRetries: 5 }));
  for (const name of ['src', 'tests', 'scripts', 'bench', 'package.json', 'tsconfig.json', 'vitest.config.ts'])
    cpSync(join(root, name), join(copy, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  writeFileSync(join(copy, 'vitest.without-database.config.ts'), configWithoutDatabase);

  const declarations = sourcesIn(join(copy, 'src')).flatMap(declarationsIn);
  const placed = chosen.map((mutant) => ({ ...mutant, place: placeOf(mutant, declarations) }));

  for (const database of [false, true]) {
    const tests = [
      ...new Set(placed.filter((mutant) => (mutant.database ?? false) === database).flatMap((m) => m.tests)),
    ];
    if (tests.length > 0 && failedTests(copy, tests, database) !== 0)
      throw new NotReady(`Without any mutant these must pass: ${tests.join(' ')}`);
  }

  const survivors = [];
  for (const { id, changes, text, by, tests, database = false, place } of placed) {
    writeFileSync(place.path, place.text.slice(0, place.at) + by + place.text.slice(place.at + text.length));
    const failed = failedTests(copy, tests, database);
    writeFileSync(place.path, place.text);
    if (failed === 0) survivors.push(id);
    console.log(
      `${failed === 0 ? 'SURVIVED' : failed === null ? 'killed (no test ended)' : 'killed'}  ${id}: ${changes}`,
    );
  }
  console.log(`${placed.length - survivors.length} of ${placed.length} mutants were killed`);
  process.exitCode = survivors.length === 0 ? 0 : 1;
});
