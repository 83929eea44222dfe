import type { Instant } from '../kernel/instant.js';
import type { Position } from './events.js';

/**
 * A point in the past: just after the event at a position, or after the latest event that is not later than an instant.
 * Of events of the same time the last one counts.
 */
export type Moment = { readonly position: Position } | { readonly at: Instant };
