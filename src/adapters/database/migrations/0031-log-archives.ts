/**
 * Stretches of the log whose calls are in a file, and in the table no more: each begins where the one before it ends, so
 * together they are the beginning of the log. `cleared_to`: up to where they have been taken away.
 *
 * Whoever reads the log in order from within such a stretch fails with SQLSTATE TG002: what is left there is not all there
 * was.
 */
export const logArchives = {
  name: '0031-log-archives',
  sql: `
CREATE TABLE log_archives (
  period text PRIMARY KEY,
  first_after bigint NOT NULL,
  last_position bigint NOT NULL UNIQUE,
  until bigint NOT NULL,
  events bigint NOT NULL,
  file text NOT NULL,
  digest text NOT NULL,
  cleared_to bigint NOT NULL
);

CREATE OR REPLACE FUNCTION read_events(after bigint, most_events integer, most_bytes integer) RETURNS SETOF events
LANGUAGE plpgsql STABLE
SET enable_seqscan = off
AS $$
DECLARE
  event events;
  bytes bigint := 0;
BEGIN
  PERFORM FROM log_archives a WHERE a.last_position > read_events.after;
  IF FOUND THEN
    RAISE EXCEPTION 'the calls behind position % are in an archive', read_events.after USING ERRCODE = 'TG002';
  END IF;
  FOR event IN SELECT * FROM events e WHERE e.position > read_events.after ORDER BY e.position LIMIT most_events LOOP
    RETURN NEXT event;
    bytes := bytes + octet_length(event.data::text);
    EXIT WHEN bytes >= most_bytes;
  END LOOP;
END
$$;
`,
};
