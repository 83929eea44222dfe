/* Words of many frames, put together before they become a text: a text for each would cost more than finding its words. */

const room = Buffer.alloc(4096);

/** Used and taken within one step: all of them share their room. */
export class AccumulatedText {
  private text = '';
  private length = 0;

  add(bytes: Buffer, from: number, to: number): void {
    if (this.length + to - from > room.length) this.flush();
    if (to - from > room.length) this.text += bytes.toString('utf8', from, to);
    else for (let at = from; at < to; at++) room[this.length++] = bytes[at] as number;
  }

  take(): string {
    this.flush();
    return this.text;
  }

  private flush(): void {
    this.text += room.toString('utf8', 0, this.length);
    this.length = 0;
  }
}
