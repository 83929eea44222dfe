import { regionName } from '../../../domain/channel/channel-settings.js';
import { type CallerRequest, NotConvertible, type UpstreamChannel } from '../../contracts/protocol.js';
import { isObject, parseJson, textIn } from '../../json/json.js';
import { pathSegment } from '../model-address.js';
import { serviceAccountOf } from './service-account.js';

/* Where Google's cloud serves models: a project of a service account, in a region that the operator chooses by model. */

const usualRegion = 'us-central1';

/** The field holds a region, or a JSON object of regions by the name that was asked for. Throws NotConvertible. */
function regionOf({ other }: UpstreamChannel, asked: string): string {
  const text = other.trim();
  const regions = text.startsWith('{') ? parseJson(text) : { default: text || usualRegion };
  const named = isObject(regions) ? (Object.hasOwn(regions, asked) ? regions[asked] : regions.default) : null;
  if (typeof named === 'string' && regionName.test(named)) return named;
  throw new NotConvertible('channel', 'this channel has no region for the model');
}

/** Two of them are several places of a continent. */
const multiRegions = new Set(['eu', 'us']);

/** Where a region is served. */
export function hostOfLocation(region: string): string {
  if (region === 'global') return 'aiplatform.googleapis.com';
  return multiRegions.has(region) ? `aiplatform.${region}.rep.googleapis.com` : `${region}-aiplatform.googleapis.com`;
}

/** The channel with the whole address of project and region as its base URL. Throws NotConvertible. */
export function atItsLocation(channel: UpstreamChannel, { body }: CallerRequest): UpstreamChannel {
  const region = regionOf(channel, textIn(body.model) ?? '');
  const host = channel.baseUrl.trim().replace(/\/+$/, '') || `https://${hostOfLocation(region)}`;
  const project = pathSegment(serviceAccountOf(channel).projectId);
  return { ...channel, baseUrl: `${host}/v1/projects/${project}/locations/${region}` };
}
