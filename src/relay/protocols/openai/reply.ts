import { isKeptId, type KeptObject } from '../../../domain/call/kept-object.js';
import { noUsage, type Usage } from '../../../domain/call/usage.js';
import { type Generated, maxChoices } from '../../contracts/protocol.js';
import { isObject, type JsonObject, type JsonValue, objectsIn, scalarText, textIn } from '../../json/json.js';
import { SeenText } from '../../text/seen-text.js';
import { DistinctCallIds } from '../tool-call-ids.js';
import type { OpenAiVariant, Reading } from './variant.js';

/* What a complete answer and a stream's chunk have in common: choices with a message or a delta in them. */

const noneKept: readonly KeptObject[] = [];

/** Beyond these nothing is remembered, or a stream without end would take memory without end. */
const maxNameLength = 256;
const maxToolCalls = 1024;

/** Adds up what the model produced. */
export class Generation implements Generated {
  readonly said = new SeenText();
  inputOnly = false;
  finishReason: string | null = null;
  serviceTier: string | undefined = undefined;
  upstreamCost: string | undefined = undefined;
  answerId: string | undefined = undefined;
  kept: readonly KeptObject[] = noneKept;
  private readonly calls = new Set<string>();
  /** Whether the first choice goes on, once it has begun; and the others by their number, where there are any. */
  private firstGoesOn: boolean | null = null;
  private others: Map<number, boolean> | null = null;

  /** `searches`: calls of tools that the upstream's usage does not report. */
  constructor(readonly searches: Usage = noUsage) {}

  get toolCalls(): number {
    return this.calls.size;
  }

  /** Choices that have begun. */
  get choices(): number {
    return (this.firstGoesOn === null ? 0 : 1) + (this.others?.size ?? 0);
  }

  get openChoices(): number {
    let open = this.firstGoesOn ? 1 : 0;
    for (const goesOn of this.others?.values() ?? []) if (goesOn) open++;
    return open;
  }

  /** Notes one choice of a body or chunk. */
  note(choice: JsonObject, message: JsonObject | null): void {
    const { index, finish_reason: reason } = choice;
    const ended = textIn(reason);
    if (ended !== null) this.finishReason = ended.length <= maxNameLength ? ended : 'unknown';
    if (typeof index === 'number' && index > 0) this.noteOther(index, ended === null);
    else if (this.firstGoesOn !== false) this.firstGoesOn = ended === null;
    if (typeof choice.text === 'string') this.said.add(choice.text);
    if (message === null) return;
    const { content, tool_calls: toolCalls, function_call: functionCall, refusal, audio } = message;
    if (typeof content === 'string') this.said.add(content);
    const reasoning = message.reasoning_content ?? message.reasoning;
    if (typeof reasoning === 'string') this.said.add(reasoning);
    if (toolCalls !== undefined) this.noteToolCalls(choice, toolCalls);
    if (isObject(functionCall)) this.noteFunction(`${scalarText(choice.index)} function`, functionCall);
    if (typeof refusal === 'string') this.said.add(refusal);
    if (isObject(audio)) this.noteAudio(audio);
  }

  /** By its id the next turn names it. */
  private noteAudio({ id, transcript }: JsonObject): void {
    if (typeof transcript === 'string') this.said.add(transcript);
    this.keep('audio', id);
  }

  /** What upstream keeps of this call, by its id. */
  keep(kind: KeptObject['kind'], id: JsonValue | undefined): void {
    if (typeof id !== 'string' || !isKeptId(id) || this.kept.length >= maxChoices) return;
    if (!this.kept.some((one) => one.id === id)) this.kept = [...this.kept, { kind, id }];
  }

  private noteOther(index: number, goesOn: boolean): void {
    this.others ??= new Map();
    // What has ended goes on no more, whatever is said of it later.
    if (this.others.get(index) !== false && (this.others.has(index) || this.others.size < maxChoices))
      this.others.set(index, goesOn);
  }

  private noteToolCalls(choice: JsonObject, toolCalls: JsonValue): void {
    // Those of a whole message stand one after the other, whatever numbers they bear.
    const pieces = isObject(choice.delta);
    for (const [position, call] of objectsIn(toolCalls).entries())
      if (isObject(call.function))
        this.noteFunction(
          `${scalarText(choice.index)} ${scalarText((pieces ? call.index : null) ?? position)}`,
          call.function,
        );
  }

  private noteFunction(call: string, { name, arguments: given }: JsonObject): void {
    if (call.length <= maxNameLength && this.calls.size < maxToolCalls) this.calls.add(call);
    if (typeof name === 'string') this.said.add(name);
    if (typeof given === 'string') this.said.add(given);
  }
}

/** The part of a choice that carries the words: `delta` in a stream, `message` in a whole answer. */
export const messageIn = (choice: JsonObject): JsonObject | null => {
  const message = choice.delta ?? choice.message;
  return isObject(message) ? message : null;
};

/** A tool call begins with its id, and clients look for its type there; there is but one. In place. */
function nameTypes(toolCalls: JsonValue): boolean {
  const untyped = objectsIn(toolCalls).filter((call) => textIn(call.id) !== null && textIn(call.type) === null);
  for (const call of untyped) call.type = 'function';
  return untyped.length > 0;
}

/** Arguments are JSON in a text; some servers put the object itself there, of which clients make `[object Object]`. In place. */
function writeArguments(toolCalls: JsonValue): boolean {
  let changed = false;
  for (const { function: called } of objectsIn(toolCalls)) {
    if (!isObject(called) || !isObject(called.arguments)) continue;
    called.arguments = JSON.stringify(called.arguments);
    changed = true;
  }
  return changed;
}

/** In place. In streams CallNumbers does it. */
function makeIdsDistinct(toolCalls: JsonValue): boolean {
  const ids = new DistinctCallIds();
  let changed = false;
  for (const call of objectsIn(toolCalls)) {
    const id = textIn(call.id);
    const distinct = id === null ? null : ids.of(id);
    if (distinct === id) continue;
    call.id = distinct;
    changed = true;
  }
  return changed;
}

/**
 * Puts one choice into the words clients know: the provider's own mending, the name of the reasoning, the finish
 * reasons. In place; true when something was changed.
 */
export function mendChoice(
  variant: OpenAiVariant,
  choice: JsonObject,
  message: JsonObject | null,
  reading: Reading,
): boolean {
  let changed = false;
  if (message !== null) {
    if (variant.mend?.(message, reading)) changed = true;
    if (message.tool_calls !== undefined) {
      if (nameTypes(message.tool_calls)) changed = true;
      if (writeArguments(message.tool_calls)) changed = true;
      if (!reading.streamed && makeIdsDistinct(message.tool_calls)) changed = true;
    }
    if (variant.copiesReasoning && message.reasoning_content === undefined && textIn(message.reasoning) !== null) {
      message.reasoning_content = message.reasoning;
      changed = true;
    }
  }
  const known = typeof choice.finish_reason === 'string' && variant.finishReasons?.get(choice.finish_reason);
  if (!known) return changed;
  choice.finish_reason = known;
  return true;
}
