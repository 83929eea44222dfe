import { Button } from '@blueprintjs/core';
import { ChevronDown, ChevronRight } from '@blueprintjs/icons';
import { useId, useState } from 'react';
import { CopyButton } from '../kit/CopyButton.js';
import { useText } from '../kit/words/i18n.js';
import type { ShownCall } from './CallPage.js';
import { callTexts } from './call.texts.js';

type Event = ShownCall['events'][number];

const written = ({ type, position, at, json }: Event): string =>
  JSON.stringify({ type, position, at: new Date(at).toISOString(), ...(JSON.parse(json) as object) }, null, 2);

/** What stands in the log of this request, as far as it is for who looks; unfolded when it is asked for. */
export function CallEvents({ events }: { readonly events: readonly Event[] }) {
  const t = useText(callTexts);
  const [shown, setShown] = useState(false);
  const list = useId();
  return (
    <>
      <div>
        <Button
          icon={shown ? <ChevronDown /> : <ChevronRight />}
          text={t(shown ? 'events.hide' : 'events.show', { count: events.length })}
          aria-expanded={shown}
          aria-controls={shown ? list : undefined}
          onClick={() => setShown(!shown)}
        />
      </div>
      {shown && (
        <ol id={list} className="call-events">
          {events.map((event) => (
            <li key={event.position}>
              <div className="call-event-name">
                <strong>{event.type}</strong>
                <CopyButton text={written(event)} label={t('events.copy', { type: event.type })} />
              </div>
              {/* Long lines scroll within themselves; without a tab stop, the keyboard could not scroll them. */}
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: see above */}
              <pre tabIndex={0}>{written(event)}</pre>
            </li>
          ))}
        </ol>
      )}
    </>
  );
}
