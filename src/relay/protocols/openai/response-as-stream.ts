import { type JsonObject, objectsIn } from '../../json/json.js';
import { type AnsweredWhole, type AskedAsStream, AsStream } from '../as-stream.js';

/** A complete response, written as the stream that was asked for. */
export class ResponseAsStream extends AsStream {
  private sequence = 0;
  /** Not yet written. */
  private response: JsonObject | null;

  constructor(answer: AnsweredWhole, asked: AskedAsStream) {
    super(answer, asked);
    this.response = answer.body;
  }

  protected write(): void {
    const { response } = this;
    this.response = null;
    if (response === null) return;
    const begun = { ...response, status: 'in_progress', output: [], usage: null };
    this.event('response.created', { response: begun });
    this.event('response.in_progress', { response: begun });
    for (const [index, item] of objectsIn(response.output).entries()) this.item(item, index);
    this.event(response.status === 'incomplete' ? 'response.incomplete' : 'response.completed', { response });
  }

  /** Clients show words as they come, and put an answer together of these. */
  private item(item: JsonObject, output_index: number): void {
    const parts = item.type === 'message' ? objectsIn(item.content) : [];
    const begun = item.type === 'message' ? { ...item, status: 'in_progress', content: [] } : item;
    this.event('response.output_item.added', { output_index, item: begun });
    for (const [content_index, part] of parts.entries()) {
      const place = { item_id: item.id, output_index, content_index };
      const isText = part.type === 'output_text';
      this.event('response.content_part.added', {
        ...place,
        part: isText ? { ...part, text: '', annotations: [] } : part,
      });
      if (isText) {
        this.event('response.output_text.delta', { ...place, delta: part.text, logprobs: [] });
        this.event('response.output_text.done', { ...place, text: part.text, logprobs: [] });
      }
      this.event('response.content_part.done', { ...place, part });
    }
    this.event('response.output_item.done', { output_index, item });
  }

  private event(type: string, event: JsonObject): void {
    this.writer.write({ type, sequence_number: this.sequence++, ...event }, 0);
  }
}
