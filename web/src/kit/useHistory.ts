import { useApolloClient, useQuery } from '@apollo/client/react';
import { useEffect, useState } from 'react';
import { RebuiltPercentDocument } from '../generated/kit/history.js';
import { renewLists } from './renewLists.js';
import { commonTexts } from './words/common.texts.js';
import { useText } from './words/i18n.js';

const everyMs = 10_000;

interface History {
  /** What to say on a page that shows the past; undefined: nothing. */
  readonly warning: string | undefined;
  /** It may be followed: while it is being rebuilt, years of it would come as if they had just happened. */
  readonly isWhole: boolean;
}

/** The log and what it adds up to: after an upgrade they may be rebuilt while the gateway serves. */
export function useHistory(): History {
  const t = useText(commonTexts);
  const client = useApolloClient();
  const { data, error } = useQuery(RebuiltPercentDocument, { pollInterval: everyMs, fetchPolicy: 'cache-and-network' });
  const percent = data?.rebuiltPercent ?? null;
  const [isRenewed, setRenewed] = useState(true);
  useEffect(() => {
    if (percent !== null) setRenewed(false);
    else if (!isRenewed) void renewLists(client, 'log').then(() => setRenewed(true));
  }, [percent, isRenewed, client]);
  return {
    warning: percent === null ? undefined : t('history.rebuilt', { percent }),
    isWhole: percent === null && isRenewed && (data !== undefined || error !== undefined),
  };
}
