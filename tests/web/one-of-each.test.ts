import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { webSources } from './sources.js';

const sources = webSources();

/** Files that bring in a component of the library under its own name. */
const importing = (component: string): readonly string[] =>
  sources
    .filter(({ syntax }) =>
      syntax.statements.some((statement) => {
        if (!ts.isImportDeclaration(statement)) return false;
        const named = statement.importClause?.namedBindings;
        return (
          named !== undefined &&
          ts.isNamedImports(named) &&
          named.elements.some(({ name, propertyName }) => (propertyName ?? name).text === component)
        );
      }),
    )
    .map(({ path }) => path);

describe('the console has one component for each shared need', () => {
  test.each([
    ['HTMLTable', 'kit/table/ResourceTable.tsx'],
    ['Drawer', 'kit/table/DetailDrawer.tsx'],
    ['usePageSize', 'kit/table/useKeysetPages.ts', 'kit/table/useNumberedPages.ts'],
  ])('such as %s, used by %s', (component, ...users) => expect([...importing(component)].sort()).toEqual(users));
});
