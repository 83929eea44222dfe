/**
 * A page of the log, bounded by the size of what it holds as well as by its number of events: at least one event if
 * there is one, and none after the one that fills it. A loop, so that what lies beyond is never unpacked.
 */
export const boundedPages = {
  name: '0007-bounded-pages',
  sql: `
CREATE FUNCTION read_events(after bigint, most_events integer, most_bytes integer) RETURNS SETOF events
LANGUAGE plpgsql STABLE
SET enable_seqscan = off
AS $$
DECLARE
  event events;
  bytes bigint := 0;
BEGIN
  FOR event IN SELECT * FROM events e WHERE e.position > after ORDER BY e.position LIMIT most_events LOOP
    RETURN NEXT event;
    bytes := bytes + octet_length(event.data::text);
    EXIT WHEN bytes >= most_bytes;
  END LOOP;
END
$$;
`,
};
