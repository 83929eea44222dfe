import { useQuery } from '@apollo/client/react';
import { Button, NonIdealState } from '@blueprintjs/core';
import { Offline, Refresh } from '@blueprintjs/icons';
import { createContext, type ReactNode, useContext, useMemo } from 'react';
import type { PublicStatusFragment, ViewerFragment } from '../generated/kit/shell.js';
import { ShellDocument } from '../generated/kit/shell.js';
import type { QuotaUnits } from './quota.js';
import { SkeletonShell } from './Skeleton.js';
import { commonTexts } from './words/common.texts.js';
import { errorText } from './words/errors.js';
import { useText } from './words/i18n.js';

/* Who is looking, and what this gateway is: known before anything else is shown. */

export type Viewer = ViewerFragment;
type Status = PublicStatusFragment;

interface Session {
  readonly status: Status;
  readonly viewer: Viewer | null;
}

const SessionContext = createContext<Session | null>(null);

/** Asks for both, once; what it wraps is shown when they are known. */
export function SessionProvider({ children }: { readonly children: ReactNode }) {
  const t = useText(commonTexts);
  const { data, error, loading, refetch } = useQuery(ShellDocument);
  const session = useMemo(() => (data === undefined ? null : { status: data.status, viewer: data.me }), [data]);
  if (session !== null) return <SessionContext value={session}>{children}</SessionContext>;
  if (error !== undefined && !loading)
    return (
      <NonIdealState
        className="whole-page"
        icon={<Offline size={40} />}
        title={errorText(error)}
        action={<Button icon={<Refresh />} text={t('retry')} onClick={() => void refetch()} />}
      />
    );
  return <SkeletonShell />;
}

function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('there is no session around this component');
  return session;
}

/** How this gateway is called and what it offers. */
export const useStatus = (): Status => useSession().status;

/** Where callers and front ends reach this gateway; without a slash at the end. */
export function useServerAddress(): string {
  const { serverAddress } = useStatus();
  return serverAddress === '' ? window.location.origin : serverAddress.replace(/\/+$/, '');
}

/** null: nobody is signed in. */
export const useViewer = (): Viewer | null => useSession().viewer;

/** For pages that are shown to nobody else than who is signed in. */
export function useSignedIn(): Viewer {
  const { viewer } = useSession();
  if (viewer === null) throw new Error('this page is shown without anybody signed in');
  return viewer;
}

export const isAdmin = (viewer: Viewer | null): boolean => viewer?.role === 'ADMIN' || viewer?.role === 'ROOT';
/** Who sees what is everybody's: auditors do, and change nothing. */
export const readsAll = (viewer: Viewer | null): boolean => isAdmin(viewer) || viewer?.role === 'AUDITOR';
export const isRoot = (viewer: Viewer | null): boolean => viewer?.role === 'ROOT';
/** Who sees what root alone may change, and takes the whole log away. */
export const readsSettings = (viewer: Viewer | null): boolean => isRoot(viewer) || viewer?.role === 'AUDITOR';

export function useQuotaUnits(): QuotaUnits {
  const { quotaPerUnit, displayInCurrency } = useStatus();
  return useMemo(
    () => ({ quotaPerUnit: Number(quotaPerUnit), inCurrency: displayInCurrency }),
    [quotaPerUnit, displayInCurrency],
  );
}
