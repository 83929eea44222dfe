import { Button, Callout, Classes, Spinner, Tag } from '@blueprintjs/core';
import { Duplicate } from '@blueprintjs/icons';
import { lazy, memo, Suspense } from 'react';
import { useCopy } from '../kit/CopyProvider.js';
import { useText } from '../kit/words/i18n.js';
import { AnswerCost } from './AnswerCost.js';
import type { Answer, ToolCall } from './conversation.js';
import { playgroundTexts } from './playground.texts.js';

const markdown = () => import('../kit/UntrustedMarkdown.js');
const Markdown = lazy(async () => ({ default: (await markdown()).UntrustedMarkdown }));

/** Fetches what answers are shown with, so that the first one does not wait for it. */
export const prepareAnswers = (): void => void markdown().catch(() => undefined);

/** Longer ones are text until they are whole: they would be read anew with every word. */
const maxGrowing = 20_000;

/** What one model has answered, as far as it has come. */
export const AnswerView = memo(function AnswerView({ answer }: { readonly answer: Answer }) {
  const t = useText(playgroundTexts);
  const copy = useCopy();
  const { model, state, text, reasoning, tools, problem, requestId, finishReason } = answer;
  const isOver = state !== 'streaming';
  const isEmpty = text === '' && reasoning === '' && tools.length === 0;
  return (
    <article className="playground-answer" aria-label={model} aria-busy={!isOver}>
      <header>
        <Tag minimal className="playground-model">
          {model}
        </Tag>
        {!isOver && <Spinner size={16} aria-label={t('answering')} />}
        {isOver && text !== '' && (
          <Button
            size="small"
            variant="minimal"
            icon={<Duplicate />}
            aria-label={t('copyAnswer')}
            onClick={() => void copy(text)}
          />
        )}
      </header>
      {reasoning !== '' && (
        <details className="playground-reasoning">
          <summary>{t('reasoning', { count: reasoning.length })}</summary>
          <div>{reasoning}</div>
        </details>
      )}
      {text !== '' &&
        (isOver || text.length <= maxGrowing ? (
          <Suspense fallback={<div className="playground-plain">{text}</div>}>
            <Markdown text={text} />
          </Suspense>
        ) : (
          <div className="playground-plain">{text}</div>
        ))}
      {tools.map((tool, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: calls are only ever added at the end
        <ToolView key={index} tool={tool} />
      ))}
      {isEmpty && state === 'done' && <p className={Classes.TEXT_MUTED}>{t('nothing')}</p>}
      {finishReason === 'length' && <p className={Classes.TEXT_MUTED}>{t('cutOff')}</p>}
      {state === 'stopped' && <p className={Classes.TEXT_MUTED}>{problem ?? t('stopped')}</p>}
      {state === 'failed' && (
        <Callout compact intent="danger" role="alert">
          {problem}
        </Callout>
      )}
      {isOver && requestId !== null && <AnswerCost requestId={requestId} mayBeFree={isEmpty} />}
    </article>
  );
});

function ToolView({ tool: { name, args } }: { readonly tool: ToolCall }) {
  const t = useText(playgroundTexts);
  return (
    <details open className="playground-tool">
      <summary>{t('tool', { name })}</summary>
      <pre>{readable(args)}</pre>
    </details>
  );
}

function readable(args: string): string {
  try {
    return JSON.stringify(JSON.parse(args), null, 2);
  } catch {
    return args;
  }
}
