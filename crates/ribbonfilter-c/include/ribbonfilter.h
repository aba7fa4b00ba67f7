/* Ribbon filters for C: static sets in a few bits a key.
 *
 * Made from crates/ribbonfilter-c by cbindgen; `cargo test -p ribbonfilter-c` says whether it is
 * up to date. Every function that can fail returns a status; ribbon_last_error() tells more. */

#ifndef RIBBONFILTER_H
#define RIBBONFILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What a call came to.
enum ribbon_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // All is well.
  RIBBON_STATUS_OK = 0,
  // A pointer that must not be null is.
  RIBBON_STATUS_NULL_POINTER = -1,
  // A pointer is not the handle that it should be.
  RIBBON_STATUS_WRONG_HANDLE = -2,
  // A setting or an argument that cannot be.
  RIBBON_STATUS_INVALID_ARGUMENT = -3,
  // The filter could not be built; more memory, or other settings, may help.
  RIBBON_STATUS_BUILD_FAILED = -4,
  // The bytes are not a filter, not all of one, or damaged.
  RIBBON_STATUS_NOT_A_FILTER = -5,
  // The filter cannot become that small, or larger than it is.
  RIBBON_STATUS_SHRINK_FAILED = -6,
  // A defect of this library. The handle involved can only be freed.
  RIBBON_STATUS_INTERNAL = -7,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ribbon_status ribbon_status;
#else
typedef int32_t ribbon_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Collects keys. Made by `ribbon_builder_new`, freed by `ribbon_builder_free`.
typedef struct ribbon_builder ribbon_builder;

// A filter. Freed by `ribbon_filter_free`.
typedef struct ribbon_filter ribbon_filter;

// What a filter shall be. Zero everything (`ribbon_settings settings = {0};`) and set what
// matters: one of the four targets, or none for a false-positive rate of 1 %.
typedef struct {
  // A false-positive rate above 0 and below 1.
  double false_positive_rate;
  // Or bits a key, all of them counted.
  double bits_per_key;
  // Or bytes, all of them.
  uint64_t total_bytes;
  // Or columns, which give a rate of 2^-columns.
  double columns;
  // 1 Standard, 2 Homogeneous, 3 Balanced, 4 Bumped; 0 for what suits the number of keys.
  uint32_t variant;
  // 16, 32, 64 or 128; 0 for what suits the variant.
  uint32_t width;
  // Threads that build; 0 for as many as there are cores.
  uint32_t threads;
  // How much time a build may take for a smaller filter: 0 normal, 1 thorough, which takes
  // several times as long for small sets.
  uint32_t effort;
  // The most memory that a build may take, in bytes; 0 for any.
  uint64_t max_memory;
  // The seed under which keys are hashed.
  uint64_t key_seed;
} ribbon_settings;

// What a filter is.
typedef struct {
  // Keys, distinct ones unless duplicates are too few to matter.
  uint64_t keys;
  // All bytes.
  uint64_t bytes;
  // The false-positive rate.
  double expected_rate;
  // The mean number of columns.
  double columns;
  // As in `ribbon_settings`.
  uint32_t variant;
  // As in `ribbon_settings`.
  uint32_t width;
  // The seed under which keys are hashed.
  uint64_t key_seed;
} ribbon_info;

// What a filter of a given number of keys will be.
typedef struct {
  // As in `ribbon_settings`.
  uint32_t variant;
  // As in `ribbon_settings`.
  uint32_t width;
  // The mean number of columns.
  double columns;
  // The false-positive rate to expect.
  double expected_rate;
  // How many seeds a segment of the system is expected to need, on average.
  double expected_solutions;
  // All bytes of the filter.
  uint64_t bytes;
  // The memory that the build takes, the hashes of the keys and the filter included.
  uint64_t peak_memory;
} ribbon_plan;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// A new builder. `settings` may be null, for the defaults.
//
// # Safety
// `settings` is null or valid, `out` is null or a place for a pointer.
ribbon_status ribbon_builder_new(const ribbon_settings *settings, ribbon_builder **out);

// Adds a key of `len` bytes.
//
// # Safety
// `builder` is a builder, used by nobody else meanwhile; `key` has `len` bytes.
ribbon_status ribbon_builder_push(ribbon_builder *builder, const uint8_t *key, size_t len);

