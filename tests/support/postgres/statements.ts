import pg from 'pg';

type Query = (this: pg.Client, ...asked: unknown[]) => unknown;

/*
 * What this process asks Postgres while something is done: how much a page costs is counted in statements, not measured
 * in time. What goes on in the background is among them: look for the ones that are meant.
 */
export async function statementsDuring(work: () => Promise<unknown>): Promise<readonly string[]> {
  const statements: string[] = [];
  const client = pg.Client.prototype as unknown as { query: Query };
  const { query } = client;
  client.query = function (...asked) {
    const [statement] = asked;
    const text = typeof statement === 'string' ? statement : (statement as { text?: string } | undefined)?.text;
    if (text !== undefined) statements.push(text);
    return query.apply(this, asked);
  };
  try {
    await work();
  } finally {
    client.query = query;
  }
  return statements;
}
