import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { everyNode, filesUnder, type Import, roomOf, root, type Source, sourceOf, sources } from './support/sources.js';

const room = (name: string) => (target: Import) => roomOf(target.target) === name;
const under = (folder: string) => (target: Import) => target.target.startsWith(folder);
const file = (path: string) => (target: Import) => target.target === path;
const types = (inside: (target: Import) => boolean) => (target: Import) => target.typeOnly && inside(target);
const anything = () => true;

/** What each room may import besides itself. The last ones compose the others, or drive the whole. */
const arrows: Readonly<Record<string, readonly ((target: Import) => boolean)[]>> = {
  'config.ts': [file('domain/kernel/address.ts'), file('domain/kernel/database-url.ts'), file('http/ip-address.ts')],
  'package-root.ts': [],
  process: [],
  concurrency: [],
  'data-structures': [],
  domain: [],
  http: [room('data-structures'), file('domain/kernel/address.ts')],
  'rate-limit': [room('data-structures'), file('domain/kernel/failure.ts'), file('http/client-network.ts')],
  projections: [room('domain'), room('concurrency')],
  application: [room('data-structures'), room('domain'), room('projections'), room('concurrency'), room('rate-limit')],
  outbound: [
    file('domain/kernel/address.ts'),
    file('http/ip-address.ts'),
    types(file('application/ports/outbound-ports.ts')),
  ],
  'identity-providers': [room('domain'), room('outbound'), types(under('application/ports/'))],
  payments: [room('domain'), room('outbound'), types(under('application/ports/'))],
  relay: [
    room('data-structures'),
    room('domain'),
    room('http'),
    room('outbound'),
    room('concurrency'),
    room('rate-limit'),
    types(under('application/ports/')),
    types(file('application/options/settings.ts')),
  ],
  adapters: [
    room('data-structures'),
    room('domain'),
    room('outbound'),
    types(under('application/ports/')),
    types(file('application/options/mail-settings.ts')),
  ],
  'relay-process': [
    room('adapters'),
    room('application'),
    room('concurrency'),
    room('data-structures'),
    room('domain'),
    room('http'),
    room('outbound'),
    room('process'),
    room('relay'),
    types(file('config.ts')),
    file('rest-compat/billing.ts'),
  ],
  projecting: [room('adapters'), room('concurrency'), room('domain'), room('process'), room('projections')],
  graphql: [
    room('application'),
    room('domain'),
    room('http'),
    room('concurrency'),
    room('data-structures'),
    room('rate-limit'),
    types(room('projections')),
  ],
  'rest-compat': [
    room('application'),
    room('data-structures'),
    room('domain'),
    room('http'),
    room('rate-limit'),
    types(room('projections')),
  ],
  exports: [room('application'), room('domain'), room('http'), room('concurrency'), types(room('projections'))],
  playground: [room('application'), room('domain'), room('http'), room('relay')],
  bootstrap: [anything],
  demo: [anything],
  cli: [anything],
  'main.ts': [anything],
};

const wrongArrows = ({ path, room: own, imports }: Source): string[] =>
  imports
    .filter((target) => target.ours && roomOf(target.target) !== own)
    .filter((target) => !arrows[own]?.some((allows) => allows(target)))
    .map(({ target }) => `${path} → ${target}`);

const nouns = (floor: string, names: string): string[] => names.split(' ').map((name) => `${floor}/${name}`);
const graphqlNouns = nouns(
  'graphql',
  'api-keys audit redemptions channels payments prices sessions system tasks usage users',
);
const applicationNouns = nouns(
  'application',
  'users sign-in api-keys audit books channels payments prices redemptions seals tasks usage options',
);

