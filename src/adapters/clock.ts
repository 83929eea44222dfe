import type { Clock } from '../application/ports.js';
import { Instant } from '../domain/instant.js';

export const systemClock: Clock = { now: () => Instant(Date.now()) };
