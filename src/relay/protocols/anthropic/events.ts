import type { KeptObject } from '../../../domain/call/kept-object.js';
import { noUsage } from '../../../domain/call/usage.js';
import { anthropicReasoning, type ReasoningDetail } from '../../contracts/neutral.js';
import type { AnswerMessage, ChatChunk, ChoiceEnd, ChunkChoice, ChunkHead } from '../../contracts/neutral-answer.js';
import type { CallInfo } from '../../contracts/protocol.js';
import { jsonText } from '../../json/exact-number.js';
import { isObject, type JsonObject, type JsonValue, textIn } from '../../json/json.js';
import { SeenText } from '../../text/seen-text.js';
import { reportedAnswerId } from '../answer-id.js';
import { DistinctCallIds } from '../tool-call-ids.js';
import { annotationsOf, citedPages, isCitedPage, maxCitations } from './citations.js';
import { isSearch, runsCode, toolsSeen } from './usage.js';

/* The events of an Anthropic stream, and the blocks of its answers, in neutral words. */

/** In OpenAI's words; whoever knows more than these has read `native_finish_reason`. */
const finishReasons: ReadonlyMap<string, string> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['pause_turn', 'stop'],
  // All that was asked for was a summary.
  ['compaction', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
]);

const finishReasonOf = (stopReason: string): string => finishReasons.get(stopReason) ?? 'stop';

/** The members of a choice that say why it ended. */
export function finishOf({ stop_reason: reason, stop_sequence: sequence }: JsonObject): ChoiceEnd {
  const reported = textIn(reason);
  return {
    finish_reason: reported === null ? null : finishReasonOf(reported),
    ...(reported !== null && { native_finish_reason: reported }),
    ...(textIn(sequence) !== null && { stop_sequence: sequence }),
  };
}

/** Why the model has refused, where that is reported. */
export const refusalIn = ({ stop_reason: reason, stop_details: details }: JsonObject): { refusal?: string } => {
  const explained = reason === 'refusal' && isObject(details) ? textIn(details.explanation) : null;
  return explained === null ? {} : { refusal: explained };
};

/** Thinking whose words are not for anybody else: `data` is for its model alone. */
export const encrypted = (data: string): ReasoningDetail => ({
  type: 'reasoning.encrypted',
  data,
  format: anthropicReasoning,
});

export const signed = (text: string, signature: string): ReasoningDetail => ({
  type: 'reasoning.text',
  text,
  signature,
});

export const words = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');

/** An input that is there from the start; in a stream it comes in pieces, after an empty one. */
export const argumentsOf = (input: JsonValue | undefined): string =>
  isObject(input) && Object.keys(input).length > 0 ? jsonText(input) : '';

/** What a call without arguments gives. */
export const nothingGiven = '{}';

/** Blocks of one answer that are remembered by their index. */
const maxBlocks = 4096;

/**
 * Reads the events of one answer, one after the other: notes what was produced, and puts it into chunks where somebody
 * wants them.
 */
export class AnthropicEvents {
  readonly generated = {
    said: new SeenText(),
    toolCalls: 0,
    finishReason: null as string | null,
    inputOnly: false,
    searches: noUsage,
    serviceTier: undefined as string | undefined,
    kept: [] as readonly KeptObject[],
    comparedId: undefined as string | undefined,
    answerId: undefined as string | undefined,
  };
  /** The open block is one of which nothing need be shown while it is worked at. */
  unseen = false;
  /** Code was run at Anthropic. */
  ranCode = false;
  private thinking = false;
  private searches = 0;
  /** Characters of content so far, where the open block began, and what it cites. */
  private spoken = 0;
  private began = 0;
  private cited: JsonObject[] = [];
  private head: ChunkHead | null = null;
  private readonly ids = new DistinctCallIds();
  /** By the index of a block that is a call: which call it is, and whether arguments have come. */
  private readonly calls = new Map<JsonValue, { readonly index: number; begun: boolean }>();

  constructor(private readonly info: CallInfo) {}

  /** A piece of a block's words, as counted. */
  said(text: string): void {
    this.generated.said.add(text);
  }

  /** null: nothing in it for the caller. */
  read(event: JsonObject): ChatChunk | null {
    switch (event.type) {
      case 'message_start':
        return this.start(isObject(event.message) ? event.message : {});
      case 'content_block_start':
        return isObject(event.content_block) ? this.block(event.index ?? 0, event.content_block) : null;
      case 'content_block_delta':
        return isObject(event.delta) ? this.delta(event.index ?? 0, event.delta) : null;
      case 'content_block_stop':
        return this.blockStop(event.index ?? 0);
      case 'message_delta':
        return isObject(event.delta) ? this.finish(event.delta) : null;
      default:
        return null;
    }
  }

