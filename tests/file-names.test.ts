import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

/* One case per kind of file, as CONTRIBUTING.md says. */

const root = fileURLToPath(new URL('../', import.meta.url));
const tracked = execFileSync(
  'git',
  ['ls-files', '-co', '--exclude-standard', 'src', 'tests', 'bench', 'fuzz', 'torture', 'web/src'],
  {
    cwd: root,
    encoding: 'utf8',
  },
)
  .split('\n')
  .filter((path) => path !== '' && !path.includes('/fixtures/') && !path.startsWith('web/src/generated/'));

const kebab = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9-]+)*$/;
const camel = /^[a-z][A-Za-z0-9]*(\.[a-z]+)+$/;
const pascal = /^[A-Z][A-Za-z0-9]*\.tsx$/;
const isHook = (name: string): boolean => /^use[A-Z]/.test(name);

/** Functions and constants that a file exports by name. */
function exportedValues(path: string, text: string): string[] {
  const syntax = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
  return syntax.statements.flatMap((statement) => {
    const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
    if (!modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.map(({ name }) => name.getText());
    return ts.isFunctionDeclaration(statement) && statement.name !== undefined ? [statement.name.text] : [];
  });
}

/** What is wrong with the name of a file of the console; null: nothing. */
function faultOf(path: string, text: string): string | null {
  const name = basename(path);
  const values = exportedValues(path, text);
  const stem = name.replace(/\.tsx?$/, '');
  const hasComponent = path.endsWith('.tsx') && values.some((value) => /^[A-Z][a-z]/.test(value));
  if (hasComponent !== pascal.test(name)) return `${path}: PascalCase.tsx is for what exports a component`;
  if (hasComponent) return null;
  if (!camel.test(name)) return `${path}: what exports no component is camelCase`;
  if (isHook(stem) && !values.includes(stem)) return `${path}: exports no hook of its name`;
  const [only, ...others] = values;
  const isOneHook = only !== undefined && others.length === 0 && isHook(only);
  return isOneHook && stem !== only ? `${path}: is to be named after its hook, ${only}` : null;
}

describe('the check of names in the console', () => {
  test.each([
    ['a/Button.tsx', 'export function Button() { return null; }', true],
    ['a/button.tsx', 'export function Button() { return null; }', false],
    ['a/Button.tsx', 'export const columns = [];', false],
    ['a/useButton.ts', 'export function useButton() {}', true],
    ['a/useButton.ts', 'export function useOther() {}\nexport const one = 1;', false],
    ['a/button.ts', 'export function useButton() {}', false],
    ['a/button.ts', 'export function useButton() {}\nexport const label = "";', true],
    ['a/buttonText.ts', 'export const buttonText = "";', true],
    ['a/button-text.ts', 'export const buttonText = "";', false],
  ])('says of %s with %s: %s', (path, text, isRight) => {
    expect(faultOf(path, text) === null).toBe(isRight);
  });
});

describe('the names of files', () => {
  test('in src, tests, bench, fuzz and torture are kebab-case', () => {
    const files = tracked.filter((path) => !path.startsWith('web/'));
    expect(files.length).toBeGreaterThan(1000);
    expect(files.filter((path) => !kebab.test(basename(path)))).toEqual([]);
  });
  test('of folders are kebab-case', () => {
    const folders = new Set(tracked.flatMap((path) => dirname(path).split('/')));
    expect([...folders].filter((folder) => !kebab.test(folder))).toEqual([]);
  });
  test('of the console are PascalCase for components, the hook for hooks, and camelCase for everything else', () => {
    const files = tracked.filter((path) => path.startsWith('web/'));
    expect(files.length).toBeGreaterThan(400);
    const faults = files.flatMap((path) =>
      /\.tsx?$/.test(path)
        ? (faultOf(path, readFileSync(join(root, path), 'utf8')) ?? [])
        : camel.test(basename(path))
          ? []
          : [`${path}: is camelCase`],
    );
    expect(faults).toEqual([]);
  });
});
