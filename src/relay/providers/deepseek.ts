import { usual } from '../../domain/channel/provider.js';
import { factsOf } from '../../domain/models/model-facts.js';
import { modelList } from '../catalogue/model-list.js';
import type { Provider } from '../contracts/protocol.js';
import { jsonText } from '../json/exact-number.js';
import { isObject, objectsIn, textIn } from '../json/json.js';
import { amountIn, balanceAt, reportsBalance } from '../protocols/balance.js';
import { openAi } from '../protocols/openai/openai.js';
import type { Edit, Target } from '../protocols/openai/variant.js';
import { NotReported } from '../protocols/provider-queries.js';
import { neutralAs } from '../protocols/request-builder.js';

/** Completions, and chats that continue the assistant's own words, are served by the beta interface. */
const url = ({ base, caller }: Target): string => {
  if (caller.mode === 'completions') return `${base}/beta/completions`;
  const continues = neutralAs(caller, 'chat').messages.at(-1)?.prefix === true;
  return `${base}${continues ? '/beta' : '/v1'}/chat/completions`;
};

/** It knows JSON answers but no schemas: the schema becomes an instruction. */
const schemaAsInstruction: Edit = (body) => {
  const format = body.response_format;
  if (!isObject(format) || format.type !== 'json_schema') return body;
  const schema = isObject(format.json_schema) ? (format.json_schema.schema ?? format.json_schema) : {};
  const instruction = `Answer with json that follows this JSON schema: ${jsonText(schema)}`;
  const messages = [{ role: 'system', content: instruction }, ...objectsIn(body.messages)];
  return { ...body, response_format: { type: 'json_object' }, messages };
};

/**
 * Earlier reasoning: the newest generation wants it back with every assistant message, the others only within one round
 * of tool calls, that is after the user's last words.
 */
const replayedReasoning: Edit = (body) => {
  const messages = objectsIn(body.messages);
  const lastUser = messages.findLastIndex((message) => message.role === 'user');
  const reasoned = messages.some((message) => message.role === 'assistant' && message.reasoning_content !== undefined);
  if (!reasoned) return body;
  if (factsOf(textIn(body.model) ?? '').wantsAllReasoning) {
    const filled = messages.map((message) =>
      message.role === 'assistant' ? { ...message, reasoning_content: message.reasoning_content ?? '' } : message,
    );
    return { ...body, messages: filled };
  }
  const stripped = messages.map((message, at) => {
    const { reasoning_content, ...rest } = message;
    return message.role === 'assistant' && at < lastUser ? rest : message;
  });
  return { ...body, messages: stripped };
};

/** An account may have two; outside China there is none in CNY. */
const balance = balanceAt('/user/balance', ({ balance_infos }) => {
  const reported = objectsIn(balance_infos);
  const chosen = reported.find(({ currency }) => currency === 'CNY') ?? reported[0];
  if (chosen === undefined) throw new NotReported('currency CNY not found');
  const { currency } = chosen;
  const amount = amountIn(chosen.total_balance, 'total_balance');
  return { amount, currency: typeof currency === 'string' && /^[A-Z]{3}$/.test(currency) ? currency : null };
});

export const deepseek: Provider = {
  ...usual,
  type: 43,
  name: 'DeepSeek',
  defaultBaseUrl: 'https://api.deepseek.com',
  defaultModels: modelList(`
    deepseek-chat deepseek-reasoner deepseek-v4-flash deepseek-v4-pro deepseek-v4-flash-vision-exp
  `),
  colour: 'blue',
  keyHint: 'API key',
  ...reportsBalance(balance),
  modes: ['chat', 'completions'],
  protocol: openAi({
    url,
    edits: [replayedReasoning, schemaAsInstruction],
    replaysReasoning: true,
    knowsThinking: true,
  }),
};
