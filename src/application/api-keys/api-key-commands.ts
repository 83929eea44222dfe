import { Failure } from '../../domain/kernel/failure.js';
import type { ApiKeyId } from '../../domain/kernel/ids.js';
import type { Actor } from '../../domain/user/user.js';
import { ownedSlots } from '../bounded-counts.js';
import type { ApiKeyCounts } from '../ports/storage-ports.js';
import {
  type ApiKeyChange,
  type ApiKeyStatusChange,
  type ApiKeyStatusPorts,
  checkEnableApiKey,
  type EditApiKeyPorts,
  editApiKey,
  removeApiKey,
  revokeApiKey,
  setApiKeyStatus,
} from './change-api-key.js';
import { type ApiKeyInput, type IssueApiKeyPorts, issueApiKey } from './issue-api-key.js';

interface ApiKeyCommandPorts extends IssueApiKeyPorts, EditApiKeyPorts, ApiKeyStatusPorts {
  readonly apiKeyCounts: ApiKeyCounts;
}

/** `orderKey`: the client's name for an order; its repeat is known as one. */
export function apiKeyCommands(ports: ApiKeyCommandPorts) {
  const owned = ownedSlots(ports.apiKeyCounts, (max) => new Failure('too-many-api-keys', { allowed: max }));
  return {
    issue: (actor: Actor, input: ApiKeyInput, orderKey: string | null = null) =>
      issueApiKey(ports, owned, actor, { ...input, orderKey }),
    edit: (actor: Actor, id: ApiKeyId, change: ApiKeyChange, orderKey: string | null = null) =>
      editApiKey(ports, actor, id, { ...change, orderKey }),
    checkEnable: (actor: Actor, id: ApiKeyId) => checkEnableApiKey(ports, actor, id),
    setStatus: (actor: Actor, id: ApiKeyId, status: ApiKeyStatusChange) => setApiKeyStatus(ports, actor, id, status),
    revoke: (actor: Actor, id: ApiKeyId) => revokeApiKey(ports, actor, id),
    remove: (actor: Actor, id: ApiKeyId) => removeApiKey(ports, actor, id),
  };
}
