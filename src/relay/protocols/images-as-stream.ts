import type { Usage } from '../../domain/call/usage.js';
import type { AnswerWriter } from '../contracts/answer-writer.js';
import type { Answer, AnswerStream, Generated, StreamInput, StreamStep } from '../contracts/protocol.js';
import { objectsIn } from '../json/json.js';
import { writerFor } from './caller-calls.js';

const nothing: StreamStep = { bytes: null, error: null, finished: true };

/** Pictures that came whole, written as the events that were asked for. */
export class ImagesAsStream implements AnswerStream {
  readonly unfinished = 0;
  readonly progress = 1;
  readonly begun = true;
  readonly usage: Usage | null;
  readonly generated: Generated;
  private readonly writer: AnswerWriter;

  constructor(
    { body, usage, generated }: Extract<Answer, { ok: true }>,
    { channel, caller, info }: Omit<StreamInput, 'provider'>,
  ) {
    this.usage = usage;
    this.generated = generated;
    this.writer = writerFor(caller, channel, info);
    const { data, created, ...rest } = body;
    const type = caller.mode === 'image-edit' ? 'image_edit.completed' : 'image_generation.completed';
    for (const picture of objectsIn(data))
      this.writer.write({ type, created_at: created ?? info.createdAt, ...rest, ...picture }, 0);
  }

  /** Everything that comes before the closing. */
  frames(): Buffer | null {
    return this.writer.take();
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
}
