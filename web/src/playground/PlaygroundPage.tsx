import { Button, Card, Classes, NonIdealState } from '@blueprintjs/core';
import { Chat, Clean, Code, Cog, Edit, Repeat } from '@blueprintjs/icons';
import { lazy, type ReactNode, Suspense, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { useNarrow } from '../kit/narrow.js';
import { PageFrame } from '../kit/PageFrame.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import { useRemembered } from '../kit/remembered.js';
import { useText } from '../kit/words/i18n.js';
import { AnswerView, prepareAnswers } from './AnswerView.js';
import { Composer, type Draft, emptyDraft } from './Composer.js';
import {
  type ChatRequest,
  chatRequest,
  initialSettings,
  isSettings,
  limits,
  type Settings,
  type Turn,
} from './conversation.js';
import './playground.css';
import { playgroundTexts } from './playground.texts.js';
import { type Choices, useChoices } from './useChoices.js';
import { type Conversation, useConversation } from './useConversation.js';

const SettingsPanel = lazy(async () => ({ default: (await import('./SettingsPanel.js')).SettingsPanel }));
const CodeDialog = lazy(async () => ({ default: (await import('./CodeDialog.js')).CodeDialog }));

export function PlaygroundPage() {
  const t = useText(playgroundTexts);
  const [settings, setSettings] = useRemembered('playground', initialSettings, isSettings);
  const { choices, loading, error, refetch } = useChoices(settings.group);
  if (choices !== undefined)
    return <Playground choices={choices} settings={fitting(settings, choices)} onSettings={setSettings} />;
  return (
    <PageFrame title={t('title')} help={t('help')}>
      <QueryNotice loading={loading} error={error} refetch={refetch} />
    </PageFrame>
  );
}

/** What was remembered may be gone: a model that is served no more is replaced, a group is one’s own again. */
function fitting(settings: Settings, { models, ownGroups }: Choices): Settings {
  const isServed = (model: string): boolean => models.includes(model);
  return {
    ...settings,
    model: isServed(settings.model) ? settings.model : (models[0] ?? settings.model),
    beside: isServed(settings.beside) ? settings.beside : '',
    group: ownGroups.some(({ name }) => name === settings.group) ? settings.group : '',
  };
}

interface PlaygroundProps {
  readonly choices: Choices;
  readonly settings: Settings;
  readonly onSettings: (settings: Settings) => void;
}

function Playground({ choices, settings, onSettings }: PlaygroundProps) {
  const t = useText(playgroundTexts);
  const narrow = useNarrow();
  const [areSettingsOpen, setSettingsOpen] = useState(!narrow);
  const [draft, setDraft] = useState<Draft>(emptyDraft);
  const [shownAsCode, setShownAsCode] = useState<ChatRequest | null>(null);
  const conversation = useConversation(settings);
  const { turns, isBusy, isFull } = conversation;
  useEffect(prepareAnswers, []);
  const hasNone = choices.models.length === 0;

  const asCode = (): void => {
    const last = turns.at(-1);
    const isWritten = draft.text.trim() !== '' || draft.images.length > 0;
    const next: Turn = { id: 0, answers: [], ...(isWritten ? draft : { text: t('code.sample'), images: [] }) };
    const isNext = isWritten || last === undefined;
    setShownAsCode(chatRequest(settings, isNext ? turns : turns.slice(0, -1), isNext ? next : last, 0));
  };
  const hindrance = isFull ? t('full', { count: limits.turns }) : null;
  return (
    <PageFrame
      title={t('title')}
      help={t('help')}
      actions={
        <>
          <Button
            icon={<Cog />}
            text={t('settings')}
            aria-expanded={areSettingsOpen}
            active={areSettingsOpen}
            onClick={() => setSettingsOpen(!areSettingsOpen)}
          />
          <Button icon={<Code />} text={t('code')} onClick={asCode} />
          <Button icon={<Clean />} text={t('clear')} disabled={turns.length === 0} onClick={conversation.clear} />
        </>
      }
    >
      <div className={`playground ${areSettingsOpen ? 'playground-with-settings' : ''}`}>
        {areSettingsOpen && (
          <aside>
            <Suspense fallback={<Card className={Classes.SKELETON} />}>
              <SettingsPanel settings={settings} choices={choices} onChange={onSettings} />
            </Suspense>
          </aside>
        )}
        <div className="playground-chat">
          <Turns turns={turns}>
            {turns.length === 0 ? (
              <NonIdealState icon={<Chat size={40} />} description={hasNone ? t('empty.none') : t('empty')} />
            ) : (
              turns.map((turn) => (
                <TurnView
                  key={turn.id}
                  turn={turn}
                  conversation={conversation}
                  onEdit={() => {
                    setDraft({ text: turn.text, images: turn.images });
                    conversation.takeBack(turn);
                  }}
                />
              ))
            )}
          </Turns>
          <p role="status" className="visually-hidden">
            {isBusy ? t('answering') : turns.length > 0 ? t('answered') : ''}
          </p>
          <Composer
            draft={draft}
            onChange={setDraft}
            isBusy={isBusy}
            hindrance={hasNone ? t('empty.none') : hindrance}
            onSend={() => {
              conversation.ask(draft.text.trim(), draft.images);
              setDraft(emptyDraft);
            }}
            onStop={conversation.stop}
          />
        </div>
      </div>
      {shownAsCode !== null && (
        <Suspense>
          <CodeDialog request={shownAsCode} onClose={() => setShownAsCode(null)} />
        </Suspense>
      )}
    </PageFrame>
  );
}

/** As near to the end counts as at it. */
const nearEnd = 60;

/** The conversation follows what is new, unless its reader has gone back. */
function Turns({ turns, children }: { readonly turns: readonly Turn[]; readonly children: ReactNode }) {
  const t = useText(playgroundTexts);
  const scroller = useRef<HTMLElement>(null);
  const follows = useRef(true);
  const count = turns.length;
  // biome-ignore lint/correctness/useExhaustiveDependencies: who asks wants to see the answer
  useEffect(() => {
    follows.current = true;
  }, [count]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever is new may have made it longer
  useLayoutEffect(() => {
    const { current } = scroller;
    if (current !== null && follows.current) current.scrollTop = current.scrollHeight;
  }, [turns]);
  return (
    <section
      ref={scroller}
      className="playground-turns"
      aria-label={t('conversation')}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it with the keyboard
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        follows.current = scrollHeight - scrollTop - clientHeight < nearEnd;
      }}
    >
      {children}
    </section>
  );
}

