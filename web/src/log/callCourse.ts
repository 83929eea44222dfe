import type { ShownCall } from './CallPage.js';

/* What happened to a call, in order: its steps, whom it asked, and the moments at which quota moved. */

export type ShownCourse = Pick<ShownCall, 'steps' | 'attempts' | 'reserved' | 'refunded' | 'status' | 'end'>;
type Step = ShownCall['steps'][number];
export type Attempt = NonNullable<ShownCall['attempts']>[number];
type MomentKind = 'RESERVED' | 'FIRST_TOKEN' | 'SETTLED' | 'RELEASED' | 'REFUNDED';

/** Times in milliseconds since the request arrived. */
export type Entry =
  | ({ readonly of: 'step' } & Step)
  | { readonly of: 'attempt'; readonly attempt: Attempt; readonly index: number }
  /** `quota`: what was moved; null: none. */
  | { readonly of: 'moment'; readonly kind: MomentKind; readonly at: number; readonly quota: number | null };

const moment = (kind: MomentKind, at: number, quota: number | null = null): Entry => ({
  of: 'moment',
  kind,
  at,
  quota,
});

/** How it ended, if it did: before any quota was given back for an answer that was withheld. */
function endingOf({ status, end, reserved, refunded }: ShownCourse, at: number): Entry[] {
  switch (status) {
    case 'UNDER_WAY':
      return [];
    case 'RELEASED':
      return [moment('RELEASED', at, reserved)];
    case 'SETTLED':
      return [moment('SETTLED', at, end?.charged ?? 0)];
    case 'REFUNDED':
      return [moment('SETTLED', at, refunded)];
  }
}

export function courseOf(call: ShownCourse): readonly Entry[] {
  const { steps, attempts, reserved, refunded } = call;
  const entries: Entry[] = [];
  const outcome = steps.filter(({ kind }) => kind !== 'REFUNDING').at(-1);
  for (const step of steps) {
    if (step.kind === 'ANSWERING') entries.push(moment('FIRST_TOKEN', step.from));
    entries.push({ of: 'step', ...step });
    if (step.kind === 'ADMITTING' && step.to !== null) entries.push(moment('RESERVED', step.to, reserved));
    if (step.kind === 'WAITING')
      entries.push(...(attempts ?? []).map((attempt, index): Entry => ({ of: 'attempt', attempt, index })));
    if (step === outcome && step.to !== null) entries.push(...endingOf(call, step.to));
    if (step.kind === 'REFUNDING' && step.to !== null) entries.push(moment('REFUNDED', step.to, refunded));
  }
  return entries;
}
