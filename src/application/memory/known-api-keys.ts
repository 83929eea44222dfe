import { growingLru } from '../../data-structures/growing-lru.js';
import { type ApiKey, apiKeyDecider, isLiveApiKey } from '../../domain/api-key/api-key.js';
import { type Recorded, streamKey, streams } from '../../domain/events/events.js';
import { ApiKeyId } from '../../domain/kernel/ids.js';
import type { ApiKeyView, EventStore } from '../ports/storage-ports.js';
import { foldStreams, type StreamFolds } from './stream-folds.js';

/* API keys by their keyed hash: looked up once, folded from their own streams, kept fresh by the tail. */

interface ApiKeyPorts {
  readonly store: Pick<EventStore, 'streamPages'>;
  readonly source: {
    /** As far as the read model has come. null: it knows no such key. */
    apiKeyIdByHash(keyHash: string): Promise<ApiKeyId | null>;
  };
}

export class KnownApiKeys {
  private readonly folds: StreamFolds<ApiKey>;
  private readonly ids;

  constructor(
    private readonly ports: ApiKeyPorts,
    capacity: number,
  ) {
    this.ids = growingLru<string, ApiKeyId>(capacity);
    this.folds = foldStreams(ports.store, apiKeyDecider, capacity);
  }

  take(recorded: Recorded): void {
    const { event, stream } = recorded;
    if (event.type === 'ApiKeyIssued') this.ids.set(event.keyHash, ApiKeyId(streamKey(stream)));
    this.folds.take(recorded);
  }

  has(keyHash: string): boolean {
    return this.ids.has(keyHash);
  }

  /** null: no such key. */
  async find(keyHash: string): Promise<ApiKeyView | null> {
    const id = this.ids.get(keyHash) ?? (await this.lookUp(keyHash));
    if (id === null) return null;
    const key = await this.folds.get(streams.apiKey(id));
    return isLiveApiKey(key) ? { id, owner: key.owner, status: key.status, terms: key.terms } : null;
  }

  private async lookUp(keyHash: string): Promise<ApiKeyId | null> {
    const stored = await this.ports.source.apiKeyIdByHash(keyHash);
    // A key too new for the read model has passed by on the tail meanwhile.
    const id = stored ?? this.ids.get(keyHash) ?? null;
    if (id !== null) this.ids.set(keyHash, id);
    return id;
  }
}
