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
import { reportedAnswerId } from '../answer-id.js';
import { failedStop } from '../failed-finish.js';
import { writeOpenAiUsage } from '../openai/usage.js';
import { noAnswer, saysSomething } from '../says-something.js';
import { DistinctCallIds } from '../tool-call-ids.js';
import { annotationsOf, citedPages } from './citations.js';
import { argumentsOf, encrypted, finishOf, nothingGiven, refusalIn, signed, words } from './events.js';
import { anthropicFailureIn, anthropicFailureOf } from './failure.js';
import {
  comparedIdIn,
  hoursAskedBy,
  isSearch,
  keepsThread,
  keptIn,
  readAnthropicUsage,
  reportedAnthropicTier,
  runsCode,
  toolsSeen,
} from './usage.js';

/* A complete answer of Anthropic's. */

interface MessageParts {
  content: string;
  reasoning: string;
  readonly details: ReasoningDetail[];
  readonly calls: JsonObject[];
  readonly annotations: JsonObject[];
}

function partsIn(blocks: readonly JsonObject[]): MessageParts {
  const reported: MessageParts = { content: '', reasoning: '', details: [], calls: [], annotations: [] };
  const ids = new DistinctCallIds();
  for (const block of blocks)
    switch (block.type) {
      case 'text': {
        const start = reported.content.length;
        reported.content += words(block.text);
        reported.annotations.push(...annotationsOf(citedPages(block.citations), start, reported.content.length));
        break;
      }
      case 'thinking':
        reported.reasoning += words(block.thinking);
        if (textIn(block.signature) !== null)
          reported.details.push(signed(words(block.thinking), words(block.signature)));
        break;
      case 'redacted_thinking':
        if (textIn(block.data) !== null) reported.details.push(encrypted(words(block.data)));
        break;
      case 'tool_use': {
        const called = { name: words(block.name), arguments: argumentsOf(block.input) || nothingGiven };
        reported.calls.push({ id: ids.of(words(block.id)), type: 'function', function: called });
        break;
      }
    }
  return reported;
}

/** What the blocks say, as it is counted: the inputs of Anthropic's own tools are generated too. */
function saidIn(blocks: readonly JsonObject[]): SeenText {
  const said = new SeenText();
  for (const block of blocks) {
    said.add(words(block.thinking) || words(block.text));
    if (block.type === 'compaction') said.add(words(block.content));
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
  const { content, reasoning, details, calls, annotations } = partsIn(blocks);
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
          ...refusalIn(message),
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
  const reported = own ? upstreamJson(received) : exactUpstreamJson(received, outerBrackets);
  if (!isObject(reported))
    return { ok: false, error: unreadableAnswer('the upstream answered something that is not JSON') };
  const error = anthropicFailureIn(reported, confidential);
  if (error !== null) return { ok: false, error };
  if (mode === 'counting' && typeof reported.input_tokens === 'number') return counted(reported, received);
  if (!isList(reported.content)) {
    const missing = unreadableAnswer('the upstream answered without an answer in it');
    return {
      ok: false,
      error: reportedFailure(reported).message === null ? missing : anthropicFailureOf(reported, null, confidential),
    };
  }
  const blocks = objectsIn(reported.content);
  const ranCode = blocks.some(runsCode);
  const usage = isObject(reported.usage)
    ? readAnthropicUsage(reported.usage, ranCode, hoursAskedBy(caller, channel))
    : null;
  const failed = failedStop(reported.stop_reason, confidential);
  if (failed !== null) return { ok: false, error: failed, costUnknown: true };
  const finish = finishOf(reported).finish_reason;
  if (typeof finish !== 'string' && !saysSomething(reported.content)) return noAnswer(usage);
  const generated = {
    said: saidIn(blocks),
    toolCalls: blocks.filter(({ type }) => type === 'tool_use').length,
    finishReason: typeof finish === 'string' ? finish : null,
    searches: toolsSeen(blocks.filter(isSearch).length, ranCode),
    kept: keptIn(reported, keepsThread(caller)),
    comparedId: comparedIdIn(caller, reported),
    answerId: reportedAnswerId(reported.id, info),
    ...(isObject(reported.usage) && { serviceTier: reportedAnthropicTier(reported.usage, caller.tiers ?? []) }),
  };
  return own
    ? { ok: true, body: reported, own: true, received, untouched: true, usage, generated }
    : { ok: true, body: completionOf(reported, blocks, usage, info), received, untouched: false, usage, generated };
}
