import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { Failure } from '../../../src/domain/kernel/failure.js';
import { Peer } from '../../../src/relay-process/workers/peer.js';
import { pipe } from '../../support/pipe.js';

interface Asked {
  double(number: number): Promise<number>;
  refuse(): Promise<never>;
  say(word: string): void;
  nothing(): Promise<null>;
  wait(): Promise<void>;
}

function peers() {
  const said: string[] = [];
  const lost: unknown[] = [];
  const mine: Asked = {
    double: async (number) => number * 2,
    refuse: () => Promise.reject(new Failure('store-busy', { waiting: 3 })),
    say(word) {
      if (word === '') throw new Error('nothing was said');
      said.push(word);
    },
    nothing: async () => null,
    wait: () => new Promise(() => {}),
  };
  const [here, there] = pipe();
  const asker = new Peer<Asked>(here, {}, () => {});
  const answering = new Peer(there, mine, (error) => lost.push(error));
  return { asker, answering, said, lost, mine };
}

test('a request between processes gets its own answer, however many are pending', async () => {
  const { asker } = peers();
  const numbers = Array.from({ length: 100 }, (_, index) => index);
  expect(await Promise.all(numbers.map((number) => asker.ask('double', number)))).toEqual(numbers.map((n) => 2 * n));
  expect(await asker.ask('nothing')).toBeNull();
});

test('an error of the other process is thrown here, with the same type', async () => {
  const { asker } = peers();
  const refused = await asker.ask('refuse').catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(Failure);
  expect(refused).toMatchObject({ code: 'store-busy', details: { waiting: 3 } });
  const unknown = asker as unknown as Peer<{ unknown(): void }>;
  await expect(unknown.ask('unknown')).rejects.toThrow('unknown');
});

test('a notification arrives in order, before later requests', async () => {
  const { asker, said, lost } = peers();
  for (const word of ['one', '', 'two\n', 'três']) asker.send('say', word);
  await asker.ask('nothing');
  expect(said).toEqual(['one', 'two\n', 'três']);
  expect(lost).toEqual([new Error('nothing was said')]);
});

test('pending and later requests to a process that has ended fail', async () => {
  const { asker, answering } = peers();
  const waiting = asker.ask('wait').catch((error: unknown) => error);
  answering.close();
  await asker.closed;
  expect(await waiting).toMatchObject({ code: 'store-unavailable' });
  await expect(asker.ask('nothing')).rejects.toMatchObject({ code: 'store-unavailable' });
  asker.send('say', 'nobody hears it');
});

test('messages are read however the pipe cuts them', async () => {
  const { mine, said } = peers();
  const text = `${JSON.stringify(['ask', 0, 'say', ['wörter']])}\n${JSON.stringify(['ask', 0, 'say', ['zwei']])}\n`;
  const cut = new PassThrough();
  new Peer(cut, mine, () => {});
  for (const byte of Buffer.from(text)) cut.write(Buffer.from([byte]));
  await new Promise(setImmediate);
  expect(said).toEqual(['wörter', 'zwei']);
});
