import ts from 'typescript';

/* The titles of a test file as a reporter prints them: the suites a test lies in, then its own. */

export interface TestTitle {
  readonly line: number;
  /** Titles of suites, outermost first, and the test's own. `%s` and `$name` stand for what a table of cases says. */
  readonly parts: readonly string[];
}

const tables = new Set(['each', 'for', 'skipIf', 'runIf']);

/** `test`, `describe` and what begins a suite by another name; null: another call. */
function startedBy({ expression }: ts.CallExpression): 'test' | 'suite' | null {
  if (ts.isPropertyAccessExpression(expression) && tables.has(expression.name.text)) return null;
  let callee: ts.Expression = expression;
  for (;;) {
    if (ts.isPropertyAccessExpression(callee) || ts.isCallExpression(callee)) callee = callee.expression;
    else if (ts.isTaggedTemplateExpression(callee)) callee = callee.tag;
    else break;
  }
  if (!ts.isIdentifier(callee)) return null;
  if (callee.text === 'test') return 'test';
  return callee.text === 'describe' || callee.text === 'describeInBrowser' ? 'suite' : null;
}

/** The names of the cases of a table: the first column, where the test itself does not use it (`_` or `_name`). */
function namedCases({ expression, arguments: [, ...others] }: ts.CallExpression): ts.StringLiteralLike[] {
  const [table] = ts.isCallExpression(expression) ? expression.arguments : [];
  const run = others.find(ts.isArrowFunction);
  const first = run?.parameters[0]?.name;
  if (first === undefined || !ts.isIdentifier(first) || !first.text.startsWith('_')) return [];
  const rows = table !== undefined && ts.isArrayLiteralExpression(table) ? table.elements : [];
  return rows.flatMap((row) => {
    const name = ts.isArrayLiteralExpression(row) ? row.elements[0] : row;
    return name !== undefined && ts.isStringLiteralLike(name) ? [name] : [];
  });
}

/** What stands for an expression in a title: a word that nothing is known of. */
function textOf(title: ts.Expression): string {
  if (ts.isStringLiteralLike(title)) return title.text;
  if (!ts.isTemplateExpression(title)) return '%s';
  return title.head.text + title.templateSpans.map(({ literal }) => `%s${literal.text}`).join('');
}

export function titlesIn(path: string, text: string): TestTitle[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022);
  const found: TestTitle[] = [];
  const visit = (node: ts.Node, suites: readonly string[]): void => {
    const [title, ...others] = ts.isCallExpression(node) ? node.arguments : [];
    const kind = ts.isCallExpression(node) && others.length > 0 ? startedBy(node) : null;
    if (title === undefined || kind === null) {
      ts.forEachChild(node, (child) => visit(child, suites));
      return;
    }
    const parts = [...suites, textOf(title)];
    const lineOf = (at: ts.Node) => file.getLineAndCharacterOfPosition(at.getStart(file)).line + 1;
    if (kind === 'test') found.push({ line: lineOf(node), parts });
    for (const named of kind === 'test' ? namedCases(node as ts.CallExpression) : [])
      found.push({ line: lineOf(named), parts: [...suites, textOf(title).replace(/%[a-z]/, () => named.text)] });
    for (const other of others) visit(other, kind === 'suite' ? parts : suites);
  };
  visit(file, []);
  return found;
}

const placeholder = /%[a-zA-Z]|\$\w+/g;
const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}%$][\p{L}\p{N}’'%-]*/gu) ?? [];

/** Forms of verbs that the endings below do not show. */
const verbs = new Set(
  'are be been begun bind bought broke broken built came can cannot chosen come cost cut did do drawn fit found gave get given go gone got had have held is kept knew known lead left let lost made may mean meant met must need paid put ran read run said saw see seen sent set shown sold spent stood take taken tell thrown told took was went were will withheld written wrote would'.split(
    ' ',
  ),
);
const isVerb = (word: string): boolean =>
  verbs.has(word.toLowerCase()) || (/[a-z]{2}(s|ed)$/.test(word) && !/(ss|us|['’]s)$/.test(word));

const subjectless = /^(it|they|he|she|its|their|them|this|that|those|these|one|both|none|neither)\b/i;
/** Words of our own for what has a name in the field (docs/glossary.md), and for what can be said. */
const privateWords = new RegExp(
  `\\b(${[
    'doors?|halves|half (in|done)|(is|are) none|books agree|way (in|out)',
    'told|tells?|telling|heard|hears|news|goodbye|said so',
    'nobody|somebody|anybody|everybody|whoever|whosever|who may|the one who|(to|for) who|strangers?',
    'asked (for|of|anew)|asks? for|(go|goes|going|went) on|lets? (in|go)|under way|held for|holds? for|as it came',
    'shut|stands?|stood|dear(er|est)?|cashiers?|wants?|midst|amid|for ever|anew|of our own|should',
  ].join('|')})\\b`,
  'i',
);

/** What is wrong with a title, as far as a machine can see; null: nothing. */
export function faultOf({ parts }: TestTitle): string | null {
  const whole = parts.join(' ');
  const words = wordsOf(whole);
  const own = parts.at(-1) ?? '';
  if (privateWords.test(whole)) return 'a word of our own';
  if (parts.length === 1 && subjectless.test(own)) return 'no subject';
  // A table of cases has whole sentences there, which only the reporter prints.
  if (own.replace(placeholder, '').trim() === '') return null;
  if (words.length < 4) return 'fewer than four words';
  return words.some(isVerb) ? null : 'no verb';
}
