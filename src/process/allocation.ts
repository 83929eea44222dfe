import { setFlagsFromString } from 'node:v8';

/*
 * V8 watches where the objects that stay come from, and then makes all from that place old ones at once. A place of ours
 * that is busy makes objects of a call: one collection finds most of them in use, the next one none. Old ones are only
 * given back when everything is collected, and until then keep alive what they point to (docs/performance.md).
 */

/** From now on every object begins as a young one. For processes that serve calls, before they do. */
export function allocateYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
