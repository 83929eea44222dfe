/**
 * The log and the one way to write to it.
 *
 * `data` is json, not jsonb: the text stays as it was written, byte for byte, so a hash over it stays true.
 *
 * append_events judges and writes many appends in one transaction:
 *   streams, expected, sizes   one entry per append; expected: a revision, -1 = the stream must not exist, -2 = any
 *   owners, places, ids …      one entry per event: its append and its place in it, both from 1; data has a line each
 *   writer                     names the caller in the notification, so that it can ignore its own
 * It answers one row per append, in order. verdict:
 *   appended   revision and position of its last event
 *   repeated   all its event ids are in the stream already: revision and position of the last of them
 *   conflict   revision is the stream's actual one, null when it does not exist
 *   reused     some, but not all, of its event ids are in the stream already
 * A batch holds at most one append per stream. An event id that is in another stream fails the statement.
 */
export const eventLog = {
  name: '0001-event-log',
  sql: String.raw`
CREATE TABLE events (
  position bigint PRIMARY KEY,
  event_id uuid NOT NULL UNIQUE,
  stream text NOT NULL,
  revision integer NOT NULL,
  type text NOT NULL,
  version smallint NOT NULL,
  data json NOT NULL,
  at bigint NOT NULL,
  UNIQUE (stream, revision)
);

CREATE FUNCTION append_events(
  streams text[], expected integer[], sizes integer[],
  owners integer[], places integer[], ids uuid[], types text[], versions smallint[], instants bigint[], data text,
  writer text
) RETURNS TABLE (verdict text, revision integer, "position" bigint)
LANGUAGE plpgsql VOLATILE
-- Plans are cached, perhaps while the table is still empty: without this they would go on scanning it as it grows.
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
  head bigint;
  verdicts text[];
  revisions integer[];
  positions bigint[];
  appended bigint;
BEGIN
  -- Writers queue here until the one before has committed, so positions commit in their own order and no hole fills
  -- later. Each statement of a VOLATILE function has its own snapshot: those below see all that came before. (A lock
  -- on a row with the head would do the same, but its dead versions pile up behind every long-running reader.)
  PERFORM pg_advisory_xact_lock(812470915374);
  SELECT coalesce(max(e.position), -1) INTO head FROM events e;

  WITH judged AS (
    SELECT a.number, a.size, latest.revision AS actual, known.revision AS known_revision,
           known.position AS known_position,
           CASE
             WHEN known.events = a.size THEN 'repeated'
             WHEN known.events > 0 THEN 'reused'
             WHEN a.expected = -2 OR a.expected = coalesce(latest.revision, -1) THEN 'appended'
             ELSE 'conflict'
           END AS verdict
    FROM (
      SELECT request.number, request.stream, request.expected, request.size,
             sum(request.size) OVER (ORDER BY request.number)::integer AS until
      FROM unnest(streams, expected, sizes) WITH ORDINALITY AS request (stream, expected, size, number)
    ) a
    LEFT JOIN LATERAL (
      SELECT e.revision FROM events e WHERE e.stream = a.stream ORDER BY e.revision DESC LIMIT 1
    ) latest ON true
    -- Only ids are searched for: a condition on the stream could tempt the planner to read a long stream whole.
    CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE e.stream = a.stream) AS events,
             max(e.revision) FILTER (WHERE e.stream = a.stream) AS revision,
             max(e.position) FILTER (WHERE e.stream = a.stream) AS position
      FROM events e
      WHERE latest.revision IS NOT NULL AND e.event_id = ANY (ids[a.until - a.size + 1 : a.until])
    ) known
  )
  SELECT array_agg(j.verdict ORDER BY j.number),
         array_agg(
           CASE j.verdict
             WHEN 'appended' THEN coalesce(j.actual, -1) + j.size
             WHEN 'repeated' THEN j.known_revision
             ELSE j.actual
           END
           ORDER BY j.number
         ),
         array_agg(
           CASE j.verdict WHEN 'appended' THEN head + j.appended_until WHEN 'repeated' THEN j.known_position END
           ORDER BY j.number
         ),
         coalesce(max(j.appended_until), 0)
  INTO verdicts, revisions, positions, appended
  FROM (SELECT *, sum(size) FILTER (WHERE verdict = 'appended') OVER (ORDER BY number) AS appended_until FROM judged) j;

  IF appended > 0 THEN
    INSERT INTO events (position, event_id, stream, revision, type, version, data, at)
    SELECT positions[i.owner] - sizes[i.owner] + i.place, i.id, streams[i.owner],
           revisions[i.owner] - sizes[i.owner] + i.place, i.type, i.version, i.data::json, i.at
    FROM unnest(owners, places, ids, types, versions, instants, string_to_array(data, E'\n'))
      AS i (owner, place, id, type, version, at, data)
    WHERE verdicts[i.owner] = 'appended';
    PERFORM pg_notify('events_appended', (head + appended)::text || ' ' || writer);
  END IF;

  RETURN QUERY SELECT * FROM unnest(verdicts, revisions, positions);
END
$$;
`,
};
