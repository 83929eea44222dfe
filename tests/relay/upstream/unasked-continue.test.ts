import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { skippingContinue } from '../../../src/relay/upstream/unasked-continue.js';

/* What the client reads of a connection whose server announces its answers. */

const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const continues = 'HTTP/1.1 100 Continue\r\n\r\n';

/** A connection on which these pieces arrive, one by one, after a request; what the client gets to read. */
function readBy(pieces: readonly string[], head = 'POST / HTTP/1.1\r\n\r\n'): string {
  const socket = new Duplex({ read() {}, write: (_piece, _encoding, done) => done() }) as unknown as Socket;
  let seen = '';
  skippingContinue((_options, callback) => callback(null, socket))({} as never, (_error, connected) => {
    connected?.write(head);
    for (const piece of pieces) {
      (socket as unknown as Duplex).push(piece);
      for (let read = connected?.read(); read !== null; read = connected?.read()) seen += String(read);
    }
  });
  return seen;
}

describe('an unrequested 100 Continue', () => {
  test.each([
    ['alone', [continues, answer]],
    ['with the answer', [continues + answer]],
    ['twice', [continues + continues, answer]],
    ['with headers', ['HTTP/1.1 100 Continue\r\nx-hint: 1\r\n\r\n', answer]],
    ['not at all', [answer]],
  ])('that comes %s is hidden', (_how, pieces) => expect(readBy(pieces)).toBe(answer));

  test('is hidden wherever it is cut', () => {
    const all = continues + answer;
    for (let at = 1; at < all.length; at++) expect(readBy([all.slice(0, at), all.slice(at)])).toBe(answer);
    expect(readBy([...all])).toBe(answer);
  });

  test('inside a body is part of the body', () => {
    const body = `HTTP/1.1 200 OK\r\n\r\n`;
    expect(readBy([body, continues, continues])).toBe(body + continues + continues);
  });

  test('that is endless is passed on, for the client to refuse', () => {
    expect(readBy([`HTTP/1.1 100 ${'x'.repeat(20_000)}`]).length).toBe(20_013);
  });

  test('is only looked for after a request', () => expect(readBy([continues], 'x')).toBe(continues));
});
