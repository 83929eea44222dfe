import { randomBytes } from 'node:crypto';
import { Failure, isUnavailable } from '../../domain/kernel/failure.js';
import type { UserId } from '../../domain/kernel/ids.js';
import type { Site } from '../ports/proof-ports.js';
import type { SessionProof, StepUpMethod, StepUpPurpose } from '../session-proof.js';
import type { MailRequester } from '../users/email-codes.js';
import {
  checkStepUpProof,
  credentialsOfUser,
  proofContext,
  type StepUpPorts,
  type StepUpProof,
  type StepUpScope,
  scopeName,
  sendStepUpCode,
  stepUpMethods,
} from './step-up-proof.js';

/*
 * Step-up authentication: a stolen session alone must not change how its user signs in. A proof gives a ticket for one
 * purpose of one user in one session, worth one order that is accepted.
 */

const lifetimeMs = 5 * 60_000;
/** Wrong tickets after which the right one is worth nothing. */
const tries = 5;
/** Orders that may be refused before the ticket is spent: whoever mistypes a code may type it again. */
const refusalsAllowed = 5;
/** Where there is nothing to prove with: how long ago the session may have been opened. */
const recentMs = 10 * 60_000;

/** What a ticket holds: until when it lasts, in ms since 1970, and how many more of its orders may be refused. */
interface TicketContent {
  readonly until: number;
  readonly refusals: number;
}

type TicketPorts = Pick<StepUpPorts, 'tickets' | 'clock'>;

const storeTicket = (
  { tickets, clock }: TicketPorts,
  step: 'issue' | 'restore',
  { name, code }: { readonly name: string; readonly code: string },
  content: TicketContent,
): Promise<void> => {
  const lifetimeLeftMs = content.until - clock.now();
  return tickets[step]('step-up', name, {
    code,
    content: JSON.stringify(content),
    lifetimeMs: lifetimeLeftMs,
    tries,
  });
};

/** The order was refused: its ticket is good for another one, for as long as it would have been. */
async function giveTicketBack(
  ports: TicketPorts,
  ticket: { readonly name: string; readonly code: string },
  redeemed: string,
): Promise<void> {
  const { until, refusals } = JSON.parse(redeemed) as TicketContent;
  if (refusals <= 0 || until <= ports.clock.now()) return;
  await storeTicket(ports, 'restore', ticket, { until, refusals: refusals - 1 });
}

async function isRecentSession(ports: StepUpPorts, { user, session }: StepUpScope): Promise<boolean> {
  const { endedAt } = await credentialsOfUser(ports, user);
  const found = (await ports.sessions.openOf(user, endedAt)).find((open) => open.id === session);
  const ageMs = found === undefined ? -1 : ports.clock.now() - found.openedAt;
  // One from the future, after the clock was set back, is no new one for a day.
  return ageMs >= 0 && ageMs <= recentMs;
}

async function proveStepUp(
  ports: StepUpPorts,
  scope: StepUpScope,
  proof: StepUpProof,
  network: string,
): Promise<string> {
  await checkStepUpProof(ports, scope, proof, network);
  const code = randomBytes(32).toString('base64url');
  const content = { until: ports.clock.now() + lifetimeMs, refusals: refusalsAllowed };
  await storeTicket(ports, 'issue', { name: scopeName(scope), code }, content);
  return code;
}

/**
 * The ticket is redeemed before the order, so that of two orders at once one has it, and given back where the order is
 * refused. An order whose outcome is unknown keeps it spent.
 */
async function demandStepUp<Result>(
  ports: StepUpPorts,
  scope: StepUpScope,
  ticket: string | null,
  order: () => Promise<Result>,
): Promise<Result> {
  const { purpose } = scope;
  const name = scopeName(scope);
  const redeemed = ticket === null ? null : await ports.tickets.redeem('step-up', name, ticket);
  if (ticket === null || redeemed === null) {
    if ((await stepUpMethods(ports, scope.user)).length > 0) throw new Failure('step-up-needed', { purpose });
    if (!(await isRecentSession(ports, scope))) throw new Failure('sign-in-again-needed', { purpose });
    return order();
  }
  try {
    return await order();
  } catch (error) {
    // Where it cannot be given back either, it has to be proven again.
    if (error instanceof Failure && !isUnavailable(error))
      await giveTicketBack(ports, { name, code: ticket }, redeemed).catch(() => {});
    throw error;
  }
}

export interface StepUps {
  /** By what the user is asked for a proof; none: the session must be a new one. */
  methods(user: UserId): Promise<readonly StepUpMethod[]>;
  /** A challenge for the user's passkeys, as JSON for the browser. */
  passkeyOptions(scope: StepUpScope, site: Site): Promise<string>;
  /** Mails a code. Throws `proof-not-fit` where another proof is asked for, `too-many-attempts`, `mail-failed`. */
  sendCode(scope: StepUpScope, requester: MailRequester): Promise<void>;
  /** The ticket. `network`: the client's. Throws as the proof does, `second-factor-off`, `proof-not-fit`. */
  prove(scope: StepUpScope, proof: StepUpProof, network: string): Promise<string>;
  /**
   * Carries out the order of a user who has just proven who they are for it. Throws `step-up-needed`;
   * `sign-in-again-needed` where there is nothing to prove with and the session is no new one.
   */
  demand<Result>(
    user: { readonly id: UserId },
    purpose: StepUpPurpose,
    sessionProof: SessionProof,
    order: () => Promise<Result>,
  ): Promise<Result>;
}

export const stepUps = (ports: StepUpPorts): StepUps => ({
  methods: stepUpMethods.bind(null, ports),
  passkeyOptions: (scope, site) => ports.secondFactor.passkeyOptions(proofContext(scope), site),
  sendCode: sendStepUpCode.bind(null, ports),
  prove: proveStepUp.bind(null, ports),
  demand: ({ id }, purpose, { session, stepUp }, order) =>
    demandStepUp(ports, { user: id, session, purpose }, stepUp, order),
});
