import { useMutation } from '@apollo/client/react';
import { useState } from 'react';
import { VisitProviderDocument } from '../../generated/kit/identity-providers/identityProviders.js';
import type { VisitedProvider } from './openProviders.js';

interface Visit {
  /** The account is to be bound to who is signed in; otherwise it signs in. */
  readonly bind: boolean;
  /** For who registers by it. */
  readonly inviteCode?: string;
  /** What was proven for binding. */
  readonly stepUp?: string | null;
}

/** Sends the browser to a provider, or throws. `leaving`: to which it is on its way. */
export function useVisit(): {
  readonly leaving: VisitedProvider | null;
  readonly visit: (provider: VisitedProvider, visit: Visit) => Promise<void>;
} {
  const [leaving, setLeaving] = useState<VisitedProvider | null>(null);
  const [begin] = useMutation(VisitProviderDocument, { fetchPolicy: 'no-cache', context: { errors: 'inline' } });
  return {
    leaving,
    async visit(provider, { bind, inviteCode = '', stepUp = null }) {
      setLeaving(provider);
      try {
        const { data } = await begin({ variables: { provider, bind, inviteCode, stepUp } });
        if (data) window.location.assign(data.visitProvider);
      } catch (error) {
        setLeaving(null);
        throw error;
      }
    },
  };
}
