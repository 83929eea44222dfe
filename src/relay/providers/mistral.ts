import { createHash } from 'node:crypto';
import { type Mode, usual } from '../../domain/channel/provider.js';
import { modelList } from '../catalogue/model-list.js';
import { conversationsIn } from '../contracts/moderation-request.js';
import { type CallerRequest, NotConvertible, type Protocol, type Provider } from '../contracts/protocol.js';
import { isList, isObject, type JsonObject, type JsonValue, objectsIn, scalarText, textIn } from '../json/json.js';
import { fillIn } from '../protocols/fill-in.js';
import { modelsAt } from '../protocols/models.js';
import { openAi } from '../protocols/openai/openai.js';
import { renamed, standardUrl, without } from '../protocols/openai/request.js';
import type { Edit, OpenAiVariant } from '../protocols/openai/variant.js';

/** Ids of tool calls must be nine letters or digits; others become such, the same one for the same call. */
const toolCallId = (id: string): string =>
  /^[A-Za-z0-9]{9}$/.test(id)
    ? id
    : createHash('sha256')
        .update(id)
        .digest('base64')
        .replace(/[^A-Za-z0-9]/g, '')
        .slice(0, 9);

const contentPart = (part: JsonValue): JsonValue => {
  if (!isObject(part)) return part;
  if (part.type === 'image_url' && isObject(part.image_url))
    return { type: 'image_url', image_url: part.image_url.url };
  if (part.type === 'file' && isObject(part.file)) return { type: 'document_url', document_url: part.file.file_data };
  return part;
};

/**
 * Earlier thinking is a part of the content there, and a member that is not known is refused.
 * https://docs.mistral.ai/capabilities/reasoning
 */
function withThinking(content: JsonValue | undefined, thought: string | null): JsonValue | undefined {
  const parts = isList(content) ? content.map(contentPart) : content;
  if (thought === null) return parts;
  const thinking = { type: 'thinking', thinking: [{ type: 'text', text: thought }] };
  if (isList(parts)) return [thinking, ...parts];
  return textIn(parts) === null ? [thinking] : [thinking, { type: 'text', text: parts }];
}

const outgoingMessage = (message: JsonObject): JsonObject => {
  const { content, reasoning_content: thought, reasoning, reasoning_details: _, ...rest } = message;
  const { tool_calls: toolCalls, tool_call_id: answers } = rest;
  const said = withThinking(content, textIn(thought) ?? textIn(reasoning));
  return {
    ...rest,
    ...(said !== undefined && { content: said }),
    ...(isList(toolCalls) && {
      tool_calls: objectsIn(toolCalls).map((call) =>
        (call.id ?? null) === null ? call : { ...call, id: toolCallId(scalarText(call.id)) },
      ),
    }),
    ...(typeof answers === 'string' && { tool_call_id: toolCallId(answers) }),
  };
};

/** A user may not speak right after a tool, and an assistant's last word is only continued when marked so. */
const messages: Edit = (body) => {
  if (!isList(body.messages)) return body;
  const turns: JsonObject[] = [];
  for (const message of objectsIn(body.messages)) {
    if (message.role === 'user' && turns.at(-1)?.role === 'tool') turns.push({ role: 'assistant', content: '' });
    turns.push(outgoingMessage(message));
  }
  const last = turns.at(-1);
  if (last?.role === 'assistant') turns[turns.length - 1] = { ...last, prefix: true };
  return { ...body, messages: turns };
};

const toolChoice: Edit = (body) => {
  if (body.tool_choice === 'required') body.tool_choice = 'any';
  return body;
};

const partTexts = (parts: readonly JsonValue[], type: string): string =>
  objectsIn(parts)
    .filter((part) => part.type === type)
    .map((part) => (isList(part.thinking) ? partTexts(part.thinking, 'text') : (textIn(part.text) ?? '')))
    .join('');

