/* Thinking at the beginning of an answer, in a block of markup: Dify writes so what models think, in pieces of any length. */

interface Told {
  readonly thinking: string;
  readonly answer: string;
}

const plainOpener = '<think>';
const foldedOpener = /^<details[^>]*>\s*<summary>\s*Thinking[.…]*\s*<\/summary>/i;
/** An opener is no longer. */
const maxOpener = 256;

const mayBecomeOpener = (text: string): boolean =>
  text.length < maxOpener &&
  (plainOpener.startsWith(text) ||
    '<details'.startsWith(text.toLowerCase()) ||
    (/^<details/i.test(text) && !text.toLowerCase().includes('</summary>')));

/** How many characters at the end may be the beginning of `mark`. */
function begunAtEnd(text: string, mark: string): number {
  for (let length = Math.min(mark.length - 1, text.length); length > 0; length--)
    if (mark.startsWith(text.slice(-length))) return length;
  return 0;
}

export class ThinkingBlock {
  private closer: string | null = null;
  private state: 'begins' | 'thinks' | 'answers' = 'begins';
  private held = '';
  /** Blank lines around the block are a part of neither. */
  private blank = false;

  push(text: string): Told {
    const held = this.held + text;
    this.held = '';
    switch (this.state) {
      case 'begins':
        return this.begin(held);
      case 'thinks':
        return this.think(held);
      case 'answers':
        return { thinking: '', answer: this.begun(held) };
    }
  }

  /** What was waited with: the answer is over. */
  rest(): Told {
    const { held, state } = this;
    this.held = '';
    return state === 'thinks' ? { thinking: held, answer: '' } : { thinking: '', answer: held };
  }

  private begin(text: string): Told {
    const begun = text.trimStart();
    if (begun === '' || mayBecomeOpener(begun)) {
      this.held = text;
      return { thinking: '', answer: '' };
    }
    const folded = foldedOpener.exec(begun)?.[0] ?? null;
    const opener = begun.startsWith(plainOpener) ? plainOpener : folded;
    if (opener === null) {
      this.state = 'answers';
      return { thinking: '', answer: text };
    }
    this.closer = opener === plainOpener ? '</think>' : '</details>';
    this.state = 'thinks';
    this.blank = true;
    return this.think(begun.slice(opener.length));
  }

  private think(piece: string): Told {
    const closer = this.closer ?? '';
    const text = this.begun(piece);
    const end = text.indexOf(closer);
    if (end < 0) {
      const kept = begunAtEnd(text, closer);
      this.held = text.slice(text.length - kept);
      return { thinking: text.slice(0, text.length - kept), answer: '' };
    }
    this.state = 'answers';
    this.blank = true;
    return { thinking: text.slice(0, end), answer: this.begun(text.slice(end + closer.length)) };
  }

  private begun(text: string): string {
    if (!this.blank) return text;
    const rest = text.trimStart();
    if (rest !== '') this.blank = false;
    return rest;
  }
}
