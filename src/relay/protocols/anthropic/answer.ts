import type { Usage } from '../../../domain/call/usage.js';
import type { ReasoningDetail } from '../../contracts/neutral.js';
import type { ChatCompletion } from '../../contracts/neutral-answer.js';
import type { Answer, AnswerInput, CallInfo } from '../../contracts/protocol.js';
import { outerBrackets } from '../../json/exact-json.js';
import { isList, isObject, type JsonObject, objectsIn, textIn } from '../../json/json.js';
import { exactUpstreamJson, upstreamJson } from '../../json/upstream-json.js';
import { SeenText } from '../../text/seen-text.js';
import type { Confidential } from '../../upstream/confidential.js';
import { errorOfStatus, reportedFailure, unreadableAnswer } from '../../upstream/upstream-error.js';
import { failedStop } from '../failed-finish.js';
import { writeOpenAiUsage } from '../openai/usage.js';
import { noAnswer, saysSomething } from '../says-something.js';
import { DistinctCallIds } from '../tool-call-ids.js';
import { annotationsOf, citedPages } from './citations.js';
import { argumentsOf, encrypted, finishOf, nothingGiven, signed, words } from './events.js';
import { anthropicFailureIn, anthropicFailureOf } from './failure.js';
import { anthropicTierTold, hoursAskedBy, isSearch, readAnthropicUsage, runsCode, toolsSeen } from './usage.js';

/* A complete answer of Anthropic's. */

interface Told {
  content: string;
  reasoning: string;
  readonly details: ReasoningDetail[];
  readonly calls: JsonObject[];
  readonly annotations: JsonObject[];
}

function toldIn(blocks: readonly JsonObject[]): Told {
  const told: Told = { content: '', reasoning: '', details: [], calls: [], annotations: [] };
  const ids = new DistinctCallIds();
  for (const block of blocks)
    switch (block.type) {
      case 'text': {
        const start = told.content.length;
        told.content += words(block.text);
        told.annotations.push(...annotationsOf(citedPages(block.citations), start, told.content.length));
        break;
      }
      case 'thinking':
        told.reasoning += words(block.thinking);
        if (textIn(block.signature) !== null) told.details.push(signed(words(block.thinking), words(block.signature)));
        break;
      case 'redacted_thinking':
        if (textIn(block.data) !== null) told.details.push(encrypted(words(block.data)));
        break;
      case 'tool_use': {
        const called = { name: words(block.name), arguments: argumentsOf(block.input) || nothingGiven };
        told.calls.push({ id: ids.of(words(block.id)), type: 'function', function: called });
        break;
      }
    }
  return told;
}

/** What the blocks say, as it is counted: the inputs of Anthropic's own tools are generated too. */
function saidIn(blocks: readonly JsonObject[]): SeenText {
  const said = new SeenText();
  for (const block of blocks) {
    said.add(words(block.thinking) || words(block.text));
    const called = block.type === 'tool_use';
    if (called) said.add(words(block.name));
    said.add(argumentsOf(block.input) || (called ? nothingGiven : ''));
  }
  return said;
}

/** In neutral words. */
function completionOf(
  message: JsonObject,
  blocks: readonly JsonObject[],
  usage: Usage | null,
  info: CallInfo,
): ChatCompletion {
  const { content, reasoning, details, calls, annotations } = toldIn(blocks);
  return {
    id: textIn(message.id) ?? info.callId,
    object: 'chat.completion',
    created: info.createdAt,
    model: textIn(message.model) ?? info.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: content === '' && calls.length > 0 ? null : content,
          ...(reasoning !== '' && { reasoning_content: reasoning }),
          ...(details.length > 0 && { reasoning_details: details }),
          ...(calls.length > 0 && { tool_calls: calls }),
          ...(annotations.length > 0 && { annotations }),
        },
        ...finishOf(message),
      },
    ],
    ...(usage !== null && { usage: writeOpenAiUsage(usage) }),
  };
}

const counted = (body: JsonObject, received: Buffer): Answer => {
  const generated = { said: new SeenText(), toolCalls: 0, finishReason: null };
  return { ok: true, body, own: true, received, untouched: true, usage: null, generated };
};

/** In neutral words but for a caller who speaks this wire and wants it whole: that one gets it as it came. */
export function anthropicAnswer(
  confidential: Confidential,
  {
    channel,
    caller,
    status,
    body: received,
    info,
  }: Pick<AnswerInput, 'channel' | 'caller' | 'status' | 'body' | 'info'>,
): Answer {
  const { dialect, mode, stream } = caller;
  if (status < 200 || status > 299) {
    const refused = upstreamJson(received);
    return {
      ok: false,
      error: isObject(refused)
        ? anthropicFailureOf(refused, status, confidential)
        : errorOfStatus(status, received, confidential),
    };
  }
  const own = dialect.wire === 'anthropic' && !stream;
  const told = own ? upstreamJson(received) : exactUpstreamJson(received, outerBrackets);
  if (!isObject(told))
    return { ok: false, error: unreadableAnswer('the upstream answered something that is not JSON') };
  const error = anthropicFailureIn(told, confidential);
  if (error !== null) return { ok: false, error };
  if (mode === 'counting' && typeof told.input_tokens === 'number') return counted(told, received);
  if (!isList(told.content)) {
    const missing = unreadableAnswer('the upstream answered without an answer in it');
    return {
      ok: false,
      error: reportedFailure(told).message === null ? missing : anthropicFailureOf(told, null, confidential),
    };
  }
  const blocks = objectsIn(told.content);
  const ranCode = blocks.some(runsCode);
  const usage = isObject(told.usage) ? readAnthropicUsage(told.usage, ranCode, hoursAskedBy(caller, channel)) : null;
  const failed = failedStop(told.stop_reason, confidential);
  if (failed !== null) return { ok: false, error: failed, costUnknown: true };
  const finish = finishOf(told).finish_reason;
  if (typeof finish !== 'string' && !saysSomething(told.content)) return noAnswer(usage);
  const generated = {
    said: saidIn(blocks),
    toolCalls: blocks.filter(({ type }) => type === 'tool_use').length,
    finishReason: typeof finish === 'string' ? finish : null,
    searches: toolsSeen(blocks.filter(isSearch).length, ranCode),
    ...(isObject(told.usage) && { serviceTier: anthropicTierTold(told.usage, caller.tiers ?? []) }),
  };
  return own
    ? { ok: true, body: told, own: true, received, untouched: true, usage, generated }
    : { ok: true, body: completionOf(told, blocks, usage, info), received, untouched: false, usage, generated };
}
