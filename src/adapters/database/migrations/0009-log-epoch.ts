/**
 * Which node may append. Each that takes over begins an epoch of its own; whoever still writes in an earlier one (it was
 * paused, cut off, or believed dead) is refused, and so is what it had sent before and what only now gets its turn.
 *
 * Both functions take the lock of append_events first: an epoch begins between two appends, and the position it is
 * answered with is the last of all earlier ones, for good.
 */
export const logEpoch = {
  name: '0009-log-epoch',
  sql: `
CREATE TABLE log_epoch (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  epoch bigint NOT NULL
);
INSERT INTO log_epoch (epoch) VALUES (0);

CREATE FUNCTION begin_epoch() RETURNS TABLE (epoch bigint, head bigint)
LANGUAGE plpgsql VOLATILE
AS $$
#variable_conflict use_column
BEGIN
  PERFORM pg_advisory_xact_lock(812470915374);
  RETURN QUERY
    UPDATE log_epoch SET epoch = epoch + 1
    RETURNING epoch, (SELECT coalesce(max(e.position), -1) FROM events e);
END
$$;

-- As append_events, but only in the epoch that lasts: else the statement fails with SQLSTATE TG001, nothing written.
CREATE FUNCTION append_events_in_epoch(
  streams text[], expected integer[], sizes integer[],
  owners integer[], places integer[], ids uuid[], types text[], versions smallint[], instants bigint[], data text,
  writer text, epoch bigint
) RETURNS TABLE (verdict text, revision integer, "position" bigint)
LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
  -- Only what is read after the lock is had is true for as long as the lock is held.
  PERFORM pg_advisory_xact_lock(812470915374);
  PERFORM FROM log_epoch current WHERE current.epoch = append_events_in_epoch.epoch;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'another node has taken over this log: epoch % is over', epoch USING ERRCODE = 'TG001';
  END IF;
  RETURN QUERY SELECT * FROM append_events(
    streams, expected, sizes, owners, places, ids, types, versions, instants, data, writer
  );
END
$$;
`,
};
