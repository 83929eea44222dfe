/** At the beginning of a line: nothing that a model says begins one. */
const pattern = /[\r\n](?:event: ?|data: ?\{ ?"type" ?: ?")response\.(?:completed|incomplete|failed|cancelled)["\r\n]/;

/** Of what came before, enough to see a name that is cut. */
const maxName = 64;

/** Finds the last event of a streamed response in its bytes, wherever they are cut. */
export class LastEvent {
  private before = '\n';

  /** Whether the line that names it ends in these bytes. They come in order. */
  isIn(bytes: Buffer): boolean {
    const text = this.before + bytes.toString('latin1');
    this.before = text.slice(-maxName);
    return pattern.test(text);
  }
}