/** Content may come in parts, and tool calls without the index that distinguishes the pieces of a stream. */
const mend: OpenAiVariant['mend'] = (message, { streamed, toolCalls }) => {
  const { content } = message;
  if (isList(content)) {
    const thinking = partTexts(content, 'thinking');
    message.content = partTexts(content, 'text');
    if (thinking !== '') message.reasoning_content = thinking;
  }
  const unnumbered = streamed ? objectsIn(message.tool_calls).filter((call) => call.index === undefined) : [];
  for (const [position, call] of unnumbered.entries()) call.index = toolCalls + position;
  return isList(content) || unnumbered.length > 0;
};

/**
 * Texts alone are judged, by categories of the vendor's own: https://docs.mistral.ai/api/endpoint/classifiers. Parts of
 * one input are one text.
 */
const judgedTexts: Edit = (body, { caller }) => {
  const { input } = body;
  if (caller.mode !== 'moderation' || !isList(input) || !input.some(isObject) || conversationsIn(input) !== null)
    return body;
  const parts = objectsIn(input);
  const picture = parts.findIndex(({ type }) => type !== 'text');
  if (picture >= 0)
    throw new NotConvertible('caller', `input[${picture}] must be a text: this provider judges no pictures`);
  return { ...body, input: parts.map(({ text }) => textIn(text) ?? '').join('\n') };
};

/** https://docs.mistral.ai/api: of embeddings it says nothing. */
const abilities: Readonly<Record<string, Mode>> = {
  ...{ completion_chat: 'chat', completion_fim: 'completions', audio_transcription: 'transcription' },
  moderation: 'moderation',
};

function modesByAbility({ capabilities }: JsonObject): readonly Mode[] | null {
  if (!isObject(capabilities)) return null;
  const modes = Object.entries(abilities).flatMap(([name, mode]) => (capabilities[name] === true ? [mode] : []));
  return modes.length === 0 ? null : modes;
}

const finishReasons = new Map([
  ['model_length', 'length'],
  ['error', 'stop'],
]);

const family = openAi({
  judgesConversations: true,
  url: (target) =>
    target.caller.mode === 'moderation' && conversationsIn(target.caller.body.input) !== null
      ? standardUrl(target).replace(/\/moderations$/, '/chat/moderations')
      : standardUrl(target),
  edits: [
    without('logprobs', 'top_logprobs', 'logit_bias', 'user'),
    renamed('seed', 'random_seed'),
    renamed('max_completion_tokens', 'max_tokens'),
    toolChoice,
    messages,
    judgedTexts,
  ],
  finishReasons,
  mend,
});

const completions = fillIn({ finishReasons });

const wireFor = ({ mode }: Pick<CallerRequest, 'mode'>): Protocol => (mode === 'completions' ? completions : family);

export const mistral: Provider = {
  ...usual,
  type: 42,
  name: 'Mistral',
  defaultBaseUrl: 'https://api.mistral.ai',
  defaultModels: modelList(`
    mistral-large-latest mistral-large-2512 mistral-medium-latest mistral-medium-3.5 mistral-medium-3
    mistral-medium-2508 mistral-medium-2505 mistral-small-latest mistral-small-2603 mistral-small-2506
    ministral-3b-latest ministral-8b-latest ministral-14b-latest magistral-medium-latest magistral-small-latest
    magistral-medium-2509 magistral-small-2509 pixtral-large-latest codestral-latest open-mistral-7b open-mixtral-8x7b
    mistral-embed codestral-embed-2505 voxtral-mini-latest mistral-moderation-latest
  `),
  colour: 'blue',
  keyHint: 'API key',
  // https://docs.mistral.ai/api/endpoint/responses: a preview, without state.
  models: modelsAt('/v1/models', { modes: modesByAbility }),
  modes: ['chat', 'completions', 'responses', 'embeddings', 'transcription', 'moderation'],
  responsesBySetting: true,
  protocol: {
    request: (asked) => wireFor(asked.caller).request(asked),
    answer: (answered) => wireFor(answered.caller).answer(answered),
    stream: (opened) => wireFor(opened.caller).stream(opened),
  },
};
