import { createHash, randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { growingLru } from '../data-structures/growing-lru.js';
import { Failure } from '../domain/kernel/failure.js';
import { credentialOf } from './session.js';

/*
 * Legacy forms send whole records: the quota among them is what the form began with, unless somebody typed another. To
 * write it as it is would give back what was spent while the form was open. So each session's last reading is
 * remembered, and what is written is the difference to it: once for each reading, however often the form is sent.
 */

type Metered = 'user' | 'api-key';

export interface QuotaReading {
  readonly quota: number;
  /** Names the order of the form that began with it, where the client does not. */
  readonly orderKey: string;
}

export interface ShownQuota {
  /** The session behind the request is being shown these. */
  show(request: FastifyRequest, kind: Metered, items: readonly { readonly id: number; readonly quota: number }[]): void;
  /**
   * What the session was shown last. null: a program with an access token that never asked and means the amount it
   * sends. Throws `form-outdated` for a browser's session that is not known to have seen any.
   */
  last(request: FastifyRequest, kind: Metered, id: number): QuotaReading | null;
}

/** Readings kept: a page shows a hundred at most. */
const capacity = 50_000;

/** Of the session, or the access token, behind a request. */
export const sessionName = (request: FastifyRequest): string => nameOf(credentialOf(request).text);

const nameOf = (credential: string): string => createHash('sha256').update(credential).digest('base64url');

export function shownQuota(): ShownQuota {
  const readings = growingLru<string, QuotaReading>(capacity);

  return {
    show(request, kind, items) {
      const session = sessionName(request);
      const orderKey = randomUUID();
      for (const { id, quota } of items) readings.set(`${session} ${kind} ${id}`, { quota, orderKey });
    },
    last(request, kind, id) {
      const { text, ofBrowser } = credentialOf(request);
      const reading = readings.get(`${nameOf(text)} ${kind} ${id}`);
      if (reading !== undefined) return reading;
      if (ofBrowser) throw new Failure('form-outdated');
      return null;
    },
  };
}