/** Within a floor: which rooms each room may enter. What lies on the floor itself, ports and compositions, is for all. */
const steps: Readonly<Record<string, readonly string[]>> = {
  'adapters/database': ['adapters/embedded-postgres'],
  'adapters/embedded-postgres': ['adapters/database'],
  'adapters/archives': ['adapters/database'],
  'adapters/event-log': ['adapters/archives', 'adapters/database'],
  'adapters/mail': [],
  'adapters/seals': ['adapters/archives', 'adapters/database'],
  'adapters/sign-in': ['adapters/database', 'adapters/vault'],
  'adapters/vault': ['adapters/database'],
  'application/memory': ['application/options', 'application/prices'],
  'application/notifications': [],
  'application/ports': [],
  'application/reactions': applicationNouns,
  ...Object.fromEntries(
    applicationNouns.map((noun) => [noun, ['application/memory', 'application/notifications', ...applicationNouns]]),
  ),
  'domain/kernel': [],
  'domain/errors': ['domain/kernel', 'domain/events'],
  'domain/events': ['domain/kernel', 'domain/pricing'],
  'domain/ledger': ['domain/kernel', 'domain/events'],
  'domain/options': ['domain/kernel', 'domain/events', 'domain/pricing'],
  'domain/models': [],
  'domain/pricing': ['domain/kernel', 'domain/call', 'domain/models'],
  'domain/call': ['domain/kernel', 'domain/models', 'domain/pricing'],
  'domain/api-key': ['domain/kernel', 'domain/ledger'],
  'domain/channel': ['domain/kernel', 'domain/events', 'domain/pricing'],
  'domain/payment': ['domain/kernel'],
  'domain/reconciliation': ['domain/kernel'],
  'domain/repair': ['domain/kernel'],
  'domain/task': ['domain/kernel', 'domain/call'],
  'domain/user': ['domain/kernel'],
  'graphql/server': [],
  'graphql/live': ['graphql/server'],
  ...Object.fromEntries(graphqlNouns.map((noun) => [noun, ['graphql/server', 'graphql/live', ...graphqlNouns]])),
  'projections/engine': [],
  'projections/models': ['projections/engine'],
  'relay/json': [],
  'relay/contracts': ['relay/json'],
  'relay/catalogue': ['relay/json'],
  'relay/sound': ['relay/contracts'],
  'relay/text': [],
  'relay/upstream': ['relay/contracts', 'relay/json'],
  'relay/protocols': ['relay/catalogue', 'relay/contracts', 'relay/json', 'relay/text', 'relay/upstream'],
  'relay/providers': ['relay/catalogue', 'relay/contracts', 'relay/json', 'relay/protocols', 'relay/upstream'],
  'relay/answers': ['relay/contracts', 'relay/json', 'relay/protocols', 'relay/text', 'relay/upstream'],
  'relay/admission': ['relay/contracts'],
  'relay/metering': ['relay/catalogue', 'relay/json', 'relay/sound', 'relay/text'],
  'relay/delivery': ['relay/answers', 'relay/contracts', 'relay/metering', 'relay/text', 'relay/upstream'],
  'relay/pipeline': [
    'relay/admission',
    'relay/answers',
    'relay/catalogue',
    'relay/contracts',
    'relay/delivery',
    'relay/json',
    'relay/metering',
    'relay/protocols',
    'relay/text',
    'relay/upstream',
  ],
  'relay/dialects': [
    'relay/answers',
    'relay/contracts',
    'relay/delivery',
    'relay/json',
    'relay/metering',
    'relay/pipeline',
    'relay/protocols',
    'relay/text',
    'relay/upstream',
  ],
  'relay/probes': [
    'relay/catalogue',
    'relay/contracts',
    'relay/dialects',
    'relay/json',
    'relay/metering',
    'relay/pipeline',
    'relay/protocols',
    'relay/upstream',
  ],
  'rest-compat/wire': [],
  'relay-process/workers': [],
};

/** `relay/pipeline/relay.ts` → `relay/pipeline`; null: it lies on the floor itself. */
const innerRoomOf = (path: string): string | null => {
  const parts = path.split('/');
  return parts.length > 2 ? parts.slice(0, 2).join('/') : null;
};

/** Imports from one room of a floor into another that it may not enter; types are no step. */
const wrongSteps = ({ path, room: own, imports }: Source): string[] => {
  const from = innerRoomOf(path);
  if (from === null) return [];
  return imports
    .filter(({ ours, typeOnly, target }) => ours && !typeOnly && roomOf(target) === own)
    .filter(({ target }) => {
      const to = innerRoomOf(target);
      return to !== null && to !== from && !steps[from]?.includes(to);
    })
    .map(({ target }) => `${path} → ${target}`);
};

