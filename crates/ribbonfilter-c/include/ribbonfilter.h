/* Ribbon filters for C: static sets in a few bits per key.
 *
 * Generated from crates/ribbonfilter-c by cbindgen; `cargo test -p ribbonfilter-c` checks that it
 * is up to date. Every function that can fail returns a status; ribbon_last_error() returns the
 * message. */

#ifndef RIBBONFILTER_H
#define RIBBONFILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The result of a call.
enum ribbon_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The call succeeded.
  RIBBON_STATUS_OK = 0,
  // A pointer is null but must not be.
  RIBBON_STATUS_NULL_POINTER = -1,
  // A handle has the wrong type or was freed.
  RIBBON_STATUS_WRONG_HANDLE = -2,
  // A setting or an argument is invalid.
  RIBBON_STATUS_INVALID_ARGUMENT = -3,
  // The filter or the set could not be built; more memory or other settings may help.
  RIBBON_STATUS_BUILD_FAILED = -4,
  // The bytes are not a filter or not an exact set, whichever was expected, or they are truncated
  // or corrupt.
  RIBBON_STATUS_NOT_A_FILTER = -5,
  // The target of a shrink is too small, or larger than the filter.
  RIBBON_STATUS_SHRINK_FAILED = -6,
  // A bug in this library. The handle involved can only be freed.
  RIBBON_STATUS_INTERNAL = -7,
  // The universe of an exact set has no key of this group.
  RIBBON_STATUS_UNKNOWN_GROUP = -8,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ribbon_status ribbon_status;
#else
typedef int32_t ribbon_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Collects keys. Created by `ribbon_builder_new`, freed by `ribbon_builder_free`.
typedef struct ribbon_builder ribbon_builder;

// An exact set: no false positives for keys of the universe that it was built from. The result
// for any other key is arbitrary. Free it with `ribbon_exact_free`.
typedef struct ribbon_exact ribbon_exact;

// Collects members and other keys. Created by `ribbon_exact_builder_new`, freed by
// `ribbon_exact_builder_free`.
typedef struct ribbon_exact_builder ribbon_exact_builder;

// A filter. Free it with `ribbon_filter_free`.
typedef struct ribbon_filter ribbon_filter;

// Takes the other keys during `ribbon_exact_builder_finish_with`. It belongs to the builder and is
// valid only until the function that got it returns.
typedef struct ribbon_other_keys ribbon_other_keys;

// The settings of a filter or an exact set. Initialize all fields with zero (`ribbon_settings settings = {0};`),
// then set the ones you need. At most one of the four targets `false_positive_rate`,
// `bits_per_key`, `total_bytes` and `columns` may be set; without one, the false-positive rate is
// 1 %.
typedef struct {
  // Target: a false-positive rate above 0 and below 1.
  double false_positive_rate;
  // Target: bits per key, footer included.
  double bits_per_key;
  // Target: a total size in bytes, footer included.
  uint64_t total_bytes;
  // Target: columns, which give a false-positive rate of about 2^-columns.
  double columns;
  // 1 Standard, 2 Homogeneous, 3 Balanced, 4 Bumped; 0 chooses by the number of keys.
  uint32_t variant;
  // The ribbon width: 16, 32, 64 or 128; 0 chooses by the variant.
  uint32_t width;
  // The number of build threads; 0 for one per core.
  uint32_t threads;
  // How long a build may search for a smaller filter: 0 normal, 1 thorough. A thorough build of
  // a small set takes several times as long.
  uint32_t effort;
  // The maximum memory of a build in bytes; 0 for no limit.
  uint64_t max_memory;
  // The seed under which keys are hashed.
  uint64_t key_seed;
} ribbon_settings;

// The properties of an exact set.
typedef struct {
  // The number of members.
  uint64_t members;
  // The number of keys for which the set is exact, members included.
  uint64_t universe;
  // The number of groups that have keys; 1 if no key has a group.
  uint64_t groups;
  // The size of the set in bytes, footer included.
  uint64_t bytes;
  // The minimum number of bits of any exact set with these numbers of keys.
  double lower_bound_bits;
  // The fraction of keys outside the universe, without a group, that are reported as members.
  double expected_rate;
  // The seed under which keys and groups are hashed.
  uint64_t key_seed;
} ribbon_exact_properties;

