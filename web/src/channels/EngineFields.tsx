import { useMutation, useQuery } from '@apollo/client/react';
import { Button, Callout } from '@blueprintjs/core';
import { Search } from '@blueprintjs/icons';
import { useState } from 'react';
import {
  EnginesDocument,
  IdentifyEngineDocument,
  type IdentifyEngineMutation,
} from '../generated/channels/channels.js';
import { SelectField } from '../kit/form/Fields.js';
import { useText } from '../kit/words/i18n.js';
import type { ChannelDraft } from './channelDraft.js';
import { channelsTexts } from './channels.texts.js';

type Found = IdentifyEngineMutation['identifyEngine'];
type Engine = NonNullable<Found['engine']>;

interface EngineFieldsProps {
  readonly draft: ChannelDraft;
  readonly onChange: (patch: Partial<ChannelDraft>) => void;
}

/** Engines of one's own take any key, and a channel must have one. */
const anyKey = 'none';

const ofEngine = ({ type, setting }: Engine, draft: ChannelDraft): Partial<ChannelDraft> => ({
  type,
  setting,
  models: type === draft.type ? draft.models : [],
  ...(draft.key.trim() === '' && { key: anyKey }),
});

/** Fills in a new channel for a server of models of one's own: by its name, or by looking at its address. */
export function EngineFields({ draft, onChange }: EngineFieldsProps) {
  const t = useText(channelsTexts);
  const { data } = useQuery(EnginesDocument);
  const [identify, { loading }] = useMutation(IdentifyEngineDocument);
  const [chosen, setChosen] = useState('');
  const [found, setFound] = useState<Found | null>(null);
  const engines = data?.engines ?? [];

  const choose = (id: string): void => {
    setChosen(id);
    setFound(null);
    const engine = engines.find((one) => one.id === id);
    if (engine === undefined) return;
    onChange({ ...ofEngine(engine, draft), baseUrl: draft.baseUrl.trim() || engine.usualBaseUrl });
  };

  const look = async (): Promise<void> => {
    const key = draft.key.trim() === anyKey ? '' : draft.key;
    const { data: answer } = await identify({ variables: { baseUrl: draft.baseUrl, key, proxy: draft.proxy } });
    if (answer === undefined) return;
    const { engine, baseUrl, models } = answer.identifyEngine;
    setFound(answer.identifyEngine);
    setChosen(engine?.id ?? '');
    onChange({ ...(engine !== null && ofEngine(engine, draft)), baseUrl, ...(models.length > 0 && { models }) });
  };

  return (
    <fieldset className="field-row engine-row">
      <legend className="visually-hidden">{t('engine.label')}</legend>
      <SelectField
        label={t('engine.label')}
        hint={t('engine.hint')}
        value={chosen}
        options={[
          { value: '', label: t('engine.none') },
          ...engines.map(({ id, name }) => ({ value: id as string, label: name })),
        ]}
        onChange={choose}
      />
      <Button
        icon={<Search />}
        text={t('engine.look')}
        loading={loading}
        disabled={draft.baseUrl.trim() === ''}
        // Said where all mutations fail.
        onClick={() => void look().catch(() => undefined)}
      />
      {found !== null && (
        <Callout compact intent={found.engine === null ? 'warning' : 'success'} role="status">
          {found.engine === null
            ? t('engine.unknown', { models: found.models.length })
            : t('engine.found', {
                name: [found.engine.name, found.version].filter(Boolean).join(' '),
                models: found.models.length,
              })}
          {found.needsKey && ` ${t('engine.needsKey')}`}
        </Callout>
      )}
    </fieldset>
  );
}
