import type { Protocol } from '../contracts/protocol.js';
import { notServed } from './request-builder.js';

/** Of a provider that takes tasks and nothing else: see its `tasks`. */
export const tasksAlone: Protocol = {
  request: ({ caller }) => {
    throw notServed(caller.mode);
  },
  answer: ({ caller }) => {
    throw notServed(caller.mode);
  },
  stream: ({ caller }) => {
    throw notServed(caller.mode);
  },
};
