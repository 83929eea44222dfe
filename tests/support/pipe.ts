import { Duplex, PassThrough } from 'node:stream';

/** The two ends of a pipe within this process. */
export function pipe(): [Duplex, Duplex] {
  const [there, back] = [new PassThrough(), new PassThrough()];
  const ends: [Duplex, Duplex] = [
    Duplex.from({ readable: back, writable: there }),
    Duplex.from({ readable: there, writable: back }),
  ];
  const [one, other] = ends;
  one.once('close', () => other.destroy());
  other.once('close', () => one.destroy());
  return ends;
}
