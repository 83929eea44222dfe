/**
 * append_calls takes several events of one call: what a call begins and ends with often comes at once, from the journal.
 *
 * Beside what it took before, `firsts` says for each event whether it is the first one of its call here; only these are
 * looked at, as those that follow fit by themselves.
 */
export const callsByTwo = {
  name: '0019-calls-by-two',
  sql: String.raw`
DROP FUNCTION append_calls;

CREATE FUNCTION append_calls(
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
  LEFT JOIN LATERAL (SELECT s.revision, s.event_id FROM events s WHERE s.stream = a.stream OFFSET 0) e ON true
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
`,
};
