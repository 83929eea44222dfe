import type { Clock } from '../application/ports/storage-ports.js';
import { Instant } from '../domain/kernel/instant.js';

export const systemClock: Clock = { now: () => Instant(Date.now()) };
