#!/usr/bin/env node
import { createHash, createPublicKey, verify } from 'node:crypto';
import { createReadStream, realpathSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { createGunzip } from 'node:zlib';

/*
 * Checks an exported log against its seals, anywhere: this file needs Node 20 and nothing else, no gateway, no database,
 * no network. It says once more, on its own, what docs/audit.md describes, and shares no code with the gateway.
 */

const usage = `node verify-seals.mjs EXPORT [--public-key KEY]… [--head NUMBER:DIGEST] [--json]

  EXPORT        a file made by "npm run audit -- seals export", also compressed (.gz); - for standard input
  --public-key  a key that you have been given, as "npm run audit -- seals public-key" prints it; repeat it for more.
                Without one the first key of the file is believed: then the file is only shown to agree with itself.
  --head        a head that you have noted earlier: the file must contain it
`;
const maxFindings = 1_000;
const maxLineBytes = 64 * 1024 * 1024;
/** Characters of one reason. */
const maxReason = 300;
/** The gateway seals every ten seconds. */
const maxUnsealedMs = 60_000;

const isText = (value) => typeof value === 'string';
const isCount = (value) => Number.isSafeInteger(value) && value >= 0;
/** Nothing that a terminal takes as an order, or as the other way round. */
const printable = (text) => text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '?').slice(0, maxReason);

const sha256 = (data) => createHash('sha256').update(data).digest('hex');
const keyObject = (x) => createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });

function isSigned(key, statement, signature) {
  try {
    return verify(null, Buffer.from(statement), keyObject(key), Buffer.from(signature, 'base64url'));
  } catch {
    return false;
  }
}

/** Keys that are believed: given ones, and each that a believed one has named as the next. */
function believedKeys(keys, given, find) {
  const believed = new Map();
  const all = [];
  let before = null;
  for (const [place, key] of keys.entries()) {
    const { number, id, publicKey, since, endorsement } = key ?? {};
    const isNamed = isText(publicKey) && sha256(Buffer.from(publicKey, 'base64url')).slice(0, 16) === id;
    const isGiven = given.length === 0 ? place === 0 : given.includes(publicKey);
    const statement = JSON.stringify(['tallygate-seal-key-1', number, id, publicKey, since, before?.id]);
    const isEndorsed =
      before !== null && believed.has(before.id) && isSigned(before.publicKey, statement, String(endorsement));
    if (isNamed && (isGiven || isEndorsed)) believed.set(id, { publicKey, place, isEarlier: false });
    before = { number, id, publicKey, since, endorsement };
    all.push({ ...before, place, isNamed });
  }
  believeEarlier(all, believed);
  for (const { id } of all)
    if (!believed.has(id)) find('key-unknown', null, null, null, `nobody vouches for key ${JSON.stringify(id)}`);
  return believed;
}

/**
 * Who was given a later key alone: what those before it have signed counts where a seal of a believed key comes after it,
 * for that names all that lies before it.
 */
function believeEarlier(all, believed) {
  const first = all.findIndex(({ id }) => believed.has(id));
  for (let place = first - 1; place >= 0 && all[place].isNamed; place--) {
    const { number, id, publicKey, since, endorsement } = all[place + 1];
    const statement = JSON.stringify(['tallygate-seal-key-1', number, id, publicKey, since, all[place].id]);
    if (!isSigned(all[place].publicKey, statement, String(endorsement))) return;
    believed.set(all[place].id, { publicKey: all[place].publicKey, place, isEarlier: true });
  }
}

function bytesOf(path) {
  const file = path === '-' ? process.stdin : createReadStream(path);
  if (!path.endsWith('.gz')) return file;
  const bytes = createGunzip();
  file.on('error', (error) => bytes.destroy(error));
  return file.pipe(bytes);
}

/** Lines as bytes, without the line break. Throws for one that is too long. */
async function* linesOf(bytes) {
  let rest = [];
  let length = 0;
  for await (const chunk of bytes) {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      const piece = chunk.subarray(from, end);
      yield rest.length === 0 ? piece : Buffer.concat([...rest, piece]);
      rest = [];
      length = 0;
      from = end + 1;
    }
    if (from < chunk.length) rest.push(chunk.subarray(from));
    length += chunk.length - from;
    if (length > maxLineBytes) throw new Error('a line is too long');
  }
  if (rest.length > 0) yield Buffer.concat(rest);
}

class Verifier {
  findings = [];
  found = 0;
  keys = null;
  total = { events: 0, seals: 0 };
  end = null;
  cut = null;
  /** The first event since the last seal. */
  unsealed = null;
  /** The first seal that only a later one can vouch for. */
  awaited = null;
  head = null;
  /** Of the events since the last seal. */
  hash = createHash('sha256');
  since = { events: 0, first: null, last: null };
  position = -1;
  number = 0;
  previous = '0'.repeat(64);
  keyPlace = 0;
  headSeen = null;
  /** The seal before the first one of the file; null: it begins with the first of all. */
  begins = null;

