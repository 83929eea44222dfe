import type { ApiKey } from '../../domain/api-key/api-key.js';
import type { ApiKeyTerms } from '../../domain/api-key/api-key-terms.js';
import type { CallProgress, LastSeen } from '../../domain/call/call-progress.js';
import type { ChannelSecrets, ChannelStatus } from '../../domain/channel/channel.js';
import type { ChannelSettings } from '../../domain/channel/channel-settings.js';
import type { NewEvent, Position, Recorded, Revision, StreamName } from '../../domain/events/events.js';
import type { IdentityKind } from '../../domain/kernel/claim.js';
import type { ApiKeyId, CallId, ChannelId, IdentityClaim, Sealed, SecretId, UserId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import type { Language } from '../../domain/kernel/language.js';
import type { Quota } from '../../domain/kernel/quota.js';
import type { Role } from '../../domain/user/role.js';
import type { ReadModelState } from '../../projections/engine/runner.js';
import type { Settings } from '../options/settings.js';
import type { Admission, AdmissionRequest, LeftCall } from './quota-gate-ports.js';

/* What the application needs from the world. Each port has one contract test, run over every implementation. */

export type ExpectedRevision = Revision | 'any' | 'no-stream';

/** A lost race is an answer, not an exception: whoever appends must choose what to do about it. */
export type AppendResult =
  | { readonly ok: true; readonly revision: Revision; readonly position: Position }
  | { readonly ok: false; readonly conflict: { readonly actual: Revision | null } };

export type DurableResult = { readonly ok: true } | Extract<AppendResult, { readonly ok: false }>;

/**
 * Called with where the log has an event: its position, or that of a later event of its stream that was committed with
 * it.
 */
export type OnCommitted = (position: Position) => void;

/**
 * What this release cannot read (see UnreadableEvent) is never left out: reading gives what lies before it, and then
 * rejects with UnreadableEvent; so do subscriptions, and streams that hold it.
 */
export interface EventStore {
  /**
   * Appends to one stream, all or nothing; resolves once durable, with the last event's revision and position. A repeat
   * of the same event ids returns the first result, whatever was expected. Rejects with `store-unavailable` (outcome
   * unknown: repeat it), `store-busy` (nothing was or will be written) or `event-too-large`.
   */
  append(stream: StreamName, events: readonly NewEvent[], expected: ExpectedRevision): Promise<AppendResult>;

  /**
   * One stream from its start, oldest first. A stream that does not exist is empty. Rejects with `stream-too-large` when
   * it is more than can be held at once.
   */
  readStream(stream: StreamName): Promise<readonly Recorded[]>;

  /** The same in pages, none of them empty, for whoever need not hold it: of any size, and after a revision. */
  streamPages(stream: StreamName, after?: Revision): AsyncIterable<readonly Recorded[]>;

  /**
   * The global order after `after`, at most `limit` events, oldest first. Large events make a page shorter; only at the
   * end of the log is it empty.
   */
  readAll(after: Position, limit: number): Promise<readonly Recorded[]>;

  /**
   * The last events of the log, about `limit` of them, oldest first; fewer where they are large, and then without the very
   * last. As `readAll`, it gives what lies before an event that this release cannot read.
   */
  readNewest(limit: number): Promise<readonly Recorded[]>;

  /** The newest position; -1 when the log is empty. */
  head(): Promise<Position>;

  /**
   * About how many events lie behind `after`, up to `upTo`: by what the engine knows of its positions, without asking
   * anybody. 0 where `upTo` is not behind `after`, else at least 1. For progress and for pace; nothing is decided by it.
   */
  estimateBetween(after: Position, upTo: Position): number;

  /**
   * Batches after `after`, first what is stored, then as it comes, in order, at least once, never an empty one.
   * Ends when the signal aborts; survives a lost connection by itself.
   */
  subscribe(after: Position, signal: AbortSignal): AsyncIterable<readonly Recorded[]>;

  close(): Promise<void>;
}

/** Appends that are answered as soon as they are durable, for whoever cannot wait until the log has them. */
interface DurableAppends {
  /**
   * As `append`, for one event to a call; but resolves as soon as it is durable, which may be before it is committed to
   * the log. `onCommitted` is called once it is, unless the process ends before: the next one then commits it. Who reads
   * streams or asks for the head of this store finds it there.
   */
  appendDurable(
    stream: StreamName,
    event: NewEvent,
    expected: ExpectedRevision,
    onCommitted?: OnCommitted,
  ): Promise<DurableResult>;
}

export type DurableEventStore = EventStore & DurableAppends;

export interface Clock {
  now(): Instant;
}

/** Numeric ids, which the legacy contract needs; unique for ever, increasing, gaps allowed. */
export interface Ids {
  next(kind: IdKind): Promise<number>;
  /** The id of the thing an order makes: the same at each repeat of the order. `order`: its name, a keyed hash. */
  allotted(kind: IdKind, order: string): Promise<number>;
}

export type IdKind = 'user' | 'api-key' | 'channel' | 'redemption';

/** An order that its client gave no name. */
export interface PendingIdempotencyKey {
  /** Who ordered what, as a keyed hash. */
  readonly form: string;
  /** The name it has got. */
  readonly key: string;
  readonly since: Instant;
}

/** Orders that have begun and whose outcome their client has not been answered, kept for the process after this one. */
export interface PendingIdempotencyKeys {
  /** Those begun after this moment, oldest first; earlier ones are forgotten. */
  left(after: Instant): Promise<readonly PendingIdempotencyKey[]>;
  begin(order: PendingIdempotencyKey): Promise<void>;
  end(key: string): Promise<void>;
  /** The form an order's name stands for, for ever: `form`, if it is used for the first time. */
  bind(name: string, form: string): Promise<{ readonly form: string; readonly isNew: boolean }>;
  /** The order was refused and has written nothing: its name may be used again. */
  unbind(name: string): Promise<void>;
}

/** Up to where in the log each reaction has done what was to be done. */
export interface ReactionCheckpoints {
  /** `beginning`: it has done nothing yet. */
  of(reaction: string): Promise<Position>;
  /** Never takes a reaction back. */
  keep(reaction: string, position: Position): Promise<void>;
}

/** What the read model knows of a user's API keys, all of one moment. */
export interface ApiKeyCounts {
  /** How many live ones there are, and which of `ids` it knows at all. */
  of(owner: UserId, ids: readonly ApiKeyId[]): Promise<{ live: number; known: readonly ApiKeyId[] }>;
}

/** Secrets that events refer to. Encrypted at rest with the master key. */
export interface Vault {
  put(secret: string): Promise<SecretId>;
  /** null: unknown or dropped. */
  get(id: SecretId): Promise<string | null>;
  getMany(ids: readonly SecretId[]): Promise<ReadonlyMap<SecretId, string>>;
  drop(ids: readonly SecretId[]): Promise<void>;
  /** A keyed hash (hex) that finds a secret without storing it: API keys, access tokens, channel keys. */
  hash(secret: string): string;
}

/** Personal data, encrypted with one key per user. */
export interface PersonalData {
  seal(user: UserId, text: string): Promise<Sealed>;
  /** null: the user's key has been destroyed. */
  open(user: UserId, sealed: Sealed): Promise<string | null>;
  /** The same for many, in their order. */
  openAll(texts: readonly { readonly user: UserId; readonly sealed: Sealed }[]): Promise<readonly (string | null)[]>;
  /** A keyed hash by which a text, or part of one, is found without being stored. */
  searchToken(term: string): string;
  /** A keyed hash that shows whether two addresses, or ids elsewhere, are the same; long enough to be unique. */
  identityClaim(kind: IdentityKind, subject: string): IdentityClaim;
  /** Destroys the users' keys; everything sealed with them is gone. */
  forget(users: readonly UserId[]): Promise<void>;
}

export interface Passwords {
  hash(password: string): Promise<string>;
  verify(hash: string, password: string): Promise<boolean>;
}

/** Whose session, and up to where the user's credentials were known when it was opened. */
export interface Session {
  readonly user: UserId;
  readonly since: Position;
}

/** Where somebody asks from, and with what. */
export interface Client {
  /** Where attempts are counted: an address, or the network it belongs to. */
  readonly network: string;
  /** What the browser calls itself; '' where it says nothing. */
  readonly userAgent: string;
  /** That its reader wants; null or missing: none that there is. */
  readonly language?: Language | null;
}

/** A session as its user may see it. */
export interface OpenSession {
  /** Names the session; opens nothing. */
  readonly id: string;
  readonly openedAt: Instant;
  /** To within a few minutes. */
  readonly seenAt: Instant;
  /** Where it was opened from. */
  readonly client: Client;
}

/** Console sessions. The token goes into the cookie; only its hash is stored. */
export interface Sessions {
  /** Remembers the client's language as the user's, if it has one. */
  open(session: Session, client: Client): Promise<string>;
  find(token: string): Promise<(Session & { readonly ended: boolean }) | null>;
  close(token: string): Promise<void>;
  /** All of the user's that were opened before `position`: they are over, and can still be found. */
  endOlder(user: UserId, position: Position): Promise<void>;
  /** The same, and nothing of them is left. */
  closeOlder(user: UserId, position: Position): Promise<void>;
  /** The id of the session a token opens. */
  idOf(token: string): string;
  /** The user's newest that were opened at `position` or later and have not ended, newest first; a hundred at most. */
  openOf(user: UserId, position: Position): Promise<readonly OpenSession[]>;
  /** False: the user has no such session. */
  closeOne(user: UserId, id: string): Promise<boolean>;
  /** All of the user's but that one; the ids of those closed. */
  closeOthers(user: UserId, id: string): Promise<readonly string[]>;
  /** That a browser of the user's wanted at the last sign-in which named one; null: none did. */
  languageOf(user: UserId): Promise<Language | null>;
}

export type TicketKind =
  | 'totp-enrolment'
  | 'oauth-state'
  | 'email-code'
  | 'password-reset'
  | 'half-sign-in'
  | 'passkey-challenge'
  | 'step-up'
  | 'step-up-code'
  | 'human-check'
  | 'telegram-sign-in';

/**
 * What is given out to be brought back, soon and mostly once: codes sent by mail, states of a sign-in elsewhere,
 * challenges. A ticket is found by its name and worth something with its code; neither is stored.
 */
export interface Tickets {
  /** In place of the one of that kind and name. `tries`: wrong codes after which it is worth nothing. */
  issue(
    kind: TicketKind,
    name: string,
    ticket: { readonly code: string; readonly content: string; readonly lifetimeMs: number; readonly tries: number },
  ): Promise<void>;
  /** Its content; it stays. null: no such ticket any more, or the code is wrong, which counts against it. */
  check(kind: TicketKind, name: string, code: string): Promise<string | null>;
  /** The same, and it is used up: of two who bring it at once, one gets null. */
  redeem(kind: TicketKind, name: string, code: string): Promise<string | null>;
  drop(kind: TicketKind, name: string): Promise<void>;
  /** What was redeemed, back; one that was issued in the meantime stays instead. */
  restore(...issued: Parameters<Tickets['issue']>): Promise<void>;
  /** For what somebody else has made, and is good once: true the first time it is shown, false until `lifetimeMs` later. */
  spend(kind: TicketKind, name: string, lifetimeMs: number): Promise<boolean>;
}

/** How far each read model has come; faces wait here to see their own writes. */
export interface ReadModelProgress {
  /**
   * Resolves true once every read model, or each of those named, has reached `position`, or false after `timeoutMs`;
   * false at once when a stopped read model is all there is left to wait for.
   */
  reached(position: Position, timeoutMs: number, names?: readonly string[]): Promise<boolean>;
  /** Resolves once the read model has passed `position`, where it may be stopped now, or after `timeoutMs`. */
  passed(name: string, position: Position, timeoutMs: number): Promise<boolean>;
  /** How each read model stands, as far as this node knows. */
  status(): readonly ReadModelState[];
}

/* ---- the node's memory, kept by tailing the log ---- */

export interface ApiKeyView {
  readonly id: ApiKeyId;
  readonly owner: UserId;
  readonly status: Exclude<ApiKey['status'], 'absent' | 'deleted'>;
  readonly terms: ApiKeyTerms;
}

export interface UserView {
  readonly id: UserId;
  readonly username: string;
  readonly role: Role;
  readonly status: 'enabled' | 'disabled' | 'deleted';
  readonly group: string;
  readonly acceptUnpricedModels: boolean;
  /** The role the user will have again with a second factor; missing: none is withheld. */
  readonly withheldRole?: Role;
}

/** What proves that somebody is the user, all of one moment. */
export interface UserCredentials {
  readonly user: UserView;
  readonly passwordSecret: SecretId | null;
  readonly accessToken: { readonly hash: string; readonly issuedAt: Position } | null;
  /** The last event that ended all sessions and access tokens there were then; `beginning`: none. */
  readonly endedAt: Position;
}

export interface ChannelView {
  readonly id: ChannelId;
  readonly status: ChannelStatus;
  readonly settings: ChannelSettings;
  readonly secrets: ChannelSecrets;
}

/** What a node knows by heart. Never a read-model query once an entry is here; never staler than the tail. */
export interface Directory {
  /** By keyed hash. null: no such key. */
  apiKey(keyHash: string): Promise<ApiKeyView | null>;
  /** Whether the key has been found before, by this node: it is looked up without asking anybody. */
  remembersApiKey(keyHash: string): boolean;
  user(id: UserId): Promise<UserView | null>;
  credentials(id: UserId): Promise<UserCredentials | null>;
  channel(id: ChannelId): ChannelView | null;
  channels(): readonly ChannelView[];
  /** Those that are enabled, and of a type the gateway can speak with. */
  serving(): readonly ChannelView[];
  /** Of the serving ones, those that have the model for the group, highest priority first. */
  candidates(group: string, model: string): readonly ChannelView[];
  /** Whether some channel that could serve has the model, of whatever group and switched off or not. */
  hasModel(model: string): boolean;
  /** Distinct models that some channel serves for one of the groups, sorted. null: for whatever group. */
  models(groups: readonly string[] | null): readonly string[];
  settings(): Settings;
}

/**
 * Admits or refuses reservations, for user and API key together, atomically: what is reserved for all calls is never
 * more than there is. Each method answers or rejects within a bounded time; where one rejects nobody knows whether the
 * gate has done it, unless the Failure is named here.
 */
export interface QuotaGate {
  /** Throws Failure `lost-race` where a call of this name is in flight: what is reserved for that stays as it is. */
  admit(request: AdmissionRequest): Promise<Admission>;
  /** Raises a call's reservation to `quota`; false (and unchanged) when user, API key or budget cannot afford it. */
  extend(callId: CallId, quota: Quota): Promise<boolean>;
  /**
   * Decides how much of a call's cost is charged: as much as its user has, and its limited API key and budget allow.
   * What others reserve does not count, or one large reservation would make all other calls free. Asked again, it
   * decides again, until the outcome is known to be durable. null: there is no such call in flight.
   */
  charge(callId: CallId, cost: Quota): Promise<Quota | null>;
  /** The same for one that may have been admitted before this gate was opened: then the user's balance alone counts. */
  chargeLeft(call: LeftCall, cost: Quota): Promise<Quota>;
  /**
   * The settlement is durable: from now on the reservation is exactly the charge, until the tail has it. Only makes
   * room earlier: the tail ends the reservation in any case. Takes effect before what this process asks of the gate
   * later.
   */
  settled(callId: CallId, charged: Quota): Promise<void>;
  /** The reservation never became durable: forget it. Nothing else ends it. Safe to repeat. */
  drop(callId: CallId): Promise<void>;
  /** A key has nothing left, even if every reservation of calls in flight were given back. */
  isSpent(apiKeyId: ApiKeyId): Promise<boolean>;
  /** The same of a user. */
  isUserSpent(userId: UserId): Promise<boolean>;
  /** What a key may still spend, reservations deducted. */
  remaining(apiKeyId: ApiKeyId): Promise<Quota>;
  /** What a user may still spend, reservations deducted. */
  available(userId: UserId): Promise<Quota>;
}

/*
 * How far calls under way have come, noted now and then beside the log: what is lost with a node that dies is at most
 * what happened since its last note. It decides nothing while the node lives.
 */

export interface CallProgressNotes {
  /** From now on this node notes; its reservations lie behind `after`. */
  begin(after: Position): Promise<void>;
  /**
   * All at once or not at all. `notedTo`: of calls reserved up to there, each that has gone upstream is among those noted
   * and not ended.
   */
  note(
    notedTo: Position,
    progressed: readonly { readonly callId: CallId; readonly progress: CallProgress }[],
    ended: readonly CallId[],
  ): Promise<void>;
  /** What the nodes that reserved these calls have noted last. */
  lastSeen(
    calls: readonly { readonly callId: CallId; readonly position: Position }[],
  ): Promise<ReadonlyMap<CallId, LastSeen>>;
  /** Drops what is noted of calls that have their outcome. */
  forget(calls: readonly CallId[]): Promise<void>;
  /** Drops what nodes before this one have noted, for when all their calls have their outcome. */
  forgetOthers(): Promise<void>;
}
