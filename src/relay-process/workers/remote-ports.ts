import { RecentValues } from '../../adapters/database/recent-values.js';
import { secretHash } from '../../adapters/vault/vault.js';
import type { DirectorySource } from '../../application/memory/directory.js';
import type { Clock, EventStore, QuotaGate } from '../../application/ports/storage-ports.js';
import type { ApiKeyId, SecretId } from '../../domain/kernel/ids.js';
import type { CallLimits } from '../../relay/admission/call-limits.js';
import { RelayError } from '../../relay/contracts/errors.js';
import type { RelayPorts } from '../../relay/contracts/ports.js';
import type { PrimaryMethods, SerializedDirectory } from './messages.js';
import type { Peer } from './peer.js';

/* What a worker knows and counts nothing of by itself: it asks the primary. */

type Primary = Peer<PrimaryMethods>;

export const remoteStreams = (primary: Primary): Pick<EventStore, 'streamPages'> => ({
  async *streamPages(stream, after = -1) {
    for (let revision = after; ; ) {
      const page = await primary.ask('streamPage', stream, revision);
      const last = page.at(-1);
      if (last === undefined) return;
      yield page;
      revision = last.revision;
    }
  },
});

export const remoteDirectorySource = (
  primary: Primary,
  { options, prices, ...others }: SerializedDirectory,
): DirectorySource => ({
  snapshot: async () => ({ ...others, options: new Map(options), prices: new Map(prices) }),
  apiKeyIdByHash: (keyHash) => primary.ask('apiKeyIdByHash', keyHash),
});

/** A secret that has been dropped may be answered for a minute more. */
export function remoteVault(primary: Primary, hashingKey: Buffer, clock: Clock): RelayPorts['vault'] {
  const recent = new RecentValues<SecretId, string>({ capacity: 5_000, maxAgeMs: 60_000, clock });
  return { hash: secretHash(hashingKey), get: (id) => recent.get(id, () => primary.ask('secret', id)) };
}

/** Keys that are not spent are remembered until the primary says that they may be. */
export function remoteGate(
  primary: Primary,
  clock: Clock,
): Pick<QuotaGate, 'isSpent' | 'isUserSpent'> & { readonly spent: (apiKey: ApiKeyId) => void } {
  const unspent = new RecentValues<ApiKeyId, true>({ capacity: 5_000, maxAgeMs: 60_000, clock });
  const ask = async (apiKey: ApiKeyId): Promise<true | null> => ((await primary.ask('isSpent', apiKey)) ? null : true);
  return {
    isSpent: async (apiKey) => (await unspent.get(apiKey, () => ask(apiKey))) === null,
    isUserSpent: (user) => primary.ask('isUserSpent', user),
    spent: (apiKey) => unspent.delete(apiKey),
  };
}

const nothingTaken = (): void => {};

/** Where nothing is limited nobody is asked. */
export const remoteLimits = (primary: Primary): CallLimits => ({
  admit(user, apiKey, { modelRateLimit, apiKeyConcurrency }) {
    if (!modelRateLimit.enabled && apiKeyConcurrency === 0) return nothingTaken;
    return primary.ask('admit', user, apiKey, { modelRateLimit, apiKeyConcurrency }).then((admitted) => {
      if ('ticket' in admitted) return (succeeded) => primary.send('left', admitted.ticket, succeeded);
      const { status, code, message, type, param, retryAfter, shouldRetry } = admitted.refused;
      throw new RelayError(status, code, message, { type, param, retryAfter, shouldRetry });
    });
  },
  enterChannel(channel, max) {
    if (max === 0) return nothingTaken;
    return primary
      .ask('enterChannel', channel, max)
      .then((ticket) => (ticket === null ? null : () => primary.send('left', ticket, true)));
  },
});

export const remoteKept = (primary: Primary): RelayPorts['kept'] => ({
  ownedBy: async (user, ids) => new Map(await primary.ask('ownedKept', user, ids)),
});

export const remoteBackground = (primary: Primary): RelayPorts['background'] => ({
  takeSlot: (callId, user) => primary.ask('takeBackgroundSlot', callId, user),
  releaseSlot: (callId) => primary.send('releaseBackgroundSlot', callId),
  begin: (call) => primary.ask('beginBackground', call),
  isOpen: (callId) => primary.ask('isBackgroundOpen', callId),
  look: (callId) => primary.ask('lookAtBackground', callId),
  delivered: (callId, delivered) => primary.ask('deliveredInBackground', callId, delivered),
  stop: (callId) => primary.ask('stopBackground', callId),
  end: (callId) => primary.ask('endBackground', callId),
});

/** What is packed goes as text: it is base64. */
export const remoteStoredResponses = (primary: Primary): RelayPorts['storedResponses'] => ({
  async reserve(user, id, bytes) {
    const ticket = await primary.ask('reserveStoredResponse', user, id, bytes);
    return ticket === null ? null : () => primary.send('left', ticket, true);
  },
  shrink: (id, bytes) => primary.send('shrinkStoredResponse', id, bytes),
  put: ({ userId, id, at, content }) => primary.send('storeResponse', userId, id, at, content.toString('base64')),
  async find(user, id) {
    const content = await primary.ask('storedResponse', user, id);
    return content === null ? null : Buffer.from(content, 'base64');
  },
  remove: (user, id) => primary.ask('removeStoredResponse', user, id),
});

export const remoteTasks = (primary: Primary): RelayPorts['tasks'] => ({
  takeSlot: (callId, user, limit) => primary.ask('takeTaskSlot', callId, user, limit),
  releaseSlot: (callId) => primary.send('releaseTaskSlot', callId),
  submitted: (task) => primary.ask('taskSubmitted', task),
  ofUser: (user, publicIds, platform) => primary.ask('tasksOfUser', user, publicIds, platform),
  byId: (taskId) => primary.ask('taskById', taskId),
  byCall: (callId) => primary.ask('taskByCall', callId),
  page: (user, platform, page) => primary.ask('pageOfTasks', user, platform, page),
  forget: (taskId) => primary.ask('forgetTask', taskId),
  observe: (taskId, seen) => primary.ask('observeTask', taskId, seen),
  look: (taskId) => primary.ask('lookAtTask', taskId),
});

/** The rest, each of them one question. */
export const remoteNotices = (primary: Primary): Pick<RelayPorts, 'wrongKeys' | 'apiKeyStatus' | 'channelHealth'> => ({
  wrongKeys: {
    mayShow: (network) => primary.ask('mayShowKey', network),
    shown: (network) => primary.send('wrongKey', network),
  },
  apiKeyStatus: { refused: (id, owner, cause) => primary.send('apiKeyRefused', id, owner, cause) },
  channelHealth: { outOfOrder: (id, key, reason) => primary.send('channelOutOfOrder', id, key, reason) },
});