// The properties of a filter.
typedef struct {
  // The number of keys. A few duplicates may be counted.
  uint64_t keys;
  // The size of the filter in bytes, footer included.
  uint64_t bytes;
  // The expected false-positive rate.
  double expected_rate;
  // The average number of columns.
  double columns;
  // As in `ribbon_settings`.
  uint32_t variant;
  // As in `ribbon_settings`.
  uint32_t width;
  // The seed under which keys are hashed.
  uint64_t key_seed;
} ribbon_info;

// The predicted properties of a filter of a given number of keys.
typedef struct {
  // As in `ribbon_settings`.
  uint32_t variant;
  // As in `ribbon_settings`.
  uint32_t width;
  // The average number of columns.
  double columns;
  // The expected false-positive rate.
  double expected_rate;
  // The expected number of seeds that a build tries per segment of the system, on average.
  double expected_solutions;
  // The size of the filter in bytes, footer included.
  uint64_t bytes;
  // The peak memory of the build in bytes, including the hashes of the keys and the filter.
  uint64_t peak_memory;
} ribbon_plan;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Creates a builder. If `settings` is null, it has the default settings.
//
// # Safety
// `settings` is null or valid; `out` is null or points to a writable pointer.
ribbon_status ribbon_builder_new(const ribbon_settings *settings, ribbon_builder **out);

// Adds a key of `len` bytes.
//
// # Safety
// `builder` is a builder that no other thread uses during the call; `key` points to `len` bytes.
ribbon_status ribbon_builder_push(ribbon_builder *builder, const uint8_t *key, size_t len);

// Adds keys by their 64-bit hashes. These may come from `ribbon_key_hash` or from any other good
// hash function; queries must use the same function.
//
// # Safety
// `builder` is a builder that no other thread uses during the call; `hashes` points to `count`
// hashes.
ribbon_status ribbon_builder_push_hashes(ribbon_builder *builder,
                                         const uint64_t *hashes,
                                         size_t count);

// Builds the filter. Afterwards the builder can only be freed, even if the build fails.
//
// # Safety
// `builder` is a builder that no other thread uses during the call; `out` is null or points to a
// writable pointer.
ribbon_status ribbon_builder_finish(ribbon_builder *builder, ribbon_filter **out);

// Frees a builder and the keys in it. Null is allowed.
//
// # Safety
// `builder` is null or a builder that is not used again.
void ribbon_builder_free(ribbon_builder *builder);

// Returns the hash of a key of `len` bytes under a seed. `ribbon_builder_push` uses this hash, and
// so do the bindings for other languages. If `key` is null, returns the hash of the empty key.
//
// # Safety
// `key` is null or points to `len` bytes.
uint64_t ribbon_key_hash(const uint8_t *key, size_t len, uint64_t key_seed);

// Opens an exact set over a buffer of the caller, without copying it. The buffer may have any
// alignment. It must not be changed or freed before the set is freed. This checks only the
// footers; `ribbon_exact_verify` checks every byte.
//
// # Safety
// `bytes` points to `len` bytes that outlive the set; `out` is null or points to a writable
// pointer.
ribbon_status ribbon_exact_open(const uint8_t *bytes, size_t len, ribbon_exact **out);

// Checks every byte against the checksum.
//
// # Safety
// `set` is an exact set.
ribbon_status ribbon_exact_verify(const ribbon_exact *set);

// Returns 1 if a key without a group is a member, 0 if it is not, or a negative status. The result
// is arbitrary for keys outside the universe. If all keys have groups, it is 0.
//
// # Safety
// `set` is an exact set; `key` points to `len` bytes.
int ribbon_exact_contains(const ribbon_exact *set, const uint8_t *key, size_t len);

// Like `ribbon_exact_contains`, for the hash of a key.
//
// # Safety
// `set` is an exact set.
int ribbon_exact_contains_hash(const ribbon_exact *set, uint64_t hash);

