import type { Usage } from '../../domain/call/usage.js';
import type { RealtimeInput } from './realtime-input.js';
import type { RealtimeOutput } from './realtime-output.js';

/*
 * What a realtime session holds of its conversation, in tokens: at most, for what is reserved; and as near as can be
 * known from here, for a response whose usage nobody reports.
 */

/** Characters of base64 to a second. */
const charactersPerSecond = { pcm16: 64_000, g711: 10_667 } as const;
/** Of sound that is heard, and of sound that is spoken (https://platform.openai.com/docs/guides/realtime-costs). */
const heardPerSecond = 10;
const spokenPerSecond = 20;
/** No codec that is taken makes a token of fewer characters, by far. */
const fewestCharacters = 256;
/** Bytes of an event to a token of what it says. */
const usualBytes = 6;

/** Tokens of a whole conversation, as reported. */
interface RealtimeWhole {
  readonly text: number;
  readonly sound: number;
  readonly pictures: number;
}

export class RealtimeTally {
  /** Tokens that the next response takes in at most. */
  held: number;
  /** The same, likely: of text, of sound, and of pictures. */
  private text = 0;
  private sound = 0;
  private pictures = 0;
  /** Characters of sound that no turn has taken. */
  private waiting = 0;
  /** What came since the response under way began, and what came before that and may have missed it. */
  private later = 0;
  private before = 0;
  /** Usage does not say how long the conversation is. */
  private onlyGrows = false;
  private perSecond: number = charactersPerSecond.pcm16;
  /** Seconds of the turn that was taken last. */
  lastTurn = 0;

  /** `beginning`: of instructions that an upstream brings itself. */
  constructor(beginning: number) {
    this.held = beginning;
  }

  /** `format`: as a session names it. */
  speaks(format: string): void {
    this.perSecond =
      format.includes('pcm') && !/pcm[ua]/.test(format) ? charactersPerSecond.pcm16 : charactersPerSecond.g711;
  }

  get heardSeconds(): number {
    return this.waiting / this.perSecond;
  }

  /** What a client's event has brought. */
  wrote({ bytes, sound, pictures }: RealtimeInput): void {
    this.add(bytes + Math.ceil(sound / fewestCharacters) + pictures.max);
    this.text += bytes / usualBytes;
    this.sound += (sound / this.perSecond) * heardPerSecond;
    this.pictures += pictures.expected;
  }

  /** Characters of sound that a client has sent. */
  heard(characters: number): void {
    this.add(Math.ceil(characters / fewestCharacters));
    this.waiting += characters;
  }

  /** A turn begins here, or what was heard is thrown away. */
  cleared(): void {
    this.waiting = 0;
  }

  /** What was heard is a part of the conversation. */
  committed(): void {
    this.lastTurn = this.heardSeconds;
    this.sound += this.heardSeconds * heardPerSecond;
    this.waiting = 0;
  }

  /** `alone`: no other response is under way. */
  begun(alone: boolean): void {
    const missed = Math.max(this.later, Math.ceil(this.waiting / fewestCharacters));
    this.before = (alone ? 0 : this.before) + missed;
    this.later = 0;
  }

  /** A response was asked for that takes in something else than the conversation. */
  askedApart(): void {
    this.onlyGrows = true;
  }

  /** The conversation grows by what does not pass here: it may be as long as its model can take. */
  growsUnseen(): void {
    this.onlyGrows = true;
    this.held = Number.MAX_SAFE_INTEGER;
  }

  get expected(): number {
    return Math.ceil(this.text + this.sound + this.pictures);
  }

  /** What a response that has put this out has used, as far as it can be seen. */
  seen(output: RealtimeOutput): Usage {
    return {
      input: Math.ceil(this.text),
      audioInput: Math.ceil(this.sound),
      imageInput: Math.ceil(this.pictures),
      output: Math.ceil(output.said.roughTokens()),
      audioOutput: this.spokenTokens(output),
    };
  }

  spokenTokens({ spoken }: Pick<RealtimeOutput, 'spoken'>): number {
    return Math.ceil((spoken / this.perSecond) * spokenPerSecond);
  }

  /** A response has ended. `whole`: tokens of the conversation, as reported; null: it was no part of it, or nobody says. */
  ended(whole: RealtimeWhole | null, output: number): void {
    if (whole === null || this.onlyGrows) this.held += output;
    else {
      this.held = whole.text + whole.sound + whole.pictures + this.before + this.later;
      this.text = whole.text;
      this.sound = whole.sound;
      this.pictures = whole.pictures;
    }
  }

  private add(tokens: number): void {
    this.held += tokens;
    this.later += tokens;
  }
}
