import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codegen } from '@graphql-codegen/core';
import * as documentNodes from '@graphql-codegen/typed-document-node';
import * as operations from '@graphql-codegen/typescript-operations';
import { buildSchema, Kind, parse, visit } from 'graphql';

/*
 * npm run codegen: what the console asks for, as typed documents. Every web/src/<path>.graphql becomes
 * web/src/generated/<path>.ts, a module of its own, so that a page's chunk carries its own documents and no others.
 */

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const sourceDirectory = join(root, 'web/src');
const targetDirectory = join(sourceDirectory, 'generated');

const config = {
  useTypeImports: true,
  enumType: 'string-literal',
  skipTypename: true,
  dedupeFragments: true,
  avoidOptionals: false,
  scalars: {
    PricePeriods: 'unknown',
    ID: 'string',
    Quota: 'number',
    SafeInt: 'number',
    Timestamp: 'number',
    Decimal: 'string',
  },
};

const fragmentsUsed = (node) => {
  const names = [];
  visit(node, { FragmentSpread: ({ name }) => void names.push(name.value) });
  return names;
};

/** Fragments of other files a document spreads, directly or through one another. */
function borrowed(document, fragments) {
  const own = new Set(document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION).map(nameOf));
  const found = new Map();
  const look = (node) => {
    for (const name of fragmentsUsed(node)) {
      if (own.has(name) || found.has(name)) continue;
      const fragment = fragments.get(name);
      if (fragment === undefined) continue;
      found.set(name, fragment);
      look(fragment);
    }
  };
  look(document);
  return [...found.values()];
}

const nameOf = ({ name }) => name?.value;

/** Writes all modules anew; a wrong document stops it with what the schema objects to. */
export async function generateDocuments() {
  const schema = buildSchema(readFileSync(join(root, 'schema.graphql'), 'utf8'));
  const files = readdirSync(sourceDirectory, { recursive: true })
    .filter((path) => path.endsWith('.graphql'))
    .sort()
    .map((path) => ({ path, document: parse(readFileSync(join(sourceDirectory, path), 'utf8')) }));
  const fragments = new Map(
    files
      .flatMap(({ document }) => document.definitions)
      .filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [nameOf(fragment), fragment]),
  );
  const modules = [];
  for (const { path, document } of files) {
    const definitions = [...borrowed(document, fragments), ...document.definitions];
    const target = join(targetDirectory, path.replace(/\.graphql$/, '.ts'));
    const text = await codegen({
      schema: undefined,
      schemaAst: schema,
      documents: [{ location: path, document: { kind: Kind.DOCUMENT, definitions } }],
      filename: target,
      config,
      plugins: [{ operations: {} }, { documentNodes: {} }],
      pluginMap: { operations, documentNodes },
    });
    modules.push({ target, text: `/* Generated from ${path} by npm run codegen. */\n${text}` });
  }
  for (const { target, text } of modules) {
    // Unchanged modules keep their dates: whoever watches them has nothing to do.
    if (existsSync(target) && readFileSync(target, 'utf8') === text) continue;
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
  }
  const current = new Set(modules.map(({ target }) => target));
  for (const entry of readdirSync(targetDirectory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !current.has(path)) rmSync(path);
  }
  return modules.map(({ target }) => relative(root, target));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const written = await generateDocuments();
  console.log(`${written.length} modules in ${relative(root, targetDirectory)}`);
}