// Looks up a batch of hashes, which is faster than one query per hash. Writes true or false to
// `out` for each hash.
//
// # Safety
// `set` is an exact set; `hashes` points to `count` hashes, `out` to `count` writable bools.
ribbon_status ribbon_exact_contains_hashes(const ribbon_exact *set,
                                           const uint64_t *hashes,
                                           size_t count,
                                           bool *out);

// Returns 1 if a key of a group is a member, 0 if it is not, or a negative status:
// `RIBBON_STATUS_UNKNOWN_GROUP` if the universe has no key of this group. The result is arbitrary
// for keys outside the universe.
//
// # Safety
// `set` is an exact set; `group` points to `group_len` bytes, `key` to `len` bytes.
int ribbon_exact_contains_in(const ribbon_exact *set,
                             const uint8_t *group,
                             size_t group_len,
                             const uint8_t *key,
                             size_t len);

// Like `ribbon_exact_contains_in`, for the hashes of a group and a key. The hash 0 stands for keys
// that have no group.
//
// # Safety
// `set` is an exact set.
int ribbon_exact_contains_hash_in(const ribbon_exact *set, uint64_t group_hash, uint64_t hash);

// Like `ribbon_exact_contains_hashes`, for keys of one group. Returns
// `RIBBON_STATUS_UNKNOWN_GROUP` if the universe has no key of this group.
//
// # Safety
// `set` is an exact set; `hashes` points to `count` hashes, `out` to `count` writable bools.
ribbon_status ribbon_exact_contains_hashes_in(const ribbon_exact *set,
                                              uint64_t group_hash,
                                              const uint64_t *hashes,
                                              size_t count,
                                              bool *out);

// Returns the bytes of an exact set, to be stored and opened again with `ribbon_exact_open`. They
// are valid until the set is freed.
//
// # Safety
// `set` is an exact set; `bytes` and `len` are null or point to writable values.
ribbon_status ribbon_exact_bytes(const ribbon_exact *set, const uint8_t **bytes, size_t *len);

// Returns the properties of an exact set, such as the number of its members.
//
// # Safety
// `set` is an exact set; `out` is null or points to a writable `ribbon_exact_properties`.
ribbon_status ribbon_exact_info(const ribbon_exact *set, ribbon_exact_properties *out);

// Frees an exact set, but not the buffer that it was opened over. Null is allowed.
//
// # Safety
// `set` is null or an exact set that is not used again.
void ribbon_exact_free(ribbon_exact *set);

// Creates a builder of an exact set. If `settings` is null, it has the default settings. Only
// `threads`, `effort`, `max_memory` and `key_seed` may be set.
//
// # Safety
// `settings` is null or valid; `out` is null or points to a writable pointer.
ribbon_status ribbon_exact_builder_new(const ribbon_settings *settings, ribbon_exact_builder **out);

// Adds a member of `len` bytes, which has no group.
//
// # Safety
// `builder` is a builder that no other thread uses during the call; `key` points to `len` bytes.
ribbon_status ribbon_exact_builder_push_member(ribbon_exact_builder *builder,
                                               const uint8_t *key,
                                               size_t len);

// Adds another key of the universe of `len` bytes, which is not a member and has no group.
//
// # Safety
// `builder` is a builder that no other thread uses during the call; `key` points to `len` bytes.
ribbon_status ribbon_exact_builder_push_other(ribbon_exact_builder *builder,
                                              const uint8_t *key,
                                              size_t len);

// Adds members by their 64-bit hashes. These may come from `ribbon_key_hash` or from any other
// good hash function; queries must use the same function.
//
// # Safety
// `builder` is a builder that no other thread uses during the call; `hashes` points to `count`
// hashes.
ribbon_status ribbon_exact_builder_push_member_hashes(ribbon_exact_builder *builder,
                                                      const uint64_t *hashes,
                                                      size_t count);

// Like `ribbon_exact_builder_push_member_hashes`, for keys that are not members.
//
// # Safety
// `builder` is a builder that no other thread uses during the call; `hashes` points to `count`
// hashes.
ribbon_status ribbon_exact_builder_push_other_hashes(ribbon_exact_builder *builder,
                                                     const uint64_t *hashes,
                                                     size_t count);

