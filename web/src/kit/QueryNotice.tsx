import { Button, Callout } from '@blueprintjs/core';
import { Refresh } from '@blueprintjs/icons';
import { SkeletonLines } from './Skeleton.js';
import { commonTexts } from './words/common.texts.js';
import { errorText } from './words/errors.js';
import { useText } from './words/i18n.js';

interface QueryNoticeProps {
  readonly loading: boolean;
  readonly error?: unknown;
  readonly refetch: () => unknown;
}

/** In place of what a query outside a table has not brought yet: where it will be, or what went wrong and a way to retry. */
export function QueryNotice({ loading, error, refetch }: QueryNoticeProps) {
  const t = useText(commonTexts);
  if (error === undefined || loading) return <SkeletonLines />;
  return (
    <Callout intent="danger" title={t('table.failed')} className="query-notice">
      <p>{errorText(error)}</p>
      <Button icon={<Refresh />} text={t('retry')} onClick={() => void refetch()} />
    </Callout>
  );
}
