import { useQuery } from '@apollo/client/react';
import { Button, Callout, Dialog, DialogBody, DialogFooter, SegmentedControl } from '@blueprintjs/core';
import { EyeOff, EyeOpen } from '@blueprintjs/icons';
import { useState } from 'react';
import { EditedTokenDocument, type OwnTokenFragment, TokenChoicesDocument } from '../generated/tokens/tokens.js';
import { CopyButton } from '../kit/CopyButton.js';
import { SelectField } from '../kit/form/Fields.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import { useServerAddress } from '../kit/SessionProvider.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import { AgentLines } from './AgentLines.js';
import { CodeBlock } from './CodeBlock.js';
import { FirstCallState } from './FirstCallState.js';
import { maskedKey } from './shownKey.js';
import { type SnippetKind, snippetKinds, snippetOf } from './tokenSnippets.js';
import { tokensTexts } from './tokens.texts.js';

/** More are not offered for choice: any other model is typed into the copied lines. */
const maxModels = 200;
const uses = ['code', 'agents'] as const;

interface UseTokenDialogProps {
  readonly id: string;
  readonly onClose: () => void;
}

/** How a token is used: its key, where to call, a first call in several languages, and whether it has come. */
export function UseTokenDialog({ id, onClose }: UseTokenDialogProps) {
  const t = useText(tokensTexts);
  const common = useText(commonTexts);
  const { data, loading, error, refetch } = useQuery(EditedTokenDocument, { variables: { id } });
  const token = data?.apiKey;
  return (
    <Dialog isOpen onClose={onClose} title={t('use.title', { name: token?.name || id })} className="use-token">
      <DialogBody>
        {token === undefined ? (
          <QueryNotice loading={loading} error={error} refetch={refetch} />
        ) : token.key === null ? (
          <Callout intent="warning">{t('use.lost')}</Callout>
        ) : (
          <>
            <KeyRow value={token.key} name={token.name} />
            <Snippets token={token} apiKey={token.key} />
            <FirstCallState id={id} />
          </>
        )}
      </DialogBody>
      <DialogFooter actions={<Button text={common('close')} onClick={onClose} />} />
    </Dialog>
  );
}

/** The key, which stands on the page only when it is asked for. */
function KeyRow({ value, name }: { readonly value: string; readonly name: string }) {
  const t = useText(tokensTexts);
  const [shown, setShown] = useState(false);
  const address = `${useServerAddress()}/v1`;
  return (
    <dl className="use-token-facts">
      <dt>{t('column.key')}</dt>
      <dd>
        <code>{shown ? value : maskedKey(value)}</code>
        <Button
          variant="minimal"
          size="small"
          icon={shown ? <EyeOff size={14} /> : <EyeOpen size={14} />}
          text={t(shown ? 'use.hide' : 'use.show')}
          onClick={() => setShown(!shown)}
        />
        <CopyButton text={value} label={t('key.copy', { name })} caption={t('use.copyKey')} isSecret />
      </dd>
      <dt>{t('use.address')}</dt>
      <dd>
        <code>{address}</code>
        <CopyButton text={address} label={t('use.copyAddress')} />
      </dd>
    </dl>
  );
}

function Snippets({ token, apiKey }: { readonly token: OwnTokenFragment; readonly apiKey: string }) {
  const t = useText(tokensTexts);
  const { data } = useQuery(TokenChoicesDocument);
  const [use, setUse] = useState<(typeof uses)[number]>('code');
  const [chosen, setChosen] = useState<string | null>(null);
  const allowed = token.modelLimitsEnabled ? token.modelLimits : (data?.ownModels ?? []);
  const model = chosen ?? allowed[0];
  if (model === undefined)
    return data === undefined ? null : (
      <Callout intent="warning" compact className="form-notice">
        {t('use.noModels')}
      </Callout>
    );
  return (
    <>
      <SelectField
        label={t('use.model')}
        value={model}
        options={allowed.slice(0, maxModels).map((value) => ({ value, label: value }))}
        onChange={setChosen}
      />
      <SegmentedControl
        size="small"
        aria-label={t('use.for')}
        options={uses.map((value) => ({ value, label: t(`use.${value}`) }))}
        value={use}
        onValueChange={(value) => setUse(value === 'agents' ? 'agents' : 'code')}
      />
      {use === 'code' ? <FirstCallCode apiKey={apiKey} model={model} /> : <AgentLines apiKey={apiKey} model={model} />}
      <p className="page-help">{t('use.copyHint')}</p>
    </>
  );
}

/** A first call in several languages. */
function FirstCallCode({ apiKey, model }: { readonly apiKey: string; readonly model: string }) {
  const t = useText(tokensTexts);
  const address = useServerAddress();
  const [kind, setKind] = useState<SnippetKind>('curl');
  const lines = (key: string): string => snippetOf(kind, { address, key, model });
  return (
    <>
      <div className="use-token-kinds">
        <SegmentedControl
          size="small"
          aria-label={t('use.language')}
          options={snippetKinds.map((value) => ({ value, label: t(`use.${value}`) }))}
          value={kind}
          onValueChange={(value) => setKind(snippetKinds.find((known) => known === value) ?? 'curl')}
        />
        <CopyButton text={lines(apiKey)} caption={t('use.copyCode')} isSecret />
      </div>
      <CodeBlock text={lines(maskedKey(apiKey))} />
    </>
  );
}
