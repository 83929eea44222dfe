import { useMutation } from '@apollo/client/react';
import { Button, Tab, Tabs } from '@blueprintjs/core';
import { type FormEvent, useState } from 'react';
import { ChangeSettingsDocument, type PersonalUserFragment } from '../generated/personal/personal.js';
import { PasswordField, SelectField, SwitchField, TextField } from '../kit/form/Fields.js';
import { QuotaInput } from '../kit/form/QuotaInput.js';
import { Section } from '../kit/Section.js';
import { toaster } from '../kit/Toasts.js';
import { useText } from '../kit/words/i18n.js';
import { personalTexts } from './personal.texts.js';
import { draftOf, problemsOf, type SettingsDraft } from './settingsDraft.js';

export function SettingsSection({ user }: { readonly user: PersonalUserFragment }) {
  const t = useText(personalTexts);
  const [draft, setDraft] = useState(() => draftOf(user.settings));
  const [judged, setJudged] = useState(false);
  const [tab, setTab] = useState<'notify' | 'price'>('notify');
  const [save, { loading }] = useMutation(ChangeSettingsDocument);
  const problems = problemsOf(draft);

  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setJudged(true);
    const { quotaWarningThreshold } = draft;
    if (problems.size > 0 || quotaWarningThreshold === null) {
      setTab('notify');
      return;
    }
    await save({ variables: { input: { ...draft, quotaWarningThreshold } } }).then(
      () => {
        setJudged(false);
        toaster.success(t('settings.saved'));
      },
      () => undefined, // Said where all mutations fail.
    );
  };

  const change = (patch: Partial<SettingsDraft>): void => setDraft({ ...draft, ...patch });
  return (
    <Section title={t('settings.title')}>
      <form onSubmit={(event) => void submit(event)} noValidate>
        <Tabs selectedTabId={tab} onChange={(next) => setTab(next as typeof tab)} renderActiveTabPanelOnly>
          <Tab
            id="notify"
            title={t('settings.notify')}
            panel={
              <NotifyFields
                draft={draft}
                wrong={judged ? problems : new Set()}
                hasSecret={user.settings?.hasWebhookSecret ?? false}
                onChange={change}
              />
            }
          />
          <Tab
            id="price"
            title={t('settings.price')}
            panel={
              <SwitchField
                label={t('settings.unpriced')}
                hint={t('settings.unpricedHint')}
                value={draft.acceptUnpricedModels}
                onChange={(acceptUnpricedModels) => change({ acceptUnpricedModels })}
              />
            }
          />
        </Tabs>
        <Button type="submit" intent="primary" text={t('settings.save')} loading={loading} className="personal-save" />
      </form>
    </Section>
  );
}

interface NotifyFieldsProps {
  readonly draft: SettingsDraft;
  readonly wrong: ReturnType<typeof problemsOf>;
  readonly hasSecret: boolean;
  readonly onChange: (patch: Partial<SettingsDraft>) => void;
}

function NotifyFields({ draft, wrong, hasSecret, onChange }: NotifyFieldsProps) {
  const t = useText(personalTexts);
  return (
    <>
      <SelectField
        label={t('settings.type')}
        value={draft.notifyType}
        options={[
          { value: 'EMAIL', label: t('settings.email') },
          { value: 'WEBHOOK', label: t('settings.webhook') },
        ]}
        onChange={(notifyType) => onChange({ notifyType })}
      />
      <QuotaInput
        label={t('settings.threshold')}
        hint={t('settings.thresholdHint')}
        error={wrong.has('threshold') ? t('settings.thresholdWrong') : undefined}
        value={draft.quotaWarningThreshold}
        onChange={(quotaWarningThreshold) => onChange({ quotaWarningThreshold })}
      />
      {draft.notifyType === 'EMAIL' ? (
        <TextField
          label={t('settings.address')}
          hint={t('settings.addressHint')}
          error={wrong.has('address') ? t('settings.addressWrong') : undefined}
          type="email"
          value={draft.notificationEmail}
          onChange={(notificationEmail) => onChange({ notificationEmail })}
          autoComplete="email"
        />
      ) : (
        <>
          <TextField
            label={t('settings.url')}
            hint={t('settings.urlHint')}
            error={wrong.has('url') ? t('settings.urlWrong') : undefined}
            type="url"
            value={draft.webhookUrl}
            onChange={(webhookUrl) => onChange({ webhookUrl })}
          />
          <PasswordField
            label={t('settings.secret')}
            hint={t(hasSecret ? 'settings.secretStored' : 'settings.secretHint')}
            value={draft.webhookSecret}
            onChange={(webhookSecret) => onChange({ webhookSecret })}
            autoComplete="new-password"
          />
        </>
      )}
    </>
  );
}
