import type { ApolloCache } from '@apollo/client';
import { useApolloClient } from '@apollo/client/react';
import { useNavigate } from 'react-router-dom';
import type { SecondFactorMethod } from '../generated/account/account.js';
import type { SignedInFragment } from '../generated/kit/identity-providers/identityProviders.js';
import { ShellDocument } from '../generated/kit/shell.js';
import { signInAddress } from '../kit/leave.js';
import type { Viewer } from '../kit/SessionProvider.js';
import { toaster } from '../kit/Toasts.js';
import { useText } from '../kit/words/i18n.js';
import { accountTexts } from './account.texts.js';

/** Everybody who asks who is signed in learns it here; the page itself goes on. null: nobody is yet. */
export const noteViewer = (cache: ApolloCache, me: Viewer | null | undefined): void =>
  void cache.updateQuery({ query: ShellDocument }, (shell) => (shell === null || !me ? undefined : { ...shell, me }));

/** Where a login by password leads. */
export const landingPath = '/token';
/** Where one by an account elsewhere does. */
export const homePath = '/';

/** Where every sign-in leads in the end. */
export function useEntered(after: string): () => void {
  const t = useText(accountTexts);
  const navigate = useNavigate();
  return () => {
    toaster.success(t('login.welcome'));
    void navigate(after, { replace: true });
  };
}

/**
 * What follows once an identity provider has opened on a page that is not the login: in, or to its second step. `from`: the
 * page on the way to which it was opened; null: none.
 */
export function useSignedInElsewhere(from: string | null): (signIn: SignedInFragment) => void {
  const { cache } = useApolloClient();
  const entered = useEntered(from ?? homePath);
  const navigate = useNavigate();
  return ({ user, secondFactor }) => {
    if (user === null) {
      void navigate(signInAddress('/login', from), { replace: true, state: { secondFactor } });
      return;
    }
    noteViewer(cache, user);
    entered();
  };
}

/** What a sign-in that has led to the login has left to be asked for. */
export const secondFactorIn = (state: unknown): readonly SecondFactorMethod[] =>
  (state as { secondFactor?: readonly SecondFactorMethod[] } | null)?.secondFactor ?? [];
