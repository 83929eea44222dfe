import { useMutation } from '@apollo/client/react';
import { Callout } from '@blueprintjs/core';
import { useEffect, useState } from 'react';
import { useSearchParams } from 'react-router-dom';
import { type OwnOrderFragment, PollOrderDocument } from '../generated/wallet/topUp.js';
import { formatQuota } from '../kit/quota.js';
import { useQuotaUnits } from '../kit/SessionProvider.js';
import { useText } from '../kit/words/i18n.js';
import { topUpTexts } from './topUp.texts.js';

const pauseMs = 2_000;
/** Five minutes: who pays later finds the order below. */
const maxLooks = 150;

/** The order somebody comes back from: Stripe is asked to name it so, Epay calls it like this by itself. */
const returnedFrom = (search: URLSearchParams): string | null => search.get('order') ?? search.get('out_trade_no');

/** What has become of the order somebody comes back from, as soon as it is known. */
export function ReturnNotice() {
  const [search] = useSearchParams();
  const id = returnedFrom(search);
  return id === null ? null : <Awaited key={id} id={id} />;
}

function Awaited({ id }: { readonly id: string }) {
  const t = useText(topUpTexts);
  const units = useQuotaUnits();
  const [order, setOrder] = useState<OwnOrderFragment | null>(null);
  const [looks, setLooks] = useState(0);
  const [poll] = useMutation(PollOrderDocument, { context: { errors: 'inline' } });
  const isOver = order !== null && order.status !== 'OPEN';
  const isGivenUp = looks >= maxLooks;

  useEffect(() => {
    if (isOver || isGivenUp) return;
    let stopped = false;
    const timer = setTimeout(
      async () => {
        const answer = await poll({ variables: { id } }).catch(() => null);
        if (stopped) return;
        if (answer?.data) setOrder(answer.data.pollPayment);
        setLooks(looks + 1);
      },
      looks === 0 ? 0 : pauseMs,
    );
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [id, looks, isOver, isGivenUp, poll]);

  if (order?.status === 'COMPLETED')
    return (
      <Callout intent="success" role="status" className="return-notice">
        {t('return.completed', { quota: formatQuota(order.quota, units) })}
      </Callout>
    );
  if (order?.status === 'EXPIRED')
    return (
      <Callout intent="danger" role="status" className="return-notice">
        {t('return.expired', { id })}
      </Callout>
    );
  return (
    <Callout intent="primary" role="status" className="return-notice">
      {t(isGivenUp ? 'return.late' : 'return.waiting')}
    </Callout>
  );
}
