import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Import {
  /** Path below src, or the package as written. */
  readonly target: string;
  readonly ours: boolean;
  readonly typeOnly: boolean;
}

export interface Source {
  /** Path below src. */
  readonly path: string;
  readonly room: string;
  readonly text: string;
  readonly syntax: ts.SourceFile;
  readonly imports: readonly Import[];
}

export const roomOf = (path: string): string => path.split('/', 1)[0] ?? path;

export function everyNode(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => everyNode(child, visit));
}

const importsTypesOnly = ({ importClause }: ts.ImportDeclaration): boolean => {
  if (importClause === undefined) return false;
  if (importClause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const { name, namedBindings } = importClause;
  return (
    name === undefined &&
    namedBindings !== undefined &&
    ts.isNamedImports(namedBindings) &&
    namedBindings.elements.every(({ isTypeOnly }) => isTypeOnly)
  );
};

/** Static imports, re-exports and `import()` alike. */
function importsOf(path: string, syntax: ts.SourceFile): Import[] {
  const found: Import[] = [];
  const add = (specifier: ts.Node | undefined, typeOnly: boolean): void => {
    if (specifier === undefined || !ts.isStringLiteral(specifier)) return;
    const ours = specifier.text.startsWith('.');
    const target = ours ? join(dirname(path), specifier.text).replace(/\.js$/, '.ts') : specifier.text;
    found.push({ target, ours, typeOnly });
  };
  everyNode(syntax, (node) => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, importsTypesOnly(node));
    if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly);
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], false);
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, true);
  });
  return found;
}

export function sourceOf(path: string, text: string): Source {
  const syntax = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
  return { path, room: roomOf(path), text, syntax, imports: importsOf(path, syntax) };
}

export const filesUnder = (directory: string): string[] =>
  readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

export const sources = filesUnder(join(root, 'src'))
  .filter((file) => file.endsWith('.ts'))
  .map((file) => sourceOf(relative(join(root, 'src'), file), readFileSync(file, 'utf8')));
