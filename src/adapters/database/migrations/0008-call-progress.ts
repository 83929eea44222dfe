/**
 * What a node notes of its calls under way, for whoever has to end them when it dies. Small, and rewritten all the time:
 * room is left in the pages, and dead rows are cleared early.
 */
export const callProgress = {
  name: '0008-call-progress',
  sql: `
CREATE TABLE call_progress (
  call_id text PRIMARY KEY,
  node_id text NOT NULL,
  progress json NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.5);

CREATE TABLE call_progress_node (
  node_id text PRIMARY KEY,
  -- Reservations of this node lie behind this position.
  began_after bigint NOT NULL,
  -- Of calls reserved up to here it has noted every one that had gone upstream.
  noted_to bigint NOT NULL
);
`,
};
