import { randomUUID } from 'node:crypto';

/* What a request to an upstream carries, by kind. */

interface FormText {
  readonly name: string;
  readonly text: string;
}

export interface FormFile {
  readonly name: string;
  readonly fileName: string;
  /** Its media type. */
  readonly type: string;
  readonly bytes: Buffer;
}

export type FormPart = FormText | FormFile;

export type RequestContent =
  | { readonly kind: 'none' }
  /** `encoded`: the text as bytes, where it is long. */
  | { readonly kind: 'json'; readonly text: string; readonly encoded?: readonly Buffer[] }
  | { readonly kind: 'bytes'; readonly type: string; readonly bytes: Buffer }
  | { readonly kind: 'form'; readonly boundary: string; readonly parts: readonly FormPart[] }
  /** Sent over a WebSocket as soon as it is open. What the other side sends then is read as events of a stream. */
  | { readonly kind: 'message'; readonly text: string }
  /** A WebSocket that is handed on when it is open. `protocol`: that is offered, and may be chosen. */
  | { readonly kind: 'conversation'; readonly protocol: string };

export const noContent: RequestContent = { kind: 'none' };

/** The boundary is a random one: nothing a caller sends can hold it. */
export const formContent = (parts: readonly FormPart[]): RequestContent => ({
  kind: 'form',
  boundary: `part-${randomUUID()}`,
  parts,
});

/** For the `content-type` header; null: there is nothing to be named. */
export function contentTypeOf(content: RequestContent): string | null {
  switch (content.kind) {
    case 'none':
    case 'message':
    case 'conversation':
      return null;
    case 'json':
      return 'application/json';
    case 'bytes':
      return content.type;
    case 'form':
      return `multipart/form-data; boundary=${content.boundary}`;
  }
}

/** The body of the request; null: it has none. */
export function bodyOf(content: RequestContent): string | Buffer | null {
  switch (content.kind) {
    case 'none':
    case 'message':
    case 'conversation':
      return null;
    case 'json':
      return content.text;
    case 'bytes':
      return content.bytes;
    case 'form':
      return formBody(content.boundary, content.parts);
  }
}

/** What the request says in words, which a failure may repeat. */
export function wordsOf(content: RequestContent): string {
  switch (content.kind) {
    case 'json':
    case 'message':
      return content.text;
    case 'form':
      return content.parts.map((part) => ('text' in part ? part.text : part.fileName)).join('\n');
    case 'none':
    case 'bytes':
    case 'conversation':
      return '';
  }
}

/** A name ends at a quote and a header at a line end, so both are written otherwise, as browsers do. */
const quoted = (name: string): string =>
  `"${name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')}"`;

const withoutLineEnds = (type: string): string => type.replace(/[\r\n]+/g, ' ');

function formBody(boundary: string, parts: readonly FormPart[]): Buffer {
  const pieces: Buffer[] = [];
  for (const part of parts) {
    const file =
      'text' in part ? '' : `; filename=${quoted(part.fileName)}\r\ncontent-type: ${withoutLineEnds(part.type)}`;
    const head = `--${boundary}\r\ncontent-disposition: form-data; name=${quoted(part.name)}${file}\r\n\r\n`;
    pieces.push(Buffer.from(head), 'text' in part ? Buffer.from(part.text) : part.bytes, Buffer.from('\r\n'));
  }
  pieces.push(Buffer.from(`--${boundary}--\r\n`));
  return Buffer.concat(pieces);
}
