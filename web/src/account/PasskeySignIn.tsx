import { useMutation } from '@apollo/client/react';
import { Button } from '@blueprintjs/core';
import { Key } from '@blueprintjs/icons';
import { useState } from 'react';
import { AskPasskeyDocument, LoginByPasskeyDocument } from '../generated/account/account.js';
import { answerByPasskey, hasPasskeys, isDeclined } from '../kit/proof/passkeys.js';
import { toaster } from '../kit/Toasts.js';
import { errorText } from '../kit/words/errors.js';
import { useText } from '../kit/words/i18n.js';
import { accountTexts } from './account.texts.js';
import { noteViewer, useEntered } from './entering.js';

const inline = { errors: 'inline' } as const;

/** Signing in by a passkey alone; nothing where the browser has none to offer. */
export function PasskeySignIn({ after }: { readonly after: string }) {
  const t = useText(accountTexts);
  const entered = useEntered(after);
  const [busy, setBusy] = useState(false);
  const [ask] = useMutation(AskPasskeyDocument, { context: inline });
  const [login] = useMutation(LoginByPasskeyDocument, {
    context: inline,
    update: (cache, { data }) => noteViewer(cache, data?.loginByPasskey.user),
  });
  if (!hasPasskeys()) return null;

  const enter = async (): Promise<void> => {
    setBusy(true);
    try {
      const { data } = await ask();
      await login({ variables: { response: await answerByPasskey(data?.askPasskey ?? '') } });
      entered();
    } catch (error) {
      if (!isDeclined(error)) toaster.failure(errorText(error));
    } finally {
      setBusy(false);
    }
  };

  return (
    <Button
      fill
      size="large"
      icon={<Key />}
      className="sign-in-alternative"
      text={t('login.passkey')}
      loading={busy}
      onClick={() => void enter()}
    />
  );
}
