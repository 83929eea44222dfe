import { beginning, Position } from '../../domain/events/events.js';

/** The channel on which a projector learns how far somebody on another node waits for it to come. */
export const wantedChannel = 'projections_wanted';

/**
 * What a projector's connection is set to. Rows and checkpoint are lost together in a crash of the database, and folded
 * again; so a commit need not wait for the disk. The keep-alives let the server notice within seconds that a leader's
 * machine is gone.
 */
export const connectionSettings = (model: string): string => `
  set application_name to 'tallygate projector ${model}';
  set synchronous_commit to off;
  set tcp_keepalives_idle to 5;
  set tcp_keepalives_interval to 2;
  set tcp_keepalives_count to 3;
  set idle_in_transaction_session_timeout to '60s'
`;

/** What a notification is about; `beginning`: nothing. */
export const wantedIn = (payload: string | undefined): Position => {
  const number = Number(payload);
  return Number.isSafeInteger(number) && number >= 0 ? Position(number) : beginning;
};
