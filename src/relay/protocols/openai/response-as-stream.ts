import type { Usage } from '../../../domain/call/usage.js';
import type { AnswerWriter } from '../../contracts/answer-writer.js';
import type { Answer, AnswerStream, Generated, StreamInput, StreamStep } from '../../contracts/protocol.js';
import { type JsonObject, objectsIn } from '../../json/json.js';
import { writerFor } from '../caller-calls.js';

const nothing: StreamStep = { bytes: null, error: null, finished: true };

/** A complete response, written as the stream that was asked for. */
export class ResponseAsStream implements AnswerStream {
  readonly unfinished = 0;
  readonly progress = 1;
  readonly begun = true;
  readonly usage: Usage | null;
  readonly generated: Generated;
  private readonly writer: AnswerWriter;
  private sequence = 0;
  /** Not yet written. */
  private response: JsonObject | null;

  constructor(
    { body, usage, generated }: Extract<Answer, { ok: true }>,
    { channel, caller, info }: Omit<StreamInput, 'provider'>,
  ) {
    this.response = body;
    this.usage = usage;
    this.generated = generated;
    this.writer = writerFor(caller, channel, info);
  }

  /** Everything that comes before the closing. */
  frames(): Buffer | null {
    const { response } = this;
    this.response = null;
    if (response !== null) {
      const begun = { ...response, status: 'in_progress', output: [], usage: null };
      this.write('response.created', { response: begun });
      this.write('response.in_progress', { response: begun });
      for (const [index, item] of objectsIn(response.output).entries()) this.item(item, index);
      this.write(response.status === 'incomplete' ? 'response.incomplete' : 'response.completed', { response });
    }
    return this.writer.take();
  }

  get nextSequence(): number {
    return this.writer.nextSequence ?? 0;
  }

  push(): StreamStep {
    return nothing;
  }

  end(): StreamStep {
    return nothing;
  }

  closing(usage: Usage): Buffer {
    return this.writer.closing(usage);
  }

  /** Clients show words as they come, and put an answer together of these. */
  private item(item: JsonObject, output_index: number): void {
    const parts = item.type === 'message' ? objectsIn(item.content) : [];
    const begun = item.type === 'message' ? { ...item, status: 'in_progress', content: [] } : item;
    this.write('response.output_item.added', { output_index, item: begun });
    for (const [content_index, part] of parts.entries()) {
      const place = { item_id: item.id, output_index, content_index };
      const isText = part.type === 'output_text';
      this.write('response.content_part.added', {
        ...place,
        part: isText ? { ...part, text: '', annotations: [] } : part,
      });
      if (isText) {
        this.write('response.output_text.delta', { ...place, delta: part.text, logprobs: [] });
        this.write('response.output_text.done', { ...place, text: part.text, logprobs: [] });
      }
      this.write('response.content_part.done', { ...place, part });
    }
    this.write('response.output_item.done', { output_index, item });
  }

  private write(type: string, event: JsonObject): void {
    this.writer.write({ type, sequence_number: this.sequence++, ...event }, 0);
  }
}
