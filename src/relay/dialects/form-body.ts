import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import type { RelayError } from '../contracts/errors.js';
import type { JsonObject } from '../json/json.js';
import type { FormFile } from '../upstream/request-content.js';
import { type BodySink, invalidBody } from './body-sink.js';

/* A body that is a form (multipart/form-data). Its files stay in memory, within what a body may take: none is stored. */

const maxFields = 64;
const maxFiles = 16;
const maxFieldLength = 1024 * 1024;
/** Of a field's name and of a file's, in bytes. */
const maxNameLength = 256;
/** Of the headers of a part. */
const maxHeadersLength = 16 * 1024;

const limits = {
  // Fields are parsed as files are: the parser replaces what is not UTF-8, and nobody could see that any more.
  files: maxFields + maxFiles,
  parts: maxFields + maxFiles,
  headerPairs: 32,
  headerSize: maxHeadersLength,
};

/**
 * A part is buffered whole, for it is wanted whole: the parser waits for ever where one that it skips (it has no name, or
 * is none of a form's) is longer than its buffer.
 */
const maxPartLength = 2 ** 30;

const contentType = 'multipart/form-data';

const isTooLong = (name: string): boolean => Buffer.byteLength(name) > maxNameLength;

/** Throws RelayError. */
function parserFor(type: string | undefined): BusboyInstance {
  if (!type?.trim().toLowerCase().startsWith(contentType))
    throw invalidBody(`the content-type of the request must be ${contentType}`);
  try {
    return new Busboy({
      headers: { 'content-type': type },
      limits,
      fileHwm: maxPartLength,
      isPartAFile: () => true,
    });
  } catch {
    throw invalidBody(`the content-type ${contentType} names no usable boundary`);
  }
}

interface Form {
  /** A text by its name, or several in their order. */
  readonly fields: JsonObject;
  readonly files: readonly FormFile[];
}

export class FormBody implements BodySink {
  private readonly parser: BusboyInstance;
  /** Without a prototype: a field may have any name. */
  private readonly fields: JsonObject = Object.create(null);
  private readonly files: FormFile[] = [];
  private fieldsBegun = 0;
  private filesBegun = 0;
  private wrong: RelayError | null = null;
  private done = false;
  private wake: () => void = () => {};

  /** `type`: of the request. Throws RelayError. */
  constructor(type: string | undefined) {
    this.parser = parserFor(type);
    this.parser.on('file', (...[name, stream, fileName, , type]) => this.part(name, stream, fileName, type));
    this.parser.on('filesLimit', () => this.refuse('the form has too many parts'));
    this.parser.on('partsLimit', () => this.refuse('the form has too many parts'));
    this.parser.on('error', () => this.refuse('the body is not a form, or ends before its last boundary'));
    this.parser.once('finish', () => {
      this.done = true;
      this.wake();
    });
  }

  take(piece: Buffer): RelayError | null {
    if (this.wrong === null) this.parser.write(piece);
    return this.wrong;
  }

  /** Once all of it has come. Throws RelayError. */
  async read(): Promise<Form> {
    this.parser.end();
    if (!this.done && this.wrong === null)
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    if (this.wrong !== null) throw this.wrong;
    return { fields: this.fields, files: this.files };
  }

  /** No more of it is wanted. */
  close(): void {
    this.parser.destroy();
  }

  private part(name: string | undefined, stream: Readable, fileName: string | undefined, type: string): void {
    stream.on('error', () => this.refuse('the form ends inside a part'));
    const isFile = fileName !== undefined || type === 'application/octet-stream';
    if (isFile && ++this.filesBegun > maxFiles) this.refuse(`the form has more than ${maxFiles} files`);
    if (!isFile && ++this.fieldsBegun > maxFields) this.refuse(`the form has more than ${maxFields} fields`);
    if (!this.isNamed(name)) return void stream.resume();
    if (isFile) this.file(name, stream, fileName ?? name, type);
    else this.field(name, stream);
  }

  private field(name: string, stream: Readable): void {
    const pieces: Buffer[] = [];
    let length = 0;
    stream.on('data', (piece: Buffer) => {
      length += piece.length;
      if (length <= maxFieldLength) pieces.push(piece);
      else this.refuse(`the field is longer than ${maxFieldLength} bytes`, name);
    });
    stream.once('end', () => {
      const bytes = Buffer.concat(pieces);
      if (!isUtf8(bytes)) this.refuse('the field is not UTF-8 text', name);
      const value = bytes.toString('utf8');
      const before = this.fields[name];
      if (before === undefined) this.fields[name] = value;
      else this.fields[name] = Array.isArray(before) ? [...before, value] : [before, value];
    });
  }

  private file(name: string, stream: Readable, fileName: string, type: string): void {
    const pieces: Buffer[] = [];
    stream.on('data', (piece: Buffer) => void pieces.push(piece));
    if (isTooLong(fileName)) this.refuse('the name of the file is too long', name);
    stream.once('end', () => {
      this.files.push({ name, fileName, type, bytes: Buffer.concat(pieces) });
    });
  }

  private isNamed(name: string | undefined): name is string {
    if (name !== undefined && name !== '' && !isTooLong(name)) return true;
    this.refuse(`every part of a form is to have a name of at most ${maxNameLength} bytes`);
    return false;
  }

  private refuse(message: string, param = ''): void {
    this.wrong ??= invalidBody(message, param);
    this.wake();
  }
}
