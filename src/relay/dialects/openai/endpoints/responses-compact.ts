import type { Endpoint } from '../../../contracts/endpoint.js';
import { responses } from './responses.js';

const { inChat: _, inBackground: __, ...own } = responses;

/** A conversation summed up into items that only its provider can read. No other interface has it. */
export const responsesCompact: Endpoint = {
  ...own,
  path: '/v1/responses/compact',
  below: 'compact',
  asksForStream: () => false,
};