  constructor(given, noted) {
    this.given = given;
    this.noted = noted;
  }

  find = (code, seal, first, last, reason) => {
    this.found += 1;
    if (this.findings.length < maxFindings) this.findings.push({ code, seal, first, last, reason: printable(reason) });
  };

  take(line) {
    if (this.end !== null) this.find('after-end', null, null, null, 'there is something behind the last line');
    else if (this.keys === null) this.takeKeys(line);
    else if (line[0] === 0x5b) this.takeEvent(line);
    else this.takeOther(line);
  }

  takeKeys(line) {
    let first = null;
    try {
      first = JSON.parse(line.toString());
    } catch {}
    if (first?.log !== 'tallygate-log-1' || !Array.isArray(first.keys)) throw new Error('This is no export of a log.');
    this.keys = believedKeys(first.keys, this.given, this.find);
    const [, number, digest] = isText(first.after) ? (/^(\d{1,15}):([0-9a-f]{64})$/.exec(first.after) ?? []) : [];
    if (digest === undefined) return;
    this.begins = first.after;
    this.number = Number(number) + 1;
    this.previous = digest;
    this.keyPlace = 0;
  }

  takeEvent(line) {
    this.hash.update(line).update('\n');
    const position = Number(line.subarray(1, Math.max(1, line.indexOf(0x2c))).toString());
    if (!(position > this.position))
      this.find(
        'order',
        null,
        position,
        position,
        `the event at ${position} stands behind the one at ${this.position}`,
      );
    this.position = position;
    this.since.events += 1;
    this.since.first ??= position;
    this.unsealed ??= line;
    this.since.last = position;
    this.total.events += 1;
  }

  takeOther(line) {
    let value = null;
    try {
      value = JSON.parse(line.toString());
    } catch {}
    if (isSeal(value?.seal)) this.takeSeal(value);
    else if (isEnd(value?.end)) this.takeEnd(value);
    else
      this.find(
        'unreadable',
        null,
        this.position,
        this.position,
        `a line behind position ${this.position} is neither event nor seal nor end`,
      );
  }

  takeSeal({ seal, signature }) {
    const [form, number, first, last, events, eventsHash, previous, , keyId] = seal;
    const statement = JSON.stringify(seal);
    const find = (code, reason) => this.find(code, number, first, last, reason);
    const key = this.keys.get(keyId);
    if (form !== 'tallygate-seal-1') find('seal-altered', 'it is no seal of this form');
    if (number !== this.number) find('seals-missing', `seal ${this.number} should be here`);
    else if (previous !== this.previous)
      find('chain-broken', 'it names another seal before it than the one that is there');
    if (key === undefined) find('seal-key-unknown', `nobody vouches for its key ${JSON.stringify(keyId)}`);
    else if (!isSigned(key.publicKey, statement, String(signature)))
      find('seal-altered', `key ${keyId} has not signed what it says`);
    else if (key.place < this.keyPlace) find('seal-key-replaced', `key ${keyId} had been replaced when it was made`);
    else if (key.isEarlier) this.awaited ??= { number, first, last, keyId };
    else this.awaited = null;
    const there = this.since;
    if (there.events < events) find('events-missing', `${there.events} of its ${events} events are there`);
    else if (there.events > events) find('events-added', `it covers ${events} events, and ${there.events} are there`);
    else if (this.hash.digest('hex') !== eventsHash || there.first !== first || there.last !== last)
      find('events-altered', 'its events are not those that were sealed');
    const digest = sha256(statement);
    this.number = number + 1;
    this.previous = digest;
    this.keyPlace = Math.max(this.keyPlace, key?.place ?? 0);
    this.head = `${number}:${digest}`;
    if (this.noted !== null && number === this.noted.number) this.headSeen = digest;
    this.hash = createHash('sha256');
    this.since = { events: 0, first: null, last: null };
    this.unsealed = null;
    this.total.seals += 1;
  }

  takeEnd({ end, signature }) {
    const [, events, seals, head, at, keyId] = end;
    this.end = { at };
    const find = (code, reason) => this.find(code, null, null, null, reason);
    if (events !== this.total.events || seals !== this.total.seals)
      find('counts', `the last line counts ${events} events and ${seals} seals`);
    if (head !== this.previous) find('counts', 'the last line names another seal as the newest');
    const key = this.keys.get(keyId);
    if (
      key === undefined ||
      key.place < this.keyPlace ||
      !isSigned(key.publicKey, JSON.stringify(end), String(signature))
    )
      find('end-altered', 'no key that is believed has signed the last line');
  }

