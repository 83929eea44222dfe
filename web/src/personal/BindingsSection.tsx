import '../kit/identity-providers/identityProviders.css';
import { useMutation, useQuery } from '@apollo/client/react';
import { Button } from '@blueprintjs/core';
import { lazy, Suspense, useState } from 'react';
import { BindWeChatDocument, OwnBindingsDocument, UnbindDocument } from '../generated/personal/bindings.js';
import { useConfirm } from '../kit/form/ConfirmProvider.js';
import { isVisited, type Provider, useOpenProviders } from '../kit/identity-providers/openProviders.js';
import { useVisit } from '../kit/identity-providers/useVisit.js';
import { useStepUp } from '../kit/proof/StepUpProvider.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import { Section } from '../kit/Section.js';
import { toaster } from '../kit/Toasts.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import { bindingsTexts } from './bindings.texts.js';
import { EmailBinding } from './EmailBinding.js';

const WeChatDialog = lazy(async () => ({
  default: (await import('../kit/identity-providers/WeChatDialog.js')).WeChatDialog,
}));
const TelegramDialog = lazy(async () => ({
  default: (await import('../kit/identity-providers/TelegramDialog.js')).TelegramDialog,
}));

const inline = { errors: 'inline' } as const;

/** By what else the viewer is known: an e-mail address, and the external accounts that sign in. */
export function BindingsSection() {
  const t = useText(bindingsTexts);
  const result = useQuery(OwnBindingsDocument);
  const open = useOpenProviders();
  const me = result.data?.me ?? null;
  return (
    <Section title={t('title')}>
      <p className="section-note">{t('note')}</p>
      {me === null ? (
        <QueryNotice {...result} />
      ) : (
        <ul className="bindings">
          <li>
            <EmailBinding email={me.email} />
          </li>
          {shownFor(
            open,
            me.identities.map(({ provider }) => provider),
          ).map((provider) => (
            <li key={provider}>
              <BoundAccount
                provider={provider}
                account={me.identities.find((bound) => bound.provider === provider)?.name ?? null}
              />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

/** What is bound can be unbound, whether its provider is switched on or not. */
const shownFor = (open: readonly Provider[], bound: readonly Provider[]): readonly Provider[] => [
  ...open,
  ...bound.filter((provider) => !open.includes(provider)),
];

/** `account` null: none is bound. */
function BoundAccount({ provider, account }: { readonly provider: Provider; readonly account: string | null }) {
  const t = useText(bindingsTexts);
  const common = useText(commonTexts);
  const name = common(`provider.${provider}`);
  return (
    <>
      <span className="binding-provider">{name}</span>
      <span className="binding-account">{account ?? t('notBound')}</span>
      {account === null ? (
        <BindButton provider={provider} name={name} />
      ) : (
        <UnbindButton provider={provider} name={name} />
      )}
    </>
  );
}

interface ButtonProps {
  readonly provider: Provider;
  /** As people know it. */
  readonly name: string;
}

function BindButton({ provider, name }: ButtonProps) {
  const t = useText(bindingsTexts);
  const withStepUp = useStepUp();
  const { leaving, visit } = useVisit();
  const [asked, setAsked] = useState(false);
  const [bindWeChat] = useMutation(BindWeChatDocument, { context: inline });
  const label = t('bind.label', { provider: name });
  const close = (): void => setAsked(false);

  const bind = (): void => {
    if (!isVisited(provider)) setAsked(true);
    else void withStepUp('BINDINGS', (stepUp) => visit(provider, { bind: true, stepUp }));
  };

  const byCode = async (code: string): Promise<void> => {
    const done = await withStepUp('BINDINGS', (stepUp) => bindWeChat({ variables: { code, stepUp } }));
    if (done === null) return;
    close();
    toaster.success(t('bound'));
  };

  return (
    <>
      <Button size="small" text={t('bind')} aria-label={label} loading={leaving !== null} onClick={bind} />
      <Suspense>
        {asked && provider === 'WECHAT' && <WeChatDialog title={label} onCode={byCode} onClose={close} />}
        {asked && provider === 'TELEGRAM' && <TelegramDialog title={label} bind onClose={close} />}
      </Suspense>
    </>
  );
}

function UnbindButton({ provider, name }: ButtonProps) {
  const t = useText(bindingsTexts);
  const confirm = useConfirm();
  const withStepUp = useStepUp();
  const [unbind, { loading }] = useMutation(UnbindDocument, { context: inline });
  const label = t('unbind.label', { provider: name });

  const order = async (): Promise<void> => {
    const asked = { title: label, body: t('unbind.confirm', { provider: name }), confirm: t('unbind') };
    if (!(await confirm(asked))) return;
    const done = await withStepUp('BINDINGS', (stepUp) => unbind({ variables: { provider, stepUp } }));
    if (done !== null) toaster.success(t('unbound'));
  };

  return <Button size="small" text={t('unbind')} aria-label={label} loading={loading} onClick={() => void order()} />;
}
