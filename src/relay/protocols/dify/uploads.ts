import type { Authorisation, AuthorisationPorts, NotAuthorised } from '../../contracts/authorisation.js';
import { NotConvertible, type Provider, type UpstreamChannel } from '../../contracts/protocol.js';
import { parseExactly } from '../../json/exact-json.js';
import { isObject, type JsonObject, objectsIn, textIn } from '../../json/json.js';
import { upstreamJson } from '../../json/upstream-json.js';
import { contentTypeOf, formContent } from '../../upstream/request-content.js';
import { errorOfStatus, unreadableAnswer } from '../../upstream/upstream-error.js';
import { confidentialOf } from '../confidential-of.js';
import { undoubled } from '../model-address.js';
import { baseOf, written } from '../request-builder.js';

/* Files that stand in a question are uploaded before it, and named in it by the ids that Dify gives them. */

const inline = /^data:([\w.+/-]+)(?:;[^;,]*)*;base64,/i;
const marker = '"local_file"';

/** Of all files of one question, in bytes. */
const maxUpload = 15 * 1024 * 1024;

const endings: ReadonlyMap<string, string> = new Map([
  ['image/jpeg', 'jpg'],
  ['image/svg+xml', 'svg'],
  ['text/plain', 'txt'],
  ['text/markdown', 'md'],
  ['audio/mpeg', 'mp3'],
]);

const endingOf = (type: string): string =>
  endings.get(type.toLowerCase()) ?? /^[a-z0-9]{1,8}$/i.exec(type.split('/')[1] ?? '')?.[0] ?? 'bin';

interface Uploading {
  readonly provider: Provider;
  readonly channel: UpstreamChannel;
  readonly user: string;
}

/** Its id, or why there is none. Throws NotConvertible. */
async function upload(
  data: string,
  { provider, channel, user }: Uploading,
  { sideRequests }: AuthorisationPorts,
): Promise<{ readonly ok: true; readonly id: string } | NotAuthorised> {
  const [head = '', type = ''] = inline.exec(data.slice(0, 256)) ?? [];
  const bytes = Buffer.from(data.slice(head.length), 'base64');
  const base = baseOf(provider, channel);
  const content = formContent([
    { name: 'user', text: user },
    { name: 'file', fileName: `file.${endingOf(type)}`, type, bytes },
  ]);
  const headers = { 'content-type': contentTypeOf(content) ?? '', authorization: `Bearer ${channel.key.trim()}` };
  const url = undoubled(base, `${base}/v1/files/upload`);
  const answer = await sideRequests.post({ url, headers, content }, channel.proxy);
  if (!answer.ok) return { ...answer, refusal: null };
  const { status, body } = answer;
  if (status < 200 || status > 299)
    return { ok: false, refusal: errorOfStatus(status, body, confidentialOf(provider, channel)) };
  const reported = upstreamJson(body);
  const id = isObject(reported) ? textIn(reported.id) : null;
  return id === null
    ? { ok: false, refusal: unreadableAnswer('the upstream has taken a file and named no id for it') }
    : { ok: true, id };
}

const isWaiting = ({ transfer_method: method, upload_file_id: id }: JsonObject): boolean =>
  method === 'local_file' && typeof id === 'string' && inline.test(id.slice(0, 256));

export const difyUploads: Authorisation = {
  async authorise(request, to, ports) {
    const { content } = request;
    if (content.kind !== 'json' || !content.text.includes(marker)) return { ok: true, request };
    const body = parseExactly(content.text);
    if (!isObject(body)) return { ok: true, request };
    const waiting = objectsIn(body.files).filter(isWaiting);
    const size = waiting.reduce((sum, { upload_file_id: data }) => sum + (String(data).length * 3) / 4, 0);
    if (size > maxUpload)
      throw new NotConvertible('caller', `messages: this provider takes ${maxUpload / 1024 / 1024} MiB of files`);
    const ids = new Map<JsonObject, string>();
    for (const file of waiting) {
      const uploaded = await upload(
        String(file.upload_file_id),
        { provider: to.provider, channel: to.channel, user: textIn(body.user) ?? '' },
        ports,
      );
      if (!uploaded.ok) return uploaded;
      ids.set(file, uploaded.id);
    }
    const files = objectsIn(body.files).map((file) => ({
      ...file,
      ...(ids.has(file) && { upload_file_id: ids.get(file) ?? '' }),
    }));
    return { ok: true, request: { ...request, content: { kind: 'json', text: written({ ...body, files }) } } };
  },
};
