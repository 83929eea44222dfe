/** Orders without a key of their own that have begun and have not been answered: what the next process must know. */
export const unsettledOrders = {
  name: '0011-unsettled-orders',
  sql: `
CREATE TABLE unsettled_orders (
  order_key text PRIMARY KEY,
  form text NOT NULL,
  since bigint NOT NULL
);
`,
};
