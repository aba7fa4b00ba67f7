/* Every function of exact sets, with arguments that it must accept and arguments that it must
 * reject. */
#include "expect.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 50000, GROUPS = 5 };

static ribbon_exact_builder *new_builder(ribbon_settings settings) {
    ribbon_exact_builder *builder;
    EXPECT(ribbon_exact_builder_new(&settings, &builder), RIBBON_STATUS_OK);
    return builder;
}

static ribbon_exact *finish(ribbon_exact_builder *builder) {
    ribbon_exact *set;
    EXPECT(ribbon_exact_builder_finish(builder, &set), RIBBON_STATUS_OK);
    EXPECT(ribbon_exact_builder_finish(builder, &set), RIBBON_STATUS_INVALID_ARGUMENT);
    ribbon_exact_builder_free(builder);
    return set;
}

static ribbon_exact *build(const uint64_t *hashes, size_t members, ribbon_settings settings) {
    ribbon_exact_builder *builder = new_builder(settings);
    EXPECT(ribbon_exact_builder_push_member_hashes(builder, hashes, members), RIBBON_STATUS_OK);
    EXPECT(ribbon_exact_builder_push_other_hashes(builder, hashes + members, KEYS - members),
           RIBBON_STATUS_OK);
    return finish(builder);
}

/* Exactly the first `members` of all keys are members. */
static void is_exact(const ribbon_exact *set, const uint64_t *hashes, size_t members) {
    bool *hits = malloc(KEYS);
    memset(hits, 0xff, KEYS);
    EXPECT(ribbon_exact_contains_hashes(set, hashes, KEYS, hits), RIBBON_STATUS_OK);
    for (size_t i = 0; i < KEYS; i++) {
        EXPECT(hits[i], i < members);
        EXPECT(ribbon_exact_contains_hash(set, hashes[i]), i < members);
    }
    EXPECT(ribbon_exact_contains_hashes_in(set, 0, hashes, KEYS, hits), RIBBON_STATUS_OK);
    for (size_t i = 0; i < KEYS; i++)
        EXPECT(hits[i], i < members);
    free(hits);
}

static bool same_bytes(const ribbon_exact *a, const ribbon_exact *b) {
    const uint8_t *bytes_of_a, *bytes_of_b;
    size_t len_of_a, len_of_b;
    EXPECT(ribbon_exact_bytes(a, &bytes_of_a, &len_of_a), RIBBON_STATUS_OK);
    EXPECT(ribbon_exact_bytes(b, &bytes_of_b, &len_of_b), RIBBON_STATUS_OK);
    return len_of_a == len_of_b && memcmp(bytes_of_a, bytes_of_b, len_of_a) == 0;
}

static void one_group(const uint64_t *hashes) {
    const size_t numbers[] = {0, 1, 50, 500, 5000, 25000, 45000, 49999, KEYS};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        ribbon_settings settings = {0};
        ribbon_exact_properties info;
        settings.threads = 1 + i % 3;
        ribbon_exact *set = build(hashes, numbers[i], settings);
        is_exact(set, hashes, numbers[i]);
        EXPECT(ribbon_exact_verify(set), RIBBON_STATUS_OK);
        EXPECT(ribbon_exact_info(set, &info), RIBBON_STATUS_OK);
        EXPECT(info.members == numbers[i] && info.universe == KEYS && info.groups == 1, 1);
        EXPECT(info.bytes * 8.0 >= info.lower_bound_bits, 1);
        EXPECT(info.bytes * 8.0 <= 1.2 * info.lower_bound_bits + 2000, 1);
        EXPECT(info.expected_rate >= 0 && info.expected_rate <= 1 && info.key_seed == 0, 1);
        /* Keys and their hashes are the same. */
        ribbon_exact_builder *builder = new_builder(settings);
        for (uint64_t key = 0; key < KEYS; key++) {
            const uint8_t *bytes = (const uint8_t *)&key;
            if (key < numbers[i])
                EXPECT(ribbon_exact_builder_push_member(builder, bytes, sizeof key),
                       RIBBON_STATUS_OK);
            else
                EXPECT(ribbon_exact_builder_push_other(builder, bytes, sizeof key),
                       RIBBON_STATUS_OK);
        }
        ribbon_exact *of_keys = finish(builder);
        EXPECT(same_bytes(set, of_keys), 1);
        EXPECT(ribbon_exact_contains(of_keys, (const uint8_t *)&(uint64_t){49}, 8), 49 < numbers[i]);
        ribbon_exact_free(of_keys);
        ribbon_exact_free(set);
    }
}