describe('the reader of imports', () => {
  const text = [
    `import type { A } from '../application/options/settings.js';`,
    `import { type B, type C } from './other.js';`,
    `import { type D, e } from 'pg';`,
    `import './effect.js';`,
    `export * from '../domain/kernel/ids.js';`,
    `type F = import('../main.js').F;`,
    `const g = await import('../main.js');`,
  ].join('\n');

  test('recognises every form, and which of them vanish at run time', () => {
    expect(sourceOf('relay/example.ts', text).imports).toEqual([
      { target: 'application/options/settings.ts', ours: true, typeOnly: true },
      { target: 'relay/other.ts', ours: true, typeOnly: true },
      { target: 'pg', ours: false, typeOnly: false },
      { target: 'relay/effect.ts', ours: true, typeOnly: false },
      { target: 'domain/kernel/ids.ts', ours: true, typeOnly: false },
      { target: 'main.ts', ours: true, typeOnly: true },
      { target: 'main.ts', ours: true, typeOnly: false },
    ]);
  });
  test('finds an import in the wrong direction', () => {
    expect(wrongArrows(sourceOf('relay/example.ts', text))).toEqual([
      'relay/example.ts → main.ts',
      'relay/example.ts → main.ts',
    ]);
    expect(wrongArrows(sourceOf('domain/example.ts', text))).toHaveLength(3);
  });
});

describe('the folders of src', () => {
  test('are the known ones', () => {
    expect([...new Set(sources.map((source) => source.room))].filter((name) => !(name in arrows))).toEqual([]);
  });
  test.each(Object.keys(arrows))('allow %s only permitted imports', (name) => {
    expect(sources.filter((source) => source.room === name).flatMap(wrongArrows)).toEqual([]);
  });
  test('of an inner level are imported from above only', () => {
    expect(sources.flatMap(wrongSteps)).toEqual([]);
  });
  test('of the relay are independent of the callers’ dialects, types included', () => {
    const knowing = sources.filter(({ path }) => /^relay\/(?!dialects\/|probes\/)/.test(path));
    expect(knowing.length).toBeGreaterThan(50);
    const dialects = knowing.flatMap(({ path, imports }) =>
      imports.filter(({ target }) => target.startsWith('relay/dialects/')).map(({ target }) => `${path} → ${target}`),
    );
    expect(dialects).toEqual([]);
  });
  test('depend on each other in one direction only', () => {
    const needs = new Map<string, Set<string>>();
    for (const { room: own, imports } of sources) {
      const targets = imports.filter(({ ours }) => ours).map(({ target }) => roomOf(target));
      needs.set(own, new Set([...(needs.get(own) ?? []), ...targets.filter((target) => target !== own)]));
    }
    expect(cyclesIn(needs)).toEqual([]);
  });
  test('contain no two files that depend on each other at run time', () => {
    const needs = sources.map(({ path, imports }) => {
      const lasting = imports.filter(({ ours, typeOnly }) => ours && !typeOnly);
      return [path, new Set(lasting.map(({ target }) => target))] as const;
    });
    expect(cyclesIn(new Map(needs))).toEqual([]);
  });
});

/** Every closed way through the graph, once, as text. */
function cyclesIn(needs: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const cycles: string[] = [];
  const done = new Set<string>();
  const walk = (name: string, way: readonly string[]): void => {
    const start = way.indexOf(name);
    if (start >= 0) cycles.push([...way.slice(start), name].join(' → '));
    if (start >= 0 || done.has(name)) return;
    for (const next of needs.get(name) ?? []) walk(next, [...way, name]);
    done.add(name);
  };
  for (const name of needs.keys()) walk(name, []);
  return cycles;
}

const linesWhere = (source: Source, found: (node: ts.Node) => boolean): string[] => {
  const lines: string[] = [];
  everyNode(source.syntax, (node) => {
    if (!found(node)) return;
    const { line } = source.syntax.getLineAndCharacterOfPosition(node.getStart());
    lines.push(`${source.path}:${line + 1}`);
  });
  return lines;
};

