import { useQuery } from '@apollo/client/react';
import { Button } from '@blueprintjs/core';
import { ChevronDown, ChevronRight } from '@blueprintjs/icons';
import { useEffect, useId, useState } from 'react';
import { MovementEventDocument, type MovementEventQuery } from '../generated/audit/replay.js';
import { CopyButton } from '../kit/CopyButton.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import { useText } from '../kit/words/i18n.js';
import { replayTexts } from './replay.texts.js';

type ShownEvent = NonNullable<MovementEventQuery['movementEvent']>;

const written = ({ type, stream, position, at, json }: ShownEvent): string =>
  JSON.stringify({ type, stream, position, at: new Date(at).toISOString(), ...(JSON.parse(json) as object) }, null, 2);

/** Who drags the place along asks for the event where it rests, not for each on the way. */
const restMs = 250;

function useRested(position: number): number {
  const [rested, setRested] = useState(position);
  useEffect(() => {
    const timer = setTimeout(() => setRested(position), restMs);
    return () => clearTimeout(timer);
  }, [position]);
  return rested;
}

/** The event of the movement that the replay has come to, unfolded when it is asked for. */
export function ReplayEvent({ position, isPlaying }: { readonly position: number; readonly isPlaying: boolean }) {
  const t = useText(replayTexts);
  const [shown, setShown] = useState(false);
  const place = useId();
  return (
    <>
      <div>
        <Button
          icon={shown ? <ChevronDown /> : <ChevronRight />}
          text={t(shown ? 'event.hide' : 'event.show')}
          aria-expanded={shown}
          aria-controls={shown ? place : undefined}
          onClick={() => setShown(!shown)}
        />
      </div>
      {shown && (
        <div id={place}>
          {isPlaying ? <p className="section-note">{t('event.paused')}</p> : <EventAt position={position} />}
        </div>
      )}
    </>
  );
}

function EventAt({ position }: { readonly position: number }) {
  const t = useText(replayTexts);
  const rested = useRested(position);
  const { data, loading, error, refetch } = useQuery(MovementEventDocument, { variables: { position: rested } });
  if (data === undefined || rested !== position)
    return <QueryNotice loading={loading || rested !== position} error={error} refetch={refetch} />;
  const event = data.movementEvent;
  if (event === null || event === undefined) return <p className="section-note">{t('event.none')}</p>;
  return (
    <>
      <div className="replay-event-name">
        <strong>{event.type}</strong>
        <CopyButton text={written(event)} label={t('event.copy')} />
      </div>
      {/* Long lines scroll within themselves; without a tab stop, the keyboard could not scroll them. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: see above */}
      <pre className="replay-event" tabIndex={0}>
        {written(event)}
      </pre>
    </>
  );
}
