import { type JsonObject, objectsIn } from '../json/json.js';
import { type AnsweredWhole, type AskedAsStream, AsStream } from './as-stream.js';

/** Pictures that came whole, written as the events that were asked for. */
export class ImagesAsStream extends AsStream {
  /** Not yet written. */
  private pictures: readonly JsonObject[];

  constructor(answer: AnsweredWhole, asked: AskedAsStream) {
    super(answer, asked);
    const { data, created, ...rest } = answer.body;
    const type = asked.caller.mode === 'image-edit' ? 'image_edit.completed' : 'image_generation.completed';
    const head = { type, created_at: created ?? asked.info.createdAt, ...rest };
    this.pictures = objectsIn(data).map((picture) => ({ ...head, ...picture }));
  }

  protected write(): void {
    for (const picture of this.pictures) this.writer.write(picture, 0);
    this.pictures = [];
  }
}
