import { Classes } from '@blueprintjs/core';
import { useMemo } from 'react';
import { sanitisedHtml, sanitisedMarkdown } from './sanitised.js';

export interface OperatorTextProps {
  readonly text: string;
  readonly format?: 'markdown' | 'html';
}

/** What an operator wrote, sanitised. Brings two libraries along: use `LazyOperatorText` outside chunks that need it. */
export function OperatorText({ text, format = 'markdown' }: OperatorTextProps) {
  const html = useMemo(() => (format === 'html' ? sanitisedHtml(text) : sanitisedMarkdown(text)), [text, format]);
  return (
    <div
      className={`${Classes.RUNNING_TEXT} operator-text`}
      // biome-ignore lint/security/noDangerouslySetInnerHtml: sanitised in the line above, and tested with attempts
      dangerouslySetInnerHTML={{ __html: html }}
    />
  );
}
