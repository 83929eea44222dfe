import { isObject, type JsonObject, type JsonValue, parseJson, textIn } from '../../json/json.js';
import type { EventFrame } from '../../upstream/event-stream.js';
import { eventOf } from '../../upstream/sse.js';
import { messagesUsage, stopReasonIn } from './converse-answer.js';

/*
 * The events of a stream of Converse as those of Anthropic's Messages.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStreamOutput.html
 */

type Kind = 'text' | 'thinking' | 'tool_use' | 'redacted_thinking';

const emptyBlocks: Readonly<Record<Exclude<Kind, 'tool_use' | 'redacted_thinking'>, JsonObject>> = {
  text: { type: 'text', text: '' },
  thinking: { type: 'thinking', thinking: '' },
};

const spelled = (event: JsonObject): Buffer => eventOf(Buffer.from(JSON.stringify(event)), textIn(event.type));

export class ConverseEvents {
  private begun = false;
  /** The block that is open, and of which kind; blocks of words have no event that they begin with. */
  private open: { readonly at: JsonValue; readonly index: number; readonly kind: Kind } | null = null;
  private blocks = 0;
  private stopped = false;
  private reported = false;

  /** In text, as the reader of Messages takes them. Empty: there is nothing in the frame for it. */
  readonly in = ({ headers, body }: EventFrame): Buffer => {
    const parsed = parseJson(body.toString('utf8'));
    const event = isObject(parsed) ? parsed : {};
    // No event of Converse's has it: some that stand before an upstream report a failure so.
    if (event.error !== undefined) return spelled({ type: 'error', error: event.error });
    return Buffer.concat(this.read(headers.get(':event-type') ?? '', event).map(spelled));
  };

  private read(type: string, event: JsonObject): JsonObject[] {
    switch (type) {
      case 'messageStart':
        return this.start();
      case 'contentBlockStart':
        return this.blockStart(event);
      case 'contentBlockDelta':
        return isObject(event.delta) ? this.delta(event.contentBlockIndex ?? 0, event.delta) : [];
      case 'contentBlockStop':
        return this.close();
      case 'messageStop': {
        const stop = { type: 'message_delta', delta: { stop_reason: stopReasonIn(event) } };
        this.stopped = true;
        return [...this.start(), ...this.close(), stop, ...this.end()];
      }
      case 'metadata': {
        const usage = messagesUsage(event.usage);
        this.reported = true;
        return [...(usage === null ? [] : [{ type: 'message_delta', delta: {}, usage }]), ...this.end()];
      }
      default:
        return [];
    }
  }

  private start(): JsonObject[] {
    if (this.begun) return [];
    this.begun = true;
    return [{ type: 'message_start', message: { type: 'message', role: 'assistant', content: [] } }];
  }

  /** Usage comes after why it ended, or before. */
  private end(): JsonObject[] {
    return this.stopped && this.reported ? [{ type: 'message_stop' }] : [];
  }

  private blockStart({ contentBlockIndex: at = 0, start }: JsonObject): JsonObject[] {
    const { toolUse } = isObject(start) ? start : {};
    if (!isObject(toolUse)) return [];
    const block = { type: 'tool_use', id: toolUse.toolUseId, name: toolUse.name, input: {} };
    return this.opened(at, 'tool_use', block);
  }

  private opened(at: JsonValue, kind: Kind, block: JsonObject): JsonObject[] {
    const before = [...this.start(), ...this.close()];
    const index = this.blocks++;
    this.open = { at, index, kind };
    return [...before, { type: 'content_block_start', index, content_block: block }];
  }

  private close(): JsonObject[] {
    const { open } = this;
    this.open = null;
    return open === null ? [] : [{ type: 'content_block_stop', index: open.index }];
  }

  private within(at: JsonValue, kind: 'text' | 'thinking', delta: JsonObject): JsonObject[] {
    const { open } = this;
    const before =
      open !== null && open.at === at && open.kind === kind ? [] : this.opened(at, kind, emptyBlocks[kind]);
    return [...before, { type: 'content_block_delta', index: this.blocks - 1, delta }];
  }

  private delta(at: JsonValue, { text, toolUse, reasoningContent: thought }: JsonObject): JsonObject[] {
    if (typeof text === 'string') return this.within(at, 'text', { type: 'text_delta', text });
    if (isObject(toolUse)) {
      const piece = { type: 'input_json_delta', partial_json: textIn(toolUse.input) ?? '' };
      return this.open?.kind === 'tool_use'
        ? [{ type: 'content_block_delta', index: this.open.index, delta: piece }]
        : [];
    }
    if (!isObject(thought)) return [];
    const { text: thinking, signature, redactedContent: data } = thought;
    if (textIn(signature) !== null) return this.within(at, 'thinking', { type: 'signature_delta', signature });
    if (textIn(data) !== null) return this.opened(at, 'redacted_thinking', { type: 'redacted_thinking', data });
    return typeof thinking === 'string' ? this.within(at, 'thinking', { type: 'thinking_delta', thinking }) : [];
  }
}
