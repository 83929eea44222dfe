import type { UpstreamModel } from '../../application/ports/upstream-ports.js';
import { imageModes, type Mode } from '../../domain/channel/provider.js';
import { isList, type JsonObject, type JsonValue, objectsIn, textIn } from '../json/json.js';
import { cloudflareGateway } from './openai/request.js';
import { NotUnderstood, type ProviderQueries } from './provider-queries.js';

/* How a provider reports which models it has. */

/** In its own order; a name may come twice. Throws NotReported. */
export type ModelsWire = (queries: ProviderQueries) => Promise<readonly UpstreamModel[]>;

/** What a model can be asked to do, as its entry says; null: it does not say. */
type ModesOf = (model: JsonObject) => readonly Mode[] | null;

interface ListForm {
  /** The member that holds the list. */
  readonly list?: string;
  /** The member of each that is its name. */
  readonly name?: string;
  /** What stands before every name and belongs to none. */
  readonly prefix?: string;
  /** Left out: as many servers say it that list models as OpenAI does. */
  readonly modes?: ModesOf;
}

/** Modes by the words of a list; null: there are no words. */
export function modesIn(words: unknown, known: Readonly<Record<string, readonly Mode[]>>): readonly Mode[] | null {
  if (!Array.isArray(words)) return null;
  return [...new Set(words.flatMap((word) => modesByWord(word, known) ?? []))];
}

/** By one word. A word that is not known says nothing, as many use the member for something else. */
export function modesByWord(
  word: JsonValue | undefined,
  known: Readonly<Record<string, readonly Mode[]>>,
): readonly Mode[] | null {
  const text = textIn(word);
  return text !== null && Object.hasOwn(known, text) ? (known[text] ?? null) : null;
}

const sound: readonly Mode[] = ['speech', 'transcription'];

/**
 * `type` at Together (https://docs.together.ai/reference/models-1), `model_type` at Xinference
 * (https://inference.readthedocs.io/en/latest/).
 */
const kinds: Readonly<Record<string, readonly Mode[]>> = {
  ...{ chat: ['chat'], language: ['completions'], code: ['completions'], embedding: ['embeddings'] },
  ...{ rerank: ['rerank'], moderation: ['moderation'], transcribe: ['transcription'], image: imageModes, video: [] },
  ...{ LLM: ['chat', 'completions'], audio: sound },
};

const usualModes: ModesOf = ({ type, model_type: modelType }) =>
  modesByWord(type, kinds) ?? modesByWord(modelType, kinds);

/** Throws NotUnderstood, naming the member that is not there. */
export function listedModelsIn(
  reported: JsonObject,
  { list = 'data', name = 'id', prefix = '', modes = usualModes }: ListForm = {},
): UpstreamModel[] {
  const models = reported[list];
  // Some say null for a list of none.
  if (!isList(models) && models !== null) throw new NotUnderstood(`the answer has no list as ${list}`);
  return objectsIn(models).flatMap((model) => {
    const named = textIn(model[name]);
    if (named === null) return [];
    return [{ name: named.startsWith(prefix) ? named.slice(prefix.length) : named, modes: modes(model) }];
  });
}

interface ModelListLocation extends ListForm {
  /** Instead of the key as a bearer token. */
  readonly headers?: (queries: ProviderQueries) => Record<string, string>;
}

/** One question below the base URL, whose answer holds all of them. */
export const modelsAt =
  (path: string, { headers, ...form }: ModelListLocation = {}): ModelsWire =>
  async (queries) =>
    listedModelsIn(await queries.json(queries.base + path, headers?.(queries)), form);

/** As OpenAI lists them, and most others after it. */
export const openAiModelList: ModelsWire = (queries) =>
  modelsAt(queries.base.startsWith(cloudflareGateway) ? '/models' : '/v1/models')(queries);

/** Pages of one list that are asked for, one after the other. */
const maxPages = 10;

/** Throws what `page` throws. `page`: the models on it, and what the next one is asked for with; null: there is none. */
export async function inPages<Mark>(
  first: Mark,
  page: (mark: Mark) => Promise<{ readonly models: readonly UpstreamModel[]; readonly next: Mark | null }>,
): Promise<readonly UpstreamModel[]> {
  const all: UpstreamModel[] = [];
  let mark: Mark | null = first;
  for (let pages = 0; mark !== null; pages++) {
    if (pages === maxPages) throw new NotUnderstood(`the list has more than ${maxPages} pages`);
    const { models, next }: { readonly models: readonly UpstreamModel[]; readonly next: Mark | null } =
      await page(mark);
    all.push(...models);
    mark = next;
  }
  return all;
}