// Adds a member of `len` bytes that belongs to the group with a name of `group_len` bytes. The
// same key in another group is another key.
//
// # Safety
// `builder` is a builder that no other thread uses during the call; `group` points to `group_len`
// bytes, `key` to `len` bytes.
ribbon_status ribbon_exact_builder_push_member_in(ribbon_exact_builder *builder,
                                                  const uint8_t *group,
                                                  size_t group_len,
                                                  const uint8_t *key,
                                                  size_t len);

// Like `ribbon_exact_builder_push_member_in`, for a key that is not a member.
//
// # Safety
// `builder` is a builder that no other thread uses during the call; `group` points to `group_len`
// bytes, `key` to `len` bytes.
ribbon_status ribbon_exact_builder_push_other_in(ribbon_exact_builder *builder,
                                                 const uint8_t *group,
                                                 size_t group_len,
                                                 const uint8_t *key,
                                                 size_t len);

// Adds members of a group by the hashes of the group and the keys. The hash 0 stands for keys that
// have no group.
//
// # Safety
// `builder` is a builder that no other thread uses during the call; `hashes` points to `count`
// hashes.
ribbon_status ribbon_exact_builder_push_member_hashes_in(ribbon_exact_builder *builder,
                                                         uint64_t group_hash,
                                                         const uint64_t *hashes,
                                                         size_t count);

// Like `ribbon_exact_builder_push_member_hashes_in`, for keys that are not members.
//
// # Safety
// `builder` is a builder that no other thread uses during the call; `hashes` points to `count`
// hashes.
ribbon_status ribbon_exact_builder_push_other_hashes_in(ribbon_exact_builder *builder,
                                                        uint64_t group_hash,
                                                        const uint64_t *hashes,
                                                        size_t count);

// Builds the set. Afterwards the builder can only be freed, even if the build fails. It fails with
// `RIBBON_STATUS_BUILD_FAILED` if a key is a member and not a member, or in the rare case that two
// keys have the same hash: then another `key_seed` helps.
//
// # Safety
// `builder` is a builder that no other thread uses during the call; `out` is null or points to a
// writable pointer.
ribbon_status ribbon_exact_builder_finish(ribbon_exact_builder *builder, ribbon_exact **out);

// Frees a builder and the keys in it. Null is allowed.
//
// # Safety
// `builder` is null or a builder that is not used again.
void ribbon_exact_builder_free(ribbon_exact_builder *builder);

// Opens a filter over a buffer of the caller, without copying it. The buffer may have any
// alignment. It must not be changed or freed before the filter is freed. This checks only the
// footer; `ribbon_filter_verify` checks every byte.
//
// # Safety
// `bytes` points to `len` bytes that outlive the filter; `out` is null or points to a writable
// pointer.
ribbon_status ribbon_filter_open(const uint8_t *bytes, size_t len, ribbon_filter **out);

// Checks every byte against the checksums.
//
// # Safety
// `filter` is a filter.
ribbon_status ribbon_filter_verify(const ribbon_filter *filter);

// Returns 1 if a key might be in the set, 0 if it is not, or a negative status.
//
// # Safety
// `filter` is a filter; `key` points to `len` bytes.
int ribbon_filter_contains(const ribbon_filter *filter, const uint8_t *key, size_t len);

// Like `ribbon_filter_contains`, for the hash of a key.
//
// # Safety
// `filter` is a filter.
int ribbon_filter_contains_hash(const ribbon_filter *filter, uint64_t hash);

// Looks up a batch of hashes, which is faster than one query per hash. Writes true or false to
// `out` for each hash.
//
// # Safety
// `filter` is a filter; `hashes` points to `count` hashes, `out` to `count` writable bools.
ribbon_status ribbon_filter_contains_hashes(const ribbon_filter *filter,
                                            const uint64_t *hashes,
                                            size_t count,
                                            bool *out);

// Returns the bytes of a filter, to be stored and opened again with `ribbon_filter_open`. They are
// valid until the filter is freed.
//
// # Safety
// `filter` is a filter; `bytes` and `len` are null or point to writable values.
ribbon_status ribbon_filter_bytes(const ribbon_filter *filter, const uint8_t **bytes, size_t *len);

