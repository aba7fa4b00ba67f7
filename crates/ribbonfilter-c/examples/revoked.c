/* Which certificates are revoked? Exact, since all certificates are known when the set is built.
 *
 *   cargo build --release -p ribbonfilter-c
 *   cc -I crates/ribbonfilter-c/include crates/ribbonfilter-c/examples/revoked.c \
 *      target/release/libribbonfilter_c.a -lpthread -ldl -lm -o revoked && ./revoked
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

static const uint8_t *bytes_of(const void *object) {
    return object;
}

int main(void) {
    const char *issuers[] = {"careful", "careless"};
    ribbon_exact_builder *builder;
    check(ribbon_exact_builder_new(NULL, &builder));
    for (int i = 0; i < 2; i++)
        for (uint32_t serial = 0; serial < 1000; serial++) {
            /* Every tenth certificate of the careless issuer is revoked, one of the other. */
            int revoked = i == 0 ? serial == 0 : serial % 10 == 7;
            const uint8_t *issuer = bytes_of(issuers[i]), *key = bytes_of(&serial);
            size_t len = strlen(issuers[i]);
            if (revoked)
                check(ribbon_exact_builder_push_member_in(builder, issuer, len, key, sizeof serial));
            else
                check(ribbon_exact_builder_push_other_in(builder, issuer, len, key, sizeof serial));
        }
    ribbon_exact *set;
    check(ribbon_exact_builder_finish(builder, &set));
    ribbon_exact_builder_free(builder);

    const char *queries[] = {"careful", "careless", "nobody"};
    for (int i = 0; i < 3; i++) {
        uint32_t serial = 17;
        int result = ribbon_exact_contains_in(set, bytes_of(queries[i]), strlen(queries[i]),
                                              bytes_of(&serial), sizeof serial);
        printf("%s %u: %s\n", queries[i], (unsigned)serial,
               result == 1   ? "revoked"
               : result == 0 ? "valid"
                             : "unknown issuer");
    }
    ribbon_exact_properties info;
    check(ribbon_exact_info(set, &info));
    printf("%llu of %llu certificates are revoked, in %llu bytes\n",
           (unsigned long long)info.members, (unsigned long long)info.universe,
           (unsigned long long)info.bytes);
    ribbon_exact_free(set);
    return 0;
}
