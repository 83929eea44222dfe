import { asTick } from '../figures.js';

/* What the axes of all charts have in common: no lines of their own, and figures without idle zeros. */

const unlined = { tickLine: false, axisLine: false } as const;

/** `clock`: how a moment, unix seconds, is written. */
export const timeAxis = (clock: (at: number) => string) =>
  ({ ...unlined, tickFormatter: clock, height: 20, minTickGap: 24 }) as const;

export const figureAxis = (format: (value: number) => string) =>
  ({ ...unlined, tickFormatter: (value: number) => asTick(format(value)), tickCount: 4, width: 60 }) as const;
