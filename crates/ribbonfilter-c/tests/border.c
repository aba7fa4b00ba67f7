/* Every function, with arguments that it must accept and arguments that it must reject. */
#include "expect.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 50000 };

static ribbon_filter *build(const uint64_t *hashes, size_t count, ribbon_settings settings) {
    ribbon_builder *builder;
    ribbon_filter *filter;
    EXPECT(ribbon_builder_new(&settings, &builder), RIBBON_STATUS_OK);
    EXPECT(ribbon_builder_push_hashes(builder, hashes, count), RIBBON_STATUS_OK);
    EXPECT(ribbon_builder_finish(builder, &filter), RIBBON_STATUS_OK);
    EXPECT(ribbon_builder_finish(builder, &filter), RIBBON_STATUS_INVALID_ARGUMENT);
    EXPECT(ribbon_builder_push_hashes(builder, hashes, count), RIBBON_STATUS_INVALID_ARGUMENT);
    ribbon_builder_free(builder);
    return filter;
}

static void all_keys_are_found(const ribbon_filter *filter, const uint64_t *hashes, size_t count) {
    bool *hits = malloc(count + 1);
    EXPECT(ribbon_filter_contains_hashes(filter, hashes, count, hits), RIBBON_STATUS_OK);
    for (size_t i = 0; i < count; i++) {
        EXPECT(hits[i], 1);
        EXPECT(ribbon_filter_contains_hash(filter, hashes[i]), 1);
    }
    free(hits);
}

