import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/*
 * Calls every method of `responses` and `conversations` of the official SDK in a folder, as a program of its own: its
 * majors need different versions of Node. Prints as JSON which methods there are, and which did what they should.
 * Arguments: the folder of the package, the gateway's address, a key.
 */

const [folder = '', baseURL, apiKey] = process.argv.slice(2);
const from = (file) => import(pathToFileURL(join(folder, file)).href);
const { default: OpenAI } = await from('index.mjs');
const { makeParseableTextFormat } = await from('lib/parser.mjs');
const client = new OpenAI({ apiKey, baseURL, maxRetries: 0 });

const resources = {
  responses: client.responses,
  'responses.inputItems': client.responses.inputItems,
  'responses.inputTokens': client.responses.inputTokens,
  conversations: client.conversations,
  'conversations.items': client.conversations.items,
};
const known = Object.entries(resources).flatMap(([name, resource]) =>
  Object.getOwnPropertyNames(Object.getPrototypeOf(resource))
    .filter((method) => method !== 'constructor' && !method.startsWith('_'))
    .map((method) => `${name}.${method}`),
);

const done = [];
const wrong = [];
const check = async (method, work) => {
  try {
    const failure = await work();
    if (failure === true) done.push(method);
    else wrong.push(`${method}: ${JSON.stringify(failure)}`);
  } catch (error) {
    wrong.push(`${method}: ${String(error)}`);
  }
};

const ask = { model: 'm', input: 'What is a ledger?' };
const { responses, conversations } = client;
const collected = async (events) => {
  const types = [];
  for await (const { type } of events) types.push(type);
  return types;
};

let made = { id: '' };
await check('responses.create', async () => {
  made = await responses.create(ask);
  return made.output_text === 'Every charge can be proved.' || made;
});
await check('responses.create', async () => {
  const types = await collected(await responses.create({ ...ask, stream: true }));
  return types.at(-1) === 'response.completed' || types;
});
await check('responses.stream', async () => {
  const stream = responses.stream(ask);
  let text = '';
  stream.on('response.output_text.delta', ({ delta }) => {
    text += delta;
  });
  const whole = await stream.finalResponse();
  return (whole.status === 'completed' && text === whole.output_text) || whole;
});
await check('responses.stream', async () => {
  const whole = await responses.stream({ response_id: made.id, starting_after: 0 }).finalResponse();
  return whole.id === made.id || whole;
});
await check('responses.parse', async () => {
  const schema = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] };
  const format = makeParseableTextFormat({ type: 'json_schema', name: 'sum', strict: false, schema }, JSON.parse);
  const answer = await responses.parse({ ...ask, text: { format }, metadata: { answer: '{"sum":42}' } });
  return answer.output_parsed?.sum === 42 || answer;
});
await check('responses.retrieve', async () => {
  const got = await responses.retrieve(made.id);
  return got.output_text === made.output_text || got;
});
await check('responses.retrieve', async () => {
  const types = await collected(await responses.retrieve(made.id, { stream: true }));
  return types.at(-1) === 'response.completed' || types;
});
await check('responses.retrieve', async () => {
  const error = await responses.retrieve('resp_unknown_0123456789').catch((error) => error);
  return (error instanceof OpenAI.NotFoundError && error.code === 'response_not_found') || String(error);
});
await check('responses.inputItems.list', async () => {
  const ids = [];
  for await (const { id } of responses.inputItems.list(made.id, { limit: 5, order: 'asc' })) ids.push(id);
  return ids.length === 0 || ids;
});
await check('responses.inputTokens.count', async () => {
  const counted = await responses.inputTokens.count(ask);
  return counted.input_tokens === 17 || counted;
});
await check('responses.compact', async () => {
  const compacted = await responses.compact(ask);
  return compacted.output[0]?.type === 'compaction' || compacted;
});
await check('responses.cancel', async () => {
  const later = await responses.create({ ...ask, background: true });
  const cancelled = await responses.cancel(later.id);
  return (later.status === 'queued' && cancelled.status === 'cancelled') || [later, cancelled];
});
await check('responses.delete', async () => {
  await responses.delete(made.id);
  const error = await responses.retrieve(made.id).catch((error) => error);
  return error instanceof OpenAI.NotFoundError || String(error);
});

let conversation = { id: '' };
let item = { id: '' };
await check('conversations.create', async () => {
  conversation = await conversations.create({ metadata: { of: 'test' } });
  return conversation.object === 'conversation' || conversation;
});
await check('conversations.retrieve', async () => {
  const got = await conversations.retrieve(conversation.id);
  return got.id === conversation.id || got;
});
await check('conversations.update', async () => {
  const got = await conversations.update(conversation.id, { metadata: { of: 'more' } });
  return got.metadata.of === 'more' || got;
});
await check('conversations.items.create', async () => {
  const items = [{ type: 'message', role: 'user', content: 'Hello.' }];
  const got = await conversations.items.create(conversation.id, { items });
  item = got.data[0] ?? item;
  return got.data.length === 1 || got;
});
await check('conversations.items.list', async () => {
  const ids = [];
  for await (const { id } of conversations.items.list(conversation.id)) ids.push(id);
  return (ids.length === 1 && ids[0] === item.id) || ids;
});
await check('conversations.items.retrieve', async () => {
  const got = await conversations.items.retrieve(item.id, { conversation_id: conversation.id });
  return got.id === item.id || got;
});
await check('responses.create', async () => {
  const got = await responses.create({ ...ask, conversation: conversation.id });
  return got.status === 'completed' || got;
});
await check('conversations.items.delete', async () => {
  const got = await conversations.items.delete(item.id, { conversation_id: conversation.id });
  return got.id === conversation.id || got;
});
await check('conversations.delete', async () => {
  const got = await conversations.delete(conversation.id);
  return got.deleted === true || got;
});

const version = client.constructor.name === 'OpenAI' ? (await from('version.mjs')).VERSION : null;
console.log(JSON.stringify({ version, known, done: [...new Set(done)], wrong }));
