import { describe, expect, test } from 'vitest';
import { LineTooLong, maxDataLines, maxLineLength, Outgoing, SseDecoder } from '../../../src/relay/upstream/sse.js';

interface Seen {
  readonly data: string;
  /** The frame as it came, where it lies whole in the usual spelling. */
  readonly usual: string | null;
}

function decode(chunks: readonly (string | Buffer)[]): Seen[] {
  const seen: Seen[] = [];
  const decoder = new SseDecoder({
    frame: (bytes, start, end, from) =>
      void seen.push({
        data: bytes.toString('utf8', start, end),
        usual: from < 0 ? null : bytes.toString('utf8', from, end + 2),
      }),
  });
  for (const chunk of chunks) decoder.push(Buffer.from(chunk));
  decoder.end();
  return seen;
}

const dataOf = (...chunks: (string | Buffer)[]): string[] => decode(chunks).map(({ data }) => data);

describe('a reader of server-sent events', () => {
  test('looks for expected frames only where one may begin, never inside one', () => {
    const known = 'data: k\n\n';
    const stream = `${known}${known}data: x\n${known}: bye\n\n${known}data: y\n\n`;
    for (let cut = 0; cut <= stream.length; cut++) {
      const seen: string[] = [];
      const decoder = new SseDecoder({
        frame: (bytes, start, end) => void seen.push(bytes.toString('utf8', start, end)),
        known(bytes, at) {
          if (bytes.toString('utf8', at, at + known.length) !== known) return at;
          seen.push('k');
          return at + known.length;
        },
      });
      decoder.push(Buffer.from(stream.slice(0, cut)));
      decoder.push(Buffer.from(stream.slice(cut)));
      expect(seen).toEqual(['k', 'k', 'x\nk', 'k', 'y']);
    }
  });

  test('joins the data lines of a frame', () => {
    expect(dataOf('data: one\n\ndata: two\ndata: three\n\n')).toEqual(['one', 'two\nthree']);
  });

  test('takes off at most one optional space after the colon', () => {
    expect(dataOf('data:one\n\n', 'data:  two\n\n')).toEqual(['one', ' two']);
  });

  test('ignores comments and other fields', () => {
    expect(dataOf(': hello\nevent: add\nid: 1\nretry: 5\ndatabase: x\ndata: one\n\n: bye\n\n')).toEqual(['one']);
  });

  test('reads a field without a colon as an empty line of data', () => {
    expect(dataOf('data\ndata: x\n\n')).toEqual(['\nx']);
  });

  test('ends lines at LF, CRLF or CR', () => {
    expect(dataOf('data: a\r\n\r\ndata: b\r\rdata: c\n\n')).toEqual(['a', 'b', 'c']);
  });

  test('reads a CRLF cut in two as one line end', () => {
    expect(dataOf('data: a\r', '\ndata: b\r', '\n\r', '\ndata: c\r', '\n\r\n')).toEqual(['a\nb', 'c']);
  });

  test('skips a byte order mark at the very start, also in pieces', () => {
    const bytes = Buffer.from('\ufeffdata: a\n\n');
    expect(dataOf(bytes.subarray(0, 1), bytes.subarray(1, 2), bytes.subarray(2))).toEqual(['a']);
  });

  test('keeps an incomplete byte order mark as part of the line', () => {
    expect(dataOf(Buffer.from([0xef, 0xbb]), 'x\n', 'data: a\n\n')).toEqual(['a']);
  });

  test('counts the rest at the end as a frame', () => {
    expect(dataOf('data: a\n\ndata: b')).toEqual(['a', 'b']);
    expect(dataOf('data: a\ndata: b\n')).toEqual(['a\nb']);
  });

  test('reads characters of several bytes with any cut', () => {
    const bytes = Buffer.from('data: 冰岛 🇮🇸\n\n');
    for (let at = 1; at < bytes.length; at++)
      expect(dataOf(bytes.subarray(0, at), bytes.subarray(at))).toEqual(['冰岛 🇮🇸']);
  });

  test('forwards a frame unchanged when it lies in one chunk in the usual form', () => {
    expect(decode(['data: a\n\ndata: b\r\n\r\n', 'data: c\n', '\n'])).toEqual([
      { data: 'a', usual: 'data: a\n\n' },
      { data: 'b', usual: null },
      { data: 'c', usual: null },
    ]);
  });

  test('keeps the name of an event with its frame', () => {
    const named = 'event: ping\ndata: a\n\n';
    expect(decode([`data: z\n\n${named}`])).toEqual([
      { data: 'z', usual: 'data: z\n\n' },
      { data: 'a', usual: named },
    ]);
    // Of a name that was read apart nothing is left: what comes after it is a frame without one.
    const nameEnds = named.indexOf('\n') + 1;
    for (let at = 1; at < named.length; at++)
      expect(decode([named.slice(0, at), named.slice(at)])).toEqual([
        { data: 'a', usual: at <= nameEnds ? 'data: a\n\n' : null },
      ]);
    for (const other of ['event: ping\nid: 1\n', 'event:ping\n'])
      expect(decode([`${other}data: a\n\n`])).toEqual([{ data: 'a', usual: 'data: a\n\n' }]);
    expect(dataOf('event: ping\n\n', 'event: ping')).toEqual([]);
  });

  test('refuses an endless line', () => {
    const decoder = new SseDecoder({ frame: () => {} });
    const chunk = Buffer.alloc(maxLineLength / 4, 'x');
    for (let pushed = 0; pushed < 4; pushed++) decoder.push(chunk);
    expect(() => decoder.push(chunk)).toThrow(LineTooLong);
  });

  test('refuses endless data, however short its lines', () => {
    const decoder = new SseDecoder({ frame: () => {} });
    const chunk = Buffer.from(`data: ${'x'.repeat(maxLineLength / 4)}\n`);
    for (let pushed = 0; pushed < 3; pushed++) decoder.push(chunk);
    expect(() => decoder.push(chunk)).toThrow(LineTooLong);
  });

  test('refuses endless data, however many its lines', () => {
    const decoder = new SseDecoder({ frame: () => {} });
    decoder.push(Buffer.from('data\n'.repeat(maxDataLines)));
    expect(() => decoder.push(Buffer.from('data\n'))).toThrow(LineTooLong);
  });

  test('reports the buffered size of an incomplete frame, which is zero when it is complete', () => {
    const decoder = new SseDecoder({ frame: () => {} });
    const kept = ['data: abc', 'def\ndata', ': x\n', '\ndata: y\n\n'].map((piece) => {
      decoder.push(Buffer.from(piece));
      return decoder.unfinished;
    });
    expect(kept).toEqual([9, 11, 9, 0]);
  });

  test('keeps only the line of data that waits for its frame, not its chunk', () => {
    const seen: Buffer[] = [];
    const decoder = new SseDecoder({ frame: (bytes) => void seen.push(bytes) });
    const chunk = Buffer.from(`data: a\n: ${'x'.repeat(1024 * 1024)}\n`);
    decoder.push(chunk);
    decoder.push(Buffer.from('\n'));
    expect(seen[0]?.toString()).toBe('a');
    expect(seen[0]?.buffer === chunk.buffer).toBe(false);
  });
});

describe('a collector of output', () => {
  const source = Buffer.from('data: a\n\ndata: b\n\ndata: c\n\n');

  test('has nothing to send when nothing is collected', () => {
    expect(new Outgoing().take()).toBeNull();
  });

  test('forwards neighbouring parts of one chunk without a copy', () => {
    const outgoing = new Outgoing();
    outgoing.pass(source, 0, 9);
    outgoing.pass(source, 9, 18);
    const taken = outgoing.take();
    expect(taken?.toString()).toBe('data: a\n\ndata: b\n\n');
    expect(taken?.buffer).toBe(source.buffer);
  });

  test('keeps the order of forwarded parts and own frames', () => {
    const outgoing = new Outgoing();
    outgoing.pass(source, 0, 9);
    outgoing.frame(Buffer.from('x'));
    outgoing.pass(source, 18, 27);
    expect(outgoing.take()?.toString()).toBe('data: a\n\ndata: x\n\ndata: c\n\n');
    expect(outgoing.take()).toBeNull();
  });
});
