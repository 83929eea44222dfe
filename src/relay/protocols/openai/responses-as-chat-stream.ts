import type { StreamInput } from '../../contracts/protocol.js';
import type { JsonObject } from '../../json/json.js';
import type { Frame } from '../../upstream/sse.js';
import { ResponseAsChunks } from './response-as-chunks.js';
import { customToolsOf } from './response-parts.js';
import { chatFinish } from './responses-as-chat.js';
import { ResponsesStream } from './responses-stream.js';
import type { OpenAiVariant } from './variant.js';

/** A stream of the Responses interface, written in the chunks of a chat. */
export class ResponsesAsChatStream extends ResponsesStream {
  private readonly chunks: ResponseAsChunks;
  /** Of the frame that is read, in bytes. */
  private length = 0;

  constructor(variant: OpenAiVariant, opened: StreamInput) {
    super(variant, opened);
    this.chunks = new ResponseAsChunks(opened.info, customToolsOf(opened.caller), (chunk) =>
      this.writer.write(chunk, this.length),
    );
  }

  protected override deliver(type: string, event: JsonObject, { start, end }: Frame): void {
    this.length = end - start;
    this.chunks.event(type, event);
  }

  protected override deliverEnd(event: JsonObject, response: JsonObject, { start, end }: Frame): void {
    this.length = end - start;
    const { generated, chunks } = this;
    chunks.event('', event);
    chunks.end(response, (called) => {
      generated.finishReason = chatFinish(generated.finishReason, called);
      return generated.finishReason;
    });
  }

  protected override reportUsage(usage: NonNullable<ResponsesStream['usage']>): void {
    this.writer.usage(usage, null, null, null);
  }
}
