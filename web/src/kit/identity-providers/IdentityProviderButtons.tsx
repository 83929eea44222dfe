import './identityProviders.css';
import { useMutation } from '@apollo/client/react';
import { Button } from '@blueprintjs/core';
import { lazy, Suspense, useState } from 'react';
import {
  type SignedInFragment,
  SignInByWeChatDocument,
} from '../../generated/kit/identity-providers/identityProviders.js';
import { noteReturn } from '../leave.js';
import { toaster } from '../Toasts.js';
import { commonTexts } from '../words/common.texts.js';
import { errorText } from '../words/errors.js';
import { useText } from '../words/i18n.js';
import { identityProviderTexts } from './identityProviders.texts.js';
import { isVisited, type Provider } from './openProviders.js';
import { useVisit } from './useVisit.js';

const WeChatDialog = lazy(async () => ({ default: (await import('./WeChatDialog.js')).WeChatDialog }));
const TelegramDialog = lazy(async () => ({ default: (await import('./TelegramDialog.js')).TelegramDialog }));

interface DoorButtonsProps {
  readonly providers: readonly Provider[];
  /** For who registers by one of them. */
  readonly inviteCode: string;
  /** Where who comes back from an identity provider is led; null: nowhere in particular. */
  readonly from: string | null;
  /** What a sign-in has led to that opens on the page itself. */
  readonly onSignIn: (signIn: SignedInFragment) => void;
}

/** A button for each identity provider. */
export function IdentityProviderButtons({ providers, inviteCode, from, onSignIn }: DoorButtonsProps) {
  const t = useText(identityProviderTexts);
  const common = useText(commonTexts);
  const { leaving, visit } = useVisit();
  const [dialog, setDialog] = useState<Provider | null>(null);
  const [signInByWeChat] = useMutation(SignInByWeChatDocument, {
    fetchPolicy: 'no-cache',
    context: { errors: 'inline' },
  });

  const open = (provider: Provider): void => {
    noteReturn(from);
    if (!isVisited(provider)) setDialog(provider);
    else
      visit(provider, { bind: false, inviteCode }).catch((error: unknown) => {
        toaster.failure(errorText(error));
      });
  };

  const byWeChat = async (code: string): Promise<void> => {
    const { data } = await signInByWeChat({ variables: { code } });
    if (data) onSignIn(data.signInByWeChat);
  };

  return (
    <div className="sign-in-buttons">
      <p className="sign-in-or">{t('or')}</p>
      {providers.map((provider) => (
        <Button
          key={provider}
          fill
          text={t('signIn', { provider: common(`provider.${provider}`) })}
          loading={leaving === provider}
          disabled={leaving !== null}
          onClick={() => open(provider)}
        />
      ))}
      <Suspense>
        {dialog === 'WECHAT' && (
          <WeChatDialog title={t('wechat.title')} onCode={byWeChat} onClose={() => setDialog(null)} />
        )}
        {dialog === 'TELEGRAM' && (
          <TelegramDialog title={t('telegram.title')} bind={false} onClose={() => setDialog(null)} />
        )}
      </Suspense>
    </div>
  );
}
