import { useQuery } from '@apollo/client/react';
import { useEffect, useState } from 'react';
import { ExampleBillDocument } from '../../generated/settings/prices/prices.js';
import type { Bill, ExampleTerms } from './ExampleBill.js';
import { type FieldProblem, fieldProblemIn } from './fieldProblem.js';
import type { PricePeriods } from './priceRecord.js';

/** So long nothing must be typed before the server is asked. */
const restMs = 300;

/** The value as it was when nobody had changed it for a while. */
function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  const text = JSON.stringify(value);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what it says counts, not which object says it
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), restMs);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

interface ExampleAnswer {
  /** The last one there was, while the next is worked out. */
  readonly bill: Bill | undefined;
  /** A field of the record that cannot be read. */
  readonly problem: FieldProblem | null;
  readonly error: unknown;
}

/** The bill for what is typed, worked out by the server as it is typed. */
export function useExampleBill(
  model: string,
  periods: PricePeriods,
  period: number,
  terms: ExampleTerms,
): ExampleAnswer {
  const asked = useSettled({
    model: model.trim() === '' ? 'model' : model.trim(),
    periods,
    period,
    usage: [...terms.usage],
    group: terms.group,
    serviceTier: terms.serviceTier === '' ? null : terms.serviceTier,
  });
  const { data, previousData, error } = useQuery(ExampleBillDocument, { variables: asked, fetchPolicy: 'no-cache' });
  return { bill: (data ?? previousData)?.exampleBill, problem: fieldProblemIn(error), error };
}
