import { expect, vi } from 'vitest';

/*
 * A journey goes through a browser, processes and a clock of their own, on a machine that does other things: one that
 * fails is tried once more, and `npm test` names those that needed it. Nothing else is: a test that sometimes fails
 * there has found something.
 */

// Honoured, though the type of vitest 4.1 leaves it out.
const onceMore = { retry: 1 } as Parameters<typeof vi.setConfig>[0];

if (/\/tests\/(browser|journeys)\//.test(expect.getState().testPath ?? '')) vi.setConfig(onceMore);
