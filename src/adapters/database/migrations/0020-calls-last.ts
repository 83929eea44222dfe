/**
 * The streams of calls come last in the index of streams. Their ids grow with time, and Postgres fills the pages of an
 * index only where it grows at its end: among channels and users, whose names come after theirs, half of each page of calls
 * stayed empty.
 */
export const callsLast = {
  name: '0020-calls-last',
  sql: String.raw`
CREATE UNIQUE INDEX events_of_stream ON events ((stream LIKE 'call-%'), stream, revision);
ALTER TABLE events DROP CONSTRAINT events_stream_revision_key;

CREATE OR REPLACE FUNCTION read_stream(wanted text, after integer, most_bytes integer) RETURNS SETOF events
LANGUAGE plpgsql STABLE
SET enable_seqscan = off
AS $$
DECLARE
  event events;
  bytes bigint := 0;
BEGIN
  FOR event IN
    SELECT * FROM events e
    WHERE (e.stream LIKE 'call-%') = (wanted LIKE 'call-%') AND e.stream = wanted AND e.revision > after
    ORDER BY e.revision
  LOOP
    RETURN NEXT event;
    bytes := bytes + octet_length(event.data::text);
    EXIT WHEN bytes >= most_bytes;
  END LOOP;
END
$$;

-- As in 0019-calls-by-two.
CREATE OR REPLACE FUNCTION append_calls(
  streams text[], expected integer[], firsts boolean[], ids uuid[], types text[], versions smallint[],
  instants bigint[], data text, writer text, epoch bigint
) RETURNS bigint
LANGUAGE plpgsql VOLATILE
-- Plans are cached, perhaps while the table is still empty: without this they would go on scanning it as it grows.
SET enable_seqscan = off
-- Or made anew for every batch.
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
  head bigint;
  sound boolean;
BEGIN
  PERFORM take_turn(epoch);

  -- No event in the stream's way, and as many streams that have the revision expected as there are to be continued.
  SELECT count(*) FILTER (WHERE
           CASE WHEN e.revision IS NULL THEN a.expected >= 0 ELSE e.revision > a.expected OR e.event_id = a.id END
         ) = 0
         AND count(*) FILTER (WHERE e.revision = 0) = count(*) FILTER (WHERE e.revision = a.expected)
  INTO sound
  FROM unnest(streams, expected, firsts, ids) AS a (stream, expected, first, id)
  -- OFFSET 0: stream by stream. A plan made while the log is small would else read the log whole, and be kept as it grows.
  LEFT JOIN LATERAL (
    SELECT s.revision, s.event_id FROM events s WHERE s.stream LIKE 'call-%' AND s.stream = a.stream OFFSET 0
  ) e ON true
  WHERE a.first;
  IF NOT sound THEN RETURN NULL; END IF;

  SELECT coalesce(max(e.position), -1) INTO head FROM events e;
  INSERT INTO events (position, event_id, stream, revision, type, version, data, at)
  SELECT head + i.place, i.id, i.stream, i.expected + 1, i.type, i.version, i.data::json, i.at
  FROM unnest(ids, streams, expected, types, versions, instants, string_to_array(data, E'\n'))
    WITH ORDINALITY AS i (id, stream, expected, type, version, at, data, place);
  PERFORM tell_of_appended(head + cardinality(streams), writer, epoch);
  RETURN head;
END
$$;

-- As in 0014-appending-calls.
CREATE OR REPLACE FUNCTION append_events(
  streams text[], expected integer[], sizes integer[],
  owners integer[], places integer[], ids uuid[], types text[], versions smallint[], instants bigint[], data text,
  writer text, epoch bigint
) RETURNS TABLE (verdict text, revision integer, "position" bigint)
LANGUAGE plpgsql VOLATILE
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
  PERFORM take_turn(epoch);
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
      SELECT e.revision FROM events e
      WHERE (e.stream LIKE 'call-%') = (a.stream LIKE 'call-%') AND e.stream = a.stream
      ORDER BY e.revision DESC LIMIT 1
    ) latest ON true
    CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE found.stream = a.stream) AS events,
             max(found.revision) FILTER (WHERE found.stream = a.stream) AS revision,
             max(found.position) FILTER (WHERE found.stream = a.stream) AS position
      FROM (
        -- Only ids are searched for: the name of the stream could tempt the planner to read a long one whole.
        SELECT e.stream, e.revision, e.position FROM events e
        WHERE a.stream NOT LIKE 'call-%' AND e.stream NOT LIKE 'call-%'
          AND e.event_id = ANY (ids[a.until - a.size + 1 : a.until])
        UNION ALL
        SELECT e.stream, e.revision, e.position FROM events e
        WHERE a.stream LIKE 'call-%' AND e.stream LIKE 'call-%' AND e.stream = a.stream
          AND e.event_id = ANY (ids[a.until - a.size + 1 : a.until])
      ) found
      WHERE latest.revision IS NOT NULL
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
    PERFORM tell_of_appended(head + appended, writer, epoch);
  END IF;

  RETURN QUERY SELECT * FROM unnest(verdicts, revisions, positions);
END
$$;
`,
};
