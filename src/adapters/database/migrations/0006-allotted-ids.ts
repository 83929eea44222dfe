/** Ids of things made by orders that can be repeated. They are kept for ever, as the things are. */
export const allottedIds = {
  name: '0006-allotted-ids',
  sql: `
CREATE TABLE allotted_ids (
  order_name text NOT NULL,
  kind text NOT NULL,
  id bigint NOT NULL,
  PRIMARY KEY (order_name, kind)
);
`,
};
