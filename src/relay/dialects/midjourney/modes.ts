import type { CallerDialect } from '../../contracts/caller-dialect.js';
import { RelayError } from '../../contracts/errors.js';
import { midjourneyCaller } from './dialect.js';

/* The speed of a drawing may stand before its path: `/mj-fast/mj/submit/imagine`. */

interface Mode {
  /** As callers write it; '': none. */
  readonly prefix: string;
  /** As it goes upstream. */
  readonly sent: string;
}

const speeds = ['fast', 'relax', 'turbo'] as const;

export const modes: readonly Mode[] = [
  { prefix: '', sent: '' },
  ...speeds.flatMap((speed) => [`/mj-${speed}`, `/${speed}`].map((prefix) => ({ prefix, sent: `/mj-${speed}` }))),
];

interface Root {
  readonly path: string;
  readonly dialect: CallerDialect;
  readonly refusal?: () => RelayError;
}

const unknownMode = (): RelayError =>
  new RelayError(
    404,
    'unknown_mode',
    `what stands before /mj must be one of ${speeds.map((speed) => `mj-${speed}`).join(', ')}`,
    { type: 'invalid_request_error' },
  );

/** Below which all is the dialect's. The interface at `/api/mj` is not. */
export const midjourneyRoots: readonly Root[] = [
  ...modes.map(({ prefix }) => ({ path: `${prefix}/mj`, dialect: midjourneyCaller })),
  { path: '/:mode(^(?!api$).*$)/mj', dialect: midjourneyCaller, refusal: unknownMode },
];
