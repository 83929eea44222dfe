import { useMutation } from '@apollo/client/react';
import { Button, InputGroup } from '@blueprintjs/core';
import { IssueInviteCodeDocument } from '../../generated/kit/invite/invite.js';
import { CopyButton } from '../CopyButton.js';
import { Field } from '../form/Fields.js';
import { useStatus } from '../SessionProvider.js';
import { useText } from '../words/i18n.js';
import { inviteTexts } from './invite.texts.js';

interface InviteLinkProps {
  /** null: none has been asked for yet. */
  readonly code: string | null;
  readonly onNewCode: () => void;
}

export function InviteLink({ code, onNewCode }: InviteLinkProps) {
  const t = useText(inviteTexts);
  const { registration, serverAddress } = useStatus();
  const [issue, { loading }] = useMutation(IssueInviteCodeDocument, { onCompleted: onNewCode });
  if (!registration) return <p className="section-note">{t('closed')}</p>;
  // What fails is said where all mutations fail.
  if (code === null)
    return <Button text={t('link.make')} loading={loading} onClick={() => void issue().catch(() => undefined)} />;
  const site = serverAddress.replace(/\/+$/, '') || window.location.origin;
  const link = `${site}/register?aff=${code}`;
  return (
    <Field label={t('link')}>
      {(attributes) => (
        <InputGroup
          {...attributes}
          readOnly
          value={link}
          onFocus={(event) => event.currentTarget.select()}
          rightElement={<CopyButton text={link} label={t('link.copy')} />}
        />
      )}
    </Field>
  );
}
