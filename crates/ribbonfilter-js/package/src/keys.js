// Keys: their canonical bytes, and their hashes. The same as in Rust and Python.

import { BATCH } from "./engine.js";
import { KeyError } from "./errors.js";

/** From this length on, the encoder of the platform is faster than a loop. */
const LONG = 256;

const encoder = new TextEncoder();

/** Typed arrays that are several integer keys. `Uint8Array` is not among them: it is one key. */
const INTEGERS = [Int8Array, Int16Array, Uint16Array, Int32Array, Uint32Array, BigInt64Array, BigUint64Array];

/** Describes a value in a message. */
function described(value) {
  if (value === null || typeof value === "undefined") {
    return String(value);
  }
  return typeof value === "object" ? `an object of type ${value.constructor?.name ?? "Object"}` : `a ${typeof value}`;
}

function isBytes(value) {
  return value instanceof Uint8Array || value instanceof ArrayBuffer || value instanceof Uint8ClampedArray;
}

/** Refuses a number that is not an integer, or not exactly the integer that it seems to be. */
export function checkInteger(key) {
  if (!Number.isSafeInteger(key)) {
    throw new KeyError(
      `the number ${key} is not a safe integer: use a bigint for integers beyond 2^53, and a string for other numbers`,
    );
  }
}

function loneSurrogate() {
  return new KeyError(
    "the string has a lone surrogate, so it is not Unicode text and has no bytes in UTF-8: " +
      "call toWellFormed() on it, or use its bytes as the key",
  );
}

/** Writes a string as UTF-8. Returns the address after it. */
function writeString(u8, at, text) {
  for (let index = 0; index < text.length; index++) {
    let code = text.charCodeAt(index);
    if (code < 0x80) {
      u8[at++] = code;
      continue;
    }
    if (code < 0x800) {
      u8[at++] = 0xc0 | (code >> 6);
      u8[at++] = 0x80 | (code & 63);
      continue;
    }
    if ((code & 0xf800) === 0xd800) {
      // `charCodeAt` is NaN at the end, which is no second half either.
      const low = text.charCodeAt(++index);
      if (code >= 0xdc00 || (low & 0xfc00) !== 0xdc00) {
        throw loneSurrogate();
      }
      code = 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff);
      u8[at++] = 0xf0 | (code >> 18);
      u8[at++] = 0x80 | ((code >> 12) & 63);
    } else {
      u8[at++] = 0xe0 | (code >> 12);
    }
    u8[at++] = 0x80 | ((code >> 6) & 63);
    u8[at++] = 0x80 | (code & 63);
  }
  return at;
}

function writeLongString(u8, at, text) {
  const { written } = encoder.encodeInto(text, u8.subarray(at));
  // As many bytes as characters: ASCII. Otherwise the encoder may have replaced a lone surrogate.
  if (written !== text.length && !isWellFormed(text)) {
    throw loneSurrogate();
  }
  return at + written;
}

const isWellFormed = String.prototype.isWellFormed
  ? (text) => text.isWellFormed()
  : (text) => !/\p{Surrogate}/u.test(text);

function writeUnsigned(u8, at, value, bytes) {
  for (let index = 0; index < bytes; index++) {
    u8[at++] = Number(value & 0xffn);
    value >>= 8n;
  }
  return at;
}

/** 8 bytes from 0 to 2^64 - 1; else 16 bytes, two's complement; from 2^127 on followed by a zero. */
function writeBigint(u8, at, key) {
  if (key >= 0n && key < 1n << 64n) {
    return writeUnsigned(u8, at, key, 8);
  }
  if (key < -(1n << 127n) || key >= 1n << 128n) {
    throw new KeyError("an integer key must be from -2^127 to 2^128 - 1: convert other integers to bytes");
  }
  return writeUnsigned(u8, at, key, key < 1n << 127n ? 16 : 17);
}

function writeInteger(u8, at, key) {
  checkInteger(key);
  const high = Math.floor(key / 2 ** 32);
  for (let half = key >>> 0, index = 0; index < 4; index++, half >>>= 8) {
    u8[at++] = half;
  }
  for (let half = high >>> 0, index = 0; index < 4; index++, half >>>= 8) {
    u8[at++] = half;
  }
  if (key < 0) {
    u8.fill(0xff, at, at + 8);
    at += 8;
  }
  return at;
}

/** The maximum number of bytes that `write` writes for a key. Refuses what is not a key. */
function maxBytes(key) {
  switch (typeof key) {
    case "string":
      return 3 * key.length;
    case "bigint":
    case "number":
      return 17;
    default:
      if (isBytes(key)) {
        return key.byteLength;
      }
      throw new KeyError(
        `a key is a string, Uint8Array, ArrayBuffer, bigint or safe integer, but this is ${described(key)}`,
      );
  }
}

/** Writes the canonical bytes of a key, for which there must be capacity. Returns the address after them. */
function write(u8, at, key) {
  switch (typeof key) {
    case "string":
      return key.length < LONG ? writeString(u8, at, key) : writeLongString(u8, at, key);
    case "number":
      return writeInteger(u8, at, key);
    case "bigint":
      return writeBigint(u8, at, key);
    default: {
      const bytes = key instanceof ArrayBuffer ? new Uint8Array(key) : key;
      u8.set(bytes, at);
      return at + bytes.length;
    }
  }
}

