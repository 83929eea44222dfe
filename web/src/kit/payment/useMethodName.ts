import { useCallback } from 'react';
import { useText } from '../words/i18n.js';
import { paymentTexts } from './payment.texts.js';

const known = ['alipay', 'wxpay', 'stripe'] as const;

/** What a way to pay is called; one nobody here knows, by its own name. */
export function useMethodName(): (method: string) => string {
  const t = useText(paymentTexts);
  return useCallback(
    (method) => {
      const found = known.find((name) => name === method);
      return found === undefined ? method : t(`method.${found}`);
    },
    [t],
  );
}
