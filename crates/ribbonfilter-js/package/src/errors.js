// The errors of the package. Every message ends with what to do.

/** What all errors of this package are. */
export class RibbonError extends Error {
  get name() {
    return this.constructor.name;
  }
}

/** The bytes are not what was expected, or they are truncated or corrupt. */
export class FormatError extends RibbonError {}

/** A setting is invalid, or there is no filter for these keys. */
export class BuildError extends RibbonError {}

/** The memory of the WebAssembly module cannot grow any further. */
export class MemoryError extends RibbonError {}

/** A key is of a wrong type or out of range. */
export class KeyError extends RibbonError {}

const KINDS = [
  ["a filter", "Filter"],
  ["a static function", "StaticFunction"],
  ["a part of a filter", "Part"],
  ["a container of shards", "Filter"],
  ["a single shard", undefined],
  ["an exact set", "ExactSet"],
];

/** The messages of the errors of opening, by the codes of `src/error.rs`. */
const OPENING = [
  () => "the bytes cannot be opened",
  (len, needed) =>
    `${len} bytes are too few for a ribbon filter, which has at least ${needed}: the file is truncated, or not a filter`,
  () =>
    "these bytes are not a ribbon filter, or it is truncated or has extra bytes at its end: " +
    "load another file, and check that the server did not answer with an error page",
  (found, supported) =>
    `format version ${found} is not supported, only ${supported}: use a newer release of ribbonfilter`,
  (features) =>
    `the filter needs features that are not supported (${features}): use a newer release of ribbonfilter`,
  (expected, found) => {
    const [what, loader] = KINDS[found] ?? ["something else"];
    const instead = loader ? `load it with ${loader}.load` : "assemble its container first";
    return `the bytes hold ${what}, not ${KINDS[expected]?.[0]}: ${instead}`;
  },
  () => "the footer of the filter is corrupt: load it or build it again",
  (_, __, field) =>
    `the footer has an impossible ${field}: the bytes are corrupt, or were not written by ribbonfilter; ` +
    "load or build them again",
  (len, expected) =>
    `the filter has ${len} bytes but should have ${expected}: it is truncated or has extra bytes; load it again`,
  () => "the filter's data is corrupt: load it or build it again",
  (shard) => `the data of shard ${shard} is corrupt: load the container or build that shard again`,
  () => "the directory of the container is corrupt: load it or assemble its shards again",
  (bytes) => outOfMemory(bytes),
  () => "the bytes cannot be opened: use a newer release of ribbonfilter",
];

/** The message for memory that is not available. */
export function outOfMemory(bytes) {
  return (
    `the WebAssembly module cannot get ${bytes} bytes of memory: dispose of filters that are no longer used, ` +
    "or use a smaller filter; all filters of a page share 4 GiB"
  );
}

const CLASSES = [RibbonError, FormatError, BuildError, MemoryError, BuildError];

/** The number of `ErrorKind::Cancelled`. */
export const CANCELLED = 4;

/** The last failure of the module, as an error. */
export function lastError(engine) {
  const { error_kind, error_code, error_number, error_text, error_len } = engine.exports;
  const text = engine.text(error_text(), error_len());
  const message = OPENING[error_code()];
  const Class = CLASSES[error_kind()] ?? RibbonError;
  if (error_code() === 0) {
    return new Class(text);
  }
  return new Class((message ?? OPENING[0])(error_number(0), error_number(1), text));
}
