import { isObject, type JsonObject } from '../../json/json.js';
import { isArn, isClaude, isNova } from './makers.js';

/*
 * Marks of what is to be kept in the cache. Models that keep nothing refuse a request with one, and Amazon's own take none
 * among tools: https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
 */

export class CachePoints {
  private readonly places: 'everywhere' | 'texts' | 'nowhere';

  constructor(model: string) {
    this.places = isClaude(model) || isArn(model) ? 'everywhere' : isNova(model) ? 'texts' : 'nowhere';
  }

  /** After what was put for a block of Anthropic's. Empty: the block is not to be kept, or the model keeps none. */
  after(block: JsonObject, put: JsonObject | undefined): JsonObject[] {
    const isOfTool = put?.toolUse !== undefined || put?.toolResult !== undefined;
    return this.places === 'nowhere' || (isOfTool && this.places === 'texts') ? [] : this.mark(block);
  }

  afterTool(tool: JsonObject): JsonObject[] {
    return this.places === 'everywhere' ? this.mark(tool) : [];
  }

  private mark({ cache_control: control }: JsonObject): JsonObject[] {
    if (!isObject(control)) return [];
    // Amazon's own models keep everything for five minutes.
    const named = control.ttl === '1h' || control.ttl === '5m' ? control.ttl : null;
    const ttl = this.places === 'everywhere' ? named : null;
    return [{ cachePoint: { type: 'default', ...(ttl !== null && { ttl }) } }];
  }
}