// Returns the properties of a filter.
//
// # Safety
// `filter` is a filter; `out` is null or points to a writable `ribbon_info`.
ribbon_status ribbon_filter_info(const ribbon_filter *filter, ribbon_info *out);

// Creates a smaller filter of the same keys with the given, higher false-positive rate. It does
// not need the keys.
//
// # Safety
// `filter` is a filter; `out` is null or points to a writable pointer.
ribbon_status ribbon_filter_shrink_to_rate(const ribbon_filter *filter,
                                           double rate,
                                           ribbon_filter **out);

// Like `ribbon_filter_shrink_to_rate`, for a total size in bytes, footer included.
//
// # Safety
// `filter` is a filter; `out` is null or points to a writable pointer.
ribbon_status ribbon_filter_shrink_to_bytes(const ribbon_filter *filter,
                                            uint64_t bytes,
                                            ribbon_filter **out);

// Frees a filter, but not the buffer that it was opened over. Null is allowed.
//
// # Safety
// `filter` is null or a filter that is not used again.
void ribbon_filter_free(ribbon_filter *filter);

// Builds the set of the members added so far and of other keys that are not kept. `others` passes
// them to `ribbon_other_keys_push` and the like, and returns 0, or another number to end the build.
// It is called one to three times and must pass the same keys every time, in any order. `context`
// is passed on to it. It must not use the builder, and must return: no `longjmp`, no C++ exception.
//
// With `others_include_members` the keys may be the whole universe: those that are members count as
// members. Without it, a key on both sides is an error.
//
// Afterwards the builder can only be freed, even if the build fails. It fails with
// `RIBBON_STATUS_BUILD_FAILED` as `ribbon_exact_builder_finish` does, if the keys were not the same
// every time, or if `others` ended the build.
//
// # Safety
// `builder` is a builder that nobody else uses during the call; `others` is null or a function that
// does as described; `out` is null or points to a writable pointer.
ribbon_status ribbon_exact_builder_finish_with(ribbon_exact_builder *builder,
                                               int (*others)(ribbon_other_keys *keys, void *context),
                                               void *context,
                                               bool others_include_members,
                                               ribbon_exact **out);

// Takes another key of the universe of `len` bytes, which has no group. Fails with
// `RIBBON_STATUS_BUILD_FAILED` if the build has failed already, so that more keys are of no use.
//
// # Safety
// `keys` is what the caller's function got, before it returns, and is used by one thread at a time;
// `key` points to `len` bytes.
ribbon_status ribbon_other_keys_push(ribbon_other_keys *keys, const uint8_t *key, size_t len);

// Like `ribbon_other_keys_push`, for keys by their 64-bit hashes.
//
// # Safety
// As for `ribbon_other_keys_push`; `hashes` points to `count` hashes.
ribbon_status ribbon_other_keys_push_hashes(ribbon_other_keys *keys,
                                            const uint64_t *hashes,
                                            size_t count);

// Like `ribbon_other_keys_push`, for a key of the group with a name of `group_len` bytes.
//
// # Safety
// As for `ribbon_other_keys_push`; `group` points to `group_len` bytes.
ribbon_status ribbon_other_keys_push_in(ribbon_other_keys *keys,
                                        const uint8_t *group,
                                        size_t group_len,
                                        const uint8_t *key,
                                        size_t len);

// Like `ribbon_other_keys_push_hashes`, for keys of one group. The hash 0 stands for keys that have
// no group.
//
// # Safety
// As for `ribbon_other_keys_push_hashes`.
ribbon_status ribbon_other_keys_push_hashes_in(ribbon_other_keys *keys,
                                               uint64_t group_hash,
                                               const uint64_t *hashes,
                                               size_t count);

// Plans a filter of `keys` keys. If `settings` is null, uses the default settings.
//
// # Safety
// `settings` is null or valid; `out` is null or points to a writable `ribbon_plan`.
ribbon_status ribbon_plan_for(const ribbon_settings *settings, uint64_t keys, ribbon_plan *out);

// Returns the message of the last call that failed on this thread, in UTF-8, or an empty string
// if no call has failed. The message is valid until the next call fails on this thread. Never
// null.
const char *ribbon_last_error(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* RIBBONFILTER_H */
