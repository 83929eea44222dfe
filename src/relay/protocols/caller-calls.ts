import type { Usage } from '../../domain/call/usage.js';
import type { AnswerWriter } from '../contracts/answer-writer.js';
import { type CallerRequest, type CallInfo, maxChoices, type UpstreamChannel } from '../contracts/protocol.js';
import { isObject, type JsonObject, type JsonValue, objectsIn } from '../json/json.js';
import type { Frame } from '../upstream/sse.js';
import { messageIn } from './openai/reply.js';
import { withOwnToolNames } from './tool-names.js';

/*
 * Calls of functions as their caller can take them: by its own names, and one to an answer where it allows no more. Few
 * wires have a word for that, and not every upstream that has one keeps to it, so it is kept to here, whoever answers.
 */

/** In OpenAI's words, or Anthropic's. */
function allowsOneCall({ mode, body }: CallerRequest, { paramOverride }: UpstreamChannel): boolean {
  if (mode !== 'chat') return false;
  const { parallel_tool_calls: parallel, tool_choice: choice } = body;
  if (parallel === false || paramOverride?.parallel_tool_calls === false) return true;
  return isObject(choice) && choice.disable_parallel_tool_use === true;
}

/** The calls of a message but the first, taken out of it in place; true when there were some. */
function withFirstCall(message: JsonObject | null, isFirst: (call: JsonObject, at: number) => boolean): boolean {
  const calls = objectsIn(message?.tool_calls);
  const kept = calls.filter(isFirst);
  if (message === null || kept.length === calls.length) return false;
  if (kept.length > 0) message.tool_calls = kept;
  else delete message.tool_calls;
  return true;
}

/** A whole answer, changed in place; true when a call was taken out of it. */
export function asCallerTakes(answer: JsonObject, caller: CallerRequest, channel: UpstreamChannel): boolean {
  withOwnToolNames(answer, caller.renamedTools);
  if (!allowsOneCall(caller, channel)) return false;
  let changed = false;
  for (const choice of objectsIn(answer.choices))
    if (withFirstCall(messageIn(choice), (_, at) => at === 0)) changed = true;
  return changed;
}

const goesOn = ({ delta, finish_reason: reason, ...choice }: JsonObject): boolean =>
  (reason ?? null) !== null || (choice.logprobs ?? null) !== null || (isObject(delta) && Object.keys(delta).length > 0);

/** The first call of each choice of a stream, by its number. */
class FirstCalls {
  private readonly first = new Map<JsonValue, JsonValue>();

  /** In place; true when a piece of another call was taken out of the chunk. */
  keepIn(chunk: JsonObject): boolean {
    const { choices } = chunk;
    let changed = false;
    for (const choice of objectsIn(choices))
      if (withFirstCall(messageIn(choice), ({ index }, at) => this.isFirst(choice.index ?? 0, index ?? at)))
        changed = true;
    if (changed) chunk.choices = objectsIn(choices).filter(goesOn);
    return changed;
  }

  private isFirst(choice: JsonValue, call: JsonValue): boolean {
    if (!this.first.has(choice) && this.first.size < maxChoices) this.first.set(choice, call);
    return this.first.get(choice) === call;
  }
}

class CallerCallsWriter implements AnswerWriter {
  private readonly first: FirstCalls | null;
  /** The chunk before was not passed on as it came. */
  private changed = false;

  constructor(
    private readonly writer: AnswerWriter,
    private readonly renamed: CallerRequest['renamedTools'],
    oneCall: boolean,
  ) {
    this.first = oneCall ? new FirstCalls() : null;
  }

  get kept(): number {
    return this.writer.kept ?? 0;
  }

  get nextSequence(): number {
    return this.writer.nextSequence ?? 0;
  }

  write(chunk: JsonObject, length: number, text?: string): void {
    this.changed = this.first?.keepIn(chunk) ?? false;
    const own = withOwnToolNames(chunk, this.renamed);
    if (!this.changed) this.writer.write(own, length, this.renamed?.size ? undefined : text);
    else if (objectsIn(own.choices).length > 0) this.writer.write(own, length);
  }

  forward(chunk: JsonObject, frame: Frame): void {
    this.changed = this.first?.keepIn(chunk) ?? false;
    if (!this.changed) this.writer.forward(chunk, frame);
    else if (objectsIn(chunk.choices).length > 0) this.writer.write(chunk, frame.end - frame.start);
  }

  forwardLike(bytes: Buffer, from: number, to: number): boolean {
    return !this.changed && this.writer.forwardLike(bytes, from, to);
  }

  usage(usage: Usage, words: JsonObject | null, chunk: JsonObject | null, frame: Buffer | null): void {
    this.writer.usage(usage, words, chunk, frame);
  }

  take(): Buffer | null {
    return this.writer.take();
  }

  closing(usage: Usage): Buffer {
    return this.writer.closing(usage);
  }
}

/** What puts a stream into the caller's dialect, with calls of functions as the caller can take them. */
export function writerFor(caller: CallerRequest, channel: UpstreamChannel, info: CallInfo): AnswerWriter {
  const writer = caller.dialect.writer(caller, channel, info);
  const { renamedTools } = caller;
  const oneCall = allowsOneCall(caller, channel);
  const renamed = renamedTools !== undefined && renamedTools.size > 0;
  return renamed || oneCall ? new CallerCallsWriter(writer, renamedTools, oneCall) : writer;
}
