import { Button, ButtonGroup } from '@blueprintjs/core';
import { ChevronLeft, ChevronRight, Pause, Play, StepBackward, StepForward } from '@blueprintjs/icons';
import { useId } from 'react';
import { formatQuota } from '../kit/quota.js';
import { useQuotaUnits } from '../kit/SessionProvider.js';
import { SelectFilter } from '../kit/table/FilterBar.js';
import { formatTime } from '../kit/time.js';
import { useText } from '../kit/words/i18n.js';
import { auditTexts } from './audit.texts.js';
import { replayTexts } from './replay.texts.js';
import type { Playback } from './usePlayback.js';
import type { ReplayMovement } from './useReplay.js';

const speeds = ['1', '2', '5', '10', '25'] as const;
export type Speed = (typeof speeds)[number];

interface ReplayControlsProps {
  readonly movements: readonly ReplayMovement[];
  readonly playback: Playback;
  readonly speed: Speed;
  readonly onSpeed: (speed: Speed) => void;
}

/** Buttons, and a place that is dragged or moved by the arrow keys. */
export function ReplayControls({ movements, playback, speed, onSpeed }: ReplayControlsProps) {
  const t = useText(replayTexts);
  const audit = useText(auditTexts);
  const units = useQuotaUnits();
  const place = useId();
  const { step, isPlaying, goTo, play, pause } = playback;
  const end = movements.length - 1;
  const movement = movements[step];
  const spoken =
    movement &&
    t('place.text', {
      step: step + 1,
      count: movements.length,
      at: formatTime(movement.at),
      cause: audit(`cause.${movement.cause}`),
      balance: formatQuota(movement.balance.available, units, 6),
    });
  const button = (name: 'first' | 'back' | 'forward' | 'last', icon: React.JSX.Element, to: number) => (
    <Button
      icon={icon}
      title={t(name)}
      aria-label={t(name)}
      disabled={to < 0 || to > end || to === step}
      onClick={() => goTo(to)}
    />
  );
  return (
    <div className="replay-controls">
      <ButtonGroup>
        {button('first', <StepBackward />, 0)}
        {button('back', <ChevronLeft />, step - 1)}
        <Button
          icon={isPlaying ? <Pause /> : <Play />}
          text={t(isPlaying ? 'pause' : 'play')}
          intent="primary"
          disabled={end < 1}
          onClick={isPlaying ? pause : play}
        />
        {button('forward', <ChevronRight />, step + 1)}
        {button('last', <StepForward />, end)}
      </ButtonGroup>
      <SelectFilter
        label={t('speed')}
        value={speed}
        options={speeds.map((value) => ({ value, label: t('speed.value', { count: value }) }))}
        onChange={onSpeed}
      />
      <div className="replay-place">
        <label htmlFor={place}>{t('place')}</label>
        <input
          id={place}
          type="range"
          min={0}
          max={end}
          value={step}
          aria-valuetext={spoken}
          onChange={({ currentTarget }) => goTo(currentTarget.valueAsNumber)}
        />
      </div>
    </div>
  );
}
