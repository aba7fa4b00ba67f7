// The WebAssembly module: loading it once, and its memory.

import { MemoryError, lastError, outOfMemory } from "./errors.js";

/** The number of keys that are hashed and queried together. */
export const BATCH = 4096;

/** The size of the buffer for the bytes of a batch; it grows if a single key needs more. */
const BYTES = 1 << 17;

/** The bytes of a file: Node, Deno and Bun cannot all fetch `file:` addresses. */
async function readFile(url) {
  // A variable, so that bundlers for the browser leave the import alone. It is never reached there.
  const module = "node:fs/promises";
  const { readFile } = await import(/* @vite-ignore */ /* webpackIgnore: true */ module);
  return readFile(url);
}

/** The response of an address, if it is a success. */
export async function fetched(url) {
  return checked(await fetch(url));
}

/** A response, unless it is an error page. */
export function checked(response) {
  if (!response.ok) {
    throw new Error(`${response.url || "the server"} answered ${response.status} ${response.statusText}`.trim());
  }
  return response;
}

/** The bytes at an address, of a file or of a server. */
export async function bytesAt(url) {
  return url.protocol === "file:" ? readFile(url) : (await fetched(url)).arrayBuffer();
}

/** Compiles a module: from a module, a response, bytes, or the address of one of them. */
async function compile(source) {
  const given = await source;
  if (given instanceof WebAssembly.Module) {
    return given;
  }
  if (typeof Response !== "undefined" && given instanceof Response) {
    const response = checked(given);
    const isWasm = response.headers.get("Content-Type")?.startsWith("application/wasm");
    return isWasm && WebAssembly.compileStreaming
      ? WebAssembly.compileStreaming(response)
      : WebAssembly.compile(await response.arrayBuffer());
  }
  if (given instanceof URL) {
    return compile(given.protocol === "file:" ? readFile(given) : fetched(given));
  }
  return WebAssembly.compile(given);
}

/** One instance of a module, which is loaded at the first use. */
export class Engine {
  #source;
  #started;
  #u8 = new Uint8Array();
  /** The functions of the module, once it is loaded. */
  exports;
  /** The callback of the build that is running: gets phase and fraction, returns whether to stop. */
  progress = undefined;
  /** The capacity of `bytes`. */
  capacity = BYTES;

  /** `source` returns what the module is compiled from, unless `start` is given something else. */
  constructor(source) {
    this.#source = source;
  }

  /** Loads the module. Later calls return the same promise; after a failure they try again. */
  start(source) {
    this.#started ??= this.#instantiate(source ?? this.#source()).catch((error) => {
      this.#started = undefined;
      throw error;
    });
    return this.#started;
  }

  async #instantiate(source) {
    const progress = (phase, fraction) => (this.progress?.(phase, fraction) ? 1 : 0);
    const instance = await WebAssembly.instantiate(await compile(source), { ribbonfilter: { progress } });
    this.exports = instance.exports;
    // For a batch: the bytes of its keys, their lengths, their hashes, and results of up to 8 bytes.
    this.bytes = this.allocate(BYTES);
    this.lengths = this.allocate(4 * BATCH);
    this.hashes = this.allocate(8 * BATCH);
    this.results = this.allocate(8 * BATCH);
    return this;
  }

  /** All memory as bytes. Memory that grows gets a new buffer, and the old one has no bytes left. */
  get u8() {
    if (this.#u8.length === 0) {
      this.#u8 = new Uint8Array(this.exports.memory.buffer);
    }
    return this.#u8;
  }

  /** A view of a part of the memory, valid until the memory grows. */
  view(Type, address, length) {
    return new Type(this.exports.memory.buffer, address, length);
  }

  allocate(bytes) {
    const address = this.exports.allocate(bytes) >>> 0;
    if (address === 0) {
      throw new MemoryError(outOfMemory(bytes));
    }
    return address;
  }

  /** Makes the buffer for keys at least this large. What it held is lost. */
  reserve(bytes) {
    if (bytes > this.capacity) {
      if (bytes > 0xffff_0000) {
        throw new MemoryError(outOfMemory(bytes));
      }
      const address = this.allocate(bytes);
      this.exports.deallocate(this.bytes, this.capacity);
      this.bytes = address;
      this.capacity = bytes;
    }
  }

  /** A string in memory. */
  text(address, length) {
    return new TextDecoder().decode(this.view(Uint8Array, address >>> 0, length));
  }

  /** Copies bytes into the module and opens them. Returns the handle. */
  open(bytes, kind) {
    // Addresses have 32 bits, and larger numbers would be cut off.
    if (bytes.length > 0xffff_0000) {
      throw new MemoryError(outOfMemory(bytes.length));
    }
    const buffer = this.exports.buffer(bytes.length);
    if (buffer === 0) {
      throw lastError(this);
    }
    this.u8.set(bytes, this.exports.buffer_bytes(buffer) >>> 0);
    const handle = this.exports.open(buffer, kind);
    if (handle === 0) {
      throw lastError(this);
    }
    return handle;
  }
}
