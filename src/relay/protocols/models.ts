import { isList, type JsonObject, objectsIn, textIn } from '../json/json.js';
import { cloudflareGateway } from './openai/request.js';
import { NotUnderstood, type ProviderQueries } from './provider-queries.js';

/* How a provider reports which models it has. */

/** Their names, in its own order; a name may come twice. Throws NotReported. */
export type ModelsWire = (queries: ProviderQueries) => Promise<readonly string[]>;

interface ListForm {
  /** The member that holds the list. */
  readonly list?: string;
  /** The member of each that is its name. */
  readonly name?: string;
  /** What stands before every name and belongs to none. */
  readonly prefix?: string;
}

/** Throws NotUnderstood, naming the member that is not there. */
export function modelNamesIn(
  reported: JsonObject,
  { list = 'data', name = 'id', prefix = '' }: ListForm = {},
): string[] {
  const models = reported[list];
  // Some say null for a list of none.
  if (!isList(models) && models !== null) throw new NotUnderstood(`the answer has no list as ${list}`);
  const names = objectsIn(models).flatMap((model) => textIn(model[name]) ?? []);
  return names.map((one) => (one.startsWith(prefix) ? one.slice(prefix.length) : one));
}

interface ModelListLocation extends ListForm {
  /** Instead of the key as a bearer token. */
  readonly headers?: (queries: ProviderQueries) => Record<string, string>;
}

/** One question below the base URL, whose answer holds all of them. */
export const modelsAt =
  (path: string, { headers, ...form }: ModelListLocation = {}): ModelsWire =>
  async (queries) =>
    modelNamesIn(await queries.json(queries.base + path, headers?.(queries)), form);

/** As OpenAI lists them, and most others after it. */
export const openAiModelList: ModelsWire = (queries) =>
  modelsAt(queries.base.startsWith(cloudflareGateway) ? '/models' : '/v1/models')(queries);

/** Pages of one list that are asked for, one after the other. */
const maxPages = 10;

/** Throws what `page` throws. `page`: the names on it, and what the next one is asked for with; null: there is none. */
export async function inPages<Mark>(
  first: Mark,
  page: (mark: Mark) => Promise<{ readonly names: readonly string[]; readonly next: Mark | null }>,
): Promise<readonly string[]> {
  const all: string[] = [];
  let mark: Mark | null = first;
  for (let pages = 0; mark !== null; pages++) {
    if (pages === maxPages) throw new NotUnderstood(`the list has more than ${maxPages} pages`);
    const { names, next }: { readonly names: readonly string[]; readonly next: Mark | null } = await page(mark);
    all.push(...names);
    mark = next;
  }
  return all;
}
