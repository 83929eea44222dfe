/* What is asked for when a video is to be made, whichever words its caller has used. */

/** A file that came along (`input_reference`) is beside it. Everything that decides the cost is stated. */
export type VideoRequest = {
  /** As asked for. */
  readonly model: string;
  readonly prompt: string;
  readonly seconds: number;
  /** Width and height in pixels: `1280x720`. */
  readonly size: string;
  /** Videos. */
  readonly n: number;
  /** The picture it begins with: an address, or a data URL in base64. */
  readonly image?: string;
  readonly negative_prompt?: string;
  readonly seed?: number;
};

interface VideoSize {
  readonly width: number;
  readonly height: number;
}

/** null: it is none. */
export function videoSize(text: string): VideoSize | null {
  const [, width, height] = /^([1-9]\d{1,3})x([1-9]\d{1,3})$/.exec(text) ?? [];
  return width === undefined || height === undefined ? null : { width: Number(width), height: Number(height) };
}