// Adds keys by their 64-bit hashes, which may be `ribbon_key_hash` or any other good hash:
// whoever asks must ask by the same.
//
// # Safety
// `builder` is a builder, used by nobody else meanwhile; `hashes` has `count` numbers.
ribbon_status ribbon_builder_push_hashes(ribbon_builder *builder,
                                         const uint64_t *hashes,
                                         size_t count);

// Builds the filter. The builder is used up, whether this succeeds or not, and has still to be
// freed.
//
// # Safety
// `builder` is a builder, used by nobody else meanwhile; `out` is null or a place for a pointer.
ribbon_status ribbon_builder_finish(ribbon_builder *builder, ribbon_filter **out);

// Frees a builder and the keys in it. Null is allowed.
//
// # Safety
// `builder` is null or a builder, and not used again.
void ribbon_builder_free(ribbon_builder *builder);

// The hash that a key of `len` bytes has under a seed: what `ribbon_builder_push` uses, and
// every other language too. The hash of the empty key if `key` is null.
//
// # Safety
// `key` is null or has `len` bytes.
uint64_t ribbon_key_hash(const uint8_t *key, size_t len, uint64_t key_seed);

// Opens a filter over bytes that stay the caller's: nothing is copied, they may lie at any
// address, and must neither change nor go away before the filter is freed. Only the fixed part
// at their end is checked; see `ribbon_filter_verify`.
//
// # Safety
// `bytes` has `len` bytes that outlive the filter, `out` is null or a place for a pointer.
ribbon_status ribbon_filter_open(const uint8_t *bytes, size_t len, ribbon_filter **out);

// Checks every byte against the checksums.
//
// # Safety
// `filter` is a filter.
ribbon_status ribbon_filter_verify(const ribbon_filter *filter);

// Whether a key might be in the set: 1 if so, 0 if not, or a negative status.
//
// # Safety
// `filter` is a filter, `key` has `len` bytes.
int ribbon_filter_contains(const ribbon_filter *filter, const uint8_t *key, size_t len);

// The same for the hash of a key.
//
// # Safety
// `filter` is a filter.
int ribbon_filter_contains_hash(const ribbon_filter *filter, uint64_t hash);

// Asks for many hashes at a time, which is faster: writes 1 or 0 for each to `out`.
//
// # Safety
// `filter` is a filter, `hashes` has `count` numbers, `out` has room for `count` bytes.
ribbon_status ribbon_filter_contains_hashes(const ribbon_filter *filter,
                                            const uint64_t *hashes,
                                            size_t count,
                                            bool *out);

// The bytes of a filter: write them anywhere, open them again. They live as long as the filter.
//
// # Safety
// `filter` is a filter, `bytes` and `len` are null or places for their values.
ribbon_status ribbon_filter_bytes(const ribbon_filter *filter, const uint8_t **bytes, size_t *len);

// What a filter is.
//
// # Safety
// `filter` is a filter, `out` is null or a place for the answer.
ribbon_status ribbon_filter_info(const ribbon_filter *filter, ribbon_info *out);

// A smaller filter of the same keys, with a higher false-positive rate, made without the keys.
//
// # Safety
// `filter` is a filter, `out` is null or a place for a pointer.
ribbon_status ribbon_filter_shrink_to_rate(const ribbon_filter *filter,
                                           double rate,
                                           ribbon_filter **out);

// The same for a size in bytes, of all of it.
//
// # Safety
// `filter` is a filter, `out` is null or a place for a pointer.
ribbon_status ribbon_filter_shrink_to_bytes(const ribbon_filter *filter,
                                            uint64_t bytes,
                                            ribbon_filter **out);

// Frees a filter; the bytes it was opened over stay the caller's. Null is allowed.
//
// # Safety
// `filter` is null or a filter, and not used again.
void ribbon_filter_free(ribbon_filter *filter);

// Plans a filter of `keys` keys. `settings` may be null, for the defaults.
//
// # Safety
// `settings` is null or valid, `out` is null or a place for a plan.
ribbon_status ribbon_plan_for(const ribbon_settings *settings, uint64_t keys, ribbon_plan *out);

// What the last call that failed on this thread had to say, in UTF-8; empty if none did.
// Valid until the next call on this thread fails. Never null.
const char *ribbon_last_error(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* RIBBONFILTER_H */
