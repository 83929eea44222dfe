import { isObject, type JsonObject } from '../../json/json.js';

/* What a request says of streaming. */

export const asksForStream = ({ stream }: JsonObject): boolean => stream === true;

export const asksForUsage = ({ stream_options: options }: JsonObject): boolean =>
  isObject(options) && options.include_usage === true;