  private start({ id, model }: JsonObject): ChatChunk | null {
    // Some streams begin twice.
    if (this.head !== null) return null;
    this.head = this.headOf(id, model);
    this.generated.answerId = reportedAnswerId(id, this.info);
    return this.chunk({ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null });
  }

  private block(index: JsonValue, block: JsonObject): ChatChunk | null {
    this.thinking = block.type === 'thinking';
    this.unseen = this.thinking || block.type === 'server_tool_use';
    switch (block.type) {
      case 'server_tool_use':
        if (isSearch(block)) this.searches++;
        this.ranCode ||= runsCode(block);
        this.generated.searches = toolsSeen(this.searches, this.ranCode);
        return null;
      case 'tool_use': {
        if (this.calls.size >= maxBlocks) return null;
        const given = argumentsOf(block.input);
        const name = words(block.name);
        const call = { index: this.generated.toolCalls++, begun: given !== '' };
        this.calls.set(index, call);
        this.said(name);
        this.said(given);
        const called = {
          index: call.index,
          id: this.ids.of(words(block.id)),
          type: 'function',
          function: { name, arguments: given },
        };
        return this.deltaChunk({ tool_calls: [called] });
      }
      case 'text':
        this.began = this.spoken;
        this.cited = citedPages(block.citations);
        return this.wordsChunk('content', words(block.text));
      case 'thinking':
        return this.wordsChunk('reasoning_content', words(block.thinking));
      case 'redacted_thinking':
        return textIn(block.data) === null
          ? null
          : this.deltaChunk({ reasoning_details: [encrypted(words(block.data))] });
      default:
        return null;
    }
  }

  private delta(index: JsonValue, delta: JsonObject): ChatChunk | null {
    switch (delta.type) {
      case 'text_delta':
        return this.wordsChunk('content', words(delta.text));
      case 'thinking_delta':
        return this.wordsChunk('reasoning_content', words(delta.thinking));
      case 'signature_delta':
        return textIn(delta.signature) === null
          ? null
          : this.deltaChunk({ reasoning_details: [signed('', words(delta.signature))] });
      case 'compaction_delta':
        this.said(words(delta.content));
        return null;
      case 'citations_delta':
        if (isCitedPage(delta.citation) && this.cited.length < maxCitations) this.cited.push(delta.citation);
        return null;
      case 'input_json_delta': {
        const piece = words(delta.partial_json);
        this.said(piece);
        const call = this.calls.get(index);
        if (call === undefined || piece === '') return null;
        call.begun = true;
        return this.deltaChunk({ tool_calls: [{ index: call.index, function: { arguments: piece } }] });
      }
      default:
        return null;
    }
  }

  /** No arguments are an empty object. What was cited is sent once it is known for which words. */
  private blockStop(index: JsonValue): ChatChunk | null {
    // What a tool finds comes in a block of its own.
    if (this.thinking) this.unseen = false;
    const { cited } = this;
    if (cited.length > 0) {
      this.cited = [];
      return this.deltaChunk({ annotations: annotationsOf(cited, this.began, this.spoken) });
    }
    const call = this.calls.get(index);
    if (call === undefined || call.begun) return null;
    call.begun = true;
    this.said(nothingGiven);
    return this.deltaChunk({ tool_calls: [{ index: call.index, function: { arguments: nothingGiven } }] });
  }

  private finish(delta: JsonObject): ChatChunk | null {
    this.unseen = false;
    const finish = finishOf(delta);
    if (finish.finish_reason === null) return null;
    this.generated.finishReason = String(finish.finish_reason);
    return this.chunk({ index: 0, delta: refusalIn(delta), ...finish });
  }

  private wordsChunk(member: 'content' | 'reasoning_content', text: string): ChatChunk | null {
    if (text === '') return null;
    this.said(text);
    if (member === 'content') this.spoken += text.length;
    return this.deltaChunk({ [member]: text });
  }

  private deltaChunk(delta: AnswerMessage): ChatChunk {
    return this.chunk({ index: 0, delta, finish_reason: null });
  }

  private headOf(id: JsonValue | undefined, model: JsonValue | undefined): ChunkHead {
    const { info } = this;
    return {
      id: textIn(id) ?? info.callId,
      object: 'chat.completion.chunk',
      created: info.createdAt,
      model: textIn(model) ?? info.model,
    };
  }

  private chunk(choice: ChunkChoice): ChatChunk {
    this.head ??= this.headOf(null, null);
    return { ...this.head, choices: [choice] };
  }
}
