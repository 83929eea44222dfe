import type { Engines, FoundEngine } from '../../application/ports/upstream-ports.js';
import type { EngineId } from '../../domain/channel/engines.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { RelayPorts } from '../contracts/ports.js';
import { isList, isObject, type JsonObject, type JsonValue, objectsIn, parseJson, textIn } from '../json/json.js';
import { unreached } from '../pipeline/attempt-failure.js';
import { listedModelsIn } from '../protocols/models.js';
import type { ControlAnswer } from '../upstream/control-client.js';
import { isUsableName } from './usable-model-name.js';

/*
 * Which engine answers at an address: each reports of itself at a path of its own. A few questions through the same
 * guard and bounds as those about models; what is answered decides nothing but what a form proposes.
 */

type EnginePorts = Pick<RelayPorts, 'authorising'>;

/** What was answered, by path; a path that answered no JSON object is not in it. */
type Answers = ReadonlyMap<string, JsonObject>;

const maxAnswer = 2 * 1024 * 1024;
const maxModels = 5_000;
/** Questions at one time: an engine may be small, and calls go on beside them. */
const atOnce = 5;

const list = '/v1/models';

const memberOf = (answers: Answers, path: string, name: string): JsonValue => answers.get(path)?.[name] ?? null;

const ownersIn = (answers: Answers): ReadonlySet<JsonValue> =>
  new Set(objectsIn(memberOf(answers, list, 'data')).map(({ owned_by: owner }) => owner ?? null));

const namesIn = (...listed: Parameters<typeof listedModelsIn>): readonly string[] =>
  listedModelsIn(...listed).map(({ name }) => name);

interface Signature {
  readonly id: EngineId;
  /** Where it reports its version, and under which names. */
  readonly version: readonly [path: string, name: string];
  readonly isIt: (answers: Answers) => boolean;
  /** Names of its models. Left out: as OpenAI lists them. */
  readonly listed?: (answers: Answers) => readonly string[];
}

/** In this order: some also answer at paths of others, for the clients of those. */
const signatures: readonly Signature[] = [
  {
    id: 'llama-cpp',
    version: ['/props', 'build_info'],
    isIt: (answers) =>
      isObject(memberOf(answers, '/props', 'default_generation_settings')) || ownersIn(answers).has('llamacpp'),
  },
  {
    id: 'tei',
    version: ['/info', 'version'],
    isIt: (answers) =>
      textIn(memberOf(answers, '/info', 'model_id')) !== null && isObject(memberOf(answers, '/info', 'model_type')),
    listed: (answers) => [textIn(memberOf(answers, '/info', 'model_id')) ?? []].flat(),
  },
  {
    id: 'sglang',
    version: ['/get_server_info', 'version'],
    isIt: (answers) =>
      textIn(memberOf(answers, '/get_model_info', 'model_path')) !== null || ownersIn(answers).has('sglang'),
  },
  {
    id: 'lm-studio',
    version: ['', ''],
    isIt: (answers) =>
      objectsIn(memberOf(answers, '/api/v0/models', 'data')).some(({ state }) => textIn(state) !== null),
  },
  {
    id: 'xinference',
    version: ['/v1/cluster/version', 'version'],
    isIt: (answers) => answers.has('/v1/cluster/version'),
  },
  {
    id: 'infinity',
    version: ['', ''],
    isIt: (answers) => ownersIn(answers).has('infinity'),
  },
  {
    id: 'ollama',
    version: ['/api/version', 'version'],
    isIt: (answers) => isList(memberOf(answers, '/api/tags', 'models')),
    listed: (answers) => namesIn(answers.get('/api/tags') ?? {}, { list: 'models', name: 'name' }),
  },
  {
    id: 'vllm',
    version: ['/version', 'version'],
    isIt: (answers) => ownersIn(answers).has('vllm') || textIn(memberOf(answers, '/version', 'version')) !== null,
  },
];

const paths: readonly string[] = [
  ...[list, '/props', '/info', '/get_model_info', '/get_server_info', '/api/v0/models', '/v1/cluster/version'],
  ...['/api/tags', '/api/version', '/version'],
];

/** Shown to administrators; whoever answers chooses it. */
const versionIn = (value: JsonValue): string | null => {
  const text = textIn(value);
  return text !== null && /^[\w.+-]{1,64}$/.test(text) ? text : null;
};

const openAiList: NonNullable<Signature['listed']> = (answers) =>
  isList(memberOf(answers, list, 'data')) ? namesIn(answers.get(list) ?? {}) : [];

const modelsIn = (
  answers: Answers,
  { listed = openAiList }: Partial<Pick<Signature, 'listed'>>,
  key: string,
): readonly string[] => [...new Set(listed(answers).filter(isUsableName(key)))].slice(0, maxModels);

export const engineProbe = ({ authorising }: EnginePorts): Engines => ({
  async at({ baseUrl, key, proxy }): Promise<FoundEngine> {
    const base = baseUrl.trim().replace(/\/+$/, '').replace(/\/v1$/, '');
    const headers = { accept: 'application/json', ...(key.trim() !== '' && { authorization: `Bearer ${key.trim()}` }) };
    const answered: { readonly path: string; readonly answer: ControlAnswer }[] = [];
    const ask = async (path: string) => ({
      path,
      answer: await authorising.sideRequests.get({ url: base + path, headers }, proxy, maxAnswer),
    });
    for (let at = 0; at < paths.length; at += atOnce)
      answered.push(...(await Promise.all(paths.slice(at, at + atOnce).map(ask))));
    const answers = new Map<string, JsonObject>();
    for (const { path, answer } of answered) {
      const said = answer.ok && answer.status === 200 ? parseJson(answer.body.toString('utf8')) : null;
      if (isObject(said)) answers.set(path, said);
    }
    const [first] = answered;
    if (answered.every(({ answer }) => !answer.ok) && first !== undefined && !first.answer.ok)
      throw new Failure('engine-unreached', { reason: unreached(first.answer).error.message });
    const found = signatures.find(({ isIt }) => isIt(answers)) ?? null;
    const [path, name] = found?.version ?? ['', ''];
    return {
      id: found?.id ?? null,
      version: versionIn(memberOf(answers, path, name)),
      baseUrl: base,
      models: modelsIn(answers, found ?? {}, key.trim()),
      needsKey: answered.some(({ answer }) => answer.ok && (answer.status === 401 || answer.status === 403)),
    };
  },
});
