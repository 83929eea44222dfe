import { isImageMode } from '../../../domain/channel/provider.js';
import { NotConvertible } from '../../contracts/protocol.js';
import type { Edit } from '../openai/variant.js';
import { neutralAs } from '../request-builder.js';
import { refuseFurther } from './image-order.js';

/*
 * Pictures of Xinference's, in OpenAI's words: https://inference.readthedocs.io/en/latest/models/model_abilities/image.html.
 * Its addresses are paths on its own disk, so it is asked for the pictures themselves.
 */

export const xinferenceImages: Edit = (body, { caller }) => {
  if (!isImageMode(caller.mode)) return body;
  const edits = caller.mode === 'image-edit';
  const request = neutralAs(caller, edits ? 'image-edit' : 'image-generation');
  refuseFurther({ request, sources: [], mask: null }, edits ? ['mask'] : ['negative_prompt', 'seed']);
  if (edits && caller.files === null)
    throw new NotConvertible('caller', 'images: this provider takes pictures as files of a form alone');
  const { prompt, n, size, negative_prompt, seed } = request;
  const further = { ...(negative_prompt !== undefined && { negative_prompt }), ...(seed !== undefined && { seed }) };
  return {
    model: body.model,
    prompt,
    n,
    ...(size !== 'auto' && { size }),
    response_format: 'b64_json',
    ...(Object.keys(further).length > 0 && { kwargs: JSON.stringify(further) }),
  };
};
