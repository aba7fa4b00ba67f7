// Keys: their canonical bytes, and their hashes. The same as in Rust and Python.

import { BATCH } from "./engine.js";
import { KeyError } from "./errors.js";

/** From this length on, the encoder of the platform is faster than a loop. */
const LONG = 256;

const encoder = new TextEncoder();

/** Typed arrays that are several integer keys. `Uint8Array` is not among them: it is one key. */
const INTEGERS = ["Int8Array", "Int16Array", "Uint16Array", "Int32Array", "Uint32Array", "BigInt64Array", "BigUint64Array"];

/** The getter of a property, of which no value can have another version. */
function getter(Type, property) {
  return Object.getOwnPropertyDescriptor(Type.prototype, property).get;
}

const TypedArray = Object.getPrototypeOf(Uint8Array);
const typeName = getter(TypedArray, Symbol.toStringTag);
const lengthInBytes = getter(TypedArray, "byteLength");
const lengthOfBuffer = getter(ArrayBuffer, "byteLength");

/**
 * The type of a typed array, by its name; undefined for everything else. Not `instanceof`, since arrays may
 * come from another realm: a frame, a worker's test environment, a sandbox.
 */
function typeOf(value) {
  return ArrayBuffer.isView(value) ? typeName.call(value) : undefined;
}

/** Whether a value is an `ArrayBuffer`, of any realm. */
export function isBuffer(value) {
  try {
    lengthOfBuffer.call(value);
    return true;
  } catch {
    return false;
  }
}

/** Refuses an array whose memory was transferred elsewhere: it would count as empty. */
function checkAttached(array) {
  if (lengthInBytes.call(array) === 0) {
    try {
      new Uint8Array(array.buffer);
    } catch {
      throw new KeyError("the array has no memory any longer: it was transferred elsewhere, so copy it before that");
    }
  }
}

/** Describes a value in a message. */
function described(value) {
  if (value === null || typeof value === "undefined") {
    return String(value);
  }
  return typeof value === "object" ? `an object of type ${value.constructor?.name ?? "Object"}` : `a ${typeof value}`;
}

/** The bytes of a key; undefined if it is none of bytes. */
function bytesOf(key) {
  const type = typeOf(key);
  if (type === "Uint8Array" || type === "Uint8ClampedArray") {
    checkAttached(key);
    return key;
  }
  if (type === undefined && isBuffer(key)) {
    try {
      return new Uint8Array(key);
    } catch {
      throw new KeyError("the buffer has no memory any longer: it was transferred elsewhere, so copy it before that");
    }
  }
  return undefined;
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
    default: {
      const bytes = bytesOf(key);
      if (bytes !== undefined) {
        return lengthInBytes.call(bytes);
      }
      throw new KeyError(
        `a key is a string, Uint8Array, ArrayBuffer, bigint or safe integer, but this is ${described(key)}`,
      );
    }
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
      const bytes = bytesOf(key);
      u8.set(bytes, at);
      return at + lengthInBytes.call(bytes);
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
  const isView = ArrayBuffer.isView(keys) && !INTEGERS.includes(typeOf(keys));
  if (typeof keys === "string" || isView || isBuffer(keys)) {
    throw new KeyError(`expected several keys but got one, ${described(keys)}: put it in an array`);
  }
  if (typeof keys?.[Symbol.iterator] !== "function") {
    throw new KeyError(`expected an array or another iterable of keys, but got ${described(keys)}`);
  }
}

/** Keys with a length and an index, from any iterable. */
export function indexed(keys) {
  checkSeveral(keys);
  if (ArrayBuffer.isView(keys)) {
    checkAttached(keys);
    return keys;
  }
  return Array.isArray(keys) ? keys : Array.from(keys);
}

/**
 * Hashes keys in batches: the hashes of each are in `engine.hashes` when `use` is called with the
 * position of the first and the number of keys.
 */
export function hashBatches(engine, seed, keys, use) {
  const type = typeOf(keys);
  let hash = hashAscii;
  for (let first = 0; first < keys.length; ) {
    if (type !== undefined) {
      const part = keys.subarray(first, first + BATCH);
      hashIntegers(engine, seed, part, type);
      use(first, part.length);
      first += part.length;
      continue;
    }
    // A copy, before the buffers of the engine are used: an element may be a property that runs code of the
    // caller, which may use the same buffers.
    const batch = Array.prototype.slice.call(keys, first, first + BATCH);
    if (batch.length === 0) {
      return;
    }
    let count = hash(engine, seed, batch);
    if (count === 0) {
      // Where one batch has other keys, the next have, too.
      hash = hashKeys;
      count = hash(engine, seed, batch);
    }
    use(first, count);
    first += count;
  }
}

/** Hashes a batch of integers, a typed array of this type. */
function hashIntegers(engine, seed, batch, type) {
  const isSigned = !type.includes("Uint");
  if (type.startsWith("Big")) {
    engine.view(BigInt64Array, engine.hashes, batch.length).set(batch);
  } else {
    const halves = engine.view(Int32Array, engine.hashes, 2 * batch.length);
    for (let index = 0; index < batch.length; index++) {
      halves[2 * index] = batch[index];
      halves[2 * index + 1] = isSigned && batch[index] < 0 ? -1 : 0;
    }
  }
  engine.exports.hash_integers(engine.hashes, batch.length, isSigned ? 1 : 0, seed);
}

/**
 * Hashes a batch of keys if they are strings of ASCII characters: as many as fit into the buffer. Returns
 * their number, or 0 if there is another key. To encode all of them together takes a third of the time
 * that a loop over their characters does.
 */
function hashAscii(engine, seed, batch) {
  const { bytes, capacity } = engine;
  const lengths = engine.view(Uint32Array, engine.lengths, BATCH);
  let text = "";
  let count = 0;
  for (; count < batch.length; count++) {
    const key = batch[count];
    if (typeof key !== "string") {
      return 0;
    }
    if (text.length + key.length > capacity) {
      break;
    }
    lengths[count] = key.length;
    text += key;
  }
  const { read, written } = encoder.encodeInto(text, engine.u8.subarray(bytes, bytes + capacity));
  // Every other character takes more bytes than one.
  if (read !== text.length || written !== text.length) {
    return 0;
  }
  engine.exports.hash_keys(bytes, engine.lengths, count, seed, engine.hashes);
  return count;
}

/** Hashes a batch of keys of any type: as many as fit into the buffer. Returns their number. */
function hashKeys(engine, seed, batch) {
  engine.reserve(maxBytes(batch[0]));
  const { u8, bytes, capacity } = engine;
  const lengths = engine.view(Uint32Array, engine.lengths, BATCH);
  let at = bytes;
  let count = 0;
  for (; count < batch.length; count++) {
    const key = batch[count];
    if (at + maxBytes(key) > bytes + capacity) {
      break;
    }
    const after = write(u8, at, key);
    lengths[count] = after - at;
    at = after;
  }
  engine.exports.hash_keys(bytes, engine.lengths, count, seed, engine.hashes);
  return count;
}

/** Copies hashes in batches to `engine.hashes`, and calls `use` as `hashBatches` does. */
export function copyBatches(engine, hashes, use) {
  if (typeOf(hashes) !== "BigUint64Array") {
    throw new KeyError(`hashes are a BigUint64Array, but these are ${described(hashes)}`);
  }
  checkAttached(hashes);
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
