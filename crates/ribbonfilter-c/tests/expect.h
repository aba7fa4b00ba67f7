/* Stops the program if a call returns something else than it should, or fails without a message. */
#include "ribbonfilter.h"

#include <stdio.h>
#include <stdlib.h>

static void expect(int found, int wanted, int line) {
    if (found != wanted) {
        fprintf(stderr, "line %d: %d instead of %d: %s\n", line, found, wanted, ribbon_last_error());
        exit(1);
    }
    if (wanted < 0 && !*ribbon_last_error()) {
        fprintf(stderr, "line %d: no message\n", line);
        exit(1);
    }
}
#define EXPECT(call, wanted) expect((int)(call), (int)(wanted), __LINE__)
