/*
 * A thread in the place of the projectors' that dies as its setting tells it: by `behaviour`. `shared` counts the
 * threads that have begun.
 */
import { once } from 'node:events';
import { parentPort } from 'node:worker_threads';

const [begin] = await once(parentPort, 'message');
const { behaviour, shared } = begin.setting;
const { runner } = begin;
const nth = Atomics.add(shared, 0, 1) + 1;
const position = 10 * nth;

const die = {
  throw: () => {
    throw new Error('the fold has lost its mind');
  },
  hang: () => {
    for (;;);
  },
};

if (behaviour === 'never-starts' || (behaviour === 'starts-once' && nth > 1)) die.throw();

parentPort.on('message', () => parentPort.postMessage({ kind: 'alive' }));
runner.on('message', (message) => {
  if (message.kind === 'stop') process.exit(0);
  // The first thread dies of the first wait, the next ones answer it.
  if (message.kind !== 'wait') return;
  if (nth === 1 || behaviour === 'always-dies') die[behaviour in die ? behaviour : 'throw']();
  runner.postMessage({ kind: 'answer', id: message.id, reached: true });
});
const state = { name: 'users', version: 1, position, head: position, leading: true, status: 'running', failure: null };
runner.postMessage({ kind: 'states', states: [{ ...state, unreadable: false, quarantined: 0 }] });