/* In group g, all keys with k % 10 < 2 * g + 1 are members: a tenth, and up to nine. */
static bool is_member(uint64_t group, uint64_t key) {
    return key % 10 < 2 * group + 1;
}

static void groups(void) {
    ribbon_settings settings = {0};
    settings.key_seed = 7;
    ribbon_exact_builder *of_keys = new_builder(settings), *of_hashes = new_builder(settings);
    for (uint64_t group = 0; group < GROUPS; group++)
        for (uint64_t key = 0; key < 2000; key++) {
            const uint8_t *name = (const uint8_t *)&group, *bytes = (const uint8_t *)&key;
            uint64_t group_hash = ribbon_key_hash(name, 1, 7), hash = ribbon_key_hash(bytes, 8, 7);
            if (is_member(group, key)) {
                EXPECT(ribbon_exact_builder_push_member_in(of_keys, name, 1, bytes, 8),
                       RIBBON_STATUS_OK);
                EXPECT(ribbon_exact_builder_push_member_hashes_in(of_hashes, group_hash, &hash, 1),
                       RIBBON_STATUS_OK);
            } else {
                EXPECT(ribbon_exact_builder_push_other_in(of_keys, name, 1, bytes, 8),
                       RIBBON_STATUS_OK);
                EXPECT(ribbon_exact_builder_push_other_hashes_in(of_hashes, group_hash, &hash, 1),
                       RIBBON_STATUS_OK);
            }
        }
    ribbon_exact *set = finish(of_keys), *copy = finish(of_hashes);
    EXPECT(same_bytes(set, copy), 1);
    ribbon_exact_free(copy);

    uint64_t hashes[2000];
    bool hits[2000];
    for (uint64_t key = 0; key < 2000; key++)
        hashes[key] = ribbon_key_hash((const uint8_t *)&key, 8, 7);
    for (uint64_t group = 0; group < GROUPS; group++) {
        const uint8_t *name = (const uint8_t *)&group;
        uint64_t group_hash = ribbon_key_hash(name, 1, 7);
        EXPECT(ribbon_exact_contains_hashes_in(set, group_hash, hashes, 2000, hits),
               RIBBON_STATUS_OK);
        for (uint64_t key = 0; key < 2000; key++) {
            bool expected = is_member(group, key);
            EXPECT(ribbon_exact_contains_in(set, name, 1, (const uint8_t *)&key, 8), expected);
            EXPECT(ribbon_exact_contains_hash_in(set, group_hash, hashes[key]), expected);
            EXPECT(hits[key], expected);
        }
    }
    /* Unknown groups, and keys without a group, where all have one. */
    const uint8_t unknown = GROUPS;
    memset(hits, true, sizeof hits);
    EXPECT(ribbon_exact_contains_in(set, &unknown, 1, &unknown, 1), RIBBON_STATUS_UNKNOWN_GROUP);
    EXPECT(ribbon_exact_contains_hash_in(set, 1, 1), RIBBON_STATUS_UNKNOWN_GROUP);
    EXPECT(ribbon_exact_contains_hashes_in(set, 1, hashes, 2000, hits),
           RIBBON_STATUS_UNKNOWN_GROUP);
    EXPECT(hits[0] && hits[1999], 1);
    EXPECT(ribbon_exact_contains(set, (const uint8_t *)hashes, 8), 0);
    EXPECT(ribbon_exact_contains_hash(set, hashes[0]), 0);
    ribbon_exact_properties info;
    EXPECT(ribbon_exact_info(set, &info), RIBBON_STATUS_OK);
    EXPECT(info.members == 5000 && info.universe == 10000 && info.groups == GROUPS, 1);
    EXPECT(info.key_seed, 7);
    ribbon_exact_free(set);
}

/* The other keys of a build, in the groups of `groups` or without one. */
typedef struct {
    const uint64_t *hashes;
    size_t count;
    /* How often the function was called, and what it returns the last time. */
    int calls, last, returns;
} source;

static int pass_hashes(ribbon_other_keys *keys, void *context) {
    source *from = context;
    /* In two parts, of which one is empty in the first call. */
    size_t half = from->calls++ == 0 ? 0 : from->count / 2;
    EXPECT(ribbon_other_keys_push_hashes(keys, from->hashes, half), RIBBON_STATUS_OK);
    EXPECT(ribbon_other_keys_push_hashes_in(keys, 0, from->hashes + half, from->count - half),
           RIBBON_STATUS_OK);
    EXPECT(ribbon_other_keys_push_hashes(keys, NULL, 1), RIBBON_STATUS_NULL_POINTER);
    EXPECT(ribbon_other_keys_push(keys, NULL, 1), RIBBON_STATUS_NULL_POINTER);
    EXPECT(ribbon_other_keys_push_in(keys, NULL, 1, NULL, 0), RIBBON_STATUS_NULL_POINTER);
    EXPECT(ribbon_other_keys_push(NULL, NULL, 0), RIBBON_STATUS_NULL_POINTER);
    EXPECT(ribbon_exact_verify((ribbon_exact *)keys), RIBBON_STATUS_WRONG_HANDLE);
    return from->calls >= from->last ? from->returns : 0;
}

