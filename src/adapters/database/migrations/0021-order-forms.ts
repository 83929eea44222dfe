/**
 * What each idempotency key was first used for. A key that names a stream of its own is checked there; one that is used
 * for two things with streams of their own, such as two redemption codes, is known by nothing else.
 */
export const orderForms = {
  name: '0021-order-forms',
  sql: String.raw`
CREATE TABLE order_forms (
  -- Keyed hashes, of who gives the order under which key, and of what is asked for.
  order_name text PRIMARY KEY,
  form text NOT NULL
);
`,
};
