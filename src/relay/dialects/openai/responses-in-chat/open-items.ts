import { jsonText } from '../../../json/exact-number.js';
import type { JsonObject } from '../../../json/json.js';
import type { JsonEnd } from '../../../json/json-end.js';
import { type CarriedReasoning, sealedReasoning } from '../../../protocols/openai/carried-reasoning.js';
import { type CalledTool, calledItem, calledItemId, inputOf } from './called-items.js';
import type { ItemsOf } from './response-items.js';
import type { ToolForm } from './tool-forms.js';

/* Items of a response that have begun: each tells what comes of it, and is whole at its end. */

type EndStatus = 'completed' | 'incomplete';

/** Counts the characters that are remembered. */
interface Keeper {
  kept: number;
}

/** Citations that one item keeps. */
const maxCitations = 256;

/** What one entry takes, with its alternatives. */
const perLogprob = 256;

interface MessagePart {
  readonly kind: 'output_text' | 'refusal';
  text: string;
  readonly annotations: JsonObject[];
  readonly logprobs: JsonObject[];
}

const partOf = ({ kind, text, annotations, logprobs }: MessagePart): JsonObject =>
  kind === 'refusal' ? { type: kind, refusal: text } : { type: kind, text, annotations, logprobs };

export class MessageItem {
  private readonly id: string;
  /** The last is open. */
  private readonly parts: MessagePart[] = [];
  private cited = 0;

  constructor(
    private readonly of: ItemsOf,
    readonly index: number,
  ) {
    this.id = `msg_${of.callId}_${index}`;
    of.emit('response.output_item.added', { output_index: index, item: this.item('in_progress', []) });
  }

  /** A part of the other kind begins a new one. */
  part(kind: MessagePart['kind']): void {
    if (this.parts.at(-1)?.kind === kind) return;
    this.closePart();
    const part = { kind, text: '', annotations: [], logprobs: [] };
    this.parts.push(part);
    this.of.emit('response.content_part.added', { ...this.place(), part: partOf(part) });
  }

  say(text: string, logprobs: readonly JsonObject[], keeper: Keeper): void {
    const part = this.parts.at(-1);
    if (part === undefined) return;
    part.text += text;
    part.logprobs.push(...logprobs);
    keeper.kept += text.length + logprobs.length * perLogprob;
    if (part.kind === 'refusal') this.of.emit('response.refusal.delta', { ...this.place(), delta: text });
    else this.of.emit('response.output_text.delta', { ...this.place(), delta: text, logprobs });
  }

  /** Those beyond the most that an item keeps are left out. */
  cite(annotations: readonly JsonObject[], keeper: Keeper): void {
    const part = this.parts.at(-1);
    if (part === undefined) return;
    for (const annotation of annotations) {
      if (this.cited === maxCitations) return;
      this.cited++;
      keeper.kept += jsonText(annotation).length;
      const annotation_index = part.annotations.push(annotation);
      this.of.emit('response.output_text.annotation.added', {
        ...this.place(),
        annotation_index: annotation_index - 1,
        annotation,
      });
    }
  }

  end(status: EndStatus): JsonObject {
    this.closePart();
    return this.item(status, this.parts.map(partOf));
  }

  private closePart(): void {
    const part = this.parts.at(-1);
    if (part === undefined) return;
    const { text, logprobs } = part;
    if (part.kind === 'refusal') this.of.emit('response.refusal.done', { ...this.place(), refusal: text });
    else this.of.emit('response.output_text.done', { ...this.place(), text, logprobs });
    this.of.emit('response.content_part.done', { ...this.place(), part: partOf(part) });
  }

  private place(): JsonObject {
    return { item_id: this.id, output_index: this.index, content_index: this.parts.length - 1 };
  }

  private item(status: EndStatus | 'in_progress', content: JsonObject[]): JsonObject {
    return { id: this.id, type: 'message', status, role: 'assistant', content };
  }
}

/** Reasoning as its summary, sealed for the upstream that it came from. */
export class ReasoningItem {
  private readonly id: string;
  private text = '';
  private readonly details: JsonObject[] = [];
  private carried: CarriedReasoning = {};