/* Others that change: fewer in every call. */
static int pass_fewer(ribbon_other_keys *keys, void *context) {
    source *from = context;
    return ribbon_other_keys_push_hashes(keys, from->hashes, from->count - from->calls++);
}

/* The universe of `groups`, members included, by names. */
static int pass_groups(ribbon_other_keys *keys, void *context) {
    ++*(int *)context;
    for (uint64_t group = 0; group < GROUPS; group++)
        for (uint64_t key = 0; key < 2000; key++)
            EXPECT(ribbon_other_keys_push_in(keys, (const uint8_t *)&group, 1,
                                             (const uint8_t *)&key, 8),
                   RIBBON_STATUS_OK);
    EXPECT(ribbon_other_keys_push(keys, (const uint8_t *)"alone", 5), RIBBON_STATUS_OK);
    return 0;
}

/* Others that are read again instead of being kept: the bytes of a build that keeps them. */
static void several_passes(const uint64_t *hashes) {
    const size_t numbers[] = {0, 1, 500, 25000, 45000, KEYS};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        for (int include = 0; include < 2; include++) {
            size_t members = numbers[i];
            source others = {hashes + members, KEYS - members, 0, 9, 0};
            if (include)
                others = (source){hashes, KEYS, 0, 9, 0};
            ribbon_exact_builder *builder = new_builder((ribbon_settings){0});
            ribbon_exact *set, *kept = build(hashes, members, (ribbon_settings){0});
            EXPECT(ribbon_exact_builder_push_member_hashes(builder, hashes, members),
                   RIBBON_STATUS_OK);
            EXPECT(ribbon_exact_builder_finish_with(builder, pass_hashes, &others, include, &set),
                   RIBBON_STATUS_OK);
            EXPECT(others.calls >= 1 && others.calls <= 3, 1);
            EXPECT(ribbon_exact_builder_finish_with(builder, pass_hashes, &others, include, &set),
                   RIBBON_STATUS_INVALID_ARGUMENT);
            ribbon_exact_builder_free(builder);
            is_exact(set, hashes, members);
            EXPECT(same_bytes(set, kept), 1);
            ribbon_exact_free(kept);
            ribbon_exact_free(set);
        }

    /* Groups, in the universe of which are the members. */
    int calls = 0;
    ribbon_exact *set;
    ribbon_exact_builder *builder = new_builder((ribbon_settings){0});
    for (uint64_t group = 0; group < GROUPS; group++)
        for (uint64_t key = 0; key < 2000; key++)
            if (is_member(group, key))
                EXPECT(ribbon_exact_builder_push_member_in(builder, (const uint8_t *)&group, 1,
                                                           (const uint8_t *)&key, 8),
                       RIBBON_STATUS_OK);
    EXPECT(ribbon_exact_builder_finish_with(builder, pass_groups, &calls, true, &set),
           RIBBON_STATUS_OK);
    ribbon_exact_builder_free(builder);
    EXPECT(calls >= 2 && calls <= 3, 1);
    for (uint64_t group = 0; group < GROUPS; group++)
        for (uint64_t key = 0; key < 2000; key++)
            EXPECT(ribbon_exact_contains_in(set, (const uint8_t *)&group, 1, (const uint8_t *)&key, 8),
                   is_member(group, key));
    EXPECT(ribbon_exact_contains(set, (const uint8_t *)"alone", 5), 0);
    ribbon_exact_free(set);

    /* A function that ends the build, in each of its calls; a key on both sides; fewer others in
     * the second call; no function; no result. */
    for (int last = 1; last <= 2; last++) {
        source others = {hashes + 500, KEYS - 500, 0, last, -7};
        builder = new_builder((ribbon_settings){0});
        EXPECT(ribbon_exact_builder_push_member_hashes(builder, hashes, 500), RIBBON_STATUS_OK);
        EXPECT(ribbon_exact_builder_finish_with(builder, pass_hashes, &others, false, &set),
               RIBBON_STATUS_BUILD_FAILED);
        EXPECT(others.calls, last);
        EXPECT(strstr(ribbon_last_error(), "returned -7") != NULL, 1);
        ribbon_exact_builder_free(builder);
    }
    source both = {hashes + 499, KEYS - 499, 0, 9, 0}, fewer = {hashes + 500, 1000, 0, 9, 0};
    builder = new_builder((ribbon_settings){0});
    EXPECT(ribbon_exact_builder_push_member_hashes(builder, hashes, 500), RIBBON_STATUS_OK);
    EXPECT(ribbon_exact_builder_finish_with(builder, NULL, &both, false, &set),
           RIBBON_STATUS_NULL_POINTER);
    EXPECT(ribbon_exact_builder_finish_with(builder, pass_hashes, &both, false, NULL),
           RIBBON_STATUS_NULL_POINTER);
    EXPECT(ribbon_exact_builder_finish_with(NULL, pass_hashes, &both, false, &set),
           RIBBON_STATUS_NULL_POINTER);
    EXPECT(ribbon_exact_builder_finish_with(builder, pass_hashes, &both, false, &set),
           RIBBON_STATUS_BUILD_FAILED);
    ribbon_exact_builder_free(builder);
    builder = new_builder((ribbon_settings){0});
    EXPECT(ribbon_exact_builder_push_member_hashes(builder, hashes, 500), RIBBON_STATUS_OK);
    EXPECT(ribbon_exact_builder_finish_with(builder, pass_fewer, &fewer, false, &set),
           RIBBON_STATUS_BUILD_FAILED);
    ribbon_exact_builder_free(builder);
}

