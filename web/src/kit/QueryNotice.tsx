import { Button, Callout, Spinner } from '@blueprintjs/core';
import { Refresh } from '@blueprintjs/icons';
import { commonTexts } from './words/common.texts.js';
import { errorText } from './words/errors.js';
import { useText } from './words/i18n.js';

interface QueryNoticeProps {
  readonly loading: boolean;
  readonly error?: unknown;
  readonly refetch: () => unknown;
}

/** In place of what a query outside a table has not brought yet: a spinner, or what went wrong and a way to retry. */
export function QueryNotice({ loading, error, refetch }: QueryNoticeProps) {
  const t = useText(commonTexts);
  if (error === undefined || loading) return <Spinner size={32} className="query-notice" aria-label={t('loading')} />;
  return (
    <Callout intent="danger" title={t('table.failed')} className="query-notice">
      <p>{errorText(error)}</p>
      <Button icon={<Refresh />} text={t('retry')} onClick={() => void refetch()} />
    </Callout>
  );
}
