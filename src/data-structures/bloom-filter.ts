/* A Bloom filter: a set of texts in little memory, which may take a text for a member that is none, never the other way. */

const bitsPerText = 10;
const probes = 5;
const minBits = 2 ** 16;
/** 64 MB: beyond it more strangers are taken for members. */
const maxBits = 2 ** 29;

export class BloomFilter {
  private readonly words: Uint32Array;
  private readonly mask: number;

  /** `expected`: texts for which about one stranger in a hundred is taken for a member. */
  constructor(expected: number) {
    const wanted = Math.min(maxBits, Math.max(minBits, expected * bitsPerText));
    const bits = 2 ** Math.ceil(Math.log2(wanted));
    this.words = new Uint32Array(bits / 32);
    this.mask = bits - 1;
  }

  /** Adds the text. false: it was no member before, for certain. */
  add(text: string): boolean {
    let first = 0x811c9dc5;
    let second = 0x9747b28c;
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      first = Math.imul(first ^ unit, 0x01000193);
      second = Math.imul(second ^ unit, 0x5bd1e995);
      second ^= second >>> 13;
    }
    first ^= first >>> 15;
    // Odd, so that each probe is at another bit.
    second |= 1;
    let wasThere = true;
    for (let probe = 0; probe < probes; probe++) {
      const bit = (first + Math.imul(probe, second)) & this.mask;
      const word = bit >>> 5;
      const flag = 1 << (bit & 31);
      const known = this.words[word] ?? 0;
      if ((known & flag) === 0) {
        wasThere = false;
        this.words[word] = known | flag;
      }
    }
    return wasThere;
  }
}