const reads = (object: string, member: string) => (node: ts.Node) =>
  ts.isPropertyAccessExpression(node) && node.expression.getText() === object && node.name.text === member;

describe('the domain', () => {
  const domain = sources.filter((source) => source.room === 'domain');

  test('depends on no package, and on nothing of Node but pure functions', () => {
    const foreign = domain.flatMap(({ path, imports }) =>
      imports.filter(({ ours, target }) => !ours && target !== 'node:util').map(({ target }) => `${path} → ${target}`),
    );
    expect(foreign).toEqual([]);
  });
  test('uses no clock and no randomness', () => {
    const impure = (node: ts.Node) =>
      reads('Date', 'now')(node) ||
      reads('Math', 'random')(node) ||
      (ts.isNewExpression(node) && node.expression.getText() === 'Date') ||
      (ts.isIdentifier(node) && ['crypto', 'performance', 'process', 'setTimeout', 'fetch'].includes(node.text));
    expect(domain.flatMap((source) => linesWhere(source, impure))).toEqual([]);
  });
  test('contains no asynchronous code', () => {
    const waits = ({ kind }: ts.Node) => kind === ts.SyntaxKind.AsyncKeyword || kind === ts.SyntaxKind.AwaitKeyword;
    expect(domain.flatMap((source) => linesWhere(source, waits))).toEqual([]);
  });
});

describe('every source file', () => {
  test('exports by name only', () => {
    const isDefault = (node: ts.Node) => ts.isExportAssignment(node) || node.kind === ts.SyntaxKind.DefaultKeyword;
    const exported = (node: ts.Node) => isDefault(node) && !ts.isDefaultClause(node.parent);
    expect(sources.flatMap((source) => linesWhere(source, exported))).toEqual([]);
  });
  test('checks whether a text is an address by the one function for it', () => {
    expect(sources.flatMap((source) => linesWhere(source, reads('URL', 'canParse')))).toEqual([]);
  });
  test('reads the time from a clock, and passes no method of one on without its clock', () => {
    const now = (node: ts.Node) =>
      ts.isPropertyAccessExpression(node) && node.name.text === 'now' && /clock$/i.test(node.expression.getText());
    const handedOn = (node: ts.Node) =>
      now(node) && !(ts.isCallExpression(node.parent) && node.parent.expression === node);
    expect(sources.flatMap((source) => linesWhere(source, now)).length).toBeGreaterThan(20);
    expect(sources.flatMap((source) => linesWhere(source, handedOn))).toEqual([]);
  });
  test('calculates with positions of the log only in the engine that assigns them without gaps', () => {
    const signs = [
      ts.SyntaxKind.PlusToken,
      ts.SyntaxKind.MinusToken,
      ts.SyntaxKind.AsteriskToken,
      ts.SyntaxKind.SlashToken,
    ];
    const asNumber = (node: ts.Node) =>
      ts.isCallExpression(node) &&
      node.expression.getText() === 'Number' &&
      /position|head|beginning|upTo|after|before/i.test(node.arguments[0]?.getText() ?? '');
    const calculated = (node: ts.Node) =>
      ts.isBinaryExpression(node) &&
      signs.includes(node.operatorToken.kind) &&
      (asNumber(node.left) || asNumber(node.right));
    const calculating = sources.filter((source) => linesWhere(source, calculated).length > 0);
    expect(calculating.map(({ path }) => path)).toEqual(['adapters/event-log/dense-positions.ts']);
  });
  test('is named after its contents', () => {
    const drawers = /(^|\/)(index|utils?|helpers?|common|types|misc)\.ts$/;
    expect(sources.map(({ path }) => path).filter((path) => drawers.test(path))).toEqual([]);
  });
  test('has less than 400 lines, or a listed reason', () => {
    const reasons: Readonly<Record<string, string>> = {};
    const long = sources.filter(({ path, text }) => text.split('\n').length > 400 && !(path in reasons));
    expect(long.map(({ path }) => path)).toEqual([]);
  });
  test('is part of the build if it is started by its name: a bundle would lack it otherwise', async () => {
    const { entries } = await import(pathToFileURL(join(root, 'scripts/bundle.mjs')).href);
    const started = sources.flatMap(({ path, text }) =>
      [...text.matchAll(/'\.\/([\w-]+)\.js', import\.meta\.url\)/g)].map(([, name]) =>
        join(dirname(path), `${name}.ts`),
      ),
    );
    expect(started).toEqual(expect.arrayContaining(['projecting/thread.ts', 'relay-process/workers/relay-worker.ts']));
    expect(entries).toEqual(expect.arrayContaining(started));
  });
  test('leaves the environment to main', () => {
    const rooms = sources.filter((source) => source.room !== 'main.ts');
    expect(rooms.flatMap((source) => linesWhere(source, reads('process', 'env')))).toEqual([]);
  });
  test('imports only packages that are installed for production', () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    const packageOf = (target: string): string => /^(@[^/]+\/)?[^/]+/.exec(target)?.[0] ?? target;
    const foreign = sources.flatMap(({ imports }) => imports.filter(({ ours }) => !ours).map(({ target }) => target));
    const missing = foreign.filter((name) => !name.startsWith('node:') && !(packageOf(name) in dependencies));
    expect([...new Set(missing)]).toEqual([]);
  });
  test('validates arguments of GraphQL with class-validator, and everything else with zod', () => {
    const wrong = sources.filter(({ room: own, imports }) =>
      imports.some(({ target }) => target === (own === 'graphql' ? 'zod' : 'class-validator')),
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });
  test('depends on pre-releases of packages in exactly one version', () => {
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<
      string,
      Record<string, string>
    >;
    const kinds = ['dependencies', 'optionalDependencies', 'devDependencies'];
    const loose = kinds
      .flatMap((kind) => Object.entries(manifest[kind] ?? {}))
      .filter(([, range]) => /-\w/.test(range) && !/^\d/.test(range));
    expect(loose).toEqual([]);
  });
  test('leaves drivers to the adapters', () => {
    const drivers = /^(pg|@embedded-postgres\/.*|@eventstore\/.*|ioredis|@node-rs\/argon2)$/;
    const uses = sources
      .filter(({ room: own }) => own !== 'adapters')
      .filter(({ imports }) => imports.some(({ target, typeOnly }) => !typeOnly && drivers.test(target)));
    expect(uses.map(({ path }) => path)).toEqual([]);
  });
});

