/* A set of words in a few bytes: build it, copy its bytes, open the copy, look up words.
 *
 *   cargo build --release -p ribbonfilter-c
 *   cc -I crates/ribbonfilter-c/include crates/ribbonfilter-c/examples/words.c \
 *      target/release/libribbonfilter_c.a -lpthread -ldl -lm -o words && ./words
 */
#include "ribbonfilter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(ribbon_status status) {
    if (status != RIBBON_STATUS_OK) {
        fprintf(stderr, "%s\n", ribbon_last_error());
        exit(1);
    }
}

int main(void) {
    const char *words[] = {"ada", "grace", "edsger", "barbara", "donald"};
    ribbon_settings settings = {0};
    settings.false_positive_rate = 0.001;

    ribbon_builder *builder;
    check(ribbon_builder_new(&settings, &builder));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        check(ribbon_builder_push(builder, (const uint8_t *)words[i], strlen(words[i])));
    ribbon_filter *built;
    check(ribbon_builder_finish(builder, &built));
    ribbon_builder_free(builder);

    /* The bytes are the whole filter: write them to a file, a block of a table, a socket. */
    const uint8_t *bytes;
    size_t len;
    check(ribbon_filter_bytes(built, &bytes, &len));
    uint8_t *copy = malloc(len);
    if (!copy)
        return 1;
    memcpy(copy, bytes, len);
    ribbon_filter_free(built);

    /* Opening copies nothing. */
    ribbon_filter *filter;
    check(ribbon_filter_open(copy, len, &filter));
    const char *queries[] = {"grace", "smalltalk"};
    for (size_t i = 0; i < 2; i++) {
        int hit = ribbon_filter_contains(filter, (const uint8_t *)queries[i], strlen(queries[i]));
        printf("%s: %s\n", queries[i], hit ? "maybe" : "no");
    }
    ribbon_info info;
    check(ribbon_filter_info(filter, &info));
    printf("%llu words in %llu bytes\n", (unsigned long long)info.keys,
           (unsigned long long)info.bytes);
    ribbon_filter_free(filter);
    free(copy);
    return 0;
}
