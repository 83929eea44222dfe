/** As read_events, for one stream: so that nobody has more of it in memory than it can hold. */
export const boundedStreams = {
  name: '0010-bounded-streams',
  sql: `
CREATE FUNCTION read_stream(wanted text, after integer, most_bytes integer) RETURNS SETOF events
LANGUAGE plpgsql STABLE
SET enable_seqscan = off
AS $$
DECLARE
  event events;
  bytes bigint := 0;
BEGIN
  FOR event IN SELECT * FROM events e WHERE e.stream = wanted AND e.revision > after ORDER BY e.revision LOOP
    RETURN NEXT event;
    bytes := bytes + octet_length(event.data::text);
    EXIT WHEN bytes >= most_bytes;
  END LOOP;
END
$$;
`,
};
