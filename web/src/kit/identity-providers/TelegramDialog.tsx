import './identityProviders.css';
import { Callout, Dialog, DialogBody, Spinner } from '@blueprintjs/core';
import { useEffect, useRef, useState } from 'react';
import { useStatus } from '../SessionProvider.js';
import { useText } from '../words/i18n.js';
import { identityProviderTexts } from './identityProviders.texts.js';
import { beginTelegramVisit } from './telegramVisit.js';

const script = 'https://telegram.org/js/telegram-widget.js?22';

interface TelegramDialogProps {
  readonly title: string;
  /** The account is to be bound to who is signed in; otherwise it signs in. */
  readonly bind: boolean;
  readonly onClose: () => void;
}

/** Telegram's own button, which leads to Telegram and back. */
export function TelegramDialog({ title, bind, onClose }: TelegramDialogProps) {
  return (
    <Dialog isOpen onClose={onClose} title={title} className="confirm-dialog" shouldReturnFocusOnClose>
      <DialogBody>
        <TelegramWidget bind={bind} />
      </DialogBody>
    </Dialog>
  );
}

function TelegramWidget({ bind }: { readonly bind: boolean }) {
  const t = useText(identityProviderTexts);
  const { telegramBotName } = useStatus();
  const container = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<'loading' | 'shown' | 'failed'>('loading');

  useEffect(() => {
    const holder = container.current;
    if (holder === null || telegramBotName === null) return;
    // The script puts its button where it stands itself.
    const element = document.createElement('script');
    element.async = true;
    element.src = script;
    element.dataset.telegramLogin = telegramBotName;
    element.dataset.size = 'large';
    element.dataset.userpic = 'false';
    element.dataset.authUrl = beginTelegramVisit(bind);
    element.onload = () => setState('shown');
    element.onerror = () => setState('failed');
    holder.replaceChildren(element);
    return () => holder.replaceChildren();
  }, [bind, telegramBotName]);

  return (
    <div className="telegram-widget">
      {state === 'loading' && <Spinner size={24} aria-label={t('telegram.loading')} />}
      {state === 'failed' && (
        <Callout intent="warning" compact role="alert">
          {t('telegram.failed')}
        </Callout>
      )}
      <div ref={container} hidden={state === 'failed'} />
    </div>
  );
}