static void invalid_arguments(const uint64_t *hashes) {
    ribbon_exact_builder *builder;
    ribbon_exact *set;
    const ribbon_settings invalid[] = {
        {.false_positive_rate = 0.01}, {.bits_per_key = 8}, {.total_bytes = 9}, {.columns = 7},
        {.variant = 1},                {.width = 64},       {.effort = 2},
    };
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++)
        EXPECT(ribbon_exact_builder_new(&invalid[i], &builder), RIBBON_STATUS_INVALID_ARGUMENT);
    EXPECT(ribbon_exact_builder_new(NULL, NULL), RIBBON_STATUS_NULL_POINTER);

    /* A key on both sides; too little memory. */
    EXPECT(ribbon_exact_builder_new(NULL, &builder), RIBBON_STATUS_OK);
    EXPECT(ribbon_exact_builder_push_member_hashes(builder, hashes, 10), RIBBON_STATUS_OK);
    EXPECT(ribbon_exact_builder_push_other_hashes(builder, hashes + 9, 10), RIBBON_STATUS_OK);
    EXPECT(ribbon_exact_builder_finish(builder, &set), RIBBON_STATUS_BUILD_FAILED);
    EXPECT(ribbon_exact_builder_push_member(builder, NULL, 0), RIBBON_STATUS_INVALID_ARGUMENT);
    ribbon_exact_builder_free(builder);
    builder = new_builder((ribbon_settings){.max_memory = 1});
    EXPECT(ribbon_exact_builder_push_other_hashes(builder, hashes, KEYS), RIBBON_STATUS_OK);
    EXPECT(ribbon_exact_builder_finish(builder, &set), RIBBON_STATUS_BUILD_FAILED);
    ribbon_exact_builder_free(builder);

    /* Null pointers and handles of the wrong type. */
    builder = new_builder((ribbon_settings){0});
    const uint8_t *key = (const uint8_t *)"key";
    EXPECT(ribbon_exact_builder_push_member(NULL, key, 3), RIBBON_STATUS_NULL_POINTER);
    EXPECT(ribbon_exact_builder_push_member(builder, NULL, 3), RIBBON_STATUS_NULL_POINTER);
    EXPECT(ribbon_exact_builder_push_other_in(builder, NULL, 3, key, 3), RIBBON_STATUS_NULL_POINTER);
    EXPECT(ribbon_exact_builder_push_other_in(builder, key, 3, NULL, 3), RIBBON_STATUS_NULL_POINTER);
    EXPECT(ribbon_exact_builder_push_member_hashes(builder, NULL, 1), RIBBON_STATUS_NULL_POINTER);
    EXPECT(ribbon_exact_builder_finish(builder, NULL), RIBBON_STATUS_NULL_POINTER);
    EXPECT(ribbon_exact_contains(NULL, key, 3), RIBBON_STATUS_NULL_POINTER);
    EXPECT(ribbon_exact_contains((ribbon_exact *)builder, key, 3), RIBBON_STATUS_WRONG_HANDLE);
    EXPECT(ribbon_builder_push((ribbon_builder *)builder, key, 3), RIBBON_STATUS_WRONG_HANDLE);
    EXPECT(ribbon_filter_verify((ribbon_filter *)builder), RIBBON_STATUS_WRONG_HANDLE);
    ribbon_exact_free((ribbon_exact *)builder);
    /* The empty set, of an empty universe. */
    set = finish(builder);
    EXPECT(ribbon_exact_contains_hashes(set, NULL, 0, NULL), RIBBON_STATUS_OK);
    EXPECT(ribbon_exact_contains(set, NULL, 3), RIBBON_STATUS_NULL_POINTER);
    EXPECT(ribbon_exact_contains_in(set, NULL, 3, key, 3), RIBBON_STATUS_NULL_POINTER);
    EXPECT(ribbon_exact_info(set, NULL), RIBBON_STATUS_NULL_POINTER);
    EXPECT(ribbon_filter_contains((ribbon_filter *)set, key, 3), RIBBON_STATUS_WRONG_HANDLE);
    EXPECT(ribbon_exact_builder_push_other((ribbon_exact_builder *)set, key, 3),
           RIBBON_STATUS_WRONG_HANDLE);
    ribbon_exact_builder_free((ribbon_exact_builder *)set);
    ribbon_exact_free(set);
    ribbon_exact_free(NULL);
    ribbon_exact_builder_free(NULL);
}

