import { Slider } from '@blueprintjs/core';
import { SelectField, SwitchField, TextAreaField } from '../kit/form/Fields.js';
import { NumberField } from '../kit/form/NumberField.js';
import { Section } from '../kit/Section.js';
import { useSignedIn } from '../kit/SessionProvider.js';
import { useText } from '../kit/words/i18n.js';
import { columnsOf, type Effort, efforts, type Settings, thinks } from './conversation.js';
import { ModelSelect } from './ModelSelect.js';
import { playgroundTexts } from './playground.texts.js';
import type { Choices } from './useChoices.js';

interface SettingsPanelProps {
  readonly settings: Settings;
  readonly choices: Choices;
  readonly onChange: (settings: Settings) => void;
}

const temperatures = { min: 0.1, max: 1, step: 0.1, usual: 0.7 } as const;
const inTenths = (value: number): number => Math.round(value * 10) / 10;
const maxTokens = 1_000_000;

export function SettingsPanel({ settings, choices, onChange }: SettingsPanelProps) {
  const t = useText(playgroundTexts);
  const { group: ownGroup } = useSignedIn();
  const { models, ownGroups } = choices;
  const change = (patch: Partial<Settings>): void => onChange({ ...settings, ...patch });
  const { model, beside, temperature } = settings;
  const groups = ownGroups.filter(({ name }) => name !== ownGroup);
  return (
    <Section title={t('settings')}>
      <ModelSelect
        label={t('settings.model')}
        models={models}
        value={model}
        onChange={(chosen) => change({ model: chosen })}
      />
      <SwitchField
        label={t('settings.compare')}
        value={beside !== ''}
        onChange={(on) => change({ beside: on ? (models.find((other) => other !== model) ?? model) : '' })}
      />
      {beside !== '' && (
        <ModelSelect
          label={t('settings.beside')}
          models={models}
          value={beside}
          onChange={(chosen) => change({ beside: chosen })}
        />
      )}
      <SelectField
        label={t('settings.group')}
        value={groups.some(({ name }) => name === settings.group) ? settings.group : ''}
        options={[
          { value: '', label: t('settings.groupOwn', { group: ownGroup }) },
          ...groups.map(({ name, ratio }) => ({
            value: name,
            label: t('settings.groupOption', { group: name, ratio }),
          })),
        ]}
        onChange={(group) => change({ group })}
      />
      <TextAreaField
        label={t('settings.system')}
        rows={3}
        value={settings.system}
        onChange={(system) => change({ system })}
      />
      <SwitchField
        label={t('settings.temperature')}
        hint={temperature === null ? t('settings.temperatureHint') : undefined}
        value={temperature !== null}
        onChange={(on) => change({ temperature: on ? temperatures.usual : null })}
      />
      {temperature !== null && (
        <div className="playground-slider">
          <Slider
            min={temperatures.min}
            max={temperatures.max}
            stepSize={temperatures.step}
            labelValues={[temperatures.min, temperatures.max]}
            labelPrecision={1}
            value={temperature}
            onChange={(value) => change({ temperature: inTenths(value) })}
            handleHtmlProps={{ 'aria-label': t('settings.temperature') }}
          />
        </div>
      )}
      <NumberField
        label={t('settings.topP')}
        hint={t('settings.default')}
        min={0}
        max={1}
        step={0.05}
        value={settings.topP}
        onChange={(topP) => change({ topP })}
      />
      <NumberField
        label={t('settings.maxTokens')}
        hint={t('settings.default')}
        min={1}
        max={maxTokens}
        value={settings.maxTokens}
        onChange={(maxTokens) => change({ maxTokens: maxTokens === null ? null : Math.trunc(maxTokens) })}
      />
      {columnsOf(settings).some(thinks) && (
        <SelectField<Effort>
          label={t('settings.effort')}
          value={settings.effort}
          options={efforts.map((effort) => ({
            value: effort,
            label: effort === '' ? t('settings.effortDefault') : t(`effort.${effort}`),
          }))}
          onChange={(effort) => change({ effort })}
        />
      )}
    </Section>
  );
}