/** Writes the canonical bytes of one key to the buffer for keys. Returns their number. */
export function writeKey(engine, key) {
  engine.reserve(maxBytes(key));
  return write(engine.u8, engine.bytes, key) - engine.bytes;
}

/** Refuses one key where several are expected: a string is an iterable of its characters. */
function checkSeveral(keys) {
  if (typeof keys === "string" || isBytes(keys) || keys instanceof DataView) {
    throw new KeyError(`expected several keys but got one, ${described(keys)}: put it in an array`);
  }
  if (typeof keys?.[Symbol.iterator] !== "function") {
    throw new KeyError(`expected an array or another iterable of keys, but got ${described(keys)}`);
  }
}

/** Keys with a length and an index, from any iterable. */
export function indexed(keys) {
  checkSeveral(keys);
  return Array.isArray(keys) || ArrayBuffer.isView(keys) ? keys : Array.from(keys);
}

/**
 * Hashes keys in batches: the hashes of each are in `engine.hashes` when `use` is called with the
 * position of the first and the number of keys.
 */
export function hashBatches(engine, seed, keys, use) {
  let hash = INTEGERS.some((Type) => keys instanceof Type) ? hashIntegers : hashAscii;
  for (let first = 0; first < keys.length; ) {
    let count = hash(engine, seed, keys, first);
    if (count === 0) {
      // Where one batch has other keys, the next have, too.
      hash = hashKeys;
      count = hash(engine, seed, keys, first);
    }
    use(first, count);
    first += count;
  }
}

/** Hashes a batch of integers of a typed array. Returns their number. */
function hashIntegers(engine, seed, keys, first) {
  const part = keys.subarray(first, first + BATCH);
  const isSigned = keys instanceof BigInt64Array || isSignedArray(keys);
  if (keys instanceof BigInt64Array || keys instanceof BigUint64Array) {
    engine.view(keys.constructor, engine.hashes, part.length).set(part);
  } else {
    const halves = engine.view(Int32Array, engine.hashes, 2 * part.length);
    for (let index = 0; index < part.length; index++) {
      halves[2 * index] = part[index];
      halves[2 * index + 1] = isSigned && part[index] < 0 ? -1 : 0;
    }
  }
  engine.exports.hash_integers(engine.hashes, part.length, isSigned ? 1 : 0, seed);
  return part.length;
}

function isSignedArray(keys) {
  return keys instanceof Int8Array || keys instanceof Int16Array || keys instanceof Int32Array;
}

/**
 * Hashes a batch of keys if they are strings of ASCII characters: as many as fit into the buffer. Returns
 * their number, or 0 if there is another key. To encode all of them together takes a third of the time
 * that a loop over their characters does.
 */
function hashAscii(engine, seed, keys, first) {
  const end = Math.min(keys.length, first + BATCH);
  const { bytes, capacity } = engine;
  const lengths = engine.view(Uint32Array, engine.lengths, BATCH);
  let text = "";
  let index = first;
  for (; index < end; index++) {
    const key = keys[index];
    if (typeof key !== "string") {
      return 0;
    }
    if (text.length + key.length > capacity) {
      break;
    }
    lengths[index - first] = key.length;
    text += key;
  }
  const { read, written } = encoder.encodeInto(text, engine.u8.subarray(bytes, bytes + capacity));
  // Every other character takes more bytes than one.
  if (read !== text.length || written !== text.length) {
    return 0;
  }
  engine.exports.hash_keys(bytes, engine.lengths, index - first, seed, engine.hashes);
  return index - first;
}

/** Hashes a batch of keys of any type: as many as fit into the buffer. Returns their number. */
function hashKeys(engine, seed, keys, first) {
  const end = Math.min(keys.length, first + BATCH);
  engine.reserve(maxBytes(keys[first]));
  const { u8, bytes, capacity } = engine;
  const lengths = engine.view(Uint32Array, engine.lengths, BATCH);
  let at = bytes;
  let index = first;
  for (; index < end; index++) {
    const key = keys[index];
    if (at + maxBytes(key) > bytes + capacity) {
      break;
    }
    const after = write(u8, at, key);
    lengths[index - first] = after - at;
    at = after;
  }
  engine.exports.hash_keys(bytes, engine.lengths, index - first, seed, engine.hashes);
  return index - first;
}

/** Copies hashes in batches to `engine.hashes`, and calls `use` as `hashBatches` does. */
export function copyBatches(engine, hashes, use) {
  if (!(hashes instanceof BigUint64Array)) {
    throw new KeyError(`hashes are a BigUint64Array, but these are ${described(hashes)}`);
  }
  for (let first = 0; first < hashes.length; first += BATCH) {
    const part = hashes.subarray(first, first + BATCH);
    engine.view(BigUint64Array, engine.hashes, part.length).set(part);
    use(first, part.length);
  }
}

/** The hash of one key. */
export function hashOf(engine, seed, key) {
  engine.view(Uint32Array, engine.lengths, 1)[0] = writeKey(engine, key);
  engine.exports.hash_keys(engine.bytes, engine.lengths, 1, seed, engine.hashes);
  return engine.view(BigUint64Array, engine.hashes, 1)[0];
}
