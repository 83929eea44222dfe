import type { FastifyRequest } from 'fastify';
import type { MapReading } from '../application/options/option-commands.js';
import { growingLru } from '../data-structures/growing-lru.js';
import { sessionName } from './shown-quota.js';

/*
 * Older clients write a map of prices back as a whole, also what has changed since they read it. So each session's last
 * reading is remembered: what it has not seen it does not set back. Who never read any means what is sent.
 */

interface ShownMaps {
  show(request: FastifyRequest, maps: ReadonlyMap<string, MapReading>): void;
  /** null: the option is no such map, or the session has not read it. */
  last(request: FastifyRequest, key: string): MapReading | null;
}

const maxSessions = 1_000;

export function shownMaps(): ShownMaps {
  const readings = growingLru<string, Map<string, MapReading>>(maxSessions);
  return {
    show(request, maps) {
      const session = sessionName(request);
      readings.set(session, new Map([...(readings.get(session) ?? []), ...maps]));
    },
    last: (request, key) => readings.get(sessionName(request))?.get(key) ?? null,
  };
}
