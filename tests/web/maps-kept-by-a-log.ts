import { setImmediate } from 'node:timers/promises';
import { queryObjects } from 'node:v8';
import { gql } from '@apollo/client';
import { shortenLog } from '../../web/src/log/shortenedLog.js';
import { logCache } from './log-cache.js';

/*
 * A process of its own, as it counts what its heap keeps: 1000 lines with merged parts arrive at a log that has 300, and it
 * prints how many maps there are more than before, once those are fewer than it is given.
 */

const fewerThan = Number(process.argv[2]);
const log = logCache();
const query = gql`
  query Log {
    usageLog(filter: {}, everyone: false, first: 20) {
      edges { cursor node { id detail { reason } } }
      pageInfo { hasNextPage endCursor startCursor }
    }
  }
`;

function arrive(first: number, last: number): void {
  for (let id = first; id <= last; id++) {
    const cursor = String(id);
    const detail = { __typename: 'ReleaseDetail', reason: 'upstream-failed' };
    const edges = [{ cursor, node: { __typename: 'UsageLogLine', id: cursor, detail } }];
    const pageInfo = { hasNextPage: false, endCursor: cursor, startCursor: cursor };
    log.cache.writeQuery({ query, data: { usageLog: { edges, pageInfo } } });
  }
  shortenLog(log.cache);
}

async function kept(): Promise<number> {
  // What weak references have been asked for lives to the end of the task.
  await setImmediate();
  return queryObjects(Map, { format: 'count' });
}

arrive(1, 300);
const before = await kept();
arrive(301, 1_300);
let more = (await kept()) - before;
// What the first collection finalises is free with the next.
for (let tries = 1; tries < 20 && more >= fewerThan; tries++) more = (await kept()) - before;
console.log(more);
// Kept alive up to here.
log.cache.gc();