  findUnsealed() {
    if (this.total.seals === 0) this.find('not-sealed', null, null, null, 'there is no seal in the file');
    else if (this.unsealed !== null && this.end !== null) {
      let at = null;
      try {
        at = JSON.parse(this.unsealed.toString())[6];
      } catch {}
      const { first, last } = this.since;
      if (!(this.end.at - at <= maxUnsealedMs))
        this.find('not-sealed', null, first, last, 'these events should have been sealed before the export');
    }
    if (this.awaited !== null) {
      const { number, first, last, keyId } = this.awaited;
      this.find(
        'seal-key-unknown',
        number,
        first,
        last,
        `no seal of a key that was given comes after that of key ${keyId}`,
      );
    }
  }

  verdict() {
    if (this.keys === null) throw new Error('The file is empty.');
    if (this.end === null)
      this.find('cut-off', null, this.position, this.position, this.cut ?? 'the file ends before its last line');
    this.findUnsealed();
    if (this.noted !== null && this.headSeen === null)
      this.find('head-missing', this.noted.number, null, null, 'the seals end before the head that you have noted');
    else if (this.noted !== null && this.headSeen !== this.noted.digest)
      this.find(
        'head-differs',
        this.noted.number,
        null,
        null,
        'another seal has the number of the head that you have noted',
      );
    return {
      ...this.total,
      unsealed: this.since.events,
      begins: this.begins,
      head: this.head,
      exported: this.end === null ? null : this.end.at,
      trusted: this.given.length > 0,
      found: this.found,
      findings: this.findings,
    };
  }
}

const isSeal = (seal) => {
  if (!Array.isArray(seal) || seal.length !== 9) return false;
  const [form, number, first, last, events, eventsHash, previous, at, keyId] = seal;
  return [form, eventsHash, previous, keyId].every(isText) && [number, first, last, events, at].every(isCount);
};

const isEnd = (end) => {
  if (!Array.isArray(end) || end.length !== 6 || end[0] !== 'tallygate-end-1') return false;
  const [, events, seals, head, at, keyId] = end;
  return [events, seals, at].every(isCount) && [head, keyId].every(isText) && at <= 8.64e15;
};

/** What is wrong with an export, given as chunks of bytes. Throws for what is no export. */
export async function verifyExport(bytes, given = [], noted = null) {
  const verifier = new Verifier(given, noted);
  const lines = linesOf(bytes);
  for (let isDone = false; !isDone; ) {
    const next = await lines.next().catch((error) => {
      // What was read until then stays true: compressed files are cut as well.
      if (verifier.keys === null) throw error;
      verifier.cut = `the file cannot be read on: ${error.message}`;
      if (verifier.end !== null) verifier.find('after-end', null, null, null, verifier.cut);
      return { done: true };
    });
    isDone = next.done === true;
    if (!isDone) verifier.take(next.value);
  }
  return verifier.verdict();
}

const where = ({ seal, first, last }) =>
  [seal === null ? null : `seal ${seal}`, first === null ? null : `positions ${first} to ${last}`]
    .filter(Boolean)
    .join(', ');

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      'public-key': { type: 'string', multiple: true },
      head: { type: 'string' },
      json: { type: 'boolean' },
    },
  });
  const [, number, digest] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(values.head ?? '') ?? [];
  if (positionals.length !== 1 || (values.head !== undefined && digest === undefined)) throw new Error(usage);
  const noted = digest === undefined ? null : { number: Number(number), digest };
  const verdict = await verifyExport(bytesOf(positionals[0]), values['public-key'], noted);
  if (verdict.found > 0) process.exitCode = 1;
  if (values.json) {
    console.log(JSON.stringify(verdict));
    return;
  }
  for (const finding of verdict.findings) console.log(`${finding.code} (${where(finding)}): ${finding.reason}`);
  if (verdict.found > verdict.findings.length) console.log(`and ${verdict.found - verdict.findings.length} more`);
  console.log(
    `${verdict.events} events, ${verdict.seals} seals, ${verdict.unsealed} events not sealed yet; head ${verdict.head}`,
  );
  if (verdict.exported !== null) console.log(`Exported ${new Date(verdict.exported).toISOString()}.`);
  if (verdict.begins !== null)
    console.log(`It begins behind seal ${verdict.begins}, which must be the head of the file before it.`);
  if (noted === null) console.log('No --head was given: that the log was cut, or is an older copy, would not be seen.');
  if (!verdict.trusted) console.log('No --public-key was given: the file was compared with itself only.');
  console.log(verdict.found === 0 ? 'Everything is as it was sealed.' : 'NOT everything is as it was sealed.');
}

const isStarted =
  process.argv[1] !== undefined && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href;
if (isStarted)
  await main().catch((error) => {
    console.error(error.message);
    process.exitCode = 2;
  });