/* Buffers that are truncated, corrupt or not an exact set. */
static void untrusted_bytes(const uint64_t *hashes) {
    ribbon_exact *built = build(hashes, 500, (ribbon_settings){0}), *set;
    const uint8_t *bytes;
    size_t len;
    EXPECT(ribbon_exact_bytes(built, NULL, &len), RIBBON_STATUS_NULL_POINTER);
    EXPECT(ribbon_exact_bytes(built, &bytes, &len), RIBBON_STATUS_OK);
    EXPECT(ribbon_exact_open(NULL, len, &set), RIBBON_STATUS_NULL_POINTER);
    EXPECT(ribbon_exact_open(bytes, len, NULL), RIBBON_STATUS_NULL_POINTER);
    EXPECT(ribbon_exact_open(NULL, 0, &set), RIBBON_STATUS_NOT_A_FILTER);
    EXPECT(ribbon_filter_open(bytes, len, (ribbon_filter **)&set), RIBBON_STATUS_NOT_A_FILTER);
    for (size_t cut = 1; cut < len; cut = cut * 2 + 1) {
        /* A separate allocation, so that the sanitizer detects reads past its end. */
        uint8_t *part = malloc(len - cut);
        memcpy(part, bytes, len - cut);
        EXPECT(ribbon_exact_open(part, len - cut, &set), RIBBON_STATUS_NOT_A_FILTER);
        free(part);
    }
    /* An unaligned copy. */
    uint8_t *copy = malloc(len + 1);
    memcpy(copy + 1, bytes, len);
    ribbon_exact_free(built);
    EXPECT(ribbon_exact_open(copy + 1, len, &set), RIBBON_STATUS_OK);
    is_exact(set, hashes, 500);
    EXPECT(ribbon_exact_verify(set), RIBBON_STATUS_OK);
    /* A failed call leaves the results unchanged. */
    bool hit = true;
    EXPECT(ribbon_exact_contains_hashes(set, NULL, 1, &hit), RIBBON_STATUS_NULL_POINTER);
    EXPECT(ribbon_exact_contains_hashes(set, hashes, 1, NULL), RIBBON_STATUS_NULL_POINTER);
    EXPECT(ribbon_exact_contains_hashes_in(set, 0, NULL, 1, &hit), RIBBON_STATUS_NULL_POINTER);
    EXPECT(ribbon_exact_contains_hashes_in(set, 0, hashes, 1, NULL), RIBBON_STATUS_NULL_POINTER);
    EXPECT(ribbon_exact_contains_hashes(NULL, hashes, 1, &hit), RIBBON_STATUS_NULL_POINTER);
    EXPECT(hit, true);
    copy[100] ^= 1;
    EXPECT(ribbon_exact_verify(set), RIBBON_STATUS_NOT_A_FILTER);
    ribbon_exact_free(set);
    free(copy);
}

int main(void) {
    uint64_t *hashes = malloc(KEYS * sizeof *hashes);
    for (uint64_t i = 0; i < KEYS; i++)
        hashes[i] = ribbon_key_hash((const uint8_t *)&i, sizeof i, 0);
    one_group(hashes);
    groups();
    several_passes(hashes);
    invalid_arguments(hashes);
    untrusted_bytes(hashes);
    free(hashes);
    puts("ok");
    return 0;
}
