import type { Protocol } from '../../contracts/protocol.js';
import { confidentialOf } from '../confidential-of.js';
import { googleRefusal } from '../gemini/failure.js';

/** Another's wire at Google's addresses: what the platform refuses it words in its own form. */
export const withGoogleRefusals = (wire: Protocol): Protocol => ({
  ...wire,
  answer(received) {
    const { provider, channel, status, body } = received;
    const refusal = status > 299 ? googleRefusal(status, body, confidentialOf(provider, channel)) : null;
    return refusal === null ? wire.answer(received) : { ok: false, error: refusal };
  },
});
