import { useQuery } from '@apollo/client/react';
import { Callout } from '@blueprintjs/core';
import { useRef } from 'react';
import { LoggedRequestDocument } from '../generated/log/call.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import { Section } from '../kit/Section.js';
import { useText } from '../kit/words/i18n.js';
import { callTexts } from './call.texts.js';
import { LineFacts } from './LogLineDetail.js';

interface LoggedRequestProps {
  readonly requestId: string;
  readonly admin: boolean;
  /** How often it is looked for again, in milliseconds: what was refused is in the log a moment later. */
  readonly everyMs: number;
}

/** A request that was never reserved: what the log says of it, which is why it was refused. */
export function LoggedRequest({ requestId, admin, everyMs }: LoggedRequestProps) {
  const t = useText(callTexts);
  const isFound = useRef(false);
  const { data, loading, error, refetch } = useQuery(LoggedRequestDocument, {
    variables: { requestId, everyone: admin, admin },
    pollInterval: everyMs,
    skipPollAttempt: () => document.hidden || isFound.current,
  });
  if (data === undefined) return <QueryNotice loading={loading} error={error} refetch={refetch} />;
  const line = data.usageLog.edges[0]?.node;
  isFound.current = line !== undefined;
  if (line === undefined)
    return (
      <Callout intent="warning" title={t('unknown')}>
        {t('unknown.hint')}
      </Callout>
    );
  return (
    <Section title={t('refused')}>
      <LineFacts line={line} />
    </Section>
  );
}
