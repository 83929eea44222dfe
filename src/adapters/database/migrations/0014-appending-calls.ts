/**
 * Nearly all that is appended is one event to a call: append_calls writes such a batch with one look at each stream and
 * one insert. What does not fit (a lost race, a repeat, another kind of stream) it leaves to append_events, which judges
 * each append by itself, as before.
 *
 * The ids of a call's events are looked for in its stream, which is short; only those of other streams have an index.
 *
 * Who has an epoch notifies others of what it appended only where some other process follows the log: each notification
 * wakes every connection that listens to anything. Whoever follows holds the lock 812470915375, shared.
 */
export const appendingCalls = {
  name: '0014-appending-calls',
  sql: String.raw`
ALTER TABLE events DROP CONSTRAINT events_event_id_key;
CREATE UNIQUE INDEX events_event_id ON events (event_id) WHERE stream NOT LIKE 'call-%';

DROP FUNCTION append_events_in_epoch;
DROP FUNCTION append_events;

-- Returns when it is this transaction's turn to append, up to its end. epoch: null for whoever is no node. An epoch that
-- is over fails the statement with SQLSTATE TG001.
CREATE FUNCTION take_turn(epoch bigint) RETURNS void
LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
  -- Writers queue here until the one before has committed, so positions commit in their own order and no hole fills
  -- later. Each statement of a VOLATILE function has its own snapshot: those that follow see all that came before. (A
  -- lock on a row with the head would do the same, but its dead versions pile up behind every long-running reader.)
  PERFORM pg_advisory_xact_lock(812470915374);
  IF epoch IS NULL THEN RETURN; END IF;
  PERFORM FROM log_epoch current WHERE current.epoch = take_turn.epoch;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'another node has taken over this log: epoch % is over', epoch USING ERRCODE = 'TG001';
  END IF;
END
$$;

CREATE FUNCTION tell_of_appended(head bigint, writer text, epoch bigint) RETURNS void
LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
  -- Who begins to follow while this lock is held waits until it can see what is appended here.
  IF epoch IS NULL OR NOT pg_try_advisory_xact_lock(812470915375) THEN
    PERFORM pg_notify('events_appended', head::text || ' ' || writer);
  END IF;
END
$$;

-- One event to each of these streams, all of them calls' and each once. expected: a revision, -1 = the stream must not
-- exist. data has a line for each. Answers the position before the first one; null when nothing was written, because
-- some append is not what its stream goes on with.
CREATE FUNCTION append_calls(
  streams text[], expected integer[], ids uuid[], types text[], versions smallint[], instants bigint[], data text,
  writer text, epoch bigint
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
  FROM unnest(streams, expected, ids) AS a (stream, expected, id)
  -- OFFSET 0: stream by stream. A plan made while the log is small would else read the log whole, and be kept as it grows.
  LEFT JOIN LATERAL (SELECT s.revision, s.event_id FROM events s WHERE s.stream = a.stream OFFSET 0) e ON true;
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

-- As described in 0001-event-log, in an epoch. An event id that is in another stream fails the statement, unless that
-- stream is a call's.
CREATE FUNCTION append_events(
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
      SELECT e.revision FROM events e WHERE e.stream = a.stream ORDER BY e.revision DESC LIMIT 1
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
        WHERE a.stream LIKE 'call-%' AND e.stream = a.stream
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
