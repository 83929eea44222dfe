import { partialPictureTokens } from '../../contracts/image-request.js';
import type { CallerRequest, StreamInput } from '../../contracts/protocol.js';
import { isObject, type JsonObject, parseJson, textIn } from '../../json/json.js';
import { isWellShaped } from '../../json/upstream-json.js';
import type { Confidential } from '../../upstream/confidential.js';
import type { Frame } from '../../upstream/sse.js';
import { confidentialOf } from '../confidential-of.js';
import { SseStream } from '../sse-stream.js';
import { openAiFailureIn, openAiFailureOf } from './failure.js';
import { readImageUsage } from './image-usage.js';
import { hasPicture } from './images.js';
import { Generation } from './reply.js';
import type { OpenAiVariant } from './variant.js';

const done = '[DONE]';
/** `image_generation.partial_image`, `image_edit.completed`. */
const partial = /^image_(?:generation|edit)\.partial_image$/;
export const completed = /^image_(?:generation|edit)\.completed$/;

function partialsOf({ neutral }: Pick<CallerRequest, 'neutral'>): number {
  const asked = neutral();
  return asked.mode === 'image-generation' || asked.mode === 'image-edit' ? asked.body.partial_images : 0;
}

/** Bytes of an event: the largest pictures have 20 MB, and half as many more in base64. */
const maxPictureLine = 32 * 1024 * 1024;

/** A picture that is sent while it is made, event by event; the last one waits for the settlement. */
export class ImagesStream extends SseStream {
  readonly generated = new Generation();
  /** It is silent between its events, and may be for long. */
  worksUnseen = true;
  private readonly confidential: Confidential;
  /** That were ordered and have not come: more than these are passed on and not counted. */
  private partialsLeft: number;

  constructor(
    private readonly variant: OpenAiVariant,
    { provider, channel, caller, info }: StreamInput,
  ) {
    super(channel, caller, info, maxPictureLine);
    this.confidential = confidentialOf(provider, channel);
    this.partialsLeft = partialsOf(caller);
  }

  frame(bytes: Buffer, start: number, end: number, from: number): void {
    if (this.finished || this.error !== null) return;
    if (end - start <= done.length && bytes.toString('latin1', start, end).trim() === done) {
      this.finished = true;
      return;
    }
    const event = isWellShaped(bytes, start, end) ? parseJson(bytes.toString('utf8', start, end)) : null;
    if (!isObject(event)) return;
    this.begun = true;
    const type = textIn(event.type) ?? '';
    this.error =
      type === 'error'
        ? openAiFailureOf(event, this.confidential)
        : openAiFailureIn(this.variant, event, this.confidential);
    if (this.error === null) this.event(type, event, { bytes, start, end, from });
  }

  private event(type: string, event: JsonObject, frame: Frame): void {
    if (completed.test(type) && hasPicture(event)) {
      this.generated.finishReason = 'stop';
      this.usage = readImageUsage(event.usage, 1);
      this.worksUnseen = false;
      this.progress++;
      this.finished = true;
      this.writer.forward(event, frame);
    } else if (partial.test(type) && hasPicture(event)) {
      const counted = this.partialsLeft-- > 0 ? partialPictureTokens : 0;
      this.usage = { imageOutput: (this.usage?.imageOutput ?? 0) + counted };
      this.progress++;
      this.writer.forward(event, frame);
    }
  }
}