interface TurnViewProps {
  readonly turn: Turn;
  readonly conversation: Conversation;
  readonly onEdit: () => void;
}

function TurnView({ turn, conversation, onEdit }: TurnViewProps) {
  const t = useText(playgroundTexts);
  const { text, images, answers } = turn;
  return (
    <div className="playground-turn">
      <article className="playground-question" aria-label={t('asked')}>
        {images.length > 0 && (
          <div className="playground-images">
            {images.map((url, index) => (
              <img key={url} src={url} alt={t('image.shown', { number: index + 1 })} />
            ))}
          </div>
        )}
        <div className="playground-plain">{text}</div>
        <div className="playground-question-actions">
          <Button size="small" variant="minimal" icon={<Edit />} aria-label={t('edit')} onClick={onEdit} />
          <Button
            size="small"
            variant="minimal"
            icon={<Repeat />}
            aria-label={t('retry')}
            onClick={() => conversation.retry(turn)}
          />
        </div>
      </article>
      <div className={`playground-answers ${answers.length > 1 ? 'playground-beside' : ''}`}>
        {answers.map((answer, column) =>
          // biome-ignore lint/suspicious/noArrayIndexKey: a column stays where it is
          answer === null ? null : <AnswerView key={column} answer={answer} />,
        )}
      </div>
    </div>
  );
}
