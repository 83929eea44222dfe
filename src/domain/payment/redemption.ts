import { bytesIn, checkText } from '../kernel/bounds.js';
import type { Decider } from '../kernel/decider.js';
import { assertNever, Failure } from '../kernel/failure.js';
import type { SecretId, UserId } from '../kernel/ids.js';
import { enteredQuota, plusQuota, type Quota } from '../kernel/quota.js';
import type { Role } from '../user/role.js';

/*
 * A code that is worth quota to whoever redeems it first. Stream `redemption-{id}`: of two who redeem it at once, the
 * expected revision lets one through. What is written when it is redeemed is the credit; there is no other.
 */

export type RedemptionEvent =
  | { type: 'RedemptionCodeIssued'; codeHash: string; secret: SecretId; name: string; quota: Quota; by: UserId }
  | { type: 'RedemptionCodeEdited'; name: string; quota: Quota; by: UserId }
  | { type: 'RedemptionCodeEnabled'; by: UserId }
  | { type: 'RedemptionCodeDisabled'; by: UserId }
  | { type: 'RedemptionCodeDeleted'; by: UserId }
  /** Adds `quota` to what `user` may spend. */
  | { type: 'RedemptionCodeRedeemed'; user: UserId; quota: Quota };

export interface RedemptionTerms {
  /** For administrators. */
  readonly name: string;
  readonly quota: Quota;
}

export type RedemptionCommand =
  | ({ type: 'IssueRedemptionCode'; codeHash: string; secret: SecretId; by: UserId } & RedemptionTerms)
  | ({ type: 'EditRedemptionCode'; by: UserId } & RedemptionTerms)
  | { type: 'EnableRedemptionCode' | 'DisableRedemptionCode' | 'DeleteRedemptionCode'; by: UserId }
  /** `balance`: what the user has before. */
  | { type: 'RedeemCode'; user: UserId; role: Role; balance: Quota };

export type RedemptionStatus = 'unused' | 'disabled' | 'used';

export type Redemption =
  | { readonly status: 'absent' | 'deleted' }
  /** `makers`: who has said what it is worth. */
  | ({ readonly status: RedemptionStatus; readonly makers: ReadonlySet<UserId> } & RedemptionTerms);

type LiveRedemption = Extract<Redemption, RedemptionTerms>;

const codePattern = /^[0-9a-f]{32}$/;

/** Whoever shows a code learns no more of it than that it is worth nothing. */
export const unknownCode = (): Failure =>
  new Failure('redemption-code-unknown', { field: 'code', allowed: 'a code that has been issued' });

/** A code as it is looked for. Throws `redemption-code-missing`, or `redemption-code-unknown` for what can be none. */
export function redemptionCode(typed: string): string {
  const code = typed.trim();
  if (code === '') throw new Failure('redemption-code-missing', { field: 'code', allowed: 'a code' });
  if (!codePattern.test(code)) throw unknownCode();
  return code;
}

/** In UTF-8, as the legacy contract counts it. */
const maxNameBytes = 20;
/** Made by one order. */
const maxRedemptionCodes = 100;

/** Throws `redemption-name-length`, or `invalid-field` for what cannot be shown. */
export function checkRedemptionName(name: string): void {
  if (name === '' || bytesIn(name) > maxNameBytes) {
    const allowed = `1 to ${maxNameBytes} bytes`;
    throw new Failure('redemption-name-length', { field: 'name', allowed, max: maxNameBytes });
  }
  checkText('name', name, { max: maxNameBytes });
}

/** What a code can be worth. Throws `redemption-quota-too-small` or `quota-out-of-range`. */
export function redemptionQuota(quota: number): Quota {
  const entered = enteredQuota('quota', quota);
  if (entered < 1) throw new Failure('redemption-quota-too-small', { field: 'quota', allowed: 'an integer from 1' });
  return entered;
}

/** Throws `redemption-count-too-small` or `redemption-count-too-large`. */
export function checkRedemptionCount(count: number): void {
  const allowed = `an integer from 1 to ${maxRedemptionCodes}`;
  if (!(count >= 1)) throw new Failure('redemption-count-too-small', { field: 'count', allowed });
  if (!Number.isSafeInteger(count) || count > maxRedemptionCodes)
    throw new Failure('redemption-count-too-large', { field: 'count', allowed, max: maxRedemptionCodes });
}

const isLive = (code: Redemption): code is LiveRedemption => code.status !== 'absent' && code.status !== 'deleted';

const live = (code: Redemption): LiveRedemption => {
  if (!isLive(code)) throw new Failure('redemption-not-found');
  return code;
};

/** A code that somebody has redeemed stays as it is, but for being deleted. */
const switchable = (code: Redemption): LiveRedemption => {
  const found = live(code);
  if (found.status === 'used') throw new Failure('redemption-used');
  return found;
};

/** Who only gives it another name has not said what it is worth. */
const madeAlsoBy = (code: LiveRedemption, { quota, by }: { quota: Quota; by: UserId }): ReadonlySet<UserId> =>
  quota === code.quota ? code.makers : new Set([...code.makers, by]);

export const redemptionDecider: Decider<Redemption, RedemptionCommand, RedemptionEvent> = {
  initial: { status: 'absent' },
  decide(command, code) {
    switch (command.type) {
      case 'IssueRedemptionCode': {
        if (code.status !== 'absent') return [];
        const { codeHash, secret, name, quota, by } = command;
        return [{ type: 'RedemptionCodeIssued', codeHash, secret, name, quota, by }];
      }
      case 'EditRedemptionCode': {
        const before = live(code);
        const { name, quota, by } = command;
        if (before.status !== 'unused') throw new Failure('redemption-not-unused');
        return name === before.name && quota === before.quota
          ? []
          : [{ type: 'RedemptionCodeEdited', name, quota, by }];
      }
      case 'EnableRedemptionCode':
        return switchable(code).status === 'unused' ? [] : [{ type: 'RedemptionCodeEnabled', by: command.by }];
      case 'DisableRedemptionCode':
        return switchable(code).status === 'disabled' ? [] : [{ type: 'RedemptionCodeDisabled', by: command.by }];
      case 'DeleteRedemptionCode':
        live(code);
        return [{ type: 'RedemptionCodeDeleted', by: command.by }];
      case 'RedeemCode': {
        if (!isLive(code)) throw unknownCode();
        if (code.status !== 'unused') throw new Failure('redemption-code-used');
        // Whoever could do that would have a mint, as with payments. Root answers to nobody.
        if (command.role !== 'root' && code.makers.has(command.user)) throw new Failure('redemption-code-own');
        plusQuota(command.balance, code.quota); // refuses a balance beyond the largest safe integer
        return [{ type: 'RedemptionCodeRedeemed', user: command.user, quota: code.quota }];
      }
      default:
        return assertNever(command);
    }
  },
  evolve(code, event) {
    switch (event.type) {
      case 'RedemptionCodeIssued':
        return { status: 'unused', name: event.name, quota: event.quota, makers: new Set([event.by]) };
      case 'RedemptionCodeEdited':
        return isLive(code) ? { ...code, name: event.name, quota: event.quota, makers: madeAlsoBy(code, event) } : code;
      case 'RedemptionCodeEnabled':
        return isLive(code) ? { ...code, status: 'unused' } : code;
      case 'RedemptionCodeDisabled':
        return isLive(code) ? { ...code, status: 'disabled' } : code;
      case 'RedemptionCodeRedeemed':
        return isLive(code) ? { ...code, status: 'used' } : code;
      case 'RedemptionCodeDeleted':
        return { status: 'deleted' };
      default:
        return assertNever(event);
    }
  },
};