int main(void) {
    uint64_t *hashes = malloc(KEYS * sizeof *hashes);
    for (uint64_t i = 0; i < KEYS; i++)
        hashes[i] = ribbon_key_hash((const uint8_t *)&i, sizeof i, 0);

    for (uint32_t variant = 0; variant <= 4; variant++)
        for (size_t count = 0; count <= KEYS; count = count * 10 + 5) {
            ribbon_settings settings = {0};
            settings.columns = 12;
            settings.variant = variant;
            settings.threads = 2;
            ribbon_filter *filter = build(hashes, count, settings), *smaller;
            all_keys_are_found(filter, hashes, count);
            if (count > 0) {
                EXPECT(ribbon_filter_shrink_to_rate(filter, 0.1, &smaller), RIBBON_STATUS_OK);
                all_keys_are_found(smaller, hashes, count);
                EXPECT(ribbon_filter_verify(smaller), RIBBON_STATUS_OK);
                ribbon_filter_free(smaller);
                EXPECT(ribbon_filter_shrink_to_rate(filter, 1e-9, &smaller),
                       RIBBON_STATUS_SHRINK_FAILED);
                EXPECT(ribbon_filter_shrink_to_bytes(filter, 1, &smaller),
                       RIBBON_STATUS_SHRINK_FAILED);
            }
            ribbon_filter_free(filter);
        }

    /* More effort gives a smaller filter, of the planned size. */
    uint64_t normal_bytes = 0;
    for (uint32_t effort = 0; effort <= 1; effort++) {
        ribbon_settings settings = {0};
        ribbon_plan plan;
        ribbon_info info;
        settings.effort = effort;
        EXPECT(ribbon_plan_for(&settings, 4000, &plan), RIBBON_STATUS_OK);
        ribbon_filter *filter = build(hashes, 4000, settings);
        all_keys_are_found(filter, hashes, 4000);
        EXPECT(ribbon_filter_info(filter, &info), RIBBON_STATUS_OK);
        EXPECT(info.bytes == plan.bytes, 1);
        if (effort == 0)
            normal_bytes = info.bytes;
        else
            EXPECT(info.bytes < normal_bytes, 1);
        ribbon_filter_free(filter);
    }

    /* Plans and invalid settings. */
    ribbon_plan plan;
    ribbon_settings settings = {0};
    ribbon_builder *builder;
    ribbon_filter *filter;
    EXPECT(ribbon_plan_for(NULL, 1000000, &plan), RIBBON_STATUS_OK);
    EXPECT(plan.bytes > 800000 && plan.bytes < 900000 && plan.expected_rate <= 0.01, 1);
    EXPECT(ribbon_plan_for(NULL, 1, NULL), RIBBON_STATUS_NULL_POINTER);
    settings.bits_per_key = 8;
    settings.columns = 8;
    EXPECT(ribbon_builder_new(&settings, &builder), RIBBON_STATUS_INVALID_ARGUMENT);
    settings.columns = 0;
    settings.width = 65;
    EXPECT(ribbon_plan_for(&settings, 1, &plan), RIBBON_STATUS_INVALID_ARGUMENT);
    settings.width = 0;
    settings.variant = 5;
    EXPECT(ribbon_builder_new(&settings, &builder), RIBBON_STATUS_INVALID_ARGUMENT);
    settings.variant = 0;
    settings.effort = 2;
    EXPECT(ribbon_builder_new(&settings, &builder), RIBBON_STATUS_INVALID_ARGUMENT);
    EXPECT(ribbon_plan_for(&settings, 1, &plan), RIBBON_STATUS_INVALID_ARGUMENT);
    settings.effort = 0;
    settings.max_memory = 1;
    EXPECT(ribbon_builder_new(&settings, &builder), RIBBON_STATUS_OK);
    EXPECT(ribbon_builder_push_hashes(builder, hashes, KEYS), RIBBON_STATUS_OK);
    EXPECT(ribbon_builder_finish(builder, &filter), RIBBON_STATUS_BUILD_FAILED);

    /* Null pointers and handles of the wrong type. */
    EXPECT(ribbon_builder_new(NULL, NULL), RIBBON_STATUS_NULL_POINTER);
    EXPECT(ribbon_builder_push(NULL, NULL, 0), RIBBON_STATUS_NULL_POINTER);
    EXPECT(ribbon_builder_push(builder, NULL, 1), RIBBON_STATUS_NULL_POINTER);
    EXPECT(ribbon_builder_finish(builder, NULL), RIBBON_STATUS_NULL_POINTER);
    EXPECT(ribbon_filter_contains(NULL, NULL, 0), RIBBON_STATUS_NULL_POINTER);
    EXPECT(ribbon_filter_contains_hash((ribbon_filter *)builder, 1), RIBBON_STATUS_WRONG_HANDLE);
    EXPECT(ribbon_filter_verify((ribbon_filter *)builder), RIBBON_STATUS_WRONG_HANDLE);
    ribbon_filter_free((ribbon_filter *)builder);
    ribbon_builder_free(builder);
    ribbon_builder_free(NULL);
    ribbon_filter_free(NULL);

    /* Buffers that are truncated, corrupt or not a filter. */
    settings.max_memory = 0;
    ribbon_filter *built = build(hashes, KEYS, settings);
    const uint8_t *bytes;
    size_t len;
    EXPECT(ribbon_filter_bytes(built, &bytes, NULL), RIBBON_STATUS_NULL_POINTER);
    EXPECT(ribbon_filter_bytes(built, &bytes, &len), RIBBON_STATUS_OK);
    EXPECT(ribbon_filter_open(NULL, len, &filter), RIBBON_STATUS_NULL_POINTER);
    EXPECT(ribbon_filter_open(bytes, len, NULL), RIBBON_STATUS_NULL_POINTER);
    EXPECT(ribbon_filter_open(NULL, 0, &filter), RIBBON_STATUS_NOT_A_FILTER);
    for (size_t cut = 1; cut < len; cut = cut * 2 + 1) {
        /* A separate allocation, so that the sanitizer detects reads past its end. */
        uint8_t *part = malloc(len - cut);
        memcpy(part, bytes, len - cut);
        EXPECT(ribbon_filter_open(part, len - cut, &filter), RIBBON_STATUS_NOT_A_FILTER);
        free(part);
    }
    /* An unaligned copy. */
    uint8_t *copy = malloc(len + 1);
    memcpy(copy + 1, bytes, len);
    ribbon_filter_free(built);
    EXPECT(ribbon_filter_open(copy + 1, len, &filter), RIBBON_STATUS_OK);
    all_keys_are_found(filter, hashes, KEYS);
    EXPECT(ribbon_filter_contains_hashes(filter, NULL, 0, NULL), RIBBON_STATUS_OK);
    EXPECT(ribbon_filter_contains_hashes(filter, NULL, 1, NULL), RIBBON_STATUS_NULL_POINTER);
    /* A failed call leaves the results unchanged. */
    bool hit = true;
    EXPECT(ribbon_filter_contains_hashes(filter, NULL, 1, &hit), RIBBON_STATUS_NULL_POINTER);
    EXPECT(ribbon_filter_contains_hashes(NULL, &(uint64_t){1}, 1, &hit), RIBBON_STATUS_NULL_POINTER);
    EXPECT(hit, true);
    EXPECT(ribbon_builder_push((ribbon_builder *)filter, NULL, 0), RIBBON_STATUS_WRONG_HANDLE);
    EXPECT(ribbon_filter_verify(filter), RIBBON_STATUS_OK);
    copy[100] ^= 1;
    EXPECT(ribbon_filter_verify(filter), RIBBON_STATUS_NOT_A_FILTER);
    ribbon_filter_free(filter);
    free(copy);
    free(hashes);
    puts("ok");
    return 0;
}