/** Names a file gives to others, by `export` before what they are. */
const exportsOf = ({ syntax }: Source): string[] =>
  syntax.statements.flatMap((statement) => {
    const given = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : undefined;
    if (!given?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.map(({ name }) => name.getText());
    const { name } = statement as ts.DeclarationStatement;
    return name === undefined ? [] : [name.text];
  });

/** `file name` of each export that the file names where it imports it; `file *`: it takes the module as a whole. */
function importsOf(file: string): string[] {
  const found: string[] = [];
  everyNode(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ES2022, true), (node) => {
    const isDynamic = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword;
    const isStatic = ts.isImportDeclaration(node) || ts.isExportDeclaration(node);
    const specifier = isDynamic ? node.arguments[0] : isStatic ? node.moduleSpecifier : undefined;
    if (!specifier || !ts.isStringLiteral(specifier) || !specifier.text.startsWith('.')) return;
    const target = relative(join(root, 'src'), join(dirname(file), specifier.text)).replace(/\.js$/, '.ts');
    const exported = ts.isExportDeclaration(node) ? node.exportClause : undefined;
    const named = ts.isImportDeclaration(node) ? node.importClause?.namedBindings : exported;
    if (named && (ts.isNamedImports(named) || ts.isNamedExports(named)))
      for (const { propertyName, name } of named.elements) found.push(`${target} ${(propertyName ?? name).text}`);
    else found.push(`${target} *`);
  });
  return found;
}

describe('an export', () => {
  const imported = new Set(
    ['src', 'tests', 'bench', 'fuzz', 'torture', 'scripts']
      .flatMap((folder) => filesUnder(join(root, folder)))
      .filter((path) => path.endsWith('.ts'))
      .flatMap(importsOf),
  );

  test('is imported by another file', () => {
    const unused = sources.flatMap((source) =>
      exportsOf(source)
        .map((name) => `${source.path} ${name}`)
        .filter((name) => !imported.has(name) && !imported.has(`${source.path} *`)),
    );
    expect(unused).toEqual([]);
  });
});

