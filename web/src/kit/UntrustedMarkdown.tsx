import { Classes } from '@blueprintjs/core';
import { useMemo } from 'react';
import { sanitisedAnswer } from './sanitised.js';

/** Markdown that nobody answers for, such as a model's. Brings two libraries along: to be loaded when it is shown. */
export function UntrustedMarkdown({ text }: { readonly text: string }) {
  const html = useMemo(() => sanitisedAnswer(text), [text]);
  return (
    <div
      className={`${Classes.RUNNING_TEXT} operator-text`}
      // biome-ignore lint/security/noDangerouslySetInnerHtml: sanitised in the line above, and tested with attempts
      dangerouslySetInnerHTML={{ __html: html }}
    />
  );
}