  constructor(
    private readonly of: ItemsOf,
    readonly index: number,
    private readonly member: 'reasoning' | 'reasoning_content',
  ) {
    this.id = `rs_${of.callId}_${index}`;
    of.emit('response.output_item.added', {
      output_index: index,
      item: { id: this.id, type: 'reasoning', status: 'in_progress', summary: [] },
    });
  }

  /** Its words are signed, and no more can be added to them. */
  get isSigned(): boolean {
    return this.details.length > 0 || this.carried.call !== undefined;
  }

  think(text: string, keeper: Keeper): void {
    if (this.text === '')
      this.of.emit('response.reasoning_summary_part.added', { ...this.place(), part: summaryOf('') });
    this.text += text;
    keeper.kept += 2 * text.length;
    this.of.emit('response.reasoning_summary_text.delta', { ...this.place(), delta: text });
  }

  keep(detail: JsonObject, keeper: Keeper): void {
    const { text, ...rest } = detail;
    const kept = detail.type === 'reasoning.text' ? rest : detail;
    this.details.push(kept);
    keeper.kept += 2 * jsonText(kept).length;
  }

  /** Of one call: what its upstream says beside it. */
  carry(call: string, extraContent: JsonObject, keeper: Keeper): void {
    this.carried = { call, extraContent };
    keeper.kept += 2 * (call.length + jsonText(extraContent).length);
  }

  end(status: EndStatus): JsonObject {
    const { text, details, member, carried } = this;
    if (text !== '') {
      this.of.emit('response.reasoning_summary_text.done', { ...this.place(), text });
      this.of.emit('response.reasoning_summary_part.done', { ...this.place(), part: summaryOf(text) });
    }
    const sealed = sealedReasoning({
      ...carried,
      ...(text !== '' && { member, text }),
      ...(details.length > 0 && { details }),
    });
    return {
      id: this.id,
      type: 'reasoning',
      status,
      summary: text === '' ? [] : [summaryOf(text)],
      encrypted_content: sealed,
    };
  }

  private place(): JsonObject {
    return { item_id: this.id, output_index: this.index, summary_index: 0 };
  }
}

const summaryOf = (text: string): JsonObject => ({ type: 'summary_text', text });

/** How a call begins. */
interface BegunCall {
  readonly callId: string;
  readonly form: ToolForm;
  readonly end: JsonEnd;
}

/** Those whose input is shown as it comes, at the end at the latest. The others are told whole. */
const nothingGiven = '{}';

export class CallItem {
  private given = '';
  private readonly id: string;

  constructor(
    private readonly of: ItemsOf,
    readonly index: number,
    private readonly begun: BegunCall,
  ) {
    this.id = `${of.callId}_${index}`;
    const { kind } = begun.form;
    if (kind === 'function' || kind === 'custom') this.added();
  }

  /** Its arguments are whole. */
  get reached(): boolean {
    return this.begun.end.reached;
  }

  give(piece: string, keeper: Keeper): void {
    if (piece === '') return;
    this.given += piece;
    this.begun.end.add(piece);
    keeper.kept += piece.length;
    if (this.begun.form.kind === 'function')
      this.of.emit('response.function_call_arguments.delta', { ...this.place(), delta: piece });
  }

  end(status: EndStatus): JsonObject {
    const { kind } = this.begun.form;
    if (this.given === '') this.given = nothingGiven;
    const called = this.called();
    if (kind === 'function')
      this.of.emit('response.function_call_arguments.done', {
        ...this.place(),
        name: called.form.name,
        arguments: this.given,
      });
    else if (kind === 'custom') {
      const input = inputOf(this.given);
      this.of.emit('response.custom_tool_call_input.delta', { ...this.place(), delta: input });
      this.of.emit('response.custom_tool_call_input.done', { ...this.place(), input });
    } else this.added();
    return calledItem(called, status);
  }

  private added(): void {
    this.of.emit('response.output_item.added', {
      output_index: this.index,
      item: calledItem(this.called(), 'in_progress'),
    });
  }

  private called(): CalledTool {
    const { callId, form } = this.begun;
    return { id: this.id, callId, form, given: this.given };
  }

  private place(): JsonObject {
    return { item_id: calledItemId({ form: this.begun.form, id: this.id }), output_index: this.index };
  }
}