describe('an exported name', () => {
  test('belongs to one file of src only, so that it has one meaning', () => {
    const givers = new Map<string, string[]>();
    for (const source of sources) {
      for (const name of new Set(exportsOf(source))) givers.set(name, [...(givers.get(name) ?? []), source.path]);
    }
    const shared = [...givers].filter(([, paths]) => paths.length > 1);
    expect(shared).toEqual([]);
  });
});

describe('the providers in src', () => {
  const folder = 'relay/providers/';
  /** Not a provider each: the lists of them, and the two whose names are everybody's words. */
  const others = ['custom', 'openai', 'registry', 'resellers'];
  const reasons: Readonly<Record<string, string>> = {
    'application/prices/default-prices.ts': 'names the price lists of a package, whose ids are the same words',
    'domain/reconciliation/export-form.ts': 'names whose usage exports it reads, some of which are providers',
    'domain/channel/engines.ts': 'lists servers that operators run, two of which are the same word',
    'relay/probes/engine-probe.ts': 'recognises those servers by what they report of themselves',
    'domain/pricing/sources/litellm.ts': 'names a vendor as the price map does, whose names are the same words',
  };
  const names = sources
    .filter(({ path }) => path.startsWith(folder))
    .map(({ path }) => path.slice(folder.length, -'.ts'.length))
    .filter((name) => !others.includes(name));

  test('have one file each', () => {
    expect(names.length).toBeGreaterThan(10);
  });
  test('are named only in their file and in the lists of them, so that no rule depends on one', () => {
    const named = (node: ts.Node) =>
      (ts.isIdentifier(node) || ts.isStringLiteralLike(node)) && names.includes(node.text.toLowerCase());
    const strangers = sources.filter(({ path }) => !path.startsWith(folder) && !(path in reasons));
    expect(strangers.flatMap((source) => linesWhere(source, named))).toEqual([]);
  });
});

describe('the source of the console', () => {
  const web = filesUnder(join(root, 'web/src'))
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => sourceOf(relative(join(root, 'web/src'), file), readFileSync(file, 'utf8')))
    .filter(({ room: own }) => own !== 'generated');
  const pages = [...new Set(web.map(({ path, room: own }) => (path.includes('/') ? own : null)))];

  // The shell puts the pages into their frame.
  test('has pages that import the kit and themselves, never another page', () => {
    expect(pages.length).toBeGreaterThan(8);
    const strangers = web.flatMap(({ path, room: own, imports }) =>
      imports
        .filter(
          ({ ours, target }) =>
            ours && path.includes('/') && own !== 'shell' && roomOf(target) !== own && roomOf(target) !== 'kit',
        )
        .filter(({ target }) => pages.includes(roomOf(target)))
        .map(({ target }) => `${path} → ${target}`),
    );
    expect(strangers).toEqual([]);
  });
});

describe('the repository', () => {
  const ignored = /^(node_modules|dist|data|coverage|\.git)(\/|$)|package-lock\.json$/;
  const texts = filesUnderRoot().map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

  function filesUnderRoot(): string[] {
    return readdirSync(root, { withFileTypes: true })
      .filter(({ name }) => !ignored.test(name))
      .flatMap((entry) => (entry.isDirectory() ? filesUnder(join(root, entry.name)) : [join(root, entry.name)]))
      .map((path) => relative(root, path))
      .filter((path) =>
        /\.(ts|tsx|mjs|js|json|md|ya?ml|sh|graphql)$|^(Dockerfile|\.env\.example|\.ci\/.*)$/.test(path),
      );
  }

  test('is self-contained: no file names a path outside the checkout', () => {
    const outside = /\.\.\/shar(ed)\b|(?<![\w./])\/(work|root|Users)\//;
    // The one place that may look beside the checkout for recorded answers.
    const exempt = ['.ci/run'];
    expect(
      texts.filter((file) => outside.test(file.text) && !exempt.includes(file.path)).map(({ path }) => path),
    ).toEqual([]);
  });
});
