import { objectsIn } from '../../json/json.js';
import { type AnsweredWhole, type AskedAsStream, AsStream } from '../as-stream.js';
import { segmentOf, textDelta, textDone } from './transcript-events.js';

/** A transcript that came whole, written as the events that were asked for. */
export class TranscriptAsStream extends AsStream {
  /** null: it is written. */
  private answer: AnsweredWhole | null;
  private readonly inSegments: boolean;

  constructor(answer: AnsweredWhole, asked: AskedAsStream) {
    super(answer, asked);
    this.answer = answer;
    this.inSegments = asked.caller.body.response_format === 'diarized_json';
  }

  protected write(): void {
    if (this.answer === null) return;
    const { text = '', usage, segments } = this.answer.body;
    this.answer = null;
    if (this.inSegments) for (const segment of objectsIn(segments)) this.writer.write(segmentOf(segment), 0);
    else this.writer.write({ type: textDelta, delta: text }, 0);
    this.writer.write({ type: textDone, text, ...(usage !== undefined && { usage }) }, 0);
  }
}
