import { usual } from '../../domain/channel/provider.js';
import { modelList } from '../catalogue/model-list.js';
import { NotConvertible, type Protocol, type Provider } from '../contracts/protocol.js';
import { countIn, isList } from '../json/json.js';
import { embeddingList } from '../protocols/embeddings.js';
import { LinesStream } from '../protocols/lines-stream.js';
import { listedModelsIn } from '../protocols/models.js';
import { fromOwnChat } from '../protocols/ollama/answer.js';
import { callersOptions } from '../protocols/ollama/options.js';
import { type OperatorsParameters, operatorsParameters, ownChat } from '../protocols/ollama/request.js';
import { openAi } from '../protocols/openai/openai.js';
import { standardUrl } from '../protocols/openai/request.js';
import type { Edit, OpenAiVariant } from '../protocols/openai/variant.js';

/** Its own embedding interface: the one of OpenAI's form lacks options. */
const nativeEmbedding: Edit = (body, { caller }) => {
  if (caller.mode !== 'embeddings') return body;
  const input = isList(body.input) ? body.input : [body.input ?? ''];
  if (input.some((text) => typeof text !== 'string'))
    throw new NotConvertible('caller', 'this provider takes texts as input, not token ids');
  const { model, dimensions, truncate } = body;
  const options = callersOptions(body);
  return { model, input, dimensions, ...(Object.keys(options).length > 0 && { options }), truncate };
};

const stopList: Edit = (body) => {
  if (typeof body.stop === 'string') body.stop = [body.stop];
  return body;
};

const translate: OpenAiVariant['translate'] = (body, { mode, info }) => {
  if (mode !== 'embeddings' || !isList(body.embeddings)) return body;
  const counted = countIn(body.prompt_eval_count);
  return embeddingList(info.model, body.embeddings, counted === 0 ? null : counted);
};

/** Without the version at its end, which its own interface has none of: operators copy bases so. */
const ownBase = (base: string): string => base.replace(/\/v1$/, '');

/** Completions, responses and vectors. */
const family = openAi({
  url: (target) => (target.caller.mode === 'embeddings' ? `${ownBase(target.base)}/api/embed` : standardUrl(target)),
  usageOnRequest: true,
  edits: [stopList],
  reshape: nativeEmbedding,
  copiesReasoning: true,
  translate,
});

const ownWire = (operators: OperatorsParameters) =>
  openAi({
    url: ({ base }) => `${ownBase(base)}/api/chat`,
    inlinesPictures: true,
    replaysReasoning: true,
    reshape: ownChat(operators),
    translate: fromOwnChat,
    isLast: ({ done }) => done === true,
  });

const plainChat = ownWire(operatorsParameters({}));

/** In OpenAI's form it has neither a size of the context nor all of thinking: chats are put in its own. */
const wire: Protocol = {
  request(asked) {
    const { channel, caller } = asked;
    if (caller.mode !== 'chat') return family.request(asked);
    const operators = operatorsParameters(channel.paramOverride ?? {});
    const shown = { ...channel, paramOverride: channel.paramOverride === null ? null : operators.others };
    const read = asked.options.passThrough ? { ...operators, members: {} } : operators;
    return { ...ownWire(read).request({ ...asked, channel: shown }), streamsLines: true };
  },
  pictures: (asked) => plainChat.pictures?.(asked) ?? [],
  answer: (received) => (received.caller.mode === 'chat' ? plainChat : family).answer(received),
  stream: (opened) =>
    opened.caller.mode === 'chat' ? new LinesStream(plainChat.stream(opened)) : family.stream(opened),
};

export const ollama: Provider = {
  ...usual,
  type: 4,
  name: 'Ollama',
  defaultBaseUrl: 'http://localhost:11434',
  defaultModels: modelList(`
    llama3-7b llama3:latest llama3.1:8b llama3.3:latest qwen3:8b qwen2.5:7b deepseek-r1:8b gemma3:4b gpt-oss:20b
    mistral:latest phi4:latest nomic-embed-text mxbai-embed-large bge-m3
  `),
  colour: 'grey',
  keyHint: 'any text; a local server ignores it',
  // https://docs.ollama.com/api/openai-compatibility: since 0.13.3, without state and custom tools.
  modes: ['chat', 'completions', 'responses', 'embeddings'],
  responsesBySetting: true,
  models: async (queries) =>
    listedModelsIn(await queries.json(`${ownBase(queries.base)}/api/tags`), { list: 'models', name: 'name' }),
  protocol: wire,
};
